"""What the loops need of the outside world, as a few small Protocols.

Times are epoch seconds. Every method may raise `Transient`; what else it raises is said where it does. Adapters on AWS
are in `pointsman.aws`; the contract tests run the same suite over them and over the fakes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pointsman.notice_ports import NoticeTable
from pointsman.queues.jobs import JobRecord, Sighting, Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.quota import QuotaShare
from pointsman.queues.usage import Usage

if TYPE_CHECKING:
    from pointsman.queues.effects import AlarmTransition, Effect
    from pointsman.queues.estimates import History
    from pointsman.queues.pins import Pin
    from pointsman.queues.reasons import Move


@dataclass(frozen=True, slots=True)
class QueueDescription:
    """A job queue as Batch describes it; `capacity` is the service environment's limit in instances.

    `shares` and `weights` are those that a fair-share scheduling policy lists; a listed share may end in `*`.
    `reservation` is the policy's per cent, to the power of the shares that are active, that is kept for those that are
    not. `limits` are the environment's by unit; `siblings` are other queues that the same environment feeds, `others`
    those under the same scheduling policy.
    """

    name: str
    arn: str
    kind: QueueKind
    capacity: int
    shares: tuple[str, ...] = ()
    enabled: bool = True
    weights: tuple[tuple[str, float], ...] = ()
    quota_shares: tuple[QuotaShare, ...] = ()
    limits: tuple[tuple[str, int], ...] = ()
    reservation: int = 0
    siblings: tuple[str, ...] = ()
    policy: str = ""
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The first 100 waiting jobs in dispatch order, and the instances in use; true as of `at`.

    `shares` has the instances in use of those shares that use most. Where only the first of each quota share is told,
    `front` is not the `whole` of what it would be.
    """

    front: tuple[str, ...]
    used: int
    at: float
    shares: tuple[tuple[str, int], ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True)
class JobPage:
    """One page of a listing of one status, and where the next begins (None: this was the last)."""

    jobs: tuple[Sighting, ...]
    next_token: str | None


class Clock(Protocol):
    """What time it is."""

    def now(self) -> float:
        """Epoch seconds."""
        ...


class BatchQueues(Protocol):
    """AWS Batch: reads of queues and service jobs, and the one write."""

    def describe_queue(self, name: str) -> QueueDescription:
        """The queue with its kind and capacity; raises `Gone` when there is no such queue."""
        ...

    def snapshot(self, name: str) -> Snapshot:
        """The front of the queue and its use."""
        ...

    def list_jobs(self, name: str, status: Status, token: str | None) -> JobPage:
        """One page (at most 100 jobs) of the queue's jobs in this status, the newest first."""
        ...

    def describe_job(self, job_id: str) -> Sighting:
        """The job with its detail; raises `Gone` when Batch does not know it."""
        ...

    def set_priority(self, job_id: str, priority: int) -> None:
        """Set a job's scheduling priority (0-9999); raises `Gone` when the job is unknown or has ended."""
        ...


class Alarms(Protocol):
    """CloudWatch alarms."""

    def transitions(self, pattern: str, since: float) -> "tuple[AlarmTransition, ...]":
        """Moves into ALARM since then, from the history of the alarms whose names match the glob, oldest first.

        So is the move of an alarm that stands in ALARM, however long ago it was.
        """
        ...


@dataclass(frozen=True, slots=True)
class Sweep:
    """A walk through Batch's listing of one queue, a few pages a pass: where it is, and when it began.

    `seen` are the marks of jobs that it saw, where they are remembered (None: they were too many).
    """

    began: float
    status: Status
    token: str | None = None
    seen: str | None = ""


@dataclass(frozen=True, slots=True)
class QueueRecord:
    """What one pass leaves for the next. `owner` and `lease_until` make one writer of two passes.

    An `owner` that is still named did not come to the end of its pass. `looked` is how many seconds the last look
    at the queue took; `walk` goes through the jobs that hold capacity, `sweep` through those that wait, and
    `walked` and `swept` are when one last came to its end. `priorities` are what we had set active jobs to at
    `recorded_at`, when a pass last came to its end, `would` what a queue in observe would have set, `suspects` jobs
    on which snapshot and table disagreed, `preempted` how often Batch has preempted active jobs, `saved` the last
    looks at jobs' checkpoints, `gauged` when the use of GPUs was last measured, `usage` what the classes held of
    the pool. `deferred` is whether the last pass left priorities for this one. `problem` is what people should know
    of the last pass (empty: nothing).
    """

    queue: str
    version: int = 0
    owner: str = ""
    lease_until: float = 0.0
    passed_at: float = 0.0
    looked: float = 0.0
    next_wake_at: float = 0.0
    described_at: float = 0.0
    description: QueueDescription | None = None
    sweep: Sweep | None = None
    swept: float = 0.0
    walk: Sweep | None = None
    walked: float = 0.0
    deferred: bool = False
    priorities: tuple[tuple[str, int], ...] = ()
    recorded_at: float = 0.0
    would: tuple[tuple[str, int], ...] = ()
    suspects: tuple[str, ...] = ()
    preempted: tuple[tuple[str, int], ...] = ()
    saved: tuple[tuple[str, float | None], ...] = ()
    problem: str = ""
    gauged: float = 0.0
    usage: Usage = field(default_factory=Usage)


