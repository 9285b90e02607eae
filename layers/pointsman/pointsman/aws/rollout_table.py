"""Rollouts in the control table.

The record is always read first: a component's item that is newer than it belongs to a commit that makes ours fail.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pointsman.aws import rollout_items as items
from pointsman.aws.rollout_index import ENDED, OPEN, DynamoRolloutIndex, item_key
from pointsman.aws.table import Item, number, text
from pointsman.aws.unreadable import read
from pointsman.errors import Conflict, Gone
from pointsman.rollout_ports import Refusal, StoredRollout
from pointsman.rollouts.decision import Decision, JournalEntry, ResumeScaling, SetCopies, SubmitUpdate, SuspendScaling
from pointsman.rollouts.draft import MOST_CHANGES
from pointsman.rollouts.observations import LockView
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.reasons import Notice
from pointsman.rollouts.record import SCHEMA, RolloutRecord
from pointsman.rollouts.request import Request

MOST_ITEMS = 100  # of one transaction
LATE = 99_999_999  # stands for the revision of a notice that came after the end
Action = tuple[str, Mapping[str, Any]]


class DynamoRolloutTable(DynamoRolloutIndex):
    """`ROLLOUT#id` with its record, components, plan, journal and notices, `LOCK#endpoint` and `ROLLOUTS`."""

    def create(self, request: Request, decision: Decision) -> None:
        """Store a new rollout with its first journal line and notices. Raises `Conflict` when its id is taken."""
        record, line = decision.record, _line(decision)
        item = {
            **item_key(record.rollout),
            "request": text(items.written(request)),
            "schema": number(SCHEMA),
            "rev": number(record.rev),
            "phase": text(record.phase.value),
            "state": text(items.state_of(record)),
            "refusals": text("{}"),
            "wake_seq": number(0),
            "generation": number(1),
            "passes": number(0),
            "open": text(OPEN),
            "next_wake_at": number(line.at),
            **({"unsent": number(record.rev)} if decision.notices else {}),
            **_wakers(decision),
        }
        listed = {"pk": text("ROLLOUTS"), "sk": text(f"{round(line.at * 1000):013d}#{record.rollout}")}
        actions: list[Action] = [
            ("Put", {"Item": item, "ConditionExpression": "attribute_not_exists(pk)"}),
            ("Put", {"Item": listed}),
            ("Put", {"Item": items.journal_item(record.rollout, line)}),
            *self._planned(decision),
            *_taken(decision),
        ]
        self._table.together([*actions, *_notices(record.rollout, decision, MOST_ITEMS - len(actions))])

    def load(self, rollout: str) -> StoredRollout:
        """The rollout, whole, for a pass that will commit on its `rev`; raises `Gone` when there is none."""
        item = self._table.get(item_key(rollout))
        if item is None:
            raise Gone(f"there is no rollout {rollout}")
        plan = self._table.get(item_key(rollout, "PLAN"))
        planned = None if plan is None else (plan, self._parts(rollout, "SPEC#"))
        return items.read_rollout(item, planned, self._parts(rollout, "COMPONENT#"))

    def commit(self, read: StoredRollout, decision: Decision, wake_at: float, generation: int) -> StoredRollout:
        """Store the decision's record, plan, locks, journal line and notices, all or nothing; count a pass."""
        before, after = read.record, decision.record
        actions: list[Action] = [("Update", _advanced(read, decision, wake_at, generation))]
        if decision.plan is not None:
            actions += self._planned(decision)
        else:
            if len(decision.changed) > MOST_CHANGES:
                raise ValueError(f"{len(decision.changed)} components change in one pass")
            changed = decision.journal.components if decision.journal else ()
            actions += [("Put", {"Item": items.component_item(after.rollout, part)}) for part in changed]
        actions.append(("Put", {"Item": items.journal_item(after.rollout, _line(decision))}))
        actions += _taken(decision)
        ours = self.locks(decision.unlocks)
        mine = [e for e in decision.unlocks if e in ours and ours[e].owner == after.rollout]
        actions += [_given_up(after.rollout, endpoint) for endpoint in mine]
        held = _held(before, decision, read.plan)
        actions += held[: MOST_ITEMS - 1 - len(actions)]
        actions += _notices(after.rollout, decision, MOST_ITEMS - len(actions))
        self._table.together(actions)
        return replace(
            read,
            record=after,
            plan=decision.plan or read.plan,
            generation=generation,
            passes=0 if generation != read.generation else read.passes + 1,
            next_wake_at=wake_at,
            unsent=after.rev if decision.notices else read.unsent,
        )

    def sleep(self, read: StoredRollout, wake_at: float, generation: int) -> None:
        """Nothing has changed: store when to look again, and count a pass. Raises `Conflict`."""
        passes = "passes = passes + :one" if generation == read.generation else "passes = :none"
        self._table.update(
            item_key(read.record.rollout),
            UpdateExpression=f"SET next_wake_at = :wake, generation = :generation, {passes}",
            ConditionExpression="rev = :rev AND generation = :before",
            ExpressionAttributeValues={
                ":wake": number(wake_at),
                ":rev": number(read.record.rev),
                ":before": number(read.generation),
                ":generation": number(generation),
                **({":one": number(1)} if generation == read.generation else {":none": number(0)}),
            },
        )

    def reply(self, rollout: str, refusals: Mapping[str, Refusal]) -> None:
        """Keep what SageMaker refused; the last refusal of a component is the one kept."""
        self._table.update(
            item_key(rollout),
            UpdateExpression="SET refusals = :refusals",
            ConditionExpression="attribute_exists(pk)",
            ExpressionAttributeValues={":refusals": text(items.written_refusals(refusals))},
        )

    def rollouts(self, limit: int) -> tuple[str, ...]:
        """The ids of the last rollouts that were asked for, the newest first."""
        found: list[str] = []
        options = {"ScanIndexForward": False, "Limit": limit, "ConsistentRead": True}
        for item in self._table.query("pk = :pk", {":pk": text("ROLLOUTS")}, **options) if limit > 0 else ():
            found.append(item["sk"]["S"].partition("#")[2])
            if len(found) == limit:
                break
        return tuple(found)

    def locks(self, endpoints: Iterable[str]) -> Mapping[str, LockView]:
        """Who has these endpoints; one that was never locked is left out."""
        found = self._table.get_many(items.lock_key(endpoint) for endpoint in dict.fromkeys(endpoints))
        return dict(read(_lock, item) for item in found)

    def journal(self, rollout: str) -> tuple[JournalEntry, ...]:
        """Every commit of the rollout, the oldest first."""
        return tuple(read(items.read_journal, item) for item in self._parts(rollout, "JOURNAL#"))

    def notices(self, rollout: str) -> tuple[Notice, ...]:
        """The notices that were not sent, the oldest first."""
        rows = [row for row in self._parts(rollout, "NOTICE#") if "sent" not in row]
        return tuple(notice for _, _, notice in sorted(read(_noticed, row) for row in rows))

    def sent(self, rollout: str, key: str) -> None:
        """Remember that this notice was sent."""
        self._table.update(
            item_key(rollout, f"NOTICE#{key}"),
            UpdateExpression="SET sent = :yes",
            ExpressionAttributeValues={":yes": {"BOOL": True}},
        )

    def settle(self, rollout: str, unsent: int) -> None:
        """All notices up to this revision were sent."""
        with suppress(Conflict):  # another commit has left notices since
            self._table.update(
                item_key(rollout),
                UpdateExpression="REMOVE unsent",
                ConditionExpression="unsent = :unsent",
                ExpressionAttributeValues={":unsent": number(unsent)},
            )

    def late(self, rollout: str, notice: Notice) -> None:
        """Add a notice to a rollout that has ended, once; one that has not ended is left alone."""
        key, at = item_key(rollout, f"NOTICE#{notice.key}"), number(LATE)
        with suppress(Conflict):
            self._table.together(
                [
                    (
                        "Put",
                        {
                            "Item": {**key, "sentence": text(notice.sentence), "rev": at},
                            "ConditionExpression": "attribute_not_exists(pk)",
                        },
                    ),
                    (
                        "Update",
                        {
                            "Key": item_key(rollout),
                            # another number each time: whoever sends what was there before does not settle this
                            "UpdateExpression": "SET unsent = if_not_exists(unsent, :none) + :late",
                            "ConditionExpression": f"phase IN ({', '.join(ENDED)})",
                            "ExpressionAttributeValues": {":late": at, ":none": number(0), **ENDED},
                        },
                    ),
                ]
            )

    def _planned(self, decision: Decision) -> list[Action]:
        """The plan that a decision freezes; its specifications are there before the commit that needs them."""
        if decision.plan is None:
            return []
        item, specs = items.plan_items(decision.plan, decision.record.components)
        self._table.put_many(specs)
        return [("Put", {"Item": item})]

    def _parts(self, rollout: str, prefix: str) -> Iterator[Item]:
        values = {":pk": text(f"ROLLOUT#{rollout}"), ":sk": text(prefix)}
        return self._table.query("pk = :pk AND begins_with(sk, :sk)", values, ConsistentRead=True)


