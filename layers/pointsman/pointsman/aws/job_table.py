"""The job table: the cache that Batch can rebuild."""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from pointsman.aws import job_items
from pointsman.aws.stored_values import unpack
from pointsman.aws.table import Item, Table, number, text
from pointsman.errors import Conflict
from pointsman.ports import QueueDescription, QueueRecord, Sweep
from pointsman.queues.estimates import History
from pointsman.queues.jobs import JobRecord, Status
from pointsman.queues.usage import Usage

CALLS_A_SECOND = 2.0  # the account's budget of Batch calls, and what it saves up
SAVED_CALLS = 120
AMISS = 300.0  # seconds by which a bucket is ahead that a wrong clock has filled: from then on it fills from now
BUDGET_TRIES = 4
HISTORY_BYTES = 390_000  # an item holds 400 KB
NEW = "attribute_not_exists(pk)"
UNCHANGED = "v = :v"


class DynamoJobTable:
    """`JOB#id`, `QUEUE#name`, `ESTIMATE#queue` and `BUDGET` in one table with one sparse index."""

    def __init__(
        self, dynamodb: Any, table: str, *, calls_a_second: float = CALLS_A_SECOND, saved_calls: int = SAVED_CALLS
    ) -> None:
        """Use this table."""
        self._table = Table(dynamodb, table)
        self._rate = calls_a_second
        self._most = saved_calls
        self._bucket: _Bucket | None = None

    def load(self, job_ids: Iterable[str]) -> Mapping[str, JobRecord]:
        """The stored records of these jobs, read consistently; the unknown are left out."""
        found = self._table.get_many(job_items.key(job_id) for job_id in dict.fromkeys(job_ids))
        return {record.job_id: record for record in map(job_items.decode, found)}

    def save(self, record: JobRecord) -> JobRecord:
        """Store the record if it still has its version; the stored one has the next. Raises `Conflict`."""
        stored = job_items.rounded(replace(record, version=record.version + 1))
        self._put(job_items.encode(stored), record.version)
        return stored

    def active(self, queue: str) -> tuple[JobRecord, ...]:
        """Every job of the queue that waits, holds capacity, or has ended without having been learned from."""
        found = self._table.query(
            "q = :q", {":q": text(queue)}, IndexName="active_by_queue", ProjectionExpression=job_items.READ
        )
        return tuple(job_items.decode(item, queue) for item in found)

    def queue(self, name: str) -> QueueRecord:
        """The queue's record; one of version 0 when there is none."""
        item = self._table.get({"pk": text(f"QUEUE#{name}")})
        return QueueRecord(name) if item is None else _queue_record(name, item)

    def save_queue(self, record: QueueRecord) -> QueueRecord:
        """Store the record if it still has its version; the stored one has the next. Raises `Conflict`."""
        stored = replace(record, version=record.version + 1)
        state = {k: v for k, v in asdict(stored).items() if k not in ("queue", "version")}
        item = {"pk": text(f"QUEUE#{record.queue}"), "st": text(json.dumps(state)), "v": number(stored.version)}
        self._put(item, record.version)
        return stored

    def history(self, queue: str) -> History:
        """What run times have been learned of the queue's jobs."""
        item = self._table.get({"pk": text(f"ESTIMATE#{queue}")})
        if item is None:
            return History()
        circles = json.loads(zlib.decompress(item["h"]["B"]))
        crashes = json.loads(item["c"]["S"]) if "c" in item else {}
        return History({circle: tuple(map(float, seconds)) for circle, seconds in circles.items()}, crashes)

    def save_history(self, queue: str, history: History) -> None:
        """Store what has been learned, to the tenth of a second, and of that the newest that one item holds."""
        circles = [(circle, [round(s, 1) for s in seconds]) for circle, seconds in history.circles.items()]
        packed = _packed(circles)
        while len(packed) > HISTORY_BYTES:
            keep = int(len(circles) * 0.95 * HISTORY_BYTES / len(packed))
            circles = circles[len(circles) - keep :]
            packed = _packed(circles)
        crashes = json.dumps(history.crashes, ensure_ascii=False, separators=(",", ":"))
        if len(packed) + len(crashes.encode()) > HISTORY_BYTES:
            crashes = "{}"  # the run times are worth more, and what still fails is counted anew
        self._table.put({"pk": text(f"ESTIMATE#{queue}"), "h": {"B": packed}, "c": text(crashes)})

    def take_budget(self, wanted: int, now: float) -> int:
        """How many of the wanted API calls may be made now; none when others take from the bucket all the time.

        What this process left in the bucket is tried first: the write's condition tells when someone else was there.
        """
        if wanted <= 0:
            return 0
        for _ in range(BUDGET_TRIES):
            bucket = self._bucket or self._read_bucket(now)
            self._bucket = None
            at = now if bucket.at > now + AMISS else max(now, bucket.at)
            tokens = min(float(self._most), bucket.tokens + self._rate * max(0.0, at - bucket.at))
            granted = min(wanted, int(tokens))
            if granted == 0 and at >= bucket.at:
                return 0
            left = _Bucket(tokens - granted, at, bucket.version + 1)
            try:
                self._put({"pk": text("BUDGET"), **left.item()}, bucket.version)
            except Conflict:
                continue
            self._bucket = left
            return granted
        return 0

    def _read_bucket(self, now: float) -> "_Bucket":
        item = self._table.get({"pk": text("BUDGET")})
        if item is None:
            return _Bucket(float(self._most), now, 0)
        return _Bucket(float(item["tokens"]["N"]), float(item["at"]["N"]), int(item["v"]["N"]))

    def _put(self, item: Item, version: int) -> None:
        if version == 0:
            self._table.put(item, NEW)
        else:
            self._table.put(item, UNCHANGED, {":v": number(version)})


@dataclass(frozen=True, slots=True)
class _Bucket:
    """The account's API budget: so many tokens were left at a time."""

    tokens: float
    at: float
    version: int

    def item(self) -> Item:
        return {"tokens": number(self.tokens), "at": number(self.at), "v": number(self.version)}


def _packed(circles: list[tuple[str, list[float]]]) -> bytes:
    return zlib.compress(json.dumps(dict(circles), separators=(",", ":")).encode())


def _queue_record(name: str, item: Item) -> QueueRecord:
    """The stored record; fields that another release of ours stored and this one lacks are left out."""
    known = {field.name for field in fields(QueueRecord)}
    state: dict[str, Any] = {k: v for k, v in json.loads(item["st"]["S"]).items() if k in known}
    if description := state.get("description"):
        state["description"] = unpack(QueueDescription, description)
    if sweep := state.get("sweep"):
        state["sweep"] = Sweep(**{**sweep, "status": Status(sweep["status"])})
    if usage := state.get("usage"):
        state["usage"] = unpack(Usage, usage)
    state["suspects"] = tuple(state.get("suspects", ()))
    for pairs in ("priorities", "would", "preempted", "saved"):
        state[pairs] = tuple((job_id, value) for job_id, value in state.get(pairs, ()))
    return QueueRecord(queue=name, version=int(item["v"]["N"]), **state)
