"""Deliberate evictions and changed shares in the control table, which is never lost."""

import json
from contextlib import suppress
from typing import Any

from pointsman.aws.stored_values import pack, unpack
from pointsman.aws.table import Item, Table, number, text
from pointsman.aws.unreadable import read
from pointsman.errors import Conflict
from pointsman.queues.evictions import Eviction
from pointsman.queues.share_changes import ShareChange

DAY = 86_400
KEPT_DAYS = 90  # of an eviction


class DynamoShareRecords:
    """`EVICTION#queue` and `SHARE#queue` in the control table."""

    def __init__(self, dynamodb: Any, table: str) -> None:
        """Use this table."""
        self._table = Table(dynamodb, table)

    def evictions(self, queue: str, since: float) -> tuple[Eviction, ...]:
        """The queue's evictions that were asked for since then, the oldest first."""
        values = {":pk": text(f"EVICTION#{queue}"), ":since": text(_milliseconds(max(0.0, since)))}
        found = self._table.query("pk = :pk AND sk >= :since", values, ConsistentRead=True)
        return tuple(read(_eviction, item) for item in found)

    def put_eviction(self, queue: str, eviction: Eviction) -> None:
        """Store an eviction; the last of one evictor and moment is the one kept."""
        key = _key(f"EVICTION#{queue}", f"{_milliseconds(eviction.asked)}#{eviction.evictor.job_id}")
        expires = number(int(eviction.asked) + DAY * KEPT_DAYS)
        self._table.put({**key, "st": text(json.dumps(pack(eviction))), "expires_at": expires})

    def share_changes(self, queue: str) -> tuple[ShareChange, ...]:
        """What is changed of the queue's shares and not given back."""
        found = self._table.query("pk = :pk", {":pk": text(f"SHARE#{queue}")}, ConsistentRead=True)
        return tuple(read(_share_change, item) for item in found)

    def put_share_change(self, queue: str, change: ShareChange) -> None:
        """Note a change; the last of one share and setting is the one kept."""
        self._table.put({**_change(queue, change), "st": text(json.dumps(pack(change)))})

    def drop_share_change(self, queue: str, change: ShareChange) -> None:
        """Forget a change that was given back; one that was noted in its place stays."""
        stored = self._table.get(_change(queue, change))
        if stored is not None and read(_share_change, stored) == change:
            with suppress(Conflict):
                self._table.delete(_change(queue, change), "st = :this", {":this": stored["st"]})


def _eviction(item: Item) -> Eviction:
    eviction: Eviction = unpack(Eviction, json.loads(item["st"]["S"]))
    return eviction


def _share_change(item: Item) -> ShareChange:
    change: ShareChange = unpack(ShareChange, json.loads(item["st"]["S"]))
    return change


def _key(pk: str, sk: str) -> Item:
    return {"pk": text(pk), "sk": text(sk)}


def _change(queue: str, change: ShareChange) -> Item:
    return _key(f"SHARE#{queue}", f"{change.share}#{change.setting.value}")


def _milliseconds(moment: float) -> str:
    return f"{round(moment * 1000):013d}"
