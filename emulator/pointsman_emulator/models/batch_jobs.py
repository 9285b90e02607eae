"""One service job, as Batch keeps it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pointsman_emulator.models.batch_policies import RetryRule
from pointsman_emulator.models.batch_values import HOLDING, SUBMITTED, TERMINAL

ALGORITHM_ERROR = "Received status from SageMaker: AlgorithmError: the training job failed"
"""How a failed training job reads in Batch: the prefix and a code are documented (UG:service-job-retries)."""


@dataclass(slots=True)
class Attempt:
    """One training job that Batch made for a service job."""

    name: str
    started_at: float | None = None
    stopped_at: float | None = None
    status_reason: str | None = None


@dataclass(slots=True, eq=False)
class ServiceJob:
    """A service job: what was submitted, and what became of it. Times are epoch seconds."""

    job_id: str
    name: str
    queue: str
    instances: int
    seconds: float
    """How long one attempt runs, if nothing stops it."""
    priority: int
    share: str | None
    created_at: float
    order: int
    """Its place among all submissions."""
    tie: float = 0.0
    """Its draw, where ties are broken at random."""
    failing_attempts: int = 0
    """So many of its first attempts fail."""
    max_attempts: int = 1
    attempt_seconds: float | None = None
    """timeoutConfig.attemptDurationSeconds: an attempt is stopped, as failed, after so long."""
    request: dict[str, Any] = field(default_factory=dict)
    """What the submitter sent, for those who describe the job; the model never reads it."""
    quota_share: str | None = None
    needs: Mapping[str, int] = field(default_factory=dict)
    """Instances by capacity unit: what it is charged with (API:CreateServiceEnvironmentRequest)."""
    retry_rules: tuple[RetryRule, ...] = ()
    failure_reason: str = ALGORITHM_ERROR
    """The status reason of its failing attempts."""
    preemption_retries: int | None = None
    """preemptionRetriesBeforeTermination: None is without limit, 0 fails at the first preemption."""
    checkpoint_seconds: float | None = None
    """It resumes from multiples of this much work after a preemption; None: it begins anew."""

    status: str = SUBMITTED
    status_reason: str | None = None
    attempts: list[Attempt] = field(default_factory=list)
    """Those that have ended and count; preempted ones and those without capacity do not."""
    current: Attempt | None = None
    scheduled_at: float | None = None
    started_at: float | None = None
    stopped_at: float | None = None
    terminated: bool = False
    history: list[tuple[float, str]] = field(default_factory=list)
    """Every state it took, and when."""
    step: int = 0
    """Counts its state changes; an event of an older step is void."""
    ticket: int = 0
    """Its valid entry in the line of waiting jobs."""

    stuck: str | None = None
    """The code of the detected reason for which it cannot start (UG:sm_job_stuck_in_runnable)."""
    stuck_since: float = 0.0
    told: str | None = None
    """The code that its blocking the queue was told with."""
    capacity_wait: float = 0.0
    """Seconds in SCHEDULED that ended without capacity, over all resubmissions."""
    not_before: float = 0.0
    """Batch does not try it again sooner."""

    preempting: str | None = None
    """Why it is being preempted; None when it is not. It keeps its state meanwhile."""
    preempted_count: int = 0
    """preemptionSummary.preemptedAttemptCount."""
    preempted_attempts: deque[Attempt] = field(default_factory=deque)
    """preemptionSummary.recentPreemptedAttempts, newest first."""
    borrowed: int = 0
    """Instances above its quota share's limit when it was started."""
    victim_key: tuple[float, ...] = ()
    """Its valid place among those that could be preempted."""
    work_done: float = 0.0
    """Seconds of work that its checkpoints kept."""

    @property
    def holding(self) -> bool:
        """Whether it occupies instances of the service environment."""
        return self.status in HOLDING

    @property
    def finished(self) -> bool:
        """Whether it has ended, well or not."""
        return self.status in TERMINAL

    def status_at(self, when: float) -> str | None:
        """The state that an observer of that moment saw; None before it was submitted."""
        seen = None
        for at, status in self.history:
            if at > when:
                break
            seen = status
        return seen
