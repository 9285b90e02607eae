"""A walk through Batch's listing: the sight of a queue that needs no event."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pointsman.errors import Gone
from pointsman.loops.doubts import SETTLED, SNAPSHOT_JOBS
from pointsman.ports import BatchQueues, JobTable, QueueRecord, Snapshot, Sweep
from pointsman.queues.jobs import JobRecord, Sighting, Stage, Status

PAGES = 12  # of a listing, at most, in one pass

_BUSY = (Status.SCHEDULED, Status.STARTING, Status.RUNNING)


@dataclass(frozen=True, slots=True)
class Listing:
    """What was listed; `complete` says that every job that holds capacity is in it, `line` every RUNNABLE one too."""

    jobs: tuple[Sighting, ...]
    pages: int
    complete: bool
    line: bool
    at: float

    def missing(self, known: Mapping[str, JobRecord]) -> set[str]:
        """Jobs that the table believes to hold capacity, or to wait, and that a complete listing does not have."""
        listed = {sighting.job_id for sighting in self.jobs}
        return {
            row.job_id
            for row in known.values()
            if row.job_id not in listed
            and self.at - row.at >= SETTLED
            and ((self.complete and row.stage is Stage.BUSY) or (self.line and row.status is Status.RUNNABLE))
        }


def sweep(
    batch: BatchQueues, jobs: JobTable, record: QueueRecord, snapshot: Snapshot | None, now: float
) -> tuple[QueueRecord, Listing]:
    """List the jobs that hold capacity, and more of the waiting ones where a snapshot does not reach.

    The walk through the waiting jobs goes on where the last pass left it; the record says where.
    """
    deep = snapshot is None or not snapshot.whole or len(snapshot.front) >= SNAPSHOT_JOBS
    allowed = jobs.take_budget(PAGES if deep else PAGES // 2, now)
    seen: list[Sighting] = []
    pages, busy, complete = 0, Sweep(now, _BUSY[0]), False
    while pages < allowed and not complete:
        page = batch.list_jobs(record.queue, busy.status, busy.token)
        pages, seen = pages + 1, [*seen, *page.jobs]
        complete = page.next_token is None and busy.status is _BUSY[-1]
        following = busy.status if page.next_token or complete else _BUSY[_BUSY.index(busy.status) + 1]
        busy = Sweep(now, following, page.next_token)
    waiting = (record.sweep or Sweep(now, Status.RUNNABLE)) if deep else None
    at_once = deep and record.sweep is None
    while waiting is not None and pages < allowed:
        try:
            page = batch.list_jobs(record.queue, waiting.status, waiting.token)
        except Gone:
            if waiting.token is None:
                raise
            return replace(record, sweep=None), Listing(tuple(seen), pages + 1, complete, line=False, at=now)
        pages, seen = pages + 1, [*seen, *page.jobs]
        waiting = Sweep(waiting.began, waiting.status, page.next_token) if page.next_token else None
    record = replace(record, sweep=waiting, swept=now if waiting is None else record.swept)
    return record, Listing(tuple(seen), pages, complete, complete and at_once and waiting is None, now)
