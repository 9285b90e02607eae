"""What one pass knows of a queue, as the frozen value that its decision is made on."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from pointsman.queues.effects import Effect
from pointsman.queues.estimates import History
from pointsman.queues.evictions import Eviction
from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.pins import Pin
from pointsman.queues.quota import QuotaShare
from pointsman.queues.usage import Usage
from pointsman.queues.waiting import Waiting


@dataclass(frozen=True, slots=True)
class Share:
    """One share of a fair-share queue: its weight (the lower, the more it gets) and the instances it uses now."""

    name: str
    weight: float = 1.0
    used: int = 0


@dataclass(frozen=True, slots=True)
class QueueView:
    """Everything that a decision depends on; `used` and `capacity` are instances.

    A decision walks along the `lines` of those who wait. `strangers` wait in shares that the policy does not rule.
    `shares` are those of all the jobs, in the order in which Batch would take a job from them next, as far as a
    snapshot shows it.

    Of the capacity, other queues of the same environment use `elsewhere` instances, and `withheld` are kept back for
    shares that have no jobs.

    In a queue with quota shares, `pool` is what the service environment allows of each instance type, and `evictions`
    are the deliberate ones of late. `described` are the jobs that were described for this very decision. The view is
    `settled` when a snapshot and the jobs agree on what runs.

    Of jobs that are `unsure` it is not known what they do, and they are in no other list. `past` is what the classes
    held of the pool until the last pass.
    """

    queue: str
    now: float
    capacity: int
    used: int
    movable: bool
    waiting: Collection[WaitingJob] = ()
    busy: Sequence[BusyJob] = ()
    effects: Sequence[Effect] = ()
    history: History = field(default_factory=History)
    strangers: Sequence[WaitingJob] = ()
    shares: Sequence[Share] = ()
    pins: Sequence[Pin] = ()
    quota_shares: Sequence[QuotaShare] = ()
    pool: tuple[tuple[str, int], ...] = ()
    evictions: Sequence[Eviction] = ()
    described: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()
    elsewhere: int = 0
    withheld: int = 0
    settled: bool = True
    past: Usage = field(default_factory=Usage)
    lines: Waiting = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Line up the waiting jobs, if they are not yet."""
        object.__setattr__(self, "lines", Waiting.of(self.waiting))

    @property
    def held(self) -> dict[str, int]:
        """Instances that the jobs of each class hold."""
        held: dict[str, int] = {}
        for job in self.busy:
            held[job.kind.job_class] = held.get(job.kind.job_class, 0) + job.kind.size
        return held

    @property
    def free(self) -> int:
        """Instances that a job could start on now."""
        return max(0, self.capacity - self.used - self.elsewhere - self.withheld)
