"""A job queue: who is next, and what each share has used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pointsman_emulator.models.batch_jobs import ServiceJob
from pointsman_emulator.models.batch_line import Key, UsageMeter, WaitingLine
from pointsman_emulator.models.batch_values import (
    FAILED,
    RUNNABLE,
    RUNNING,
    SCHEDULED,
    STARTING,
    SUBMITTED,
    SUCCEEDED,
    BatchSettings,
    FairShare,
    FrontJob,
    Snapshot,
)

MINIMUM_DECAY_SECONDS = 600.0
"""API:FairsharePolicy: the shortest window over which use counts."""
SNAPSHOT_JOBS = 100
"""API:FrontOfQueueDetail: the first 100 RUNNABLE jobs."""


@dataclass(slots=True, eq=False)
class Environment:
    """A service environment: a cap on instances, of any type, that its queues share (API:CapacityLimit)."""

    name: str
    capacity: int
    enabled: bool = True
    in_use: int = 0
    queues: list[JobQueue] = field(default_factory=list)
    dirty: bool = False


class _Share:
    def __init__(self, window: float, now: float, *, by_size: bool) -> None:
        self.line = WaitingLine(by_size=by_size)
        self.meter = UsageMeter(window, now)
        self.unfinished = 0


class JobQueue:
    """A SAGEMAKER_TRAINING queue: first in, first out without a policy, else by share and then by priority."""

    def __init__(
        self,
        name: str,
        environment: Environment,
        policy: FairShare | None,
        priority: int,
        settings: BatchSettings,
        now: float,
    ) -> None:
        self.name = name
        self.environment = environment
        self.policy = policy
        self.priority = priority
        self.enabled = True
        self.in_use = 0
        self.time_limits: Mapping[str, float] = {}
        """jobStateTimeLimitActions: seconds after which a job that is stuck for this reason is terminated."""
        self.by_status: dict[str, dict[str, ServiceJob]] = {
            status: {} for status in (SUBMITTED, RUNNABLE, SCHEDULED, STARTING, RUNNING, SUCCEEDED, FAILED)
        }
        self.changed_at = now
        self.snapshot: Snapshot | None = None
        self.refresh_pending = False
        self._settings = settings
        self._opened_at = now
        self._shares: dict[str, _Share] = {}
        self._since: dict[str, tuple[int, float]] = {}

    def key(self, job: ServiceJob) -> Key:
        """Where a job stands within its share, lower first: priority, then the tie-break (UG:share-identifiers)."""
        if self.policy is None:
            return (0.0, job.created_at, job.order)
        match self._settings.tie_break:
            case "created":
                return (-job.priority, job.created_at, job.order)
            case "newest":
                return (-job.priority, -job.created_at, -job.order)
            case "random":
                return (-job.priority, job.tie, job.order)

    def share(self, job: ServiceJob) -> _Share:
        """The share a job belongs to; a queue without policy has only one."""
        name = job.share or ""
        found = self._shares.get(name)
        if found is None:
            window = max(MINIMUM_DECAY_SECONDS, self.policy.decay_seconds) if self.policy else 0.0
            if self.policy and self.policy.decay_seconds == 0 and self._settings.zero_decay == "current":
                window = 0.0
            by_size = self._settings.head_of_line == "skip"
            found = self._shares[name] = _Share(window, self._opened_at, by_size=by_size)
        return found

    def add(self, job: ServiceJob) -> None:
        """A job became RUNNABLE."""
        self.share(job).line.add(job, self.key(job))

    def remove(self, job: ServiceJob) -> None:
        """A job is RUNNABLE no longer."""
        self.share(job).line.remove(job)

    def occupy(self, job: ServiceJob, now: float, instances: int) -> None:
        """A job took instances, or gave them back (a negative number)."""
        self.in_use += instances
        self.share(job).meter.change(now, instances)

    def room(self, now: float) -> int:
        """Instances that this queue may take now: what its environment has free, less what is held for absent shares.

        A reservation of 50 holds 50 %, 25 %, 12.5 % for 1, 2, 3 active shares (API:FairsharePolicy).
        """
        environment = self.environment
        held = 0.0
        if self.policy and self.policy.compute_reservation:
            active = sum(1 for share in self._shares.values() if share.unfinished or share.meter.usage(now) > 0)
            held = environment.capacity * (self.policy.compute_reservation / 100) ** active
        return int(environment.capacity - held) - environment.in_use

    def head(self, now: float, room: int) -> ServiceJob | None:
        """The job that Batch looks at: the head of the share with the lowest weighted use; under `skip`, what fits."""
        if len(self._shares) == 1 or self.policy is None:
            for share in self._shares.values():
                found = share.line.head(room)
                return found[1] if found else None
            return None
        best: tuple[float, float, float, int] | None = None
        chosen = None
        for name, share in self._shares.items():
            if not len(share.line):
                continue
            found = share.line.head(room)
            if found is None:
                continue
            weight = self._weight(name, self.policy)
            rank = (
                share.meter.usage(now) * weight,
                share.meter.in_use * weight,
                found[1].created_at,
                found[1].order,
            )
            if best is None or rank < best:
                best, chosen = rank, found[1]
        return chosen

    def _weight(self, share: str, policy: FairShare) -> float:
        def members(prefix: str) -> int:
            return sum(1 for name, member in self._shares.items() if name.startswith(prefix) and member.unfinished)

        return policy.weight_of(share, members)

    def order(self, now: float, limit: int) -> list[ServiceJob]:
        """The first `limit` waiting jobs, in the order in which they would go if there were room for all."""
        lines = {name: share.line.first(limit) for name, share in self._shares.items() if len(share.line)}
        if len(lines) <= 1 or self.policy is None:
            return [job for line in lines.values() for _, job in line]
        standing = {name: (self._shares[name], self._weight(name, self.policy)) for name in lines}
        extra = dict.fromkeys(lines, 0)
        places = dict.fromkeys(lines, 0)
        ordered: list[ServiceJob] = []
        while lines and len(ordered) < limit:

            def rank(name: str) -> tuple[float, float, float, int]:
                share, weight = standing[name]
                job = lines[name][places[name]][1]
                in_use = share.meter.in_use + extra[name]
                return (share.meter.usage(now) * weight, in_use * weight, job.created_at, job.order)

            name = min(lines, key=rank)
            job = lines[name][places[name]][1]
            ordered.append(job)
            extra[name] += job.instances
            places[name] += 1
            if places[name] == len(lines[name]):
                del lines[name]
        return ordered

    def look(self, now: float, updated_at: float) -> Snapshot:
        """A snapshot of this moment. A job that moved since the last look holds its place since the last change."""
        front: list[FrontJob] = []
        since: dict[str, tuple[int, float]] = {}
        for place, job in enumerate(self.order(now, SNAPSHOT_JOBS)):
            before = self._since.get(job.job_id)
            start = before[1] if before and before[0] == place else max(self.changed_at, job.created_at)
            since[job.job_id] = (place, start)
            front.append(FrontJob(job, start))
        self._since = since
        shares: list[tuple[str, int]] = []
        if self.policy is not None:
            shares = [(name, share.meter.in_use) for name, share in self._shares.items() if share.meter.in_use]
            shares.sort(key=lambda item: (-item[1], item[0]))
        return Snapshot(self.name, tuple(front), self.in_use, tuple(shares), updated_at)
