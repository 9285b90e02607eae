"""A rollout whose items were damaged is read as it was, or named: never another rollout, and never a bare fault."""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.rollout_items import read_journal, read_rollout
from pointsman.aws.rollout_table import DynamoRolloutTable
from pointsman.aws.unreadable import read
from pointsman.errors import Misconfigured, Unreadable
from tests.contract.rollout_tables import frozen
from tests.contract.tables import create_table

Item = dict[str, Any]
MOST = 60  # ways in which one attribute is tried
ODD: tuple[Any, ...] = (None, 7, -0.5, "x", [], {}, [None], True, 10**40, float("nan"))


@pytest.fixture
def items(aws: Clients, written: Mapping[str, Any]) -> dict[str, Item]:
    """The items of a rollout that is planned, by their sort keys."""
    table = DynamoRolloutTable(aws.dynamodb, create_table(aws, written, "ControlTable"))
    frozen(table)
    found = aws.dynamodb.scan(TableName="ControlTable")["Items"]
    return {item["sk"]["S"]: item for item in found if item["pk"]["S"] == "ROLLOUT#r1"}


def whole(items: Mapping[str, Item]) -> object:
    specs = [item for key, item in items.items() if key.startswith("SPEC#")]
    parts = [item for key, item in items.items() if key.startswith("COMPONENT#")]
    return read_rollout(items["ROLLOUT"], (items["PLAN"], specs), parts)


def journal(items: Mapping[str, Item]) -> object:
    return [read(read_journal, item) for key, item in items.items() if key.startswith("JOURNAL#")]


def odd_values(value: Any) -> Iterator[Any]:
    """The value with one of its inner values something else, or taken out."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, kept in list(inner):
        for other in (*ODD, *odd_values(kept)):
            made = value.copy()
            made[key] = other
            yield made
        if isinstance(value, dict):
            yield {name: each for name, each in value.items() if name != key}


def odd_attribute(attribute: Item) -> Iterator[Item | None]:
    ((kind, value),) = attribute.items()
    yield from ({"NULL": True}, {"S": "x"}, {"N": "1"}, {"B": b"x"}, {"L": []}, None)
    if kind == "B":
        packed = json.loads(zlib.decompress(value))
        yield from ({"B": zlib.compress(json.dumps(odd).encode())} for odd in odd_values(packed))
    with suppress(ValueError, TypeError):
        yield from ({"S": json.dumps(odd)} for odd in odd_values(json.loads(value)) if kind == "S")


@pytest.mark.parametrize("reads", [whole, journal])
def test_any_one_attribute_may_be_amiss(items: dict[str, Item], reads: Callable[[Mapping[str, Item]], object]) -> None:
    luck, good, tried, refused = Random(1), reads(items), 0, 0
    assert reads(deepcopy(items)) == good
    for key, item in items.items():
        for name in set(item) - {"pk", "sk"}:
            ways = list(odd_attribute(item[name]))
            for odd in luck.sample(ways, min(MOST, len(ways))):
                kept = {other: value for other, value in item.items() if other != name}
                amiss = {**items, key: {**kept, **({} if odd is None else {name: odd})}}
                tried += 1
                try:
                    reads(amiss)
                except (Unreadable, Misconfigured) as error:
                    assert "r1" in str(error)  # noqa: PT017 - of many, each
                    refused += 1
    assert refused > 20
    assert tried > refused
