"""One table of DynamoDB: reads and conditional writes, paged, whole, and with errors of ours."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pointsman.aws.faults import Translated
from pointsman.errors import Transient

Item = dict[str, dict[str, Any]]
Values = Mapping[str, str | float | None]

GET_KEYS = 100  # as many as one BatchGetItem takes
WRITE_ITEMS = 25  # as many as one BatchWriteItem takes
ACTIONS = 100  # as many as one TransactWriteItems takes
ROUNDS = 5  # of one batch: DynamoDB may leave some of it undone, and the client does not repeat that
FIRST_PAUSE = 0.05  # seconds before the second round, doubled before each of the next


class Table:
    """One table by its name, over a low-level client."""

    def __init__(self, dynamodb: Any, name: str) -> None:
        """Use this client."""
        self._dynamodb = dynamodb
        self.name = name

    def get(self, key: Item) -> Item | None:
        """The item, read consistently."""
        with Translated():
            answer = self._dynamodb.get_item(TableName=self.name, Key=key, ConsistentRead=True)
        found: Item | None = answer.get("Item")
        return found

    def put(self, item: Item, condition: str | None = None, values: Item | None = None) -> None:
        """Store the item whole; raises `Conflict` when the condition does not hold."""
        with Translated():
            self._dynamodb.put_item(TableName=self.name, Item=item, **on_condition(condition, values))

    def delete(self, key: Item, condition: str | None = None, values: Item | None = None) -> None:
        """Take the item away; raises `Conflict` when the condition does not hold. One that is not there is no error."""
        with Translated():
            self._dynamodb.delete_item(TableName=self.name, Key=key, **on_condition(condition, values))

    def update(self, key: Item, **request: Any) -> Item:
        """Change the item; gives what was asked for by `ReturnValues`. Raises `Conflict` when a condition fails."""
        with Translated():
            answer = self._dynamodb.update_item(TableName=self.name, Key=key, **request)
        found: Item = answer.get("Attributes", {})
        return found

    def together(self, actions: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Do all of these (`Put`, `Update`, `Delete`, ..) or none; raises `Conflict` when a condition fails."""
        items = [{kind: {"TableName": self.name, **request}} for kind, request in actions]
        with Translated():
            self._dynamodb.transact_write_items(TransactItems=items)

    def put_where(self, puts: Sequence[Mapping[str, Any]]) -> None:
        """Store each item on its condition, by the hundred all or none; raises `Conflict` when one does not hold."""
        for start in range(0, len(puts), ACTIONS):
            self.together([("Put", put) for put in puts[start : start + ACTIONS]])

    def query(self, condition: str, values: Item, **options: Any) -> Iterator[Item]:
        """Every item that the condition on the keys selects, page after page."""
        request = {
            "TableName": self.name,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
            **options,
        }
        while True:
            with Translated():
                answer = self._dynamodb.query(**request)
            yield from answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def get_many(self, keys: Iterable[Item]) -> Iterator[Item]:
        """The items of these keys that there are, read consistently, in no order; no key may come twice."""
        for chunk in _chunks(list(keys), GET_KEYS):
            asked: dict[str, Any] = {self.name: {"Keys": chunk, "ConsistentRead": True}}
            for round_ in _rounds():
                with Translated():
                    answer = self._dynamodb.batch_get_item(RequestItems=asked)
                yield from answer["Responses"].get(self.name, ())
                asked = answer.get("UnprocessedKeys") or {}
                if not asked:
                    break
                _pause(round_)

    def put_many(self, items: Iterable[Item]) -> None:
        """Store the items, each by itself; no key may come twice."""
        for chunk in _chunks(list(items), WRITE_ITEMS):
            asked: dict[str, Any] = {self.name: [{"PutRequest": {"Item": item}} for item in chunk]}
            for round_ in _rounds():
                with Translated():
                    answer = self._dynamodb.batch_write_item(RequestItems=asked)
                asked = answer.get("UnprocessedItems") or {}
                if not asked:
                    break
                _pause(round_)


def _chunks(whole: list[Item], size: int) -> Iterator[list[Item]]:
    return (whole[start : start + size] for start in range(0, len(whole), size))


def _rounds() -> Iterator[int]:
    yield from range(ROUNDS)
    raise Transient("DynamoDB left a part of the batch undone, again and again")


def _pause(round_: int) -> None:
    if round_ < ROUNDS - 1:
        time.sleep(FIRST_PAUSE * 2**round_)


def text(value: str) -> dict[str, Any]:
    """An attribute of text."""
    return {"S": value}


def number(value: float) -> dict[str, Any]:
    """An attribute that is a number, exact."""
    return {"N": repr(value)}


def attributes(values: Values) -> Item:
    """Texts and numbers as attributes; what is None is left out."""
    return {k: text(v) if isinstance(v, str) else number(v) for k, v in values.items() if v is not None}


def real(item: Item, name: str) -> float | None:
    """The number of this name, None when the item has none."""
    return float(item[name]["N"]) if name in item else None


def on_condition(condition: str | None, values: Item | None = None) -> dict[str, Any]:
    """The part of a request that says on which condition it is carried out; nothing where there is none."""
    on: dict[str, Any] = {} if condition is None else {"ConditionExpression": condition}
    return on | ({"ExpressionAttributeValues": values} if values else {})
