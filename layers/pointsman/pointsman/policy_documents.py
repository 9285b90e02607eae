"""The policy as people write it: parsed, checked as a whole, and turned into the core's values.

The stored form of a document is its JSON text.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from pointsman.documents import InvalidDocument, Path, Problem, unknown_key, wrong_value
from pointsman.policy_checks import contradictions
from pointsman.policy_mending import touched, without
from pointsman.policy_models import (
    DURATION,
    TAG,
    WORDS,
    AlarmDocument,
    ClassDocument,
    DeadlineDocument,
    DefaultDocument,
    MatchDocument,
    PolicyDocument,
    PreemptionDocument,
    ReservationDocument,
    SettingsDocument,
    WindowDocument,
)
from pointsman.queues.policy import (
    AlarmBoost,
    AlarmShare,
    Deadline,
    How,
    JobClass,
    Match,
    Mode,
    Policy,
    Preemption,
    Reservation,
    Settings,
    Window,
)

_ADAPTER = TypeAdapter(PolicyDocument)


def policy_schema() -> dict[str, Any]:
    """The JSON Schema of a policy document."""
    schema = _ADAPTER.json_schema()
    for model in (schema, *schema["$defs"].values()):
        for part in model["properties"].values():
            if part.get("type") == "string" and isinstance(part.get("default"), float):
                part["default"] = f"{part['default']:.0f}s"  # a duration, as it would be written
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def parse_policy(document: object) -> Policy:
    """The policy that a parsed YAML or JSON document states; raises `InvalidDocument`.

    That has all that is wrong, but for contradictions that hang on a key which is wrong itself.
    """
    if not isinstance(document, Mapping):
        raise InvalidDocument((Problem((), "a policy is a mapping of keys", "start with `version: 1`"),))
    try:
        parsed = _ADAPTER.validate_python(document)
    except ValidationError as error:
        wrong = tuple(dict.fromkeys(map(_problem, error.errors())))
        raise InvalidDocument((*wrong, *_beside(document, wrong))) from None
    if problems := tuple(contradictions(parsed)):
        raise InvalidDocument(problems)
    return _policy(parsed)


def stored_policy(text: str) -> Policy:
    """The policy of a stored document; raises `InvalidDocument` when this version of Pointsman cannot read it."""
    return parse_policy(stored_document(text))


def stored_document(text: str) -> object:
    """A stored document as it was written, whatever it says; raises `InvalidDocument` for what is no JSON."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InvalidDocument((Problem((), f"not JSON: {error}", "apply the policy again"),)) from None


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no number")


_MODELS: Mapping[object, type[BaseModel]] = {
    "classes": ClassDocument, "default": DefaultDocument, "match": MatchDocument, "deadline": DeadlineDocument,
    "reservation": ReservationDocument, "preemption": PreemptionDocument, "on_alarm": AlarmDocument,
    "windows": WindowDocument, "set": SettingsDocument,
}  # fmt: skip


def _problem(error: Mapping[str, Any]) -> Problem:
    path: Path = tuple(part for part in error["loc"] if part not in (DURATION, TAG, "[key]"))
    if error["type"] == "extra_forbidden":
        return unknown_key(path, _MODELS, PolicyDocument)
    return wrong_value(path, error, WORDS)


def _beside(document: Mapping[Any, Any], wrong: tuple[Problem, ...]) -> Iterator[Problem]:
    """What contradicts itself beside keys that are wrong one by one, as far as those do not matter for it."""
    paths = [problem.path for problem in wrong]
    parsed = _rest(document, paths) or _rest(document, paths)  # what is taken out may be missed
    if parsed is None:
        return
    for problem in contradictions(parsed, frozenset(map(touched, paths))):
        entry = problem.path[0] in ("on_alarm", "windows")
        if not (entry and any(path[: len(problem.path)] == problem.path for path in paths)):
            yield problem


def _rest(document: Mapping[Any, Any], paths: list[Path]) -> PolicyDocument | None:
    """The policy without what is wrong at these paths; None, and more paths, where that cannot be read either."""
    try:
        return _ADAPTER.validate_python(without(document, paths))
    except ValidationError as error:
        paths.extend(_problem(one).path for one in error.errors())
        return None


def _policy(document: PolicyDocument) -> Policy:
    held, evicting = document.reservation, document.preemption
    return Policy(
        queue=document.queue,
        classes=(*map(_class, document.classes), _class(document.default)),
        mode=Mode(document.mode),
        share=document.share,
        spread=document.spread,
        reservation=Reservation(held.after, held.at_most) if held else None,
        on_alarm=tuple(
            AlarmBoost(a.alarm, a.boost, a.by, a.for_)
            for a in document.on_alarm
            if a.boost is not None and a.by is not None
        ),
        preemption=Preemption(evicting.patience, evicting.protect, evicting.at_most_per_job, How(evicting.how))
        if evicting
        else None,
        weights=tuple(
            dict.fromkeys((c.match.share, c.weight) for c in document.classes if c.match.share and c.weight is not None)
        ),
        on_alarm_shares=tuple(
            AlarmShare(a.alarm, a.share, a.borrow_limit, a.weight, a.for_)
            for a in document.on_alarm
            if a.share is not None
        ),
        respect_human=document.respect_human,
        windows=tuple(
            Window(w.when, tuple((name, _settings(s)) for name, s in w.set.items())) for w in document.windows
        ),
    )


def _class(written: DefaultDocument) -> JobClass:
    match, deadline = Match(), written.deadline
    if isinstance(written, ClassDocument):
        match = Match(written.match.job_name, tuple(written.match.tag.items()), written.match.share)
    if deadline is None:
        finish = None
    else:
        finish = Deadline(tag=deadline.tag) if isinstance(deadline, DeadlineDocument) else Deadline(within=deadline)
    return JobClass(
        name=written.name,
        match=match,
        head_start=written.head_start,
        max_wait=written.max_wait,
        entitlement=written.entitlement,
        preemptible=written.preemptible,
        ceiling=written.ceiling,
        deadline=finish,
    )


def _settings(written: SettingsDocument) -> Settings:
    return Settings(written.head_start, written.max_wait, written.entitlement, written.ceiling)
