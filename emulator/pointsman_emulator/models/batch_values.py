"""The values of the Batch model: states, settings, and what an observer is told.

Tags such as `UG:service-job-status` name the page of the AWS Batch User Guide that a behaviour comes from; `API:X`
names the shape or operation X of the service's API model. What the documentation leaves open is a setting here, never
a truth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

ANY_TYPE = "NUM_INSTANCES"
"""The capacity unit that counts every instance, of whatever type (API:CapacityLimit)."""

Dwell = float | Callable[["ServiceJob"], float]
"""Seconds in a state: a number, or a function of the job."""
Chance = float | Callable[["ServiceJob"], float]
"""A probability: a number, or a function of the job."""


class BatchRefusedError(Exception):
    """The service refuses a request. `code` is the error code that a client sees."""

    def __init__(self, message: str, code: str = "ClientException") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Every choice that the documentation leaves open, and the pace of the world around Batch."""

    head_of_line: Literal["strict", "share", "skip"] = "strict"
    """strict: a head that does not fit holds back its queue, or its quota share (UG:service-job-submit speaks of the
    front only); share: under fair share too it holds back its own share only; skip: the first that fits goes."""
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
    token_life: float | None = None
    """For how many seconds after its page a nextToken of ListServiceJobs is taken; None: for ever."""
    calls_per_second: float | None = None
    """Rate of each operation but SubmitServiceJob, beyond it 429 TooManyRequestsException; None: unlimited."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """Rates of single operations by their names, in place of `calls_per_second`: the service has one for each."""
    submits_per_second: float | None = None
    """Rate of SubmitServiceJob; AWS grants 5 a second (UG:service_limits)."""
    resource_delay: float = 0.0
    """How long a created, changed or deleted resource is CREATING, UPDATING or DELETING."""
    queue_with_shares: Literal["refuse", "delete"] = "refuse"
    """Whether a job queue can be deleted that still has quota shares."""
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
    queue_cycle: Literal["drain", "one"] = "drain"
    """Queues of one environment are visited in cycles (API:JobQueueDetail): each visit starts all that fits, or one."""

    zero_decay: Literal["window", "current"] = "window"
    """shareDecaySeconds 0: a window of 600 s (API:FairsharePolicy), or only current use (UG:fair-share-scheduling)."""
    decay_curve: Literal["linear", "exponential", "flat"] = "linear"
    """How use fades over the window: to nothing at its end; by a factor e in each; not at all, then gone at once."""
    order_minutes: float = 0.0
    """A term that the guide adds to the decay and does not define (UG:fair-share-scheduling)."""

    bounce_rate: Chance = 0.0
    """Chance that SageMaker has no capacity and a SCHEDULED job returns to RUNNABLE, at no cost in attempts
    (UG:service-job-retries)."""
    bounce_dwell: Dwell | None = None
    """How long such a job stays SCHEDULED; None: as long as one that gets its instances."""
    bounce_pause: Dwell = 0.0
    """How long Batch then leaves it before it tries again; meanwhile it holds its place."""
    exit_no_match: Literal["retry", "exit"] = "retry"
    """An exit that no rule of evaluateOnExit matches; container jobs are tried again."""
    exit_rules: Literal["first", "last"] = "first"
    """Which rule counts where several match."""
    timeout_from: Literal["started", "scheduled"] = "started"
    """Where attemptDurationSeconds begins; for container jobs at startedAt (API:JobTimeout)."""
    timed_out: Literal["retry", "exit"] = "retry"
    """Whether an attempt that outlived its time may be tried again, as its attempts and rules allow."""

    victim_rule: Literal["lowest", "longest", "shortest", "random"] = "lowest"
    """Who is preempted first: the lowest priority (of those the shortest run), or by time since dispatch, or by lot.
    AWS weighs borrowed instances, priority and duration, undisclosed how (UG:preemption)."""
    borrowers_first: bool = True
    """Before that rule: jobs that were started on borrowed capacity."""
    equal_priority_evicts: bool = False
    """Whether in-share preemption also takes jobs of the same priority."""
    reclaim: Literal["any", "whole"] = "any"
    """A share over its limit loses any job until it is not, or only jobs that lie wholly above the limit."""
    preemption_stop: Dwell = 20.0
    """From the decision to the end of the attempt: 20 s in the documented sample, up to the 120 s of a SIGTERM."""
    stopping_run: Literal["stops", "ends"] = "stops"
    """A run that would end while it is being stopped: it is preempted all the same, or it ends as it would have."""
    preempted_attempts_kept: int = 10
    """How many recentPreemptedAttempts a job shows; the length of that window is not documented."""
    share_visit: Literal["created", "name", "rotating"] = "created"
    """The order in which quota shares are looked at: as they were created, by name, or each first in its turn."""
    idle_key: Literal["job", "share"] = "job"
    """FIFO among borrowers: the oldest waiting job, or the order of the shares."""
    borrow_rounding: Literal["down", "up"] = "down"
    """A borrowLimit that is no whole number of instances."""
    unassigned_capacity: Literal["idle", "lendable"] = "idle"
    """What an environment has beyond the limits of all its shares."""
    limits_over_environment: Literal["accept", "refuse"] = "accept"
    """Whether the limits of the shares may add up to more than the environment has."""
    type_without_limit: Literal["wait", "blocked"] = "wait"
    """A job of a type that the environment, or its quota share, has no limit for waits (API:CapacityLimit); whether it
    counts as one that exceeds it is open."""

    def __post_init__(self) -> None:
        """Raise ValueError for a world in which a job would bounce for ever at one moment."""
        dwell = self.scheduled_dwell if self.bounce_dwell is None else self.bounce_dwell
        if self.bounce_rate == 1 and dwell == 0 and self.bounce_pause == 0:
            raise ValueError("bounce_rate 1 needs a bounce_dwell or a bounce_pause: else time would stand still")


class JobChange(NamedTuple):
    """What the model tells its listener.

    `state`: a job took a state; `blocked`: the head of a queue or quota share is found stuck, for the reason that its
    `stuck` names; `preempting`: a job's preemption began, and it keeps its state; `preempted`: it is over, and the job
    waits again or has failed (the change of state is told before).
    """

    kind: Literal["state", "blocked", "preempting", "preempted"]
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
    """Instances in use per share, largest first; none in a queue without policy. Their number is activeShareCount:
    the shares that use capacity (API:FairshareUtilizationDetail)."""
    updated_at: float
    usage: Mapping[str, int] = field(default_factory=dict)
    """In use per capacity unit: NUM_INSTANCES, or instance types under quota management."""
    share_usage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The same for each of `shares`."""
    front_of_shares: Mapping[str, FrontJob] = field(default_factory=dict)
    """The first RUNNABLE job of each quota share that has one (API:FrontOfQuotaSharesDetail)."""
