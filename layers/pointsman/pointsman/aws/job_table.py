"""The job table: the cache that Batch can rebuild."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, TypeVar

from pointsman.aws import job_items
from pointsman.aws.stored_values import unpack
from pointsman.aws.table import Item, Table, number, text
from pointsman.aws.unreadable import read
from pointsman.errors import Conflict, Unreadable
from pointsman.ports import QueueRecord
from pointsman.queues.estimates import History
from pointsman.queues.jobs import JobRecord

CALLS_A_SECOND = 2.0  # the account's budget of Batch calls, and what it saves up
SAVED_CALLS = 120
AMISS = 300.0  # seconds by which a bucket is ahead that a wrong clock has filled: from then on it fills from now
BUDGET_TRIES = 4
HISTORY_BYTES = 390_000  # an item holds 400 KB
NEW = "attribute_not_exists(pk)"
UNCHANGED = "v = :v"
MADE_ANEW = "nothing is to be done, it is made anew"

_Value = TypeVar("_Value")


class DynamoJobTable:
    """`JOB#id`, `QUEUE#name`, `ESTIMATE#queue` and `BUDGET` in one table with one sparse index.

    An item that cannot be read counts as none, and the next that is stored takes its place: Batch can rebuild it.
    `told` is told which and why.
    """

    def __init__(
        self,
        dynamodb: Any,
        table: str,
        *,
        calls_a_second: float = CALLS_A_SECOND,
        saved_calls: int = SAVED_CALLS,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Use this table."""
        self._table = Table(dynamodb, table)
        self._told = told
        self._rate = calls_a_second
        self._most = saved_calls
        self._bucket: _Bucket | None = None

    def load(self, job_ids: Iterable[str]) -> Mapping[str, JobRecord]:
        """The stored records of these jobs, read consistently; the unknown are left out."""
        found = self._table.get_many(job_items.key(job_id) for job_id in dict.fromkeys(job_ids))
        return {record.job_id: record for record in self._readable(job_items.decode, found)}

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
        return tuple(self._readable(partial(job_items.decode, queue=queue), found))

    def queue(self, name: str) -> QueueRecord:
        """The queue's record; one of version 0 when there is none."""
        item = self._table.get({"pk": text(f"QUEUE#{name}")})
        found = self._readable(partial(_queue_record, name), [item] if item else ())
        return next(found, QueueRecord(name))

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
        return next(self._readable(_history, [item] if item else ()), History())

    def save_history(self, queue: str, history: History) -> None:
        """Store what has been learned, to the tenth of a second, and of that the newest that one item holds.

        Raises `Conflict` when another pass has learned since.
        """
        circles = [(circle, [round(s, 1) for s in seconds]) for circle, seconds in history.circles.items()]
        packed, taught = _packed(circles), json.dumps(history.taught)
        most = HISTORY_BYTES - len(taught)
        while len(packed) > most:
            keep = int(len(circles) * 0.95 * most / len(packed))
            circles = circles[len(circles) - keep :]
            packed = _packed(circles)
        crashes = json.dumps(history.crashes, ensure_ascii=False, separators=(",", ":"))
        if len(packed) + len(crashes.encode()) > most:
            crashes = "{}"  # the run times are worth more, and what still fails is counted anew
        stored = {"h": {"B": packed}, "c": text(crashes), "t": text(taught), "v": number(history.version + 1)}
        self._put({"pk": text(f"ESTIMATE#{queue}"), **stored}, history.version)

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
            if granted == 0 and at >= bucket.at and bucket.version:
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
        return next(self._readable(_bucket, [item]), _Bucket(0.0, now, 0))

    def _readable(self, reader: Callable[[Item], _Value], items: Iterable[Item]) -> Iterator[_Value]:
        for item in items:
            try:
                yield read(reader, item, MADE_ANEW)
            except Unreadable as error:
                self._told(str(error))

    def _put(self, item: Item, version: int) -> None:
        if version:
            self._table.put(item, UNCHANGED, {":v": number(version)})
            return
        try:
            self._table.put(item, NEW)
        except Conflict:
            there = next(self._table.get_many([{"pk": item["pk"]}]), None)
            if there is None or _is_sound(there):
                raise
            same = {name: there[name] for name in ("st", "v") if name in there}
            gone = [f"attribute_not_exists({name})" for name in ("st", "v") if name not in there]
            condition = " AND ".join([*(f"{name} = :{name}" for name in same), *gone])
            self._table.put(item, condition, {f":{name}": value for name, value in same.items()})


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


def _is_sound(item: Item) -> bool:
    """Whether the item can be read, and has a version: a history of an older release has none."""
    kind, _, name = item["pk"]["S"].partition("#")
    readers: dict[str, Callable[[Item], object]] = {
        "JOB": job_items.decode, "QUEUE": partial(_queue_record, name), "ESTIMATE": _history,
    }  # fmt: skip
    try:
        read(readers.get(kind, _bucket), item)
    except Unreadable:
        return False
    return "v" in item


def _bucket(item: Item) -> _Bucket:
    return _Bucket(float(item["tokens"]["N"]), float(item["at"]["N"]), int(item["v"]["N"]))


def _history(item: Item) -> History:
    circles = json.loads(zlib.decompress(item["h"]["B"]))
    crashes = json.loads(item["c"]["S"]) if "c" in item else {}
    return History(
        {circle: unpack(tuple[float, ...], seconds) for circle, seconds in circles.items()},
        {circle: unpack(int, count) for circle, count in crashes.items()},
        unpack(tuple[str, ...], json.loads(item["t"]["S"])) if "t" in item else (),
        int(item["v"]["N"]) if "v" in item else 0,
    )


def _queue_record(name: str, item: Item) -> QueueRecord:
    """The stored record; fields that another release of ours stored and this one lacks are left out."""
    state = json.loads(item["st"]["S"])
    record: QueueRecord = unpack(QueueRecord, {**state, "queue": name, "version": int(item["v"]["N"])})
    return record
