"""One service job, as Batch keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pointsman_emulator.models.batch_values import HOLDING, SUBMITTED, TERMINAL


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

    status: str = SUBMITTED
    status_reason: str | None = None
    attempts: list[Attempt] = field(default_factory=list)
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