class JobTable(Protocol):
    """The cache that Batch can rebuild: jobs, queues' wake records, run times, the account's API budget."""

    def load(self, job_ids: Iterable[str]) -> Mapping[str, JobRecord]:
        """The stored records of these jobs, read consistently; the unknown are left out."""
        ...

    def save(self, record: JobRecord) -> JobRecord:
        """Store the record if it still has its version; the stored one has the next. Raises `Conflict`."""
        ...

    def active(self, queue: str) -> tuple[JobRecord, ...]:
        """Every job of the queue that waits, holds capacity, or has ended without having been learned from.

        Eventually consistent. The records are whole, but for the tags of no use to anyone.
        """
        ...

    def queue(self, name: str) -> QueueRecord:
        """The queue's record; one of version 0 when there is none."""
        ...

    def save_queue(self, record: QueueRecord) -> QueueRecord:
        """Store the record if it still has its version; the stored one has the next. Raises `Conflict`."""
        ...

    def history(self, queue: str) -> "History":
        """What run times have been learned of the queue's jobs."""
        ...

    def save_history(self, queue: str, history: "History") -> None:
        """Store what has been learned if it still has its version. Raises `Conflict`."""
        ...

    def take_budget(self, wanted: int, now: float) -> int:
        """How many of the wanted API calls may be made now: a token bucket for the whole account."""
        ...


@dataclass(frozen=True, slots=True)
class StoredPolicy:
    """One version of a queue's policy document, as it was applied."""

    queue: str
    number: int
    document: str
    applied_at: float
    applied_by: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """The priority that we last meant a job to have, stored before it is set.

    `before` is what it had then, `submitted` what it was submitted with and goes back to. `line` is what the history
    tells of it once it is known to be set.
    """

    job_id: str
    submitted: int
    before: int
    after: int
    at: float
    line: "RecordedMove | None" = None


@dataclass(frozen=True, slots=True)
class RecordedMove:
    """One line of a queue's history: a move, when, by which policy version, and what came of it."""

    queue: str
    at: float
    move: "Move"
    policy: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Standstill:
    """That everything is stopped: since when, by whom, and why."""

    at: float
    by: str = ""
    reason: str = ""


class Control(NoticeTable, Protocol):
    """The truth that must not be lost: policies, effects, what we wrote, the stop switch, the history of moves."""

    def policy(self, queue: str) -> StoredPolicy | None:
        """The version of the queue's policy that rules."""
        ...

    def policy_version(self, queue: str, number: int) -> StoredPolicy | None:
        """One version of the queue's policy, ruling or not; None when there never was one of this number."""
        ...

    def put_policy(self, queue: str, document: str, now: float, by: str, *, after: int | None = None) -> StoredPolicy:
        """Store a new version beside the old ones and move the pointer to it.

        Raises `Conflict` when another is stored at the same moment, or when the one that rules is not version `after`
        (0: there is none).
        """
        ...

    def queues(self) -> tuple[str, ...]:
        """Every queue that has a policy."""
        ...

    def effects(self, queue: str) -> "tuple[Effect, ...]":
        """The stored effects of the queue, the oldest first."""
        ...

    def put_effect(self, queue: str, effect: "Effect") -> None:
        """Store an effect; one alarm's transition on one class is one item, so that a second write changes nothing."""
        ...

    def pins(self, queue: str) -> "tuple[Pin, ...]":
        """What people said of single jobs of the queue; those that are over may be among them."""
        ...

    def put_pin(self, queue: str, pin: "Pin") -> None:
        """Store a pin; the last of a job is the one kept."""
        ...

    def remove_pin(self, queue: str, job_id: str) -> None:
        """Take a job's pin away, if it has one."""
        ...

    def writes(self, job_ids: Iterable[str]) -> Mapping[str, Write]:
        """What we last meant these jobs to have."""
        ...

    def put_writes(self, writes: Sequence[Write], before: Mapping[str, Write]) -> None:
        """Store what we are about to write, one of a job, in the place of what `writes` gave of these jobs.

        Raises `Conflict` where another was stored meanwhile, by a pass that took the lease from this one.
        """
        ...

    def record(self, moves: Sequence[RecordedMove]) -> None:
        """Add lines to their queue's history; the same line twice is one line."""
        ...

    def moves(self, queue: str, since: float, limit: int) -> tuple[RecordedMove, ...]:
        """The queue's history from then on, the newest first."""
        ...

    def stopped(self) -> bool:
        """Whether `pointsman stop` is in force: then every queue only observes."""
        ...

    def standstill(self) -> Standstill | None:
        """What is in force, if everything is stopped."""
        ...

    def stand_still(self, wanted: Standstill) -> Standstill:
        """Stop everything, and remember it for good; gives what is in force, which is the first where there was one."""
        ...

    def go_on(self, at: float, by: str, reason: str) -> Standstill | None:
        """End the standstill, and remember who did; gives the one that has ended, None where there was none."""
        ...


class Wakes(Protocol):
    """Wakes of queues; wakes of one queue in one bucket of time are one."""

    def wake(self, queue: str, now: float) -> None:
        """Ask for a pass over the queue after the present bucket has closed."""
        ...


class DeadLetters(Protocol):
    """Where a message ends that can never be processed."""

    def bury(self, body: str, reason: str, place: str) -> None:
        """Keep the message with its reason and the place that is wrong."""
        ...


class InstanceTypes(Protocol):
    """EC2's data on instance types."""

    def gpus(self, instance_type: str) -> int | None:
        """GPUs of one instance of this SageMaker type; None when EC2 does not know it."""
        ...
