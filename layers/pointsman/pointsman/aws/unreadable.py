"""What is stored and cannot be read, being damaged or of another release, is named by its key, with what helps."""

import zlib
from collections.abc import Callable
from typing import TypeVar

from pointsman.aws.table import Item
from pointsman.errors import Unreadable

BROKEN = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, zlib.error)
MEND = "mend or delete that item of the control table"

_Value = TypeVar("_Value")


def named(item: Item) -> str:
    """The item's key as people find it."""
    return " ".join(str(item[name].get("S", "?")) for name in ("pk", "sk") if name in item)


def read(reader: Callable[[Item], _Value], item: Item, remedy: str = MEND) -> _Value:
    """What the reader makes of the item; raises `Unreadable` with its key and the remedy when it is none."""
    try:
        return reader(item)
    except BROKEN as error:
        why = f"{type(error).__name__}: {error}"[:200]
        raise Unreadable(f"item {named(item)} cannot be read ({why}): {remedy}") from error
