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


def switch_name(rollout: str) -> str:
    """The kill switch's name, never used again: a rollout's id is not."""
    return f"pointsman-kill-{rollout}"
