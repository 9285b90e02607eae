"""A policy without what is wrong in it key by key, so that what contradicts itself in the rest is said as well."""

import difflib
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from pointsman.documents import Path
from pointsman.policy_checks import ANY
from pointsman.policy_models import ClassDocument, PolicyDocument

_WHOLE = ("deadline", "reservation")  # taken out whole where a key of them is wrong
_CLASSES = {"classes": 2, "default": 1}  # where the keys of a class stand in a path


def touched(path: Path) -> str:
    """The key of the policy, or of its classes, that cannot be gone by where this path is wrong, also when misspelt.

    >>> touched(("classes", 0, "match", "share")), touched(("default", "preemtible")), touched(("windows", 1, "when"))
    ('match', 'preemptible', 'windows')
    """
    first = _meant(path[0], PolicyDocument.model_fields)
    inside = _CLASSES.get(first)
    if inside is None:
        return first
    return _meant(path[inside], ClassDocument.model_fields) if len(path) > inside else ANY


def _meant(key: str | int, known: Iterable[str]) -> str:
    return next(iter(difflib.get_close_matches(str(key), known, n=1)), str(key))


def without(document: Mapping[Any, Any], paths: Iterable[Path]) -> dict[Any, Any]:
    """The document with the values at these paths taken out, and something in place of those that must be there."""
    kept: dict[Any, Any] = deepcopy(dict(document))
    for path in paths:
        whole = next((n for n, part in enumerate(path) if part in _WHOLE), len(path))
        _take_out(kept, path[: whole + 1])
    return kept


def _take_out(document: dict[Any, Any], path: Path) -> None:
    inside: Any = document
    for part in path[:-1]:
        try:
            inside = inside[part]
        except (KeyError, IndexError, TypeError):
            return  # it went with what it was part of
    if isinstance(inside, list) or (path[0] == "windows" and path[2:] == ("set",)):
        document.pop(path[0], None)  # a list without an entry would have other numbers
    elif isinstance(inside, dict):
        inside.pop(path[-1], None)
        if (placeholder := _placeholder(path)) is not None:
            inside[path[-1]] = placeholder


def _placeholder(path: Path) -> object:
    """What stands where something must, and contradicts nothing."""
    number = "-".join(str(part) for part in path if isinstance(part, int))
    match path:
        case ("version",):
            return 1
        case ("queue" | "share",):
            return "all"
        case ("classes", _, "name") | ("default", "name"):
            return f"unknown-{number}"
        case ("classes", _, "match"):
            return {}
        case ("on_alarm", _, "alarm"):
            return f"unknown {number}"
        case ("windows", _, "when"):
            return "daily 00:00-24:00 UTC"
        case _:
            return None
