"""What a pass costs before it decides: the index read by the product's own adapter, and the values made of it."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from bench.dynamodb import TABLE, StandIn
from bench.load import BUSY, NOW, QUEUE, Load, history_of
from bench.measuring import grown, timed
from pointsman.aws.job_table import DynamoJobTable
from pointsman.loops.observe import Observer
from pointsman.loops.quota import Shares
from pointsman.loops.view import jobs_of
from pointsman.ports import QueueRecord, Snapshot
from pointsman.queues.decide import decide
from pointsman.queues.kinds import QueueKind
from pointsman.queues.view import QueueView, Share


class _Clock:
    def now(self) -> float:
        return NOW


class _Batch:
    """A queue whose snapshot agrees with the table."""

    def __init__(self, load: Load) -> None:
        self._load = load

    def snapshot(self, _name: str) -> Snapshot:
        front = tuple(row.job_id for row in islice(self._load.rows(), BUSY, BUSY + 100))
        return Snapshot(front, 2 * BUSY, NOW)

    def quota_shares(self, _queue: str) -> Any:
        return self._load.description.quota_shares


class _Quiet:
    """A person who said nothing, an alarm that never fired, an S3 that has no checkpoint."""

    def pins(self, _queue: str) -> tuple[Any, ...]:
        return ()

    def effects(self, _queue: str) -> tuple[Any, ...]:
        return ()

    def evictions(self, _queue: str, _since: float) -> tuple[Any, ...]:
        return ()

    def transitions(self, _pattern: str, _since: float) -> tuple[Any, ...]:
        return ()

    def writes(self, _jobs: Iterable[str]) -> Mapping[str, Any]:
        return {}

    def newest(self, _prefix: str) -> float | None:
        return None


def observing(load: Load) -> dict[str, Any]:
    """One whole look and decision over the index; the stand-in's own time is taken out."""
    stand_in = StandIn(load.rows())
    quiet: Any = _Quiet()
    batch: Any = _Batch(load)
    table = DynamoJobTable(stand_in.client, TABLE)
    shares = Shares(batch, quiet, quiet)
    observer = Observer(_Clock(), batch, quiet, table, quiet, shares, keep=False)
    record = QueueRecord(
        QUEUE, description=load.description, described_at=NOW, swept=NOW, walked=NOW, passed_at=NOW - 60
    )
    before = grown()
    seen, seconds = timed(lambda: observer.observe(record, load.policy))
    seconds -= stand_in.seconds
    memory = grown() - before
    _, deciding = timed(lambda: decide(seen.view, load.policy))
    return {
        "waiting": len(seen.view.waiting),
        "pages": stand_in.pages,
        "read_units": stand_in.units,
        "bytes_a_job": stand_in.bytes / stand_in.items,
        "observe_seconds": seconds,
        "observe_mb": memory,
        "decide_seconds": deciding,
        "decide_mb": grown() - before - memory,
        "pass_mb": grown() - before,
        "described": seen.described,
        "listed": seen.listed,
    }


def view_of(load: Load) -> tuple[QueueView, float]:
    """What a decision is made on, and how long it took to make it of the table's rows."""
    known = {row.job_id: row for row in load.rows()}
    record, description = QueueRecord(QUEUE), load.description
    (waiting, busy, strangers), seconds = timed(lambda: jobs_of(record, description, load.policy, known, {}, NOW))
    kinds = list({job.kind: None for job in (*waiting, *busy)})
    quota = load.kind is QueueKind.QUOTA_SHARE
    shares = sorted({job.share for job in waiting})
    return QueueView(
        queue=QUEUE,
        now=NOW,
        capacity=description.capacity,
        used=sum(job.size for job in busy),
        movable=True,
        waiting=waiting,
        busy=busy,
        effects=load.effects,
        history=history_of(kinds),
        strangers=strangers,
        shares=() if quota else tuple(Share(name, used=n) for n, name in enumerate(shares)),
        quota_shares=description.quota_shares,
        pool=description.limits,
    ), seconds
