"""Service jobs: what a sighting of one says, what the table remembers, and how the two are merged.

Times are epoch seconds, sizes are instances. The statuses are those of Batch's DescribeServiceJob.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from zlib import crc32

from pointsman.queues.estimates import Kind


class Stage(StrEnum):
    """What a status means for capacity: Batch counts SCHEDULED, STARTING and RUNNING as in use."""

    WAITING = "waiting"
    BUSY = "busy"
    ENDED = "ended"


class Status(StrEnum):
    """A service job's status, in the order in which an undisturbed job passes through them."""

    SUBMITTED = "SUBMITTED"
    PENDING = "PENDING"
    RUNNABLE = "RUNNABLE"
    SCHEDULED = "SCHEDULED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    stage: Stage
    """Whether a job of this status waits, holds capacity, or has ended."""

    def __init__(self, value: str) -> None:
        ended = value in ("SUCCEEDED", "FAILED")
        waits = value in ("SUBMITTED", "PENDING", "RUNNABLE")
        self.stage = Stage.WAITING if waits else Stage.ENDED if ended else Stage.BUSY


NO_QUEUE = "?"  # of a job of which only its id is known: no queue can have this name

_ADVANCE = {status: place for place, status in enumerate(Status)}
REASON_CHARACTERS = 300  # of what Batch says of a status
TAG_BYTES = 120  # of a job's tags, that are kept whole; a queue of 100,000 jobs is read in each pass
SOON = 300.0  # seconds: an attempt that fails sooner did no work


def crashes_in(attempts: Iterable[tuple[float | None, float | None]]) -> int:
    """How many of a job's last attempts failed soon, one after the other, by when each started and stopped.

    An attempt that still runs does not count, and one that never started failed at once.

    >>> crashes_in([(0.0, 9000.0), (9000.0, 9060.0), (None, 9500.0), (9600.0, None)])
    2
    """
    count = 0
    for stopped, started in sorted((ended, ended if began is None else began) for began, ended in attempts if ended):
        count = count + 1 if stopped - started < SOON else 0
    return count


@dataclass(frozen=True, slots=True)
class Detail:
    """What only DescribeServiceJob tells of a job.

    Of a job in a quota share also how many instances of each type it asks for, the S3 prefix of its checkpoints if it
    writes any, and how many preemptions it outlives (None: all).

    Where a job has many tags only those that its queue's policy read then are there; `tags_of` is the mark of what it
    read (empty: the tags are whole).
    """

    size: int
    gpus: int
    share: str | None
    priority: int
    tags: Mapping[str, str] = field(default_factory=dict)
    types: tuple[tuple[str, int], ...] = ()
    checkpoints: str | None = None
    outlives: int | None = None
    tags_of: str = ""

    def with_tags_of(self, read: Sequence[str]) -> "Detail":
        """The same without the tags that nobody reads, if all of them take more than `TAG_BYTES`."""
        if sum(len(key.encode()) + len(value.encode()) + 6 for key, value in self.tags.items()) <= TAG_BYTES:
            return self
        return replace(self, tags={key: self.tags[key] for key in read if key in self.tags}, tags_of=mark_of(read))

    def lacks_tags(self, mark: str) -> bool:
        """Whether a policy of this mark reads tags that may have been left out."""
        return self.tags_of not in ("", mark)


