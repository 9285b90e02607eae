"""The control table: the truth that must not be lost."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from pointsman.aws.table import Item, Table, Values, attributes, number, on_condition, real, text
from pointsman.aws.unreadable import read
from pointsman.errors import Conflict
from pointsman.ports import RecordedMove, Standstill, StoredPolicy, Write
from pointsman.queues.effects import Effect
from pointsman.queues.notices import QueueNotice
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.reasons import Move, Reason

DAY = 86_400
SWITCH_TRIES = 3
OVER_DAYS = 7  # notices and effects that are over: every pass reads them all, and nothing tells of them again by then
KEPT_DAYS = 90  # moves and writes


class DynamoControl:
    """`POLICY#queue`, `QUEUES`, `EFFECT#`, `PIN#`, `WRITE#job`, `MOVE#queue`, `NOTICE#queue`, `STOP` in one table."""

    def __init__(self, dynamodb: Any, table: str) -> None:
        """Use this table."""
        self._table = Table(dynamodb, table)

    def policy(self, queue: str) -> StoredPolicy | None:
        """The version of the queue's policy that rules."""
        ruling = self._pointer(queue)
        return self.policy_version(queue, ruling) if ruling else None

    def policy_version(self, queue: str, number: int) -> StoredPolicy | None:
        """One version of the queue's policy, ruling or not; None when there never was one of this number."""
        item = self._table.get(_key(f"POLICY#{queue}", _version(number)))
        if item is None:
            return None
        return read(partial(_policy, queue, number), item, "apply the policy again")

    def put_policy(self, queue: str, document: str, now: float, by: str, *, after: int | None = None) -> StoredPolicy:
        """Store a new version beside the old ones and move the pointer to it. Raises `Conflict`."""
        before = self._pointer(queue) if after is None else after
        stored = StoredPolicy(queue, before + 1, document, now, by)
        version: Values = {"document": document, "applied_at": now, "applied_by": by}
        pointer: dict[str, Any] = {"Item": _item(f"POLICY#{queue}", "pointer", {"number": stored.number})}
        if before:
            pointer |= on_condition("#n = :n", {":n": number(before)}) | {"ExpressionAttributeNames": {"#n": "number"}}
        else:
            pointer |= on_condition("attribute_not_exists(pk)")
        new = {"Item": _item(f"POLICY#{queue}", _version(stored.number), version)}
        new |= on_condition("attribute_not_exists(pk)")
        self._table.together([("Put", new), ("Put", pointer), ("Put", {"Item": _item("QUEUES", queue, {})})])
        return stored

    def _pointer(self, queue: str) -> int:
        item = self._table.get(_key(f"POLICY#{queue}", "pointer"))
        return read(lambda found: int(found["number"]["N"]), item) if item else 0

    def queues(self) -> tuple[str, ...]:
        """Every queue that has a policy."""
        found = self._table.query("pk = :pk", {":pk": text("QUEUES")}, ConsistentRead=True)
        return tuple(item["sk"]["S"] for item in found)

    def effects(self, queue: str) -> tuple[Effect, ...]:
        """The stored effects of the queue, the oldest first."""
        found = self._table.query("pk = :pk", {":pk": text(f"EFFECT#{queue}")}, ConsistentRead=True)
        return tuple(sorted((read(_effect, item) for item in found), key=lambda e: (e.since, e.alarm, e.boost)))

    def put_effect(self, queue: str, effect: Effect) -> None:
        """Store an effect; a second write of the same one changes nothing, but that it may say when it ended."""
        end = effect.end
        values: Values = {
            "alarm": effect.alarm,
            "since": effect.since,
            "boost": effect.boost,
            "by": effect.by,
            "until": effect.until,
            "ended": effect.ended,
            "expires_at": None if end == float("inf") else int(max(end, effect.since)) + DAY * OVER_DAYS,
        }
        name = f"{effect.alarm}#{_milliseconds(effect.since)}#{effect.boost}"
        condition = "attribute_not_exists(pk)" if effect.ended is None else "attribute_not_exists(ended)"
        try:
            self._table.put(_item(f"EFFECT#{queue}", name, values), condition)
        except Conflict:
            return  # it is there already, and says as much

    def pins(self, queue: str) -> tuple[Pin, ...]:
        """What people said of single jobs of the queue; those that are over may be among them."""
        found = self._table.query("pk = :pk", {":pk": text(f"PIN#{queue}")}, ConsistentRead=True)
        return tuple(read(_pin, item) for item in found)

    def put_pin(self, queue: str, pin: Pin) -> None:
        """Store a pin; the last of a job is the one kept."""
        values: Values = {
            "until": pin.until,
            "kind": pin.kind.value,
            "by": pin.by,
            "at": pin.at,
            "expires_at": int(pin.until) + DAY,
        }
        self._table.put(_item(f"PIN#{queue}", pin.job_id, values))

    def remove_pin(self, queue: str, job_id: str) -> None:
        """Take a job's pin away, if it has one."""
        self._table.delete(_key(f"PIN#{queue}", job_id))

    def writes(self, job_ids: Iterable[str]) -> Mapping[str, Write]:
        """What we last meant these jobs to have."""
        found = self._table.get_many(_key(f"WRITE#{job_id}", "write") for job_id in dict.fromkeys(job_ids))
        return {write.job_id: write for write in (read(_write, item) for item in found)}

    def put_writes(self, writes: Sequence[Write], before: Mapping[str, Write]) -> None:
        """Store what we are about to write in the place of `before`; raises `Conflict` where another is stored."""
        self._table.put_where(
            [{"Item": _intended(write), **_in_place_of(before.get(write.job_id))} for write in writes]
        )

    def record(self, moves: Sequence[RecordedMove]) -> None:
        """Add lines to their queue's history; the same line twice is one line."""
        lines = {(item["pk"]["S"], item["sk"]["S"]): item for item in map(_line, moves)}
        self._table.put_many(lines.values())

    def moves(self, queue: str, since: float, limit: int) -> tuple[RecordedMove, ...]:
        """The queue's history from then on, the newest first."""
        found: list[RecordedMove] = []
        if limit <= 0:
            return ()
        values = {":pk": text(f"MOVE#{queue}"), ":since": text(_milliseconds(max(0.0, since)))}
        for item in self._table.query("pk = :pk AND sk >= :since", values, ScanIndexForward=False, Limit=limit):
            found.append(read(partial(_recorded, queue), item))
            if len(found) == limit:
                break
        return tuple(found)

    def notices(self, queue: str) -> tuple[QueueNotice, ...]:
        """Every notice of the queue, by key."""
        found = self._table.query("pk = :pk", {":pk": text(f"NOTICE#{queue}")}, ConsistentRead=True)
        return tuple(read(_notice, item) for item in found)

    def put_notice(self, queue: str, notice: QueueNotice, before: QueueNotice | None) -> None:
        """Store a notice in the place of `before` (None: there is none of its key). Raises `Conflict` otherwise."""
        values: Values = {
            "sentence": notice.sentence,
            "since": notice.since,
            "sent": int(notice.sent),
            "ended": int(notice.over),
            "expires_at": int(notice.since) + DAY * OVER_DAYS if notice.over or notice.happened else None,
        }
        item = _item(f"NOTICE#{queue}", notice.key, values)
        if before is None:
            self._table.put(item, "attribute_not_exists(pk)")
            return
        was = {":since": number(before.since), ":sent": number(int(before.sent)), ":over": number(int(before.over))}
        self._table.put(item, "since = :since AND sent = :sent AND ended = :over", was)

    def stopped(self) -> bool:
        """Whether `pointsman stop` is in force: then every queue only observes."""
        return self.standstill() is not None

    def standstill(self) -> Standstill | None:
        """What is in force, if everything is stopped; an item that was put by hand may say nothing of itself."""
        item = self._table.get(_key("STOP", "stop"))
        if item is None:
            return None
        said = [str(item.get(name, {}).get("S", "")) for name in ("by", "reason")]
        return Standstill(float(item.get("at", {}).get("N", 0.0)), *said)

    def stand_still(self, wanted: Standstill) -> Standstill:
        """Stop everything, and keep a line of it; gives what is in force, which is the first where there was one."""
        values: Values = {"at": wanted.at, "by": wanted.by, "reason": wanted.reason}
        line = _item("STOP", f"{_milliseconds(wanted.at)}#stop", values)
        put = {"Item": _item("STOP", "stop", values)} | on_condition("attribute_not_exists(pk)")
        for _ in range(SWITCH_TRIES):
            with suppress(Conflict):
                self._table.together([("Put", put), ("Put", {"Item": line})])
                return wanted
            if there := self.standstill():
                return there
        raise Conflict("the stop switch is thrown to and fro")

    def go_on(self, at: float, by: str, reason: str) -> Standstill | None:
        """End the standstill, and keep a line of who did; gives the one that has ended, None where there was none."""
        there = self.standstill()
        if there is None:
            return None
        line = _item("STOP", f"{_milliseconds(at)}#start", {"at": at, "by": by, "reason": reason})
        delete = {"Key": _key("STOP", "stop")} | on_condition("attribute_exists(pk)")
        if there.at:
            delete |= on_condition("#at = :at", {":at": number(there.at)}) | {"ExpressionAttributeNames": {"#at": "at"}}
        with suppress(Conflict):  # someone else has just ended it
            self._table.together([("Delete", delete), ("Put", {"Item": line})])
        return there


