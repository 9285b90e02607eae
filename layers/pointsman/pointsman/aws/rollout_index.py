"""The rollouts that are not done with, and their wakes: what can be asked without reading what a rollout is."""

from contextlib import suppress
from typing import Any

from pointsman.aws.table import Item, Table, number, text
from pointsman.aws.unreadable import read
from pointsman.errors import Conflict, Gone, Unreadable
from pointsman.rollout_wake_ports import OpenRollout, Woken
from pointsman.rollouts.phase import Phase

RECORD = "ROLLOUT"
LEFT_ALONE = "nothing of the rollout is changed, mend that item of the control table"
INDEX = "open_by_next_wake"
OPEN = "rollout"  # the index has one partition: open rollouts are few
PHASES = frozenset(phase.value for phase in Phase)  # a later release may know more: it looks after those itself
ENDED = {f":p{number_}": text(phase.value) for number_, phase in enumerate(p for p in Phase if p.terminal)}


class DynamoRolloutIndex:
    """`ROLLOUT#id` in the index of open rollouts."""

    def __init__(self, dynamodb: Any, table: str) -> None:
        """Use this table."""
        self._table = Table(dynamodb, table)

    def wake(self, rollout: str) -> Woken:
        """Count a wake, and tell whom to wake. Raises `Gone` when there is no such rollout."""
        try:
            item = self._table.update(
                item_key(rollout),
                UpdateExpression="ADD wake_seq :one",
                ConditionExpression="attribute_exists(pk)",
                ExpressionAttributeValues={":one": number(1)},
                ReturnValues="ALL_NEW",
            )
        except Conflict:
            raise Gone(f"there is no rollout {rollout}") from None
        return read(lambda at: Woken(at.get("task_token", {"S": ""})["S"], _generation(at)), item, LEFT_ALONE)

    def succeed(self, rollout: str, generation: int) -> int:
        """Make the next generation the real one, if this one still is; gives the real one."""
        with suppress(Conflict):
            self._table.update(
                item_key(rollout),
                UpdateExpression="SET generation = :next, passes = :none",
                ConditionExpression="generation = :this",
                ExpressionAttributeValues={
                    ":next": number(generation + 1),
                    ":this": number(generation),
                    ":none": number(0),
                },
            )
        item = self._table.get(item_key(rollout))
        if item is None:
            raise Gone(f"there is no rollout {rollout}")
        return read(_generation, item, LEFT_ALONE)

    def open(self) -> tuple[OpenRollout, ...]:
        """Every rollout that is not done with, the most overdue first; eventually consistent.

        One that cannot be read is left out, so that it keeps no other from being woken; its own passes say so.
        """
        found = self._table.query(
            "#open = :open",
            {":open": text(OPEN)},
            IndexName=INDEX,
            ExpressionAttributeNames={"#open": "open"},
        )
        lines: list[OpenRollout] = []
        for item in found:
            with suppress(Unreadable):
                lines += read(_open, item)
        return tuple(lines)

    def close(self, rollout: str) -> None:
        """Be done with a rollout that has ended, and whose notices were sent."""
        with suppress(Conflict):
            self._table.update(
                item_key(rollout),
                UpdateExpression="REMOVE #open",
                ConditionExpression=f"attribute_not_exists(unsent) AND phase IN ({', '.join(ENDED)})",
                ExpressionAttributeNames={"#open": "open"},
                ExpressionAttributeValues=ENDED,
            )


def item_key(rollout: str, sort: str = RECORD) -> Item:
    """The key of one of a rollout's items."""
    return {"pk": text(f"ROLLOUT#{rollout}"), "sk": text(sort)}


def _generation(item: Item) -> int:
    return int(item["generation"]["N"])


def _open(item: Item) -> tuple[OpenRollout, ...]:
    """The line, unless a later release looks after it."""
    if item["phase"]["S"] not in PHASES:
        return ()
    line = OpenRollout(
        item["pk"]["S"].removeprefix("ROLLOUT#"),
        Phase(item["phase"]["S"]),
        float(item["next_wake_at"]["N"]),
        int(item["generation"]["N"]),
        int(item.get("unsent", {"N": "0"})["N"]),
        tuple(sorted(item.get("alarms", {"SS": ()})["SS"])),
        tuple(sorted(item.get("endpoints", {"SS": ()})["SS"])),
    )
    return (line,)
