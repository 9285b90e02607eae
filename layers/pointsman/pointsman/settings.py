"""What a deployed function is told by its environment, read once into a frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass

from pointsman.errors import Misconfigured

STACK = "STACK_NAME"
STATE_MACHINE = "STATE_MACHINE_ARN"
NOTICES_TOPIC = "NOTICES_TOPIC_ARN"
ROLLOUT_ROLE = "ROLLOUT_ROLE_ARN"


@dataclass(frozen=True, slots=True)
class Settings:
    """Names of the resources of one deployment; `endpoint_url` replaces AWS's own addresses (None: it does not).

    The state machine, the topic, the role that rollouts act under and the stack's own name are told only to the
    functions that use them, and are empty elsewhere.
    """

    jobs_table: str
    control_table: str
    queue_wakes_url: str
    dead_letters_url: str
    endpoint_url: str | None = None
    state_machine: str = ""
    notices_topic: str = ""
    rollout_role: str = ""
    stack: str = ""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], *more: str) -> "Settings":
        """Read the settings, and what more this function needs.

        Raises `Misconfigured` naming every variable that is missing or empty.
        """
        names = ("JOBS_TABLE", "CONTROL_TABLE", "QUEUE_WAKES_URL", "DEAD_LETTERS_URL")
        missing = [name for name in (*names, *more) if not environment.get(name)]
        if missing:
            raise Misconfigured(f"environment variables missing or empty: {', '.join(missing)}")
        jobs, control, wakes, dead_letters = (environment[name] for name in names)
        return cls(
            jobs,
            control,
            wakes,
            dead_letters,
            environment.get("ENDPOINT_URL") or None,
            state_machine=environment[STATE_MACHINE] if STATE_MACHINE in more else "",
            notices_topic=environment[NOTICES_TOPIC] if NOTICES_TOPIC in more else "",
            rollout_role=environment[ROLLOUT_ROLE] if ROLLOUT_ROLE in more else "",
            stack=environment[STACK] if STACK in more else "",
        )
