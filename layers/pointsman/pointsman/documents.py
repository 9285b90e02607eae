"""What documents that people write have in common: their values, and how that which is wrong with one is said.

A problem carries the path of the key that is wrong, so that the command can name the line of the file.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?[dhms])+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)([dhms])")
_LONGEST = 100 * 365 * 86400.0  # beyond it a time is no longer one that a table or a calendar holds
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)%")

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a document: the path of the key, what is wrong, and the remedy."""

    path: Path
    message: str
    remedy: str = ""


class InvalidDocument(ValueError):
    """A document that cannot be used; `problems` has all that is wrong with it."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        """Keep the problems; the text names each by its path."""
        self.problems = problems
        super().__init__("; ".join(f"{'.'.join(map(str, p.path)) or 'document'}: {p.message}" for p in problems))


def seconds(text: object) -> float:
    """A duration such as `24h`, `90m`, `1h30m` or `2d` in seconds; raises ValueError for anything else.

    >>> seconds("1h30m")
    5400.0
    """
    if isinstance(text, str) and _DURATION.fullmatch(text):
        total = float(sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text)))
        if total > _LONGEST:
            raise ValueError(f"{text[:40]} is longer than a hundred years")
        return total
    if isinstance(text, str) and text.startswith("-"):
        raise ValueError(f"{text} is negative; a duration is not")
    raise ValueError(f"{text!r} is not a duration; write a number and a unit, as 24h, 90m or 1h30m")


def fraction(text: object) -> float:
    """A percentage such as `70%` as a fraction of one; raises ValueError for anything else, and for none and over all.

    >>> fraction("70%")
    0.7
    """
    if isinstance(text, str) and (found := _PERCENT.fullmatch(text)) and 0 < float(found[1]) <= 100:
        return float(found[1]) / 100
    raise ValueError(f"{text!r} is not a part of the pool; write a percentage over 0% and up to 100%, as 70%")


Duration = Annotated[
    float,
    BeforeValidator(seconds),
    WithJsonSchema({"type": "string", "pattern": f"^{_DURATION.pattern}$", "examples": ["24h", "90m", "1h30m"]}),
]
Fraction = Annotated[
    float,
    BeforeValidator(fraction),
    WithJsonSchema({"type": "string", "pattern": f"^{_PERCENT.pattern}$", "examples": ["70%"]}),
]
Glob = Annotated[str, Field(min_length=1, max_length=256)]


def unknown_key(path: Path, models: Mapping[object, type[BaseModel]], whole: type[BaseModel]) -> Problem:
    """A key that does not belong where it stands; `models` says what stands under which key of the `whole`."""
    model = next((models[part] for part in reversed(path[:-1]) if part in models), whole)
    known = [field.alias or name for name, field in model.model_fields.items()]
    close = difflib.get_close_matches(str(path[-1]), known, n=1)
    remedy = f"did you mean `{close[0]}`?" if close else f"known here: {', '.join(known)}"
    return Problem(path, f"unknown key `{path[-1]}`", remedy)


def wrong_value(path: Path, error: Mapping[str, Any], words: Mapping[str, str]) -> Problem:
    """What is wrong with a value, or that it is missing, in our words; `words` says what each pattern asks for."""
    told, given = error.get("ctx", {}), str(error["input"])
    least, most = told.get("min_length"), told.get("max_length")
    match error["type"]:
        case "missing":
            return Problem(path, f"`{path[-1]}` is missing", "add it")
        case "string_pattern_mismatch":
            return Problem(path, f"{given[:80]!r} cannot stand here", words[told["pattern"]])
        case "string_too_short":
            return Problem(path, "this is empty", "write at least one character, or take the key out")
        case "string_too_long":
            return Problem(path, f"this has {len(given)} characters, and {most} are the most", "shorten it")
        case "too_short":
            return Problem(path, f"this has {told['actual_length']} entries, and at least {least} is needed", "add one")
        case "too_long":
            return Problem(path, f"this has more entries than {most}", "take some out")
    message = str(error["msg"]).removeprefix("Value error, ").replace("Input should", "this should")
    return Problem(path, message if error["type"] == "value_error" else f"{message}, not {repr(error['input'])[:80]}")
