"""What the verbs need of a deployment, and how one is reached."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from pointsman.day_ports import DayTable
from pointsman.loops.inspect import Inspector
from pointsman.ports import BatchQueues, Clock, Control, JobTable
from pointsman.rollout_ports import RolloutTable
from pointsman_cli.examined import Facts
from pointsman_cli.letters import Letter
from pointsman_cli.rollout_access import RolloutDeployment


@dataclass(frozen=True, slots=True)
class Target:
    """Where a person wants to look: a stack in AWS, or the demo's day at a time (`demo_at`, in seconds)."""

    stack: str | None = None
    endpoint_url: str | None = None
    demo_at: float | None = None


class Deployment(Protocol):
    """A deployment, as `pointsman.wiring.Wiring` is one."""

    @property
    def clock(self) -> Clock:
        """What time it is there."""
        ...

    @property
    def control(self) -> Control:
        """Policies, effects and history."""
        ...

    @property
    def jobs(self) -> JobTable:
        """Jobs and wake records."""
        ...

    @property
    def batch(self) -> BatchQueues:
        """AWS Batch."""
        ...

    @property
    def days(self) -> DayTable:
        """The sums of days."""
        ...

    @property
    def rollouts(self) -> RolloutTable:
        """The truth of all rollouts."""
        ...

    def inspector(self) -> Inspector:
        """Looks at queues that change nothing."""
        ...


class Letters(Protocol):
    """The dead letters of a deployment, as `pointsman_cli.letter_box.LetterBox` has them."""

    def read(self) -> tuple[Letter, ...]:
        """Every letter that can be seen now, the oldest first; hidden from others for a while."""
        ...

    def waiting(self) -> int:
        """How many there are, those that are hidden among them."""
        ...

    def give_back(self, letters: Iterable[Letter]) -> None:
        """Let others see them at once."""
        ...

    def send_back(self, wanted: Letter) -> None:
        """Send it to where it came from, and then delete it."""
        ...


class Examines(Protocol):
    """Looks at a deployment, as `pointsman_cli.examiner.Examiner` does."""

    def examine(self, queue: str | None = None) -> Facts:
        """Everything there is to see, of all queues or of this one."""
        ...


class Access(Protocol):
    """How deployments are reached."""

    def open(self, target: Target) -> AbstractContextManager[Deployment]:
        """The deployment, for as long as the block lasts; raises `UserMistake` when none is named."""
        ...

    def rollouts(self, target: Target) -> AbstractContextManager[RolloutDeployment]:
        """The deployment as its rollouts see it; raises `UserMistake` when none is named, or it has none."""
        ...

    def letters(self, target: Target) -> AbstractContextManager[Letters]:
        """Its dead letters; raises `UserMistake` when none is named, and `Misconfigured` for an earlier release."""
        ...

    def examiner(self, target: Target) -> AbstractContextManager[Examines]:
        """What looks at everything of it; raises `UserMistake` when none is named."""
        ...

    def caller(self, target: Target) -> str:
        """Who is asking."""
        ...
