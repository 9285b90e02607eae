"""Where a rollout is, and what its kill switch is called: all that whoever wakes it has to know of it."""

from enum import StrEnum


class Phase(StrEnum):
    """Where the rollout is."""

    PLANNED = "PLANNED"
    PREFLIGHT = "PREFLIGHT"
    RUNNING = "RUNNING"
    FINAL_BAKE = "FINAL_BAKE"
    STOPPING = "STOPPING"
    ROLLING_BACK = "ROLLING_BACK"
    SUCCEEDED = "SUCCEEDED"
    REJECTED = "REJECTED"
    STOPPED = "STOPPED"
    ROLLED_BACK = "ROLLED_BACK"
    ROLLBACK_INCOMPLETE = "ROLLBACK_INCOMPLETE"

    @property
    def terminal(self) -> bool:
        """Whether the record never changes again."""
        return self in _TERMINAL


_TERMINAL = frozenset(
    {Phase.SUCCEEDED, Phase.REJECTED, Phase.STOPPED, Phase.ROLLED_BACK, Phase.ROLLBACK_INCOMPLETE},
)


SWITCHES = "pointsman-kill"  # how the names of all kill switches begin


def switch_name(rollout: str, stack: str = "") -> str:
    """The kill switch's name, never used again: a rollout's id is not, in its stack. Neither has a slash in its name.

    Without a stack it is what a release named it that did not tell two deployments of one account apart.
    """
    return f"{SWITCHES}/{stack}/{rollout}" if stack else f"{SWITCHES}-{rollout}"


def is_switch(alarm: str, rollout: str) -> bool:
    """Whether this is the name of a kill switch of such a rollout, whatever the stack."""
    return alarm == switch_name(rollout) or (alarm.startswith(f"{SWITCHES}/") and alarm.endswith(f"/{rollout}"))