def mark_of(read: Sequence[str]) -> str:
    """A short mark of which tags a policy reads: other tags have another."""
    return f"{crc32(chr(10).join(sorted(read)).encode()):08x}"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A job's state as an event, a listing or a Describe shows it.

    `at` is when that state was true. EventBridge gives it in whole seconds; `detail` is there for a Describe only,
    and then the sighting is the truth as of `at`. `crashes` of its last attempts failed soon, one after the other.
    `reason` is what Batch says of the status (None: this sighting does not tell). `training` names the training job of
    the latest attempt, whose hosts' metrics bear that name (None: the same).
    """

    job_id: str
    status: Status
    at: float
    queue: str
    name: str
    created: float
    attempts: int = 0
    preemptions: int = 0
    started: float | None = None
    stopped: float | None = None
    detail: Detail | None = None
    crashes: int = 0
    reason: str | None = None
    training: str | None = None


@dataclass(frozen=True, slots=True)
class JobRecord:
    """What is known of one job; Batch can rebuild it at any time.

    `version` counts the writes of the stored record (0: never stored). A `doubtful` job is described before a
    decision uses it. A `folded` job has ended and its run time has been learned. `foreign`: someone else set the
    priority that the last Describe showed, which was first seen at `foreign_since` (0: not known). `crashes` of its
    last attempts failed soon, one after the other. `reason` is what Batch says of a job that waits or has failed.
    `training` names the training job of one that holds capacity (empty: not known). Of a `refused` job Batch last said
    that it does not know it: one that was let go for that has not ended for sure, and any later sign brings it back.
    """

    job_id: str
    queue: str
    name: str
    status: Status
    at: float
    created: float
    attempts: int = 0
    preemptions: int = 0
    started: float | None = None
    stopped: float | None = None
    detail: Detail | None = None
    submitted_priority: int | None = None
    doubtful: bool = False
    folded: bool = False
    foreign: bool = False
    version: int = 0
    foreign_since: float = 0.0
    crashes: int = 0
    reason: str = ""
    training: str = ""
    refused: bool = False

    @property
    def stage(self) -> Stage:
        """Whether the job waits, holds capacity, or has ended."""
        return self.status.stage

    @property
    def needs_describe(self) -> bool:
        """Whether a decision may not use this record yet."""
        return self.doubtful or self.detail is None


def merge(record: JobRecord | None, seen: Sighting) -> JobRecord | None:
    """The record after this sighting, or None when the sighting tells nothing new.

    Newer is: a later second, then more attempts, then more preemptions. A status further back at a later second is
    legal (Batch returns a job to RUNNABLE when SageMaker has no capacity). Two different stages in one second cannot
    be ordered, nor can an event in the second of the last Describe: the job becomes doubtful. An end is final, so it
    counts even where a Describe by our own clock seems newer. A job that was let go only because Batch did not know it
    comes back, in doubt. Raises nothing: events that are late, doubled or reversed
    give None or the same record.
    """
    if record is None:
        priority = seen.detail.priority if seen.detail else None
        return JobRecord(
            seen.job_id, seen.queue, seen.name, seen.status, seen.at, seen.created, seen.attempts, seen.preemptions,
            seen.started, seen.stopped, seen.detail, priority, crashes=seen.crashes, reason=_reason(None, seen),
            training=_training(None, seen),
        )  # fmt: skip
    if seen.detail is not None:  # a record that was stored has its time in whole milliseconds
        return _described(record, seen) if round(seen.at, 3) >= round(record.at, 3) else None
    if record.stage is Stage.ENDED and not record.refused:
        return None  # a service job that SUCCEEDED or FAILED stays so
    here, there = int(record.at), int(seen.at)
    newer = (there, seen.attempts, seen.preemptions) > (here, record.attempts, record.preemptions)
    if seen.status.stage is not Stage.ENDED:  # an end is final, whatever the clocks say
        if there < here or (there == here and seen.status == record.status and not newer):
            return None
        if there == here and seen.status.stage is not record.stage:
            return None if record.doubtful else replace(record, doubtful=True)
        if there == here and _ADVANCE[seen.status] < _ADVANCE[record.status] and not newer:
            return None
    return replace(
        _placed(record, seen),
        status=seen.status,
        at=seen.at,
        attempts=max(seen.attempts, record.attempts),  # a listing does not say
        preemptions=max(seen.preemptions, record.preemptions),
        started=seen.started if seen.status.stage is not Stage.WAITING else None,
        stopped=seen.stopped,
        crashes=seen.crashes if seen.attempts >= max(record.attempts, 1) else record.crashes,
        reason=_reason(record, seen),
        training=_training(record, seen),
        doubtful=record.doubtful or record.folded,
        folded=False,
        refused=False,
    )


def refuse(record: JobRecord, now: float, *, unlisted: bool) -> JobRecord:
    """The record once Batch says that it does not know the job: in doubt, and let go when it says so once more.

    Batch has one code for all that it refuses, so one such answer proves nothing; and no listing may have it either
    (`unlisted`), since others evict who is wrongly thought to be gone, and who waited may hold capacity by now. Of a
    job that has ended all is known that ever will be.
    """
    if record.folded:
        return record
    if record.stage is Stage.ENDED and record.detail is not None:
        return replace(record, doubtful=False)
    ended = record.stage is Stage.ENDED
    if not record.refused or not (unlisted or ended):
        return replace(record, doubtful=True, refused=True)
    status = record.status if ended else Status.FAILED
    return replace(record, status=status, at=max(record.at, now), doubtful=False, folded=True)


def training_job(arn: object) -> str | None:
    """The training job's name in the ARN that Batch gives of an attempt; None for what is none.

    >>> training_job("arn:aws:sagemaker:eu-west-1:123456789012:training-job/AWSBatchranker0f")
    'AWSBatchranker0f'
    """
    name = arn.partition(":training-job/")[2] if isinstance(arn, str) else ""
    return name or None


def _training(record: JobRecord | None, seen: Sighting) -> str:
    """Each attempt has a training job of its own, for as long as it holds capacity; not every sighting tells which."""
    if seen.status.stage is not Stage.BUSY:
        return ""
    same = record is not None and record.stage is Stage.BUSY and record.attempts >= seen.attempts
    return record.training if seen.training is None and record is not None and same else seen.training or ""


def _reason(record: JobRecord | None, seen: Sighting) -> str:
    """What Batch says of a job that waits or has failed; it holds until the job is elsewhere, or more is said."""
    if seen.status.stage is Stage.BUSY or seen.status is Status.SUCCEEDED:
        return ""
    same = record is not None and record.status.stage is seen.status.stage
    return record.reason if seen.reason is None and record is not None and same else seen.reason or ""


def _placed(record: JobRecord, seen: Sighting) -> JobRecord:
    """The record with its queue and name, which an event of a preemption does not tell."""
    if record.queue != NO_QUEUE:
        return record
    return replace(record, queue=seen.queue, name=seen.name, created=seen.created)


def _described(record: JobRecord, seen: Sighting) -> JobRecord:
    first = record.submitted_priority
    return replace(
        _placed(record, seen),
        status=seen.status,
        at=seen.at,
        created=seen.created,
        attempts=seen.attempts,
        preemptions=seen.preemptions,
        started=seen.started,
        stopped=seen.stopped,
        detail=seen.detail,
        crashes=seen.crashes,
        reason=_reason(None, seen),
        training=_training(record, seen),
        submitted_priority=first if first is not None or seen.detail is None else seen.detail.priority,
        doubtful=False,
        folded=record.folded and not record.refused and seen.status.stage is Stage.ENDED,
        refused=False,
    )


@dataclass(frozen=True, slots=True)
class Due:
    """When a job should have finished; None where what its tag says (`unread`) is no time."""

    at: float | None
    unread: str = ""


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A waiting job as the ranking sees it: what it asks for, and the priority that Batch has for it now.

    `foreign` means that someone else set the priority: the job is left as it is, until `foreign_until`. Batch compares
    priorities within one `share` only. `crashes` of its last attempts failed soon, one after the other. A job that ran
    and came back waits `again` since then; its rank stays that of its submission.
    """

    job_id: str
    name: str
    kind: Kind
    gpus: int
    submitted: float
    priority: int = 0
    submitted_priority: int = 0
    foreign: bool = False
    share: str = ""
    due: Due | None = None
    crashes: int = 0
    foreign_until: float = float("inf")
    again: float | None = None

    @property
    def waits_since(self) -> float:
        """Since when it has waited without running."""
        return self.submitted if self.again is None else self.again

    @property
    def size(self) -> int:
        """Instances that the job needs, all at once."""
        return self.kind.size


@dataclass(frozen=True, slots=True)
class BusyJob:
    """A job that holds capacity: SCHEDULED, STARTING or RUNNING (then `started` says since when).

    `priority` is the one that Batch has for it now. `saved` is up to when its work outlives an eviction; None: it does
    not resume, or that is not known. `preempted` counts how often it was evicted, `outlives` how often it may be (None:
    any number). `crashes` of its last attempts, of those that have ended, failed soon.
    """

    job_id: str
    name: str
    kind: Kind
    gpus: int
    started: float | None = None
    share: str = ""
    submitted: float = 0.0
    priority: int = 0
    submitted_priority: int = 0
    saved: float | None = None
    preempted: int = 0
    outlives: int | None = None
    crashes: int = 0

    @property
    def size(self) -> int:
        """Instances that the job holds."""
        return self.kind.size
