"""`DAY#queue` in the control table: one item a UTC day, the newest with its ledger."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from functools import partial
from typing import Any

from pointsman.aws.stored_values import unpack
from pointsman.aws.table import Item, Table, number, on_condition, text
from pointsman.aws.unreadable import read
from pointsman.queues.day_sums import ClassSums, DaySums, Use
from pointsman.queues.days import Counted, Day, Ledger

KEPT_DAYS = 400
DAY = 86_400
_COUNTED = tuple[int, int, float | None, float]
_SUMS = {field.name for field in fields(DaySums)}


class DynamoDayTable:
    """The sums of days, beside the truth."""

    def __init__(self, dynamodb: Any, table: str) -> None:
        """Use this table."""
        self._table = Table(dynamodb, table)

    def newest(self, queue: str) -> Day | None:
        """The newest day of the queue, with its ledger."""
        values = {":pk": text(f"DAY#{queue}")}
        found = self._table.query("pk = :pk", values, ScanIndexForward=False, Limit=1, ConsistentRead=True)
        item = next(found, None)
        return None if item is None else read(partial(_day, queue), item)

    def save(self, days: Sequence[Day]) -> None:
        """Store these days, all or none, if each still has its version; raises `Conflict`."""
        if len(days) == 1:
            self._table.put(_item(days[0]), **_condition(days[0]))
            return
        self._table.together([("Put", {"Item": _item(day), **on_condition(**_condition(day))}) for day in days])

    def days(self, queue: str, first: str, last: str) -> tuple[Day, ...]:
        """The days of the queue from the first to the last, the oldest first."""
        values = {":pk": text(f"DAY#{queue}"), ":first": text(first), ":last": text(last)}
        found = self._table.query("pk = :pk AND sk BETWEEN :first AND :last", values)
        return tuple(replace(read(partial(_day, queue), item), ledger=None) for item in found)


def _condition(day: Day) -> dict[str, Any]:
    if day.version == 0:
        return {"condition": "attribute_not_exists(pk)", "values": None}
    return {"condition": "v = :v", "values": {":v": number(day.version)}}


def _item(day: Day) -> Item:
    item = {
        "pk": text(f"DAY#{day.queue}"),
        "sk": text(day.day),
        "sums": text(_json(asdict(day.sums))),
        "v": number(day.version + 1),
        "expires_at": number(int(datetime.fromisoformat(f"{day.day}T00:00:00+00:00").timestamp()) + KEPT_DAYS * DAY),
    }
    if day.ledger is not None:
        jobs = {i: [one.preemptions, one.gpus, one.unsaved, round(one.seen)] for i, one in day.ledger.jobs.items()}
        state = {"at": day.ledger.at, "use": asdict(day.ledger.use), "jobs": jobs}
        item["ledger"] = {"B": zlib.compress(_json(state).encode())}
    return item


def _day(queue: str, item: Item) -> Day:
    """The stored day; fields that a later release added are left out."""
    told = {name: value for name, value in json.loads(item["sums"]["S"]).items() if name in _SUMS}
    classes = {name: _class(sums) for name, sums in told.pop("classes", {}).items()}
    evictions = {reason: unpack(int, count) for reason, count in told.pop("evictions", {}).items()}
    ledger = None
    if "ledger" in item:
        state = json.loads(zlib.decompress(item["ledger"]["B"]))
        counted = {i: Counted(*unpack(_COUNTED, one)) for i, one in state["jobs"].items()}
        ledger = Ledger(unpack(float, state["at"]), unpack(Use, state["use"]), counted)
    sums = replace(unpack(DaySums, told), evictions=evictions, classes=classes)
    return Day(queue, item["sk"]["S"], sums, ledger, int(item["v"]["N"]))


def _class(told: dict[str, Any]) -> ClassSums:
    buckets = {int(n): unpack(int, count) for n, count in told.pop("buckets", {}).items()}
    sums: ClassSums = replace(unpack(ClassSums, told), buckets=buckets)
    return sums


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
