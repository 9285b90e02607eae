"""What of a queue's pool is not its own to use: what other queues take of it, and what its policy keeps back."""

from dataclasses import dataclass
from math import ceil

from pointsman.errors import Gone, Transient
from pointsman.loops.view import table_use
from pointsman.ports import BatchQueues, JobTable, QueueDescription
from pointsman.queues.jobs import Stage

SIBLINGS = 8  # of whom a snapshot is taken in one pass; the table answers for the others


@dataclass(frozen=True, slots=True)
class Room:
    """Instances that others use, and that are kept back; `told` is what people should know of how well it is known."""

    elsewhere: int = 0
    withheld: int = 0
    told: tuple[str, ...] = ()


def room_of(batch: BatchQueues, jobs: JobTable, queue: QueueDescription, active: int, now: float) -> Room:
    """What is not the queue's own; `active` is how many of its shares have jobs.

    A reservation of r keeps back (r / 100) ^ active of the pool for shares that have no jobs.
    """
    elsewhere = 0
    guessed: list[str] = []
    for n, name in enumerate(queue.siblings):
        used = _snapshot(batch, jobs, name, now) if n < SIBLINGS else None
        if used is None:
            rows = {row.job_id: row for row in jobs.active(name)}
            used = table_use(rows)
            if any(row.stage is Stage.BUSY and row.detail is None for row in rows.values()):
                guessed.append(name)
        elsewhere += used
    told: list[str] = []
    if guessed:
        told.append(
            f"{', '.join(guessed)} use the same service environment, and how much is known by events only: at most "
            "what is shown is free"
        )
    withheld = 0
    if queue.reservation:
        withheld = ceil(queue.capacity * (queue.reservation / 100) ** max(1, active) - 1e-9)
        told.append(
            f"its scheduling policy keeps {queue.reservation} % to the power of the active shares back for the others "
            f"(computeReservation): {withheld} of {queue.capacity} instances now, as far as its shares are known"
        )
    return Room(elsewhere, withheld, tuple(told))


def _snapshot(batch: BatchQueues, jobs: JobTable, name: str, now: float) -> int | None:
    if not jobs.take_budget(1, now):
        return None
    try:
        return batch.snapshot(name).used
    except (Gone, Transient):
        return None
