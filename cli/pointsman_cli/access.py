"""What the verbs need of a deployment, and how one is reached."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from pointsman.loops.inspect import Inspector
from pointsman.ports import BatchQueues, Clock, Control, JobTable
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

    def inspector(self) -> Inspector:
        """Looks at queues that change nothing."""
        ...


class Access(Protocol):
    """How deployments are reached."""

    def open(self, target: Target) -> AbstractContextManager[Deployment]:
        """The deployment, for as long as the block lasts; raises `UserMistake` when none is named."""
        ...

    def rollouts(self, target: Target) -> AbstractContextManager[RolloutDeployment]:
        """The deployment as its rollouts see it; raises `UserMistake` when none is named, or it has none."""
        ...

    def caller(self, target: Target) -> str:
        """Who is asking."""
        ...
