"""A job queue: who is next, and what an observer sees of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from pointsman_emulator.models.batch_environment import Environment
from pointsman_emulator.models.batch_jobs import ServiceJob
from pointsman_emulator.models.batch_line import Key, WaitingLine
from pointsman_emulator.models.batch_policies import Policy
from pointsman_emulator.models.batch_values import (
    ANY_TYPE,
    FAILED,
    RUNNABLE,
    RUNNING,
    SCHEDULED,
    STARTING,
    SUBMITTED,
    SUCCEEDED,
    BatchSettings,
    FrontJob,
    Snapshot,
)

SNAPSHOT_JOBS = 100
"""API:FrontOfQueueDetail: the first 100 RUNNABLE jobs."""
TOO_LARGE = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"


class Eviction(NamedTuple):
    """A job that is to be preempted, and why."""

    job: ServiceJob
    cause: str


class Stuck(NamedTuple):
    """Why a job can never start as things are: the documented code, and a sentence."""

    code: str
    sentence: str


class JobQueue(ABC):
    """A SAGEMAKER_TRAINING queue. What orders it is its subclass."""

    def __init__(self, name: str, environment: Environment, priority: int, settings: BatchSettings, now: float) -> None:
        self.name = name
        self.environment = environment
        self.priority = priority
        self.settings = settings
        self.enabled = True
        self.in_use = 0
        self.time_limits: Mapping[str, float] = {}
        """jobStateTimeLimitActions: seconds after which a job that is stuck for this reason is terminated."""
        self.by_status: dict[str, dict[str, ServiceJob]] = {
            status: {} for status in (SUBMITTED, RUNNABLE, SCHEDULED, STARTING, RUNNING, SUCCEEDED, FAILED)
        }
        self.stuck: dict[str, ServiceJob] = {}
        """By id: jobs that Batch has found stuck (UG:sm_job_stuck_in_runnable); their `stuck` is the code."""
        self.heads: list[ServiceJob] = []
        """The jobs that the last `choose` looked at and could not start."""
        self.changed_at = now
        self.snapshot: Snapshot | None = None
        self.refresh_pending = False
        self._since: dict[str, tuple[int, float]] = {}

    @property
    @abstractmethod
    def policy(self) -> Policy | None:
        """The scheduling policy; None is first in, first out."""

    def needs(self, instances: int, types: Mapping[str, int]) -> Mapping[str, int]:
        """What a job is charged with: here all of its instances, of whatever type."""
        return {ANY_TYPE: instances}

    def key(self, job: ServiceJob) -> Key:
        """Where a job stands within its share, lower first: priority, then the tie-break (UG:share-identifiers)."""
        match self.settings.tie_break:
            case "created":
                return (-job.priority, job.created_at, job.order)
            case "newest":
                return (-job.priority, -job.created_at, -job.order)
            case "random":
                return (-job.priority, job.tie, job.order)

    @abstractmethod
    def line(self, job: ServiceJob) -> WaitingLine:
        """The line in which a job waits."""

    def add(self, job: ServiceJob) -> None:
        """A job became RUNNABLE."""
        self.line(job).add(job, self.key(job))

    def remove(self, job: ServiceJob) -> None:
        """A job is RUNNABLE no longer."""
        self.line(job).remove(job)

    def is_head(self, job: ServiceJob) -> bool:
        """Whether a waiting job is one of those that the queue looks at."""
        return self.settings.head_of_line == "skip" or self.line(job).head() is job

    def reprioritise(self, job: ServiceJob, priority: int) -> None:
        """A job of this queue gets another priority."""
        job.priority = priority
        if job.status == RUNNABLE:
            self.remove(job)
            self.add(job)

    def arrive(self, job: ServiceJob) -> None:  # noqa: B027 - fair share alone counts
        """A job was submitted."""

    def leave(self, job: ServiceJob, now: float) -> None:  # noqa: B027 - fair share alone counts
        """A job has ended."""

    def occupy(self, job: ServiceJob, now: float) -> None:
        """A job took its instances."""
        self.in_use += job.instances
        self.environment.charge(job.needs, 1)

    def vacate(self, job: ServiceJob, now: float) -> None:
        """A job gave its instances back."""
        self.in_use -= job.instances
        self.environment.charge(job.needs, -1)

    @abstractmethod
    def choose(self, now: float) -> ServiceJob | None:
        """The next job to start; None when there is none, and then `heads` says whom that holds back."""

    def evict(self, now: float) -> Iterable[Eviction]:
        """The jobs to preempt for those that `choose` could not start."""
        return ()

    def stuck_reason(self, job: ServiceJob) -> Stuck | None:
        """Why a head can never start as things are; None for an ordinary wait."""
        environment = self.environment
        unlisted = environment.by_type and not all(unit in environment.limits for unit in job.needs)
        if environment.exceeded_by(job.needs) or (unlisted and self.settings.type_without_limit == "blocked"):
            return Stuck(TOO_LARGE, "The job requires more than the service environment's maximum capacity.")
        return None

    @abstractmethod
    def order(self, now: float) -> Iterable[ServiceJob]:
        """The waiting jobs, in the order in which they would go if there were room for all."""

    def look(self, now: float, updated_at: float) -> Snapshot:
        """A snapshot of this moment. A job that moved since the last look holds its place since the last change."""
        front: list[FrontJob] = []
        since: dict[str, tuple[int, float]] = {}
        for place, job in enumerate(islice(self.order(now), SNAPSHOT_JOBS)):
            before = self._since.get(job.job_id)
            start = before[1] if before and before[0] == place else max(self.changed_at, job.created_at)
            since[job.job_id] = (place, start)
            front.append(FrontJob(job, start))
        self._since = since
        shares = {share: usage for share, usage in self.share_usage().items() if any(usage.values())}
        totals: dict[str, int] = {} if self.policy and self.environment.by_type else {ANY_TYPE: self.in_use}
        if self.environment.by_type:
            for usage in shares.values():
                for unit, instances in usage.items():
                    totals[unit] = totals.get(unit, 0) + instances
        ranked = sorted(
            ((share, sum(usage.values())) for share, usage in shares.items()), key=lambda it: (-it[1], it[0])
        )
        return Snapshot(
            self.name,
            tuple(front),
            self.in_use,
            tuple(ranked),
            updated_at,
            totals,
            {share: shares[share] for share, _ in ranked},
            self.front_of_shares(),
        )

    def share_usage(self) -> Mapping[str, Mapping[str, int]]:
        """Instances in use by share and capacity unit; nothing in a queue without shares."""
        return {}

    def front_of_shares(self) -> Mapping[str, FrontJob]:
        """The first waiting job of each quota share."""
        return {}


class FifoQueue(JobQueue):
    """A queue without policy: first in, first out; priority has no effect (API:FrontOfQueueDetail)."""

    def __init__(self, name: str, environment: Environment, priority: int, settings: BatchSettings, now: float) -> None:
        super().__init__(name, environment, priority, settings, now)
        self._line = WaitingLine(by_size=settings.head_of_line == "skip")

    @property
    def policy(self) -> None:
        """None."""
        return None

    def key(self, job: ServiceJob) -> Key:
        """By submission."""
        return (0.0, job.created_at, job.order)

    def line(self, job: ServiceJob) -> WaitingLine:
        """The only line."""
        return self._line

    def choose(self, now: float) -> ServiceJob | None:
        """The head if it fits."""
        room = self.environment.free(ANY_TYPE)
        job = self._line.candidate(lambda job: job.instances <= room and job.not_before <= now)
        head = self._line.head() if job is None else None
        self.heads = [head] if head else []
        return job

    def order(self, now: float) -> Iterable[ServiceJob]:
        """As they were submitted."""
        return self._line.walk()