def _lock(item: Item) -> tuple[str, LockView]:
    return item["pk"]["S"].removeprefix("LOCK#"), LockView(item["owner"]["S"], int(item["fence"]["N"]))


def _noticed(row: Item) -> tuple[int, str, Notice]:
    key: str = row["sk"]["S"]
    return int(row["rev"]["N"]), key, Notice(key.removeprefix("NOTICE#"), row["sentence"]["S"])


def _line(decision: Decision) -> JournalEntry:
    if decision.journal is None:
        raise ValueError("nothing has changed, so there is nothing to commit")
    return decision.journal


def _advanced(read: StoredRollout, decision: Decision, wake_at: float, generation: int) -> Mapping[str, Any]:
    """The update of the record's item; what the clock and its wakers write is left alone."""
    after = decision.record
    values: dict[str, Any] = {
        "rev": number(after.rev),
        "schema": number(SCHEMA),
        "phase": text(after.phase.value),
        "state": text(items.state_of(after)),
        "next_wake_at": number(wake_at),
        "generation": number(generation),
        "passes": number(0 if generation != read.generation else read.passes + 1),
    }
    if decision.notices:
        values["unsent"] = number(after.rev)
    values |= _wakers(decision)
    return {
        "Key": item_key(after.rollout),
        "UpdateExpression": "SET " + ", ".join(f"#{name} = :{name}" for name in values),
        "ConditionExpression": "#rev = :before AND #generation = :this",
        "ExpressionAttributeNames": {f"#{name}": name for name in values},
        "ExpressionAttributeValues": {
            **{f":{name}": value for name, value in values.items()},
            ":before": number(read.record.rev),
            ":this": number(read.generation),
        },
    }


