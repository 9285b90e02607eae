"""The values of the Batch model: settings, policies, and what an observer is told.

Tags such as `UG:service-job-status` name the page of the AWS Batch User Guide that a behaviour comes from; `API:X`
names the shape or operation X of the service's API model. What the documentation leaves open is a setting here, never
a truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from pointsman_emulator.models.batch_jobs import ServiceJob

SUBMITTED, RUNNABLE, SCHEDULED, STARTING = "SUBMITTED", "RUNNABLE", "SCHEDULED", "STARTING"
RUNNING, SUCCEEDED, FAILED = "RUNNING", "SUCCEEDED", "FAILED"

WAITING = frozenset({SUBMITTED, RUNNABLE})
HOLDING = frozenset({SCHEDULED, STARTING, RUNNING})
"""The states that occupy the service environment (UG:updating-service-environments)."""
TERMINAL = frozenset({SUCCEEDED, FAILED})

Dwell = float | Callable[["ServiceJob"], float]
"""Seconds in a state: a number, or a function of the job."""


class BatchRefusedError(Exception):
    """The service refuses a request. `code` is the error code that a client sees."""

    def __init__(self, message: str, code: str = "ClientException") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Every choice that the documentation leaves open, and the pace of the world around Batch."""

    head_of_line: Literal["strict", "skip"] = "strict"
    """strict: a head that does not fit holds back its whole queue (UG:service-job-submit speaks of the front only)."""
    tie_break: Literal["created", "newest", "random"] = "created"
    """Among equal priorities of one share; `created` goes by creation, then by order of submission."""
    priority_when_absent: int = 0
    optional_event_fields: bool = False
    """Whether events carry schedulingPriority, shareIdentifier, retryStrategy, scheduledAt and capacityUsage."""
    update_on_terminal: Literal["refuse", "accept"] = "refuse"
    update_on_fifo: Literal["accept", "refuse"] = "accept"
    """UpdateServiceJob has no effect in a queue without policy (API:UpdateServiceJobRequest); accepted or not: open."""
    snapshot_lag: float = 0.0
    """A snapshot shows the queue as it was at the last multiple of this many seconds."""
    list_lag: float = 0.0
    """ListServiceJobs shows the states of this many seconds ago."""
    zero_decay: Literal["window", "current"] = "window"
    """shareDecaySeconds 0: a window of 600 s (API:FairsharePolicy), or only current use (UG:fair-share-scheduling)."""
    calls_per_second: float | None = None
    """Rate of each operation but SubmitServiceJob, beyond it 429 TooManyRequestsException; None: unlimited."""
    submits_per_second: float | None = None
    """Rate of SubmitServiceJob; AWS grants 5 a second (UG:service_limits)."""
    job_seconds: float = 3600.0
    """How long a job runs whose payload does not say."""
    usage_unit: Literal["NUM_INSTANCES", "instance_type"] = "NUM_INSTANCES"
    """The unit of a job's capacityUsage: the documentation names both (API:ServiceJobCapacityUsageDetail)."""
    started_at_of_waiting: Literal["absent", "zero"] = "absent"
    """DescribeServiceJob requires startedAt, which a waiting job has not."""
    submitted_dwell: Dwell = 0.0
    scheduled_dwell: Dwell = 0.0
    """Waiting for instances; the job occupies the environment with no GPU working (UG:service-job-status)."""
    starting_dwell: Dwell = 0.0
    dispatch_delay: float = 0.0
    """Seconds between a change of the queue and the look at its head that follows."""
    bounce_rate: float = 0.0
    """Chance that SageMaker has no capacity and a SCHEDULED job returns to RUNNABLE, at no cost in attempts
    (UG:service-job-retries)."""


@dataclass(frozen=True, slots=True)
class FairShare:
    """A fair-share policy. A LOWER weight earns MORE (API:ShareAttributes); an id not listed weighs 1.0."""

    weights: dict[str, float] = field(default_factory=dict)
    decay_seconds: float = 0.0
    compute_reservation: float = 0.0

    def weight_of(self, share: str, members: Callable[[str], int] | None = None) -> float:
        """The weight of one share. Shares that match a prefix split its weight between them, so each is weaker.

        With {"team*": 1.0} and two shares of that prefix, each weighs 2.0.
        """
        if share in self.weights:
            return self.weights[share]
        for pattern, weight in self.weights.items():
            if pattern.endswith("*") and share.startswith(pattern[:-1]):
                return weight * (max(1, members(pattern[:-1])) if members else 1)
        return 1.0


class JobChange(NamedTuple):
    """What the model tells its listener: a job took a state, or the head of a queue is found blocked."""

    kind: Literal["state", "blocked"]
    at: float
    job: ServiceJob
    previous: str


class FrontJob(NamedTuple):
    """One place of a snapshot's front: a waiting job, and since when it has held that place."""

    job: ServiceJob
    since: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What GetJobQueueSnapshot knows: the first 100 RUNNABLE jobs in dispatch order, and the capacity in use."""

    queue: str
    front: tuple[FrontJob, ...]
    in_use: int
    shares: tuple[tuple[str, int], ...]
    """Instances in use per share, largest first; empty in a queue without policy."""
    updated_at: float
