"""Whatever comes in, nearly right or not at all, it is read or refused by the documented error, with its place."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from pointsman.documents import InvalidDocument, fraction, seconds
from pointsman.errors import Misconfigured, Poison
from pointsman.inbound import job_event, messages, wake, watched_event
from pointsman.policy_documents import parse_policy, stored_policy
from pointsman.rollout_documents import amount, parse_request
from pointsman.rollout_inbound import command
from pointsman.rollout_task import rollout_task
from pointsman.settings import NOTICES_TOPIC, Settings
from pointsman.wall_clock import moment, weekly
from pointsman_cli.letters import EDGES, Message, letter, shown
from tests.proof.hostile import HOSTILE, ODD, anything, nearly, nearly_text

ROOT = Path(__file__).parents[2]
EXAMPLES = 60


def event(name: str) -> Any:
    return json.loads((ROOT / f"events/{name}.json").read_text())


def document(name: str) -> Any:
    return json.loads(json.dumps(YAML(typ="safe", pure=True).load((ROOT / f"examples/{name}.yaml").read_text())))


POLICY = {
    **document("policy"),
    "preemption": {"patience": "2h", "protect": "30m", "at_most_per_job": 2, "how": "levels"},
    "respect_human": "2h",
    "windows": [{"when": "Mon-Fri 20:00-06:00 Europe/Madrid", "set": {"sweep": {"head_start": "2h"}}}],
}
REQUEST = {
    **document("rollout"),
    "freezes": [{"from": "2026-12-24T18:00:00Z", "until": "2026-12-27T06:00:00Z"}],
    "targets": [{"component": "llm"}, {"endpoint": "chat"}, {"prefix": "llm-"}, {"tag": {"team": "search"}}],
}
BODY = json.loads(event("record_jobs.runnable")["Records"][0]["body"])
RUNNING = json.loads(event("record_jobs.mixed-batch")["Records"][2]["body"])
PREEMPTED = {
    **BODY,
    "detail-type": "Batch Service Job Preemption Started",
    "detail": {"preemptedJobArn": "arn:aws:batch:eu-west-1:123456789012:service-job/0b0e7a3c"},
}
ALARM, ENDPOINT = event("relay_alarm.alarm"), event("relay_alarm.endpoint")
COMMAND, ASKED = event("command_rollout.approve"), event("command_rollout.requested")
TASK = event("advance_rollout.pass")


def as_text(parse: Callable[[str], object]) -> Callable[[Any], object]:
    """The parser of a message, told what is no text as JSON."""

    def told(said: Any) -> object:
        return parse(said if isinstance(said, str) else json.dumps(said, default=repr))

    told.__name__ = parse.__name__
    return told


PARSERS: list[tuple[Callable[[Any], object], tuple[Any, ...], tuple[type[Exception], ...]]] = [
    (parse_policy, (POLICY,), (InvalidDocument,)),
    (as_text(stored_policy), (POLICY,), (InvalidDocument,)),
    (parse_request, (REQUEST,), (InvalidDocument,)),
    (command, (COMMAND, ASKED), (Poison,)),
    (rollout_task, (TASK,), (Poison,)),
    (messages, (event("record_jobs.runnable"),), (Poison,)),
    (as_text(job_event), (BODY, RUNNING, PREEMPTED), (Poison,)),
    (as_text(wake), ({"queue": "search-training"},), (Poison,)),
    (watched_event, (ALARM, ENDPOINT), (Poison,)),
]


@pytest.mark.parametrize("parse, samples, errors", PARSERS, ids=lambda one: getattr(one, "__name__", ""))
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_a_message_is_read_or_refused_by_the_documented_error_with_its_place(
    parse: Callable[[Any], object],
    samples: tuple[Any, ...],
    errors: tuple[type[Exception], ...],
    data: st.DataObject,
) -> None:
    said = data.draw(st.one_of(*map(nearly, samples)) | anything | st.sampled_from(ODD))
    refused: Exception | None = None
    try:
        parse(said)
    except errors as error:
        refused = error
    if isinstance(refused, Poison):
        assert refused.place
        assert refused.reason
    if isinstance(refused, InvalidDocument):
        assert refused.problems
        assert all(problem.message for problem in refused.problems)


@pytest.mark.parametrize("parse, samples, errors", PARSERS, ids=lambda one: getattr(one, "__name__", ""))
def test_the_samples_themselves_are_read(
    parse: Callable[[Any], object], samples: tuple[Any, ...], errors: tuple[type[Exception], ...]
) -> None:
    assert errors
    for sample in samples:
        parse(sample)


@pytest.mark.parametrize("parse", [as_text(job_event), as_text(wake), as_text(stored_policy)])
@settings(max_examples=EXAMPLES, deadline=None)
@given(text=nearly_text(json.dumps(BODY)) | st.sampled_from(["[" * 100_000, '{"a":' * 100_000, "1" * 100_000]))
def test_a_text_that_is_cut_or_deep_or_long_is_refused_by_the_documented_error(
    parse: Callable[[Any], object], text: str
) -> None:
    with suppress(Poison, InvalidDocument):
        parse(text)


BAD = [
    (parse_policy, POLICY, ("classes", 0, "head_start"), "soon"),
    (parse_policy, POLICY, ("on_alarm", 0, "boost"), "nobody"),
    (parse_policy, POLICY, ("windows", 0, "when"), "always"),
    (parse_policy, POLICY, ("reservation", "at_most"), -1),
    (parse_request, REQUEST, ("waves",), [2, 1]),
    (parse_request, REQUEST, ("wait",), "1 fortnight"),
    (parse_request, REQUEST, ("guards", 0, "alarm"), ""),
    (parse_request, REQUEST, ("change",), {}),
]


@pytest.mark.parametrize("parse, sample, place, value", BAD)
def test_what_is_documented_as_bad_is_told_with_its_place(
    parse: Callable[[Any], object], sample: Any, place: tuple[Any, ...], value: object
) -> None:
    bad = json.loads(json.dumps(sample))
    inside = bad
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    with pytest.raises(InvalidDocument) as caught:
        parse(bad)
    assert any(problem.path[: len(place)] == place for problem in caught.value.problems), caught.value.problems


MEANT = ("24h", "-1h", "1e9h", "Mon-Fri 20:00-06:00 Europe/Madrid", "Mon 20:00-06:00 ../../etc/passwd", "70%", "0%",
         "2026-12-24T18:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "99999999999d", "٣h",
         "1" * 5000 + "h", "1" * 5000 + "%", "Mon 20:00-06:00 Europe", "Mon 20:00-06:00 posixrules")  # fmt: skip


@pytest.mark.parametrize("parse", [seconds, fraction, amount, weekly, moment])
@settings(max_examples=EXAMPLES, deadline=None)
@given(said=anything | st.sampled_from(MEANT) | st.sampled_from(ODD) | st.text(max_size=40) | nearly_text(MEANT[3]))
def test_a_time_a_part_or_a_window_is_read_or_refused_by_one_error(parse: Callable[[Any], object], said: Any) -> None:
    with suppress(ValueError):
        parse(said)


VARIABLES = ("JOBS_TABLE", "CONTROL_TABLE", "QUEUE_WAKES_URL", "DEAD_LETTERS_URL", NOTICES_TOPIC)


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    environment=st.dictionaries(
        st.sampled_from([*VARIABLES, "ENDPOINT_URL"]), st.text(max_size=6) | st.sampled_from(HOSTILE)
    )
)
def test_an_environment_is_whole_or_every_variable_that_is_missing_is_named(environment: dict[str, str]) -> None:
    missing = [name for name in VARIABLES if not environment.get(name)]
    said = ""
    try:
        Settings.from_environment(environment, NOTICES_TOPIC)
    except Misconfigured as error:
        said = str(error)
    assert bool(said) is bool(missing)
    assert all(name in said for name in missing)


FAILED = {
    "requestContext": {"functionArn": "arn:aws:lambda:eu-west-1:1:function:relay:$LATEST", "condition": "Retries"},
    "requestPayload": ALARM,
    "responsePayload": {"errorType": "KeyError", "errorMessage": "'x'"},
}
SAID = {"reason": "r", "place": "p", "edge": "alarms", "RULE_ARN": "arn:aws:events:1:1:rule/x", "TARGET_ARN": "arn"}


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    body=st.one_of(*map(nearly, (BODY, ALARM, ASKED, FAILED))) | anything | st.sampled_from(ODD),
    said=st.dictionaries(st.sampled_from(sorted(SAID)), st.text(max_size=10) | st.sampled_from([*EDGES, *HOSTILE])),
)
def test_any_dead_letter_can_be_told_of_on_one_line(body: Any, said: dict[str, str]) -> None:
    text = body if isinstance(body, str) else json.dumps(body, default=repr)
    told = letter(Message("m", text, 0.0, said=said), {"relay": "alarms"})
    assert told.edge in ("", *EDGES)
    for part in (told.reason, told.place, told.concerns, told.again):
        assert all(char.isprintable() for char in shown(part))


@pytest.mark.parametrize("key", ["", "Guards", "max-batch", "guards2", "\x1b[2J"])
def test_a_key_of_any_letters_is_named_where_no_request_has_it(key: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        parse_request({"version": 1, key: 1})
    assert key in [place for problem in caught.value.problems for place in problem.path]


def test_an_invocation_with_nothing_at_all_is_poison() -> None:
    for nothing in (None, 7, []):
        with pytest.raises(Poison):
            command(nothing)  # type: ignore[arg-type]
