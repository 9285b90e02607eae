"""The rollout request as people write it, or as an event carries it: parsed, checked as a whole, made the core's value.

A problem carries the path of the key that is wrong. What can only be told from what is there (targets, alarms, room)
is the plan's to say. JSON Schema comes from the same models.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, WithJsonSchema

from pointsman.documents import Duration, InvalidDocument, Path, Problem, unknown_key, wrong_value
from pointsman.rollout_ports import ID, ID_IN_WORDS
from pointsman.rollouts.request import (
    INVOCATIONS,
    AlarmWaiver,
    Amount,
    Capacity,
    Freeze,
    Guard,
    Metric,
    NoTraffic,
    OnFailure,
    Request,
    SingleCopy,
    Target,
    WhenShort,
    Yielding,
)
from pointsman.rollouts.specs import Change, Compute
from pointsman.wall_clock import moment

LARGEST = 100_000  # bytes of a request as JSON: it is stored beside the plan, and travels in events
LONGEST_FINAL_BAKE, LONGEST_WAIT = 86400.0, 3600.0
LEAST_POLL, LONGEST_POLL = 30.0, 900.0
_WAVES: tuple[int | str, ...] = (1, "25%", "100%")
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)%")

# Part of what people ask of rollouts, and not in this version: refused by name, so that nobody believes that it holds.
NOT_BUILT = {"": ("after", "calendar", "hooks"), "guards": ("metric",), "change": ("startup", "scheduling", "copies")}


def amount(value: object) -> Amount:
    """A count such as `2`, or a percentage such as `25%`; raises ValueError for anything else.

    >>> amount(2), amount("25%")
    (Amount(value=2, percent=False), Amount(value=25.0, percent=True))
    """
    if isinstance(value, Amount):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return Amount(value)
    if isinstance(value, str) and (found := _PERCENT.fullmatch(value)) and 0 < float(found[1]) <= 100:
        return Amount(float(found[1]), percent=True)
    raise ValueError(f"{value!r} is not an amount; write a number as 2, or a percentage as 25%")


Count = Annotated[
    Amount,
    BeforeValidator(amount),
    WithJsonSchema(
        {"oneOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": f"^{_PERCENT.pattern}$"}]},
    ),
]
Moment = Annotated[float, BeforeValidator(moment), WithJsonSchema({"type": "string", "format": "date-time"})]
Sentence = Annotated[str, Field(min_length=1, max_length=500)]
_RESOURCE, _PREFIX = r"^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$", r"^[a-zA-Z0-9][a-zA-Z0-9-]{0,62}$"
_URI, _NAMESPACE, _ID = r"^(https|s3)://", r"^[^:]", f"^{ID}$"
_WORDS = {
    _RESOURCE: "letters, digits and hyphens between them, 63 at most",
    _PREFIX: "letters, digits and hyphens, 63 at most",
    _URI: "begin it with s3:// or https://",
    _NAMESPACE: "no colon at its beginning",
    _ID: ID_IN_WORDS,
}
Resource = Annotated[str, Field(pattern=_RESOURCE)]
Prefix = Annotated[str, Field(pattern=_PREFIX)]
MetricPart = Annotated[str, Field(min_length=1, max_length=255)]
AlarmName = Annotated[str, Field(min_length=1, max_length=255)]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class TargetDocument(_Document):
    """Components by name, by endpoint, by a prefix of their names, or by a tag: one of the four."""

    component: Resource | None = None
    endpoint: Resource | None = None
    prefix: Prefix | None = None
    tag: Annotated[dict[str, str], Field(min_length=1, max_length=1)] | None = None


class ComputeDocument(_Document):
    """What one copy reserves."""

    accelerators: Annotated[float, Field(ge=0, strict=False)] = 0.0
    cores: Annotated[float, Field(ge=0, strict=False)] = 0.0
    memory_mb: Annotated[int, Field(ge=128)]


class ChangeDocument(_Document):
    """What changes; all that is not named stays as it is."""

    model: Resource | None = None
    image: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    artifact: Annotated[str, Field(pattern=_URI, max_length=1024)] | None = None
    environment: Annotated[dict[str, str | None], Field(max_length=16)] = {}
    compute: ComputeDocument | None = None


class MetricDocument(_Document):
    """A metric that shows traffic; `{component}` and `{endpoint}` in a dimension's value are each component's own."""

    namespace: Annotated[str, Field(pattern=_NAMESPACE, max_length=255)]
    name: MetricPart
    dimensions: Annotated[dict[MetricPart, MetricPart], Field(max_length=30)] = {}
    stat: Literal["Sum", "SampleCount", "Average", "Minimum", "Maximum"] = "Sum"


class GuardDocument(_Document):
    """An alarm that watches; `{component}` or `{endpoint}` in its name makes it one alarm for each of them."""

    alarm: AlarmName
    native: bool = False
    min_samples: Annotated[int, Field(ge=0, le=1000)] = 1
    traffic: Literal["alarm", "invocations"] | MetricDocument = "alarm"


class WaiverDocument(_Document):
    """An alarm that does not count until then."""

    alarm: AlarmName
    reason: Sentence
    person: Sentence
    until: Moment


class YieldingDocument(_Document):
    """A component that may be lowered to so many copies to make room."""

    component: Resource
    least: Annotated[int, Field(ge=0)] = 1


class FreezeDocument(_Document):
    """A time in which nothing new is started."""

    from_: Annotated[Moment, Field(alias="from")]
    until: Moment


class ExtendDocument(_Document):
    """Bake so much longer when there was too little traffic, then hold."""

    extend: Duration


class RequestDocument(_Document):
    """A rollout of inference components."""

    version: Literal[1]
    rollout: Annotated[str, Field(pattern=_ID)]
    targets: Annotated[list[TargetDocument], Field(min_length=1, max_length=200)]
    change: ChangeDocument
    waves: Annotated[
        list[Count],
        Field(
            min_length=1,
            max_length=20,
            default_factory=lambda: [amount(wave) for wave in _WAVES],
            json_schema_extra={"default": list(_WAVES)},
        ),
    ]
    concurrency: Annotated[int, Field(ge=1, le=40)] = 5
    revert_concurrency: Annotated[int, Field(ge=1, le=40)] = 10
    batch: Count | None = None
    wait: Duration = 120.0
    bake: Duration = 600.0
    final_bake: Duration = 1800.0
    guards: Annotated[list[GuardDocument | AlarmName], Field(max_length=50)] = []
    waive_alarms: list[WaiverDocument] = []
    no_traffic: Literal["hold", "waive"] | ExtendDocument = "hold"
    hold_timeout: Duration = 3600.0
    on_failure: Literal["revert", "stop"] = "revert"
    single_copy: Literal["surge", "refuse"] = "surge"
    capacity: Literal["require", "try"] = "require"
    reason: Sentence | None = None
    person: Sentence | None = None
    when_short: Literal["refuse", "wait"] = "refuse"
    capacity_wait: Duration = 1800.0
    yielding: list[YieldingDocument] = []
    freezes: list[FreezeDocument] = []
    approvals: list[Annotated[int, Field(ge=1)]] = []
    poll: Duration = 120.0
    start_up: Duration = 300.0


_ADAPTER = TypeAdapter(RequestDocument)


def request_schema() -> dict[str, Any]:
    """The JSON Schema of a rollout request."""
    schema = _ADAPTER.json_schema()
    for part in schema["properties"].values():
        if part.get("type") == "string" and isinstance(part.get("default"), float):
            part["default"] = f"{part['default']:.0f}s"  # a duration, as it would be written
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def parse_request(document: object) -> Request:
    """The request that a parsed YAML or JSON document states; raises `InvalidDocument`.

    That has all that is wrong with its keys one by one; where each is right, everything in which they do not agree.
    """
    if not isinstance(document, Mapping):
        raise InvalidDocument((Problem((), "a rollout request is a mapping of keys", "start with `version: 1`"),))
    size = len(json.dumps(document, default=str).encode())
    if size > LARGEST:
        text = f"the request has {size} bytes, and at most {LARGEST} are taken"
        raise InvalidDocument((Problem((), text, "name targets by endpoint, prefix or tag, or split the rollout"),))
    unbuilt = tuple(_not_built(document))
    try:
        parsed = _ADAPTER.validate_python(document)
    except ValidationError as error:
        named = {problem.path for problem in unbuilt}
        others = tuple(p for p in map(_problem, error.errors()) if p.path not in named)
        raise InvalidDocument(unbuilt + tuple(dict.fromkeys(others))) from None
    if problems := unbuilt + tuple(_contradictions(parsed)):
        raise InvalidDocument(problems)
    return _request(parsed)


def _not_built(document: Mapping[str, object]) -> Iterator[Problem]:
    for section, names in NOT_BUILT.items():
        part = document.get(section) if section else document
        items = enumerate(part) if isinstance(part, list) else [(None, part)]
        for number, entry in items:
            path: Path = (*((section,) if section else ()), *((number,) if number is not None else ()))
            for name in names:
                if isinstance(entry, Mapping) and name in entry:
                    yield Problem((*path, name), f"`{name}` is not built yet in this version", "take it out")


_MODELS: Mapping[object, type[BaseModel]] = {
    "targets": TargetDocument, "change": ChangeDocument, "compute": ComputeDocument, "guards": GuardDocument,
    "waive_alarms": WaiverDocument, "yielding": YieldingDocument, "freezes": FreezeDocument,
    "no_traffic": ExtendDocument, "traffic": MetricDocument,
}  # fmt: skip


def _problem(error: Mapping[str, Any]) -> Problem:
    # A union's branches stand in the path by their names, which are no keys of the document.
    path: Path = tuple(p for p in error["loc"] if isinstance(p, int) or re.fullmatch(r"[a-z_]+", p))
    path = tuple(p for p in path if p not in {"str", "literal"})
    if error["type"] == "extra_forbidden":  # the key itself may be of any letters
        inside = path[:-1] if path and path[-1] == error["loc"][-1] else path
        return unknown_key((*inside, error["loc"][-1]), _MODELS, RequestDocument)
    return wrong_value(path, error, _WORDS)


def _contradictions(document: RequestDocument) -> Iterator[Problem]:
    yield from _targets(document)
    if not document.change.model_fields_set:
        yield Problem(("change",), "nothing is changed", "name model, image, artifact, environment or compute")
    yield from _waves(document)
    if document.batch is not None and document.batch.percent and not 5 <= document.batch.value <= 50:
        yield Problem(("batch",), f"SageMaker takes batches of 5 % to 50 %, not {document.batch}", "stay within them")
    for name, length, most in (
        ("wait", document.wait, LONGEST_WAIT),
        ("final_bake", document.final_bake, LONGEST_FINAL_BAKE),
    ):
        if length > most:
            yield Problem((name,), f"{length:.0f} s is longer than the {most:.0f} s that it may last", "shorten it")
    if not LEAST_POLL <= document.poll <= LONGEST_POLL:
        text = f"{document.poll:.0f} s is not within {LEAST_POLL:.0f} s and {LONGEST_POLL:.0f} s"
        yield Problem(("poll",), text, "it is the longest time in which a lost alarm goes unseen")
    answered = document.reason and document.person
    if (document.capacity == "try" or document.no_traffic == "waive") and not answered:
        key = "capacity" if document.capacity == "try" else "no_traffic"
        yield Problem((key,), "somebody must answer for this", "add `reason` and `person`")
    yield from _guards(document)
    for n, freeze in enumerate(document.freezes):
        if freeze.until <= freeze.from_:
            yield Problem(("freezes", n, "until"), "the freeze ends before it begins", "exchange the two")


def _targets(document: RequestDocument) -> Iterator[Problem]:
    for n, target in enumerate(document.targets):
        if len(target.model_fields_set) != 1:
            yield Problem(("targets", n), "a target is one of component, endpoint, prefix and tag", "give one of them")
        if target in document.targets[:n]:
            yield Problem(("targets", n), "the same target is given twice", "take one of the two out")


def _guards(document: RequestDocument) -> Iterator[Problem]:
    names = [guard if isinstance(guard, str) else guard.alarm for guard in document.guards]
    for n, name in enumerate(names):
        if name in names[:n]:
            yield Problem(("guards", n), f"alarm {name} is given twice", "take one of the two out")
    for n, waiver in enumerate(document.waive_alarms):
        if waiver.alarm not in names and not any("{" in name for name in names):
            yield Problem(("waive_alarms", n, "alarm"), f"no guard is named {waiver.alarm}", "take the waiver out")


def _waves(document: RequestDocument) -> Iterator[Problem]:
    for kind in (False, True):
        numbers = [(n, wave.value) for n, wave in enumerate(document.waves) if wave.percent is kind]
        for (_, before), (n, after) in pairwise(numbers):
            if after <= before:
                text = f"waves are totals reached, so {document.waves[n]} must be more than the one before it"
                yield Problem(("waves", n), text, "let them grow, as in [1, 25%, 100%]")
    for n, wave in enumerate(document.approvals):
        if wave > len(document.waves):
            yield Problem(("approvals", n), f"there are only {len(document.waves)} waves", "take it out")


def _request(document: RequestDocument) -> Request:
    change, quiet = document.change, document.no_traffic
    extend = quiet.extend if isinstance(quiet, ExtendDocument) else 0.0
    compute = change.compute
    return Request(
        rollout=document.rollout,
        targets=tuple(
            Target(t.component, t.endpoint, t.prefix, next(iter(t.tag.items())) if t.tag else None)
            for t in document.targets
        ),
        change=Change(
            change.model,
            change.image,
            change.artifact,
            tuple(sorted(change.environment.items())),
            Compute(compute.accelerators, compute.cores, compute.memory_mb) if compute else None,
        ),
        waves=tuple(document.waves),
        concurrency=document.concurrency,
        revert_concurrency=document.revert_concurrency,
        batch=document.batch,
        wait=document.wait,
        bake=document.bake,
        final_bake=document.final_bake,
        guards=tuple(
            Guard(g) if isinstance(g, str) else Guard(g.alarm, g.native, g.min_samples, _counted(g.traffic))
            for g in document.guards
        ),
        waived=tuple(AlarmWaiver(w.alarm, w.reason, w.person, w.until) for w in document.waive_alarms),
        no_traffic=NoTraffic.EXTEND if isinstance(quiet, ExtendDocument) else NoTraffic(quiet),
        extend=extend,
        hold_timeout=document.hold_timeout,
        on_failure=OnFailure(document.on_failure),
        single_copy=SingleCopy(document.single_copy),
        capacity=Capacity(document.capacity),
        reason=document.reason or "",
        person=document.person or "",
        when_short=WhenShort(document.when_short),
        capacity_wait=document.capacity_wait,
        yielding=tuple(Yielding(y.component, y.least) for y in document.yielding),
        freezes=tuple(Freeze(f.from_, f.until) for f in document.freezes),
        approvals=tuple(document.approvals),
        poll=document.poll,
        start_up=document.start_up,
    )


def _counted(traffic: str | MetricDocument) -> Metric | None:
    if isinstance(traffic, MetricDocument):
        return Metric(traffic.namespace, traffic.name, tuple(sorted(traffic.dimensions.items())), traffic.stat)
    return INVOCATIONS if traffic == "invocations" else None