def _key(pk: str, sk: str) -> Item:
    return {"pk": text(pk), "sk": text(sk)}


def _item(pk: str, sk: str, values: Values) -> Item:
    return {**_key(pk, sk), **attributes(values)}


def _version(number_: int) -> str:
    return f"v#{number_:08d}"


def _milliseconds(moment: float) -> str:
    return f"{round(moment * 1000):013d}"


def _policy(queue: str, number_: int, item: Item) -> StoredPolicy:
    applied = float(item["applied_at"]["N"])
    return StoredPolicy(queue, number_, item["document"]["S"], applied, item["applied_by"]["S"])


def _effect(item: Item) -> Effect:
    return Effect(
        item["alarm"]["S"],
        float(item["since"]["N"]),
        item["boost"]["S"],
        float(item["by"]["N"]),
        real(item, "until"),
        real(item, "ended"),
    )


def _pin(item: Item) -> Pin:
    kind = PinKind(item["kind"]["S"])
    return Pin(item["sk"]["S"], float(item["until"]["N"]), kind, item["by"]["S"], float(item["at"]["N"]))


def _notice(item: Item) -> QueueNotice:
    sent, over = (item[name]["N"] == "1" for name in ("sent", "ended"))
    return QueueNotice(item["sk"]["S"], item["sentence"]["S"], float(item["since"]["N"]), sent, over)


