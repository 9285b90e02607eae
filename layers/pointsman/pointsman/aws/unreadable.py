"""What cannot be read is named: a stored item by its key, with what helps; an answer of AWS by what was asked."""

import zlib
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from pointsman.aws.table import Item
from pointsman.errors import Unreadable

BROKEN = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, zlib.error)
MEND = "mend or delete that item of the control table"

_Value = TypeVar("_Value")
_Asked = ParamSpec("_Asked")


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


def understood(method: Callable[_Asked, _Value]) -> Callable[_Asked, _Value]:
    """A method that reads an answer of AWS; raises `Unreadable` for one in which something is missing or new."""

    @wraps(method)
    def reads(*asked: _Asked.args, **more: _Asked.kwargs) -> _Value:
        try:
            return method(*asked, **more)
        except BROKEN as error:
            what = ", ".join(repr(each) for each in (*asked[1:], *more.values()) if isinstance(each, str))
            why = f"{type(error).__name__}: {error}"[:200]
            raise Unreadable(f"what AWS answered to {method.__name__} of {what} cannot be read ({why})") from error

    return reads
