"""Walks through Batch's listing: the sight of a queue that needs no event.

One goes through the jobs that hold capacity, one through those that wait, each a few pages a pass. The queue's record
has where they are. What the first has seen is remembered until it comes to its end: only then is it known who is gone.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from zlib import crc32

from pointsman.errors import Gone, Transient
from pointsman.loops.doubts import SETTLED, SNAPSHOT_JOBS
from pointsman.ports import BatchQueues, JobTable, QueueRecord, Snapshot, Sweep
from pointsman.queues.jobs import JobRecord, Sighting, Stage, Status

PAGES = 12  # of a listing, at most, in one pass
PAGES_AFTER_DEFERRED = 1  # while the budget does not reach for priorities, which go before it
SWEEP_EVERY = 600.0  # seconds between walks when nothing is suspicious
REMEMBERED = 20_000  # jobs that a walk can have seen: 110 KB of an item that holds 400

_BUSY = (Status.SCHEDULED, Status.STARTING, Status.RUNNING)
_LINE = (Status.RUNNABLE,)
_MARK = 4  # bytes by which a walk remembers a job


@dataclass(frozen=True, slots=True)
class Listing:
    """What was listed; `complete` says that a walk has now seen every job that holds capacity since it `began`.

    `line` says that every RUNNABLE job is in it too; `seen` are the marks of what the walk saw in earlier passes.
    """

    jobs: tuple[Sighting, ...]
    pages: int
    complete: bool
    line: bool
    began: float
    seen: frozenset[int] = frozenset()
    told: tuple[str, ...] = ()

    def missing(self, known: Mapping[str, JobRecord]) -> set[str]:
        """Jobs that the table believes to hold capacity, or to wait, and that a complete listing does not have."""
        unheld = self.unheld(known)
        return {
            row.job_id
            for row in self._unlisted(known)
            if (row.stage is Stage.BUSY and row.job_id in unheld) or (self.line and row.status is Status.RUNNABLE)
        }

    def unheld(self, known: Mapping[str, JobRecord]) -> set[str]:
        """Jobs that a complete listing of who holds capacity does not have, whatever the table believes of them."""
        rows = self._unlisted(known) if self.complete else ()
        return {row.job_id for row in rows if _mark(self.began, row.job_id) not in self.seen}

    def _unlisted(self, known: Mapping[str, JobRecord]) -> list[JobRecord]:
        listed = {sighting.job_id for sighting in self.jobs}
        return [row for row in known.values() if row.job_id not in listed and self.began - row.at >= SETTLED]


def due(record: QueueRecord, snapshot: Snapshot | None, now: float) -> bool:
    """Whether a walk goes on, or begins though nothing is suspicious."""
    going = record.walk is not None or record.sweep is not None
    return going or _overdue(record.walked, now) or (_deep(snapshot) and _overdue(record.swept, now))


def sweep(
    batch: BatchQueues, jobs: JobTable, record: QueueRecord, snapshot: Snapshot | None, now: float, *, asked: bool
) -> tuple[QueueRecord, Listing]:
    """List jobs that hold capacity, and waiting ones where a snapshot does not reach; both anew where it is `asked`.

    A walk whose token Batch no longer takes begins anew in the next pass; a page that it refuses for now is asked for
    again. Neither takes all the pages of a pass from the other.
    """
    deep = _deep(snapshot)
    line = record.sweep or (Sweep(now, _LINE[0]) if asked or _overdue(record.swept, now) else None)
    line = line if deep else None
    anew = asked or _overdue(record.walked, now) or (line is not None and line.began == now)  # who left it is in either
    walk = record.walk or (Sweep(now, _BUSY[0]) if anew else None)
    most = PAGES_AFTER_DEFERRED if record.deferred else PAGES if deep else PAGES // 2
    allowed = jobs.take_budget(most, now)
    busy = _go_on(batch, record.queue, _Leg(walk), _BUSY, allowed if line is None else allowed - allowed // 2)
    waiting = _go_on(batch, record.queue, _Leg(line), _LINE, 0 if busy.told else allowed - busy.pages)
    if not (busy.told or waiting.told):
        busy = _go_on(batch, record.queue, busy, _BUSY, allowed - waiting.pages)
    marks = _marks(walk)
    whole = busy.ended and marks is not None
    record = replace(
        record,
        walk=_remembering(busy.at, marks, busy.jobs),
        walked=now if busy.ended else record.walked,
        sweep=waiting.at,
        swept=now if waiting.ended or not deep else record.swept,
    )
    at_once = walk is not None and line is not None and walk.began == line.began == now
    return record, Listing(
        jobs=(*busy.jobs, *waiting.jobs),
        pages=busy.pages + waiting.pages,
        complete=whole,
        line=whole and at_once and waiting.ended,
        began=walk.began if walk else now,
        seen=marks or frozenset(),
        told=busy.told or waiting.told,
    )


def _deep(snapshot: Snapshot | None) -> bool:
    """Whether more jobs may wait than a snapshot names."""
    return snapshot is None or not snapshot.whole or len(snapshot.front) >= SNAPSHOT_JOBS


def _overdue(last: float, now: float) -> bool:
    return abs(now - last) >= SWEEP_EVERY


@dataclass(frozen=True, slots=True)
class _Leg:
    """A walk as far as one pass took it: where it goes on (None: nowhere), and whether it has come to its end."""

    at: Sweep | None
    jobs: tuple[Sighting, ...] = ()
    pages: int = 0
    ended: bool = False
    told: tuple[str, ...] = ()


def _go_on(batch: BatchQueues, queue: str, leg: _Leg, order: tuple[Status, ...], most: int) -> _Leg:
    """The walk until it is at so many pages; it goes through the statuses in this order."""
    while leg.at is not None and leg.pages < most:
        status, token = leg.at.status, leg.at.token
        try:
            page = batch.list_jobs(queue, status, token)
        except Transient as error:
            return replace(leg, pages=leg.pages + 1, told=(f"the listing of jobs goes on in a later pass: {error}",))
        except Gone:
            if token is None:  # there is no such queue
                raise
            return replace(leg, at=None, pages=leg.pages + 1)
        ended = page.next_token is None and status is order[-1]
        following = status if page.next_token or ended else order[order.index(status) + 1]
        at = None if ended else replace(leg.at, status=following, token=page.next_token)
        leg = _Leg(at, (*leg.jobs, *page.jobs), leg.pages + 1, ended)
    return leg


def _mark(began: float, job_id: str) -> int:
    """What a walk remembers of a job. Of two jobs with one mark the next walk has other marks."""
    return crc32(f"{began!r} {job_id}".encode())


def _marks(walk: Sweep | None) -> frozenset[int] | None:
    """The marks of what a walk has seen; None where that was more than it can remember."""
    if walk is None:
        return frozenset()
    if walk.seen is None:
        return None
    packed = b64decode(walk.seen)
    return frozenset(int.from_bytes(packed[n : n + _MARK]) for n in range(0, len(packed), _MARK))


def _remembering(walk: Sweep | None, marks: frozenset[int] | None, jobs: Iterable[Sighting]) -> Sweep | None:
    """The walk with these jobs beside what it saw before."""
    if walk is None or marks is None:
        return walk
    marks |= {_mark(walk.began, job.job_id) for job in jobs}
    if len(marks) > REMEMBERED:
        return replace(walk, seen=None)
    return replace(walk, seen=b64encode(b"".join(mark.to_bytes(_MARK) for mark in sorted(marks))).decode())
