"""What waking rollouts needs of the outside world: it knows nothing of what a rollout does.

Every method may raise `Transient` and `Misconfigured`; what else it raises is said where it does.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pointsman.rollouts.phase import Phase


@dataclass(frozen=True, slots=True)
class OpenRollout:
    """One line of the index of rollouts that are not done with: `alarms` and `endpoints` are what wakes it.

    One that has ended stays for a while, so that an alarm that comes late is told of; `next_wake_at` is when it ended.
    """

    rollout: str
    phase: Phase
    next_wake_at: float
    generation: int = 1
    unsent: int = 0
    alarms: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Woken:
    """What a wake found: the token of the wait to end (empty: nobody waits), and the generation that is real."""

    token: str
    generation: int


class RolloutIndex(Protocol):
    """The rollouts that are not done with, and their wakes."""

    def open(self) -> tuple[OpenRollout, ...]:
        """Every rollout that is not done with, the most overdue first; eventually consistent."""
        ...

    def wake(self, rollout: str) -> Woken:
        """Count a wake, and tell whom to wake. Raises `Gone` when there is no such rollout."""
        ...

    def succeed(self, rollout: str, generation: int) -> int:
        """Make the next generation the real one, if this one still is; gives the real one."""
        ...

    def close(self, rollout: str) -> None:
        """Be done with a rollout that has ended, and whose notices were sent: it is open no more."""
        ...


class Life(StrEnum):
    """What became of an execution."""

    RUNNING = "running"
    ENDED = "ended"
    ABSENT = "absent"


class Execution(Protocol):
    """The state machine's executions: one of a rollout and a generation, by a name that is never used again."""

    def start(self, rollout: str, generation: int) -> None:
        """Start it; one that was started already is left alone, whether it runs or has ended."""
        ...

    def answer(self, token: str) -> None:
        """End the wait that this token stands for; one that is over already is left alone."""
        ...

    def life(self, rollout: str, generation: int) -> Life:
        """Whether it lives."""
        ...


class RolloutWakeLog(Protocol):
    """What is logged and measured of rollouts that are due."""

    def overdue(self, seconds: float) -> None:
        """For how long the rollout that waits longest for its pass has been due (0: none is)."""
        ...

    def died(self, rollout: str, generation: int) -> None:
        """The rollout is not over, and the execution of this generation is; the next one carries it on."""
        ...
