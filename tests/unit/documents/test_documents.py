"""The policy as people write it: what it becomes, and what is said where it is wrong."""

from copy import deepcopy
from typing import Any

import pytest

from pointsman.documents import InvalidDocument, Path, parse_policy, policy_schema, seconds
from pointsman.queues.policy import AlarmBoost, JobClass, Match, Mode, Policy, Reservation

HOUR = 3600.0
LEAST: dict[str, Any] = {"version": 1, "queue": "search-training", "share": "all", "default": {"name": "sweep"}}
WHOLE: dict[str, Any] = {
    "version": 1,
    "queue": "search-training",
    "mode": "act",
    "share": "all",
    "classes": [
        {"name": "production", "match": {"job_name": "prod-*"}, "head_start": "24h", "max_wait": "1h"},
        {"name": "research", "match": {"tag": {"purpose": "explore"}}, "head_start": "6h", "max_wait": "1d"},
        {"name": "batch-inference", "match": {"job_name": "score-*", "tag": {"team": "r*"}}},
    ],
    "default": {"name": "sweep", "head_start": "30m", "max_wait": "2d12h"},
    "spread": "6h",
    "reservation": {"after": "2h", "at_most": 1},
    "on_alarm": [
        {"alarm": "ranker-drift-*", "boost": "production", "by": "12h", "for": "2h"},
        {"alarm": "score-late", "boost": "batch-inference", "by": "90m"},
    ],
}


def changed(document: dict[str, Any], *path: str | int, to: Any) -> dict[str, Any]:
    """The document with another value at this path."""
    copy = deepcopy(document)
    part: Any = copy
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = to
    return copy


def problems(document: object) -> dict[Path, tuple[str, str]]:
    with pytest.raises(InvalidDocument) as caught:
        parse_policy(document)
    return {problem.path: (problem.message, problem.remedy) for problem in caught.value.problems}


def test_every_key_of_a_policy_becomes_a_value_of_the_core() -> None:
    assert parse_policy(WHOLE) == Policy(
        queue="search-training",
        classes=(
            JobClass("production", Match("prod-*"), 24 * HOUR, HOUR),
            JobClass("research", Match(None, (("purpose", "explore"),)), 6 * HOUR, 24 * HOUR),
            JobClass("batch-inference", Match("score-*", (("team", "r*"),))),
            JobClass("sweep", Match(), 0.5 * HOUR, 60 * HOUR),
        ),
        mode=Mode.ACT,
        share="all",
        spread=6 * HOUR,
        reservation=Reservation(2 * HOUR, 1),
        on_alarm=(
            AlarmBoost("ranker-drift-*", "production", 12 * HOUR, 2 * HOUR),
            AlarmBoost("score-late", "batch-inference", 1.5 * HOUR),
        ),
    )


def test_a_policy_of_the_least_keys_observes_and_holds_no_place() -> None:
    policy = parse_policy(LEAST)
    assert (policy.mode, policy.spread, policy.reservation, policy.on_alarm) == (Mode.OBSERVE, 0.0, None, ())
    assert policy.classes == (JobClass("sweep"),)


@pytest.mark.parametrize(
    "text, wanted",
    [("24h", 86400.0), ("90m", 5400.0), ("1h30m", 5400.0), ("2d", 172800.0), ("45s", 45.0), ("1.5h", 5400.0),
     ("0s", 0.0)],
)  # fmt: skip
def test_a_duration_is_read(text: str, wanted: float) -> None:
    assert seconds(text) == wanted


@pytest.mark.parametrize(
    "value, words",
    [
        ("-1h", "-1h is negative; a duration is not"),
        ("24", "'24' is not a duration; write a number and a unit, as 24h, 90m or 1h30m"),
        (24, "24 is not a duration"),
        (-3600, "-3600 is not a duration"),
        (1.5, "1.5 is not a duration"),
        (True, "True is not a duration"),
        ("", "'' is not a duration"),
        ("h", "'h' is not a duration"),
        ("1w", "'1w' is not a duration"),
        ("1 h", "'1 h' is not a duration"),
        ("1H", "'1H' is not a duration"),
        ("1h-30m", "'1h-30m' is not a duration"),
        ("٣h", "'٣h' is not a duration"),
        ("9" * 400 + "h", "is longer than a hundred years"),
        (["1h"], "['1h'] is not a duration"),
        ({}, "{} is not a duration"),
    ],
)
@pytest.mark.parametrize(
    "path",
    [("spread",), ("reservation", "after"), ("classes", 0, "head_start"), ("classes", 0, "max_wait"),
     ("default", "head_start"), ("on_alarm", 0, "by"), ("on_alarm", 0, "for")],
)  # fmt: skip
def test_what_is_no_duration_is_refused_where_it_stands(path: Path, value: object, words: str) -> None:
    found = problems(changed(WHOLE, *path, to=value))
    assert list(found) == [path]
    assert words in found[path][0]


