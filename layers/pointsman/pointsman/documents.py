"""The policy as people write it: parsed, checked as a whole, and turned into the core's values.

A problem carries the path of the key that is wrong, so that the command can name the line of the file. The stored form
of a document is its JSON text. JSON Schema comes from the same models.
"""

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, WithJsonSchema

from pointsman.queues.globs import contains
from pointsman.queues.policy import AlarmBoost, JobClass, Match, Mode, Policy, Reservation

_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?[dhms])+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)([dhms])")
_LONGEST = 100 * 365 * 86400.0  # beyond it a time is no longer one that a table or a calendar holds

# Part of the policy language, and not in this version: refused by name, so that nobody believes that they hold.
NOT_BUILT = {
    "": ("preemption", "respect_human", "windows", "across_shares"),
    "classes": ("entitlement", "ceiling", "deadline", "preemptible"),
    "default": ("entitlement", "ceiling", "deadline", "preemptible"),
    "on_alarm": ("share", "borrow_limit"),
}

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


Duration = Annotated[
    float,
    BeforeValidator(seconds),
    WithJsonSchema({"type": "string", "pattern": f"^{_DURATION.pattern}$", "examples": ["24h", "90m", "1h30m"]}),
]
Glob = Annotated[str, Field(min_length=1, max_length=256)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class MatchDocument(_Document):
    """Which jobs belong to a class; all that is given must match."""

    job_name: Glob | None = None
    tag: dict[str, Glob] = {}


class ClassDocument(_Document):
    """A class of work: the higher in the list, the more urgent."""

    name: Name
    match: MatchDocument
    head_start: Duration = 0.0
    max_wait: Duration | None = None


class DefaultDocument(_Document):
    """The class of every job that no other class matches."""

    name: Name
    head_start: Duration = 0.0
    max_wait: Duration | None = None


class ReservationDocument(_Document):
    """Hold what is freed for a big job that has waited `after`."""

    after: Duration
    at_most: Literal[0, 1] = 1


class AlarmDocument(_Document):
    """While such an alarm is in ALARM, a class gets a longer head start, for at most so long."""

    alarm: Glob
    boost: Name
    by: Duration
    for_: Annotated[Duration | None, Field(alias="for")] = None


class PolicyDocument(_Document):
    """The policy of one job queue."""

    version: Literal[1]
    queue: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$")]
    mode: Literal["observe", "act"] = "observe"
    share: Annotated[str, Field(pattern=r"^[A-Za-z0-9]{1,255}\*?$")]
    classes: list[ClassDocument] = []
    default: DefaultDocument
    spread: Duration = 0.0
    reservation: ReservationDocument | None = None
    on_alarm: list[AlarmDocument] = []


_ADAPTER = TypeAdapter(PolicyDocument)


def policy_schema() -> dict[str, Any]:
    """The JSON Schema of a policy document."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_ADAPTER.json_schema()}


def parse_policy(document: object) -> Policy:
    """The policy that a parsed YAML or JSON document states; raises `InvalidDocument` with everything that is wrong."""
    if not isinstance(document, Mapping):
        raise InvalidDocument((Problem((), "a policy is a mapping of keys", "start with `version: 1`"),))
    unbuilt = tuple(_not_built(document))
    try:
        parsed = _ADAPTER.validate_python(document)
    except ValidationError as error:
        named = {problem.path for problem in unbuilt}
        others = tuple(p for p in map(_problem, error.errors()) if p.path not in named)
        raise InvalidDocument(unbuilt + others) from None
    if problems := unbuilt + tuple(_contradictions(parsed)):
        raise InvalidDocument(problems)
    return _policy(parsed)


def stored_policy(text: str) -> Policy:
    """The policy of a stored document; raises `InvalidDocument` when this version of Pointsman cannot read it."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise InvalidDocument((Problem((), f"not JSON: {error}", "apply the policy again"),)) from None
    return parse_policy(document)


def _not_built(document: Mapping[str, object]) -> Iterator[Problem]:
    for section, names in NOT_BUILT.items():
        part = document.get(section) if section else document
        entries: list[tuple[Path, object]] = (
            [((section, n), item) for n, item in enumerate(part)]
            if isinstance(part, list)
            else [((section,) if section else (), part)]
        )
        for path, entry in entries:
            for name in names:
                if isinstance(entry, Mapping) and name in entry:
                    yield Problem((*path, name), f"`{name}` is not built yet in this version", "take it out")


def _problem(error: Mapping[str, Any]) -> Problem:
    path: Path = tuple(error["loc"])
    if error["type"] == "extra_forbidden":
        known = _known(path)
        close = difflib.get_close_matches(str(path[-1]), known, n=1)
        return Problem(path, f"unknown key `{path[-1]}`", f"did you mean `{close[0]}`?" if close else _one_of(known))
    if error["type"] == "missing":
        return Problem(path, f"`{path[-1]}` is missing", "add it")
    message = str(error["msg"]).removeprefix("Value error, ")
    return Problem(path, message if error["type"] == "value_error" else f"{message}, not {error['input']!r}")


def _known(path: Path) -> list[str]:
    models: dict[object, type[BaseModel]] = {
        "classes": ClassDocument, "default": DefaultDocument, "match": MatchDocument,
        "reservation": ReservationDocument, "on_alarm": AlarmDocument,
    }  # fmt: skip
    model = next((models[part] for part in reversed(path[:-1]) if part in models), PolicyDocument)
    return [field.alias or name for name, field in model.model_fields.items()]


def _one_of(names: list[str]) -> str:
    return f"known here: {', '.join(names)}"


def _contradictions(document: PolicyDocument) -> Iterator[Problem]:
    names: dict[str, Path] = {}
    everyone: list[tuple[Path, str]] = [(("classes", n, "name"), c.name) for n, c in enumerate(document.classes)]
    for path, name in [*everyone, (("default", "name"), document.default.name)]:
        if name in names:
            yield Problem(path, f"there are two classes named {name}", "rename one")
        names[name] = path
    yield from _unreachable(document)
    if document.share.endswith("*"):
        yield Problem(("share",), "a pattern of shares is not built yet in this version", "name one share")
    for n, rule in enumerate(document.on_alarm):
        if rule.boost not in names:
            yield Problem(("on_alarm", n, "boost"), f"no class is named {rule.boost}", f"one of: {', '.join(names)}")


def _unreachable(document: PolicyDocument) -> Iterator[Problem]:
    catch_all = ClassDocument(name=document.default.name, match=MatchDocument())
    for n, later in enumerate([*document.classes, catch_all]):
        path: Path = ("classes", n) if n < len(document.classes) else ("default",)
        for earlier in document.classes[:n]:
            if _covers(earlier.match, later.match):
                yield Problem(
                    path,
                    f"nothing can reach class {later.name}: every job that it matches is already {earlier.name}",
                    f"put it before {earlier.name}, or narrow the match of {earlier.name}",
                )
                break


def _covers(wide: MatchDocument, narrow: MatchDocument) -> bool:
    names = wide.job_name is None or contains(wide.job_name, narrow.job_name or "*")
    return names and all(key in narrow.tag and contains(glob, narrow.tag[key]) for key, glob in wide.tag.items())


def _policy(document: PolicyDocument) -> Policy:
    classes = tuple(
        JobClass(c.name, Match(c.match.job_name, tuple(c.match.tag.items())), c.head_start, c.max_wait)
        for c in document.classes
    )
    default = JobClass(document.default.name, Match(), document.default.head_start, document.default.max_wait)
    held = document.reservation
    return Policy(
        queue=document.queue,
        classes=(*classes, default),
        mode=Mode(document.mode),
        share=document.share,
        spread=document.spread,
        reservation=Reservation(held.after, held.at_most) if held else None,
        on_alarm=tuple(AlarmBoost(a.alarm, a.boost, a.by, a.for_) for a in document.on_alarm),
    )
