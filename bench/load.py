"""A long queue, made up: jobs of so many groups, as the job table has them."""

from collections.abc import Iterator
from dataclasses import dataclass

from pointsman.ports import QueueDescription
from pointsman.queues.effects import Effect
from pointsman.queues.estimates import Finished, History, Kind
from pointsman.queues.jobs import Detail, JobRecord, Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.policy import AlarmBoost, Deadline, JobClass, Match, Mode, Policy, Preemption, Reservation
from pointsman.queues.quota import QuotaShare

NOW = 1_800_000_000.0
HOUR = 3600.0
QUEUE = "search-training"
GPU = "ml.g5.12xlarge"
BUSY = 60  # jobs that run
SHARES = 10
SPAN = 5 * 24 * HOUR  # over which the waiting jobs were submitted
SIZES = (1, 2, 4, 8, 16)
CLASSES = (
    JobClass("production", Match("prod-*"), head_start=6 * HOUR, max_wait=48 * HOUR, entitlement=0.7),
    JobClass("research", Match(tags=(("purpose", "explore"),)), head_start=2 * HOUR),
    JobClass("batch-inference", Match("score-*"), preemptible=True),
    JobClass("sweep", ceiling=0.6, preemptible=True),
)
_PREFIXES = ("prod", "study", "score", "sweep")
_PURPOSES = ("serve", "explore", "serve", "tune")


@dataclass(frozen=True, slots=True)
class Load:
    """A queue with so many waiting jobs in so many groups of (team, size, class)."""

    jobs: int
    groups: int
    kind: QueueKind = QueueKind.FAIR_SHARE
    shares: int = 1
    boosted: bool = False
    deadlines: bool = False

    @property
    def policy(self) -> Policy:
        """What rules it."""
        classes = CLASSES
        if self.deadlines:
            classes = (*CLASSES[:3], JobClass("sweep", deadline=Deadline(within=30 * 24 * HOUR)))
        return Policy(
            QUEUE,
            classes,
            Mode.ACT,
            share="*",
            spread=2 * HOUR,
            reservation=Reservation(3 * HOUR),
            preemption=Preemption() if self.kind is QueueKind.QUOTA_SHARE else None,
            on_alarm=(AlarmBoost("drift", "research", 12 * HOUR),),
        )

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What alarms do to it."""
        return (Effect("drift", NOW - HOUR, "research", 12 * HOUR),) if self.boosted else ()

    @property
    def description(self) -> QueueDescription:
        """The queue as Batch describes it."""
        capacity = 4 * BUSY
        if self.kind is not QueueKind.QUOTA_SHARE:
            return QueueDescription(QUEUE, "arn", self.kind, capacity)
        shares = tuple(
            QuotaShare(_share(n, self.shares), "arn", ((GPU, capacity // self.shares),), preempts=True)
            for n in range(self.shares)
        )
        return QueueDescription(QUEUE, "arn", self.kind, capacity, quota_shares=shares, limits=((GPU, capacity),))

    def rows(self) -> Iterator[JobRecord]:
        """The jobs that run, then those that wait, the oldest first."""
        for n in range(BUSY):
            yield self._row(n, n * 7 % self.groups, Status.RUNNING, NOW - SPAN - HOUR, NOW - (n % 7 + 1) * HOUR / 2)
        for n in range(self.jobs):
            yield self._row(BUSY + n, n * 7919 % self.groups, Status.RUNNABLE, NOW - SPAN * (1 - n / self.jobs) - 60)

    def _row(self, n: int, group: int, status: Status, created: float, started: float | None = None) -> JobRecord:
        place, rest = group % len(CLASSES), group // len(CLASSES)
        team, size = rest // len(SIZES), SIZES[rest % len(SIZES)] if status is Status.RUNNABLE else 2
        tags = {"team": f"team-{team:03}", "purpose": _PURPOSES[place]}
        types = ((GPU, size),) if self.kind is QueueKind.QUOTA_SHARE else ()
        name = f"{_PREFIXES[place]}-refresh-eu-2027-01-15-{n:06}"
        saved = f"s3://acme-training-checkpoints/{name}/" if types else None
        detail = Detail(size, 4 * size, _share(team, self.shares), 0, tags, types, saved)
        return JobRecord(
            f"{n:08x}-4e5f-4a6b-8c7d-{n:012x}",
            QUEUE,
            name,
            status,
            created + 2 if started is None else started,
            round(created, 3),
            started=started,
            detail=detail,
            submitted_priority=0,
            version=2,
        )


def history_of(kinds: list[Kind]) -> History:
    """What was learned of these kinds."""
    return History().learn(Finished(kind, HOUR * (1 + n % 40) / 4) for _ in range(3) for n, kind in enumerate(kinds))


def _share(team: int, shares: int) -> str:
    return "all" if shares == 1 else f"share-{team % shares}"