def _wakers(decision: Decision) -> dict[str, Any]:
    """Whose events wake the rollout, as attributes of its line in the index."""
    if decision.plan is None or not decision.plan.endpoints:
        return {}
    alarms = {watch.alarm for watch in decision.plan.watches} | {decision.record.kill_switch}
    return {"alarms": {"SS": sorted(alarms)}, "endpoints": {"SS": list(decision.plan.endpoints)}}


def _taken(decision: Decision) -> list[Action]:
    """The locks; one that an ended rollout kept for a person goes to a rollout that is linked to it."""
    rollout = decision.record.rollout
    before = decision.plan.request.retry_of if decision.plan is not None else ""
    owners = {":nobody": text(""), ":me": text(rollout), ":linked": text(before)}
    return [
        (
            "Put",
            {
                "Item": {
                    **items.lock_key(endpoint),
                    "owner": text(rollout),
                    "fence": number(fence),
                    "schema": number(SCHEMA),
                },
                "ConditionExpression": "attribute_not_exists(pk) OR "
                "(fence = :before AND #owner IN (:nobody, :me, :linked))",
                "ExpressionAttributeNames": {"#owner": "owner"},
                "ExpressionAttributeValues": {":before": number(fence - 1), **owners},
            },
        )
        for endpoint, fence in decision.locks
    ]


def _given_up(rollout: str, endpoint: str) -> Action:
    return "Update", {
        "Key": items.lock_key(endpoint),
        "UpdateExpression": "SET #owner = :nobody",
        "ConditionExpression": "#owner = :me",
        "ExpressionAttributeNames": {"#owner": "owner"},
        "ExpressionAttributeValues": {":nobody": text(""), ":me": text(rollout)},
    }


def _held(before: RolloutRecord, decision: Decision, plan: Plan | None) -> list[Action]:
    """That the endpoints which this pass's acts touch are still ours, under our fences."""
    if plan is None:
        return []
    touched = {a.component for a in decision.acts if isinstance(a, SubmitUpdate | SetCopies)}
    touched |= {a.component for a in decision.acts if isinstance(a, SuspendScaling | ResumeScaling)}
    where = {member.name: member.endpoint for member in plan.members}
    where |= {note.component: note.endpoint for note in before.copies}
    where |= {note.component: note.endpoint for note in before.scaling}
    fences = dict(before.fences)
    return [
        (
            "ConditionCheck",
            {
                "Key": items.lock_key(endpoint),
                "ConditionExpression": "#owner = :me AND fence = :fence",
                "ExpressionAttributeNames": {"#owner": "owner"},
                "ExpressionAttributeValues": {":me": text(before.rollout), ":fence": number(fences[endpoint])},
            },
        )
        for endpoint in sorted({where[name] for name in touched if name in where})
        if endpoint in fences
    ]


def _notices(rollout: str, decision: Decision, room: int) -> list[Action]:
    """A row for each notice; where a transaction holds no more, the last ones are told as one."""
    notices = list({notice.key: notice for notice in decision.notices}.values())
    if len(notices) > room:
        kept, rest = notices[: room - 1], notices[room - 1 :]
        notices = [*kept, Notice(rest[0].key, " ".join(notice.sentence for notice in rest))]
    return [
        (
            "Update",
            {
                "Key": item_key(rollout, f"NOTICE#{notice.key}"),
                "UpdateExpression": "SET sentence = if_not_exists(sentence, :sentence), rev = if_not_exists(rev, :rev)",
                "ExpressionAttributeValues": {":sentence": text(notice.sentence), ":rev": number(decision.record.rev)},
            },
        )
        for notice in notices
    ]
