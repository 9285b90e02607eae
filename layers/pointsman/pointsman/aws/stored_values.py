"""Frozen values as JSON and back, by their types; tolerant of what another release of ours knew or did not know.

A field that is missing takes its default, one that is unknown is left out.
"""

import types
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints


def pack(value: object) -> Any:
    """The value as JSON can write it."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: pack(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [pack(each) for each in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} is not stored")


def unpack(kind: Any, data: Any) -> Any:
    """A value of this type from what `pack` made of it; raises ValueError, TypeError or KeyError when it is none."""
    return _reader(kind)(data)


@cache
def hints(kind: type) -> dict[str, Any]:
    """The types of a dataclass's fields."""
    return get_type_hints(kind)


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        (inner,) = (each for each in arguments if each is not type(None))
        return lambda data: None if data is None else unpack(inner, data)
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return lambda data: tuple(unpack(arguments[0], each) for each in data)
        return lambda data: tuple(unpack(each, part) for each, part in zip(arguments, data, strict=True))
    if isinstance(kind, type) and is_dataclass(kind):
        return lambda data: _dataclass(kind, data)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    return _PLAIN.get(kind, lambda data: data)


def _number(data: Any) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float) or data != data:  # noqa: PLR0124 - NaN
        raise TypeError(f"{data!r:.40} is no number")
    return float(data)


def _whole(data: Any) -> int:
    if isinstance(data, bool) or _number(data) % 1:
        raise TypeError(f"{data!r:.40} is no whole number")
    return int(data)


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError(f"{data!r:.40} is no text")
    return data


def _flag(data: Any) -> bool:
    if not isinstance(data, bool):
        raise TypeError(f"{data!r:.40} is neither true nor false")
    return data


_PLAIN: dict[Any, Callable[[Any], Any]] = {float: _number, int: _whole, str: _text, bool: _flag}


def _dataclass(kind: Any, data: dict[str, Any]) -> Any:
    if not isinstance(data, dict):
        raise TypeError(f"{data!r:.40} is no {kind.__name__}")
    known = hints(kind)
    values: dict[str, Any] = {}
    for field in fields(kind):
        if field.name in data:
            values[field.name] = unpack(known[field.name], data[field.name])
        elif field.default is MISSING and field.default_factory is MISSING:
            raise KeyError(f"{kind.__name__}.{field.name}")
    return kind(**values)
