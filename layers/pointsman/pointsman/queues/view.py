"""What one pass knows of a queue, as the frozen value that its decision is made on."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pointsman.queues.effects import Effect
from pointsman.queues.estimates import History
from pointsman.queues.jobs import BusyJob, WaitingJob


@dataclass(frozen=True, slots=True)
class QueueView:
    """Everything that a decision depends on; `used` and `capacity` are instances."""

    queue: str
    now: float
    capacity: int
    used: int
    movable: bool
    waiting: Sequence[WaitingJob] = ()
    busy: Sequence[BusyJob] = ()
    effects: Sequence[Effect] = ()
    history: History = field(default_factory=History)

    @property
    def free(self) -> int:
        """Instances that a job could start on now."""
        return max(0, self.capacity - self.used)

    def ours(self, hold: str | None = None) -> list[WaitingJob]:
        """The waiting jobs that may be moved, but for the one of this id."""
        return [job for job in self.waiting if not job.foreign and job.job_id != hold]
