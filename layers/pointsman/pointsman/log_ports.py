"""What the loops of queues tell, for the log and the metrics."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pointsman.queues.decide import Decision
    from pointsman.queues.gpu_use import GpuUse
    from pointsman.queues.reasons import Move
    from pointsman.queues.view import QueueView


@dataclass(frozen=True, slots=True)
class PassReport:
    """What one pass saw, decided and did, for the log and the metrics; `outcomes` stand beside the decision's moves.

    `preempted` are jobs that Batch has evicted since the last pass; `gpus` how busy the queue's GPUs are (None: it was
    not time to measure).
    """

    view: "QueueView"
    decision: "Decision"
    outcomes: tuple[str, ...]
    mode: str
    policy: int
    described: int
    listed: int
    problems: tuple[str, ...]
    preempted: "tuple[Move, ...]" = ()
    gpus: "GpuUse | None" = None


class PassLog(Protocol):
    """What is logged and measured of passes."""

    def correlated(self, correlation_id: str) -> AbstractContextManager[None]:
        """Inside, every line bears this id."""
        ...

    def passed(self, report: PassReport) -> None:
        """A pass came to its end."""
        ...

    def skipped(self, queue: str, why: str) -> None:
        """There was nothing to do, or someone else is doing it."""
        ...

    def failed(self, queue: str, why: str, *, known: bool) -> None:
        """A pass failed; an unknown fault is logged with its traceback."""
        ...

    def poisoned(self, reason: str, place: str) -> None:
        """A message was dead-lettered."""
        ...


class RecorderLog(Protocol):
    """What is logged and measured of job events."""

    def recorded(self, *, messages: int, jobs: int, again: int) -> None:
        """A batch was folded in; `again` messages will be delivered again."""
        ...

    def poisoned(self, reason: str, place: str) -> None:
        """A message was dead-lettered."""
        ...


class WakerLog(Protocol):
    """What is logged of wakes."""

    def woken(self, queues: tuple[str, ...], *, because: str, rollouts: tuple[str, ...] = ()) -> None:
        """These queues and rollouts were woken."""
        ...

    def poisoned(self, reason: str, place: str) -> None:
        """A message was dead-lettered."""
        ...

    def overdue(self, seconds: float) -> None:
        """For how long the queue that waits longest for its pass has been due (0: none is)."""
        ...