def _intended(write: Write) -> Item:
    values: Values = {
        "submitted": write.submitted,
        "before": write.before,
        "after": write.after,
        "at": write.at,
        "expires_at": int(write.at) + DAY * KEPT_DAYS,
    }
    line = {} if write.line is None else {"queue": write.line.queue, **_told(write.line), "decided": write.line.at}
    return _item(f"WRITE#{write.job_id}", "write", {**line, **values})


def _in_place_of(before: Write | None) -> Mapping[str, Any]:
    if before is None:
        return on_condition("attribute_not_exists(pk)")
    return on_condition("#at = :at", {":at": number(before.at)}) | {"ExpressionAttributeNames": {"#at": "at"}}


def _write(item: Item) -> Write:
    return Write(
        item["pk"]["S"].removeprefix("WRITE#"),
        int(item["submitted"]["N"]),
        int(item["before"]["N"]),
        int(item["after"]["N"]),
        float(item["at"]["N"]),
        _recorded(item["queue"]["S"], {**item, "at": item["decided"]}) if "decided" in item else None,
    )


def _line(recorded: RecordedMove) -> Item:
    at = f"{_milliseconds(recorded.at)}#{recorded.move.job_id}#{recorded.move.reason.value}"
    return _item(f"MOVE#{recorded.queue}", at, _told(recorded))


def _told(recorded: RecordedMove) -> Values:
    move = recorded.move
    return {
        "at": recorded.at,
        "job": move.job_id,
        "name": move.job_name,
        "class": move.job_class,
        "before": move.before,
        "after": move.after,
        "reason": move.reason.value,
        "sentence": move.sentence,
        "policy": recorded.policy,
        "outcome": recorded.outcome,
        "expires_at": int(recorded.at) + DAY * KEPT_DAYS,
    }


def _recorded(queue: str, item: Item) -> RecordedMove:
    move = Move(
        item["job"]["S"],
        item["name"]["S"],
        item["class"]["S"],
        int(item["before"]["N"]),
        int(item["after"]["N"]),
        Reason(item["reason"]["S"]),
        item["sentence"]["S"],
    )
    return RecordedMove(queue, float(item["at"]["N"]), move, int(item["policy"]["N"]), item["outcome"]["S"])