@pytest.mark.parametrize(
    "case, document, path, words, remedy",
    [
        ("another version", changed(WHOLE, "version", to=2), ("version",), "Input should be 1, not 2", ""),
        ("no mode of ours", changed(WHOLE, "mode", to="dry"), ("mode",), "'observe' or 'act', not 'dry'", ""),
        ("an empty queue", changed(WHOLE, "queue", to=""), ("queue",), "should match pattern", ""),
        ("an ARN for a name", changed(WHOLE, "queue", to="arn:aws:batch:x"), ("queue",), "should match pattern", ""),
        ("a share with a dash", changed(WHOLE, "share", to="team-a"), ("share",), "should match pattern", ""),
        ("a pattern of shares", changed(WHOLE, "share", to="team*"), ("share",), "not built yet", "name one share"),
        ("classes that are no list", changed(WHOLE, "classes", to={"a": 1}), ("classes",), "valid list", ""),
        ("a class that is no mapping", changed(WHOLE, "classes", 0, to="x"), ("classes", 0), "valid dictionary", ""),
        ("a class's name in capitals", changed(WHOLE, "classes", 0, "name", to="Prod"), ("classes", 0, "name"),
         "should match pattern", ""),
        ("a match by something unknown", changed(WHOLE, "classes", 0, "match", "jobname", to="x"),
         ("classes", 0, "match", "jobname"), "unknown key `jobname`", "did you mean `job_name`?"),
        ("an empty pattern", changed(WHOLE, "classes", 0, "match", "job_name", to=""),
         ("classes", 0, "match", "job_name"), "at least 1 character", ""),
        ("a tag that is no text", changed(WHOLE, "classes", 1, "match", "tag", "purpose", to=3),
         ("classes", 1, "match", "tag", "purpose"), "valid string, not 3", ""),
        ("a key misspelt", changed(WHOLE, "spraed", to="1h"), ("spraed",), "unknown key `spraed`",
         "did you mean `spread`?"),
        ("a key that is like none", changed(WHOLE, "on_alarm", 0, "zzz", to=1), ("on_alarm", 0, "zzz"),
         "unknown key `zzz`", "known here: alarm, boost, by, for"),
        ("a misspelt key of the default", changed(WHOLE, "default", "headstart", to="1h"), ("default", "headstart"),
         "unknown key `headstart`", "did you mean `head_start`?"),
        ("the name of the field instead of its key", changed(WHOLE, "on_alarm", 0, "for_", to="1h"),
         ("on_alarm", 0, "for_"), "unknown key `for_`", "did you mean `for`?"),
        ("two places held", changed(WHOLE, "reservation", "at_most", to=2), ("reservation", "at_most"), "0 or 1", ""),
        ("a place held for nothing said", changed(WHOLE, "reservation", to={}), ("reservation", "after"),
         "`after` is missing", "add it"),
        ("a boost of no class", changed(WHOLE, "on_alarm", 0, "boost", to="prod"), ("on_alarm", 0, "boost"),
         "no class is named prod", "one of: production, research, batch-inference, sweep"),
        ("two classes of one name", changed(WHOLE, "classes", 1, "name", to="production"), ("classes", 1, "name"),
         "there are two classes named production", "rename one"),
        ("the default named as a class", changed(WHOLE, "default", "name", to="research"), ("default", "name"),
         "there are two classes named research", "rename one"),
        ("a class that an earlier one covers",
         changed(WHOLE, "classes", 1, "match", to={"job_name": "prod-rank-*"}), ("classes", 1),
         "nothing can reach class research: every job that it matches is already production",
         "put it before production, or narrow the match of production"),
        ("a class behind one for everything", changed(WHOLE, "classes", 0, "match", to={}), ("classes", 1),
         "nothing can reach class research", ""),
        ("a default that a class covers", changed(WHOLE, "classes", 2, "match", to={"job_name": "*"}), ("default",),
         "nothing can reach class sweep: every job that it matches is already batch-inference", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_where_it_stands(
    case: str, document: dict[str, Any], path: Path, words: str, remedy: str
) -> None:
    found = problems(document)
    assert path in found, case
    message, said = found[path]
    assert words in message, case
    assert remedy in said, case


@pytest.mark.parametrize("key", ["version", "queue", "share", "default"])
def test_a_key_that_must_be_there_is_missed(key: str) -> None:
    assert problems({k: v for k, v in WHOLE.items() if k != key}) == {(key,): (f"`{key}` is missing", "add it")}


@pytest.mark.parametrize(
    "path",
    [("preemption",), ("respect_human",), ("windows",), ("across_shares",), ("classes", 1, "entitlement"),
     ("classes", 0, "ceiling"), ("classes", 2, "deadline"), ("classes", 2, "preemptible"), ("default", "ceiling"),
     ("default", "preemptible"), ("on_alarm", 0, "share"), ("on_alarm", 1, "borrow_limit")],
)  # fmt: skip
@pytest.mark.parametrize("value", ["60%", {"patience": "60m"}, True, None])
def test_what_is_not_built_is_refused_by_name_and_once(path: Path, value: object) -> None:
    wanted = {path: (f"`{path[-1]}` is not built yet in this version", "take it out")}
    assert problems(changed(WHOLE, *path, to=value)) == wanted


def test_everything_that_is_wrong_is_said_at_once() -> None:
    document = changed(changed(changed(WHOLE, "windows", to=[]), "spread", to="-1h"), "classes", 0, "nam", to="x")
    assert set(problems(document)) == {("windows",), ("spread",), ("classes", 0, "nam")}


@pytest.mark.parametrize("document", [None, [], "policy", 3, [LEAST]])
def test_a_document_that_is_no_mapping_is_refused_with_how_to_start(document: object) -> None:
    assert problems(document) == {(): ("a policy is a mapping of keys", "start with `version: 1`")}


@pytest.mark.parametrize("key", [True, 1, None, 2.5])
def test_a_key_that_is_no_text_is_refused_and_not_a_crash(key: object) -> None:
    assert problems({**WHOLE, key: 1})
    assert problems(changed(WHOLE, "default", to={"name": "sweep", key: 1}))
    assert problems(changed(WHOLE, "classes", 0, "match", "tag", to={key: "x"}))


def test_the_text_of_the_error_names_every_place() -> None:
    with pytest.raises(InvalidDocument, match=r"classes\.0\.head_start: '1' is not a duration.*"):
        parse_policy(changed(WHOLE, "classes", 0, "head_start", to="1"))
    with pytest.raises(InvalidDocument, match="document: a policy is a mapping of keys"):
        parse_policy([])


@pytest.mark.parametrize(
    "case, first, second",
    [
        ("names that overlap", {"job_name": "a*"}, {"job_name": "*a"}),
        ("a tag that the later one does not ask for", {"job_name": "a*", "tag": {"x": "1"}}, {"job_name": "a*"}),
        ("other values of a tag", {"tag": {"x": "1"}}, {"tag": {"x": "2"}}),
        ("a name against a tag", {"job_name": "a*"}, {"tag": {"x": "1"}}),
    ],
)
def test_classes_that_some_job_reaches_are_allowed(case: str, first: object, second: object) -> None:
    document = changed(changed(WHOLE, "classes", 0, "match", to=first), "classes", 1, "match", to=second)
    assert parse_policy(document), case


def test_the_schema_knows_every_key_and_allows_no_other() -> None:
    schema = policy_schema()
    assert set(schema["properties"]) == set(WHOLE)
    assert set(schema["required"]) == {"version", "queue", "share", "default"}
    objects = [schema, *schema["$defs"].values()]
    assert all(part["additionalProperties"] is False for part in objects)
    assert set(schema["$defs"]["AlarmDocument"]["properties"]) == {"alarm", "boost", "by", "for"}
    assert schema["$schema"].startswith("https://json-schema.org/")


def durations_in(part: object) -> list[dict[str, Any]]:
    if isinstance(part, dict):
        own = [part] if "pattern" in part and "24h" in part.get("examples", ()) else []
        return own + [found for value in part.values() for found in durations_in(value)]
    return [found for value in part for found in durations_in(value)] if isinstance(part, list) else []


def test_every_example_in_the_schema_is_a_duration_that_we_read() -> None:
    found = durations_in(policy_schema())
    assert len(found) == 8
    for part in found:
        for example in part["examples"]:
            assert parse_policy(changed(WHOLE, "spread", to=example)).spread == seconds(example)
