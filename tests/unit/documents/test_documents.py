"""The policy as people write it: what it becomes, and what is said where it is wrong."""

from typing import Any

import pytest

from pointsman.documents import InvalidDocument, Path, fraction, seconds
from pointsman.policy_documents import parse_policy
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
from pointsman.wall_clock import weekly
from tests.unit.documents.policies import ACROSS, LEAST, WHOLE, changed

HOUR = 3600.0


def problems(document: object) -> dict[Path, tuple[str, str]]:
    with pytest.raises(InvalidDocument) as caught:
        parse_policy(document)
    return {problem.path: (problem.message, problem.remedy) for problem in caught.value.problems}


def test_every_key_of_a_policy_becomes_a_value_of_the_core() -> None:
    assert parse_policy(WHOLE) == Policy(
        queue="search-training",
        classes=(
            JobClass("production", Match("prod-*"), 24 * HOUR, HOUR, 0.7, deadline=Deadline(tag="finish-by")),
            JobClass("research", Match(None, (("purpose", "explore"),)), 6 * HOUR, 24 * HOUR,
                     deadline=Deadline(within=12 * HOUR)),
            JobClass("batch-inference", Match("score-*", (("team", "r*"),), "al*"), preemptible=True),
            JobClass("sweep", Match(), 0.5 * HOUR, 60 * HOUR, preemptible=True, ceiling=0.6),
        ),
        mode=Mode.ACT,
        share="all",
        spread=6 * HOUR,
        reservation=Reservation(2 * HOUR, 1),
        on_alarm=(
            AlarmBoost("ranker-drift-*", "production", 12 * HOUR, 2 * HOUR),
            AlarmBoost("score-late", "batch-inference", 1.5 * HOUR),
        ),
        preemption=Preemption(0.75 * HOUR, 600.0, 1, How.SWITCH),
        on_alarm_shares=(AlarmShare("gpu-underused", "all", borrow_limit=200, lasts=HOUR),),
        respect_human=4 * HOUR,
        windows=(
            Window(
                weekly("Mon-Fri 20:00-06:00 Europe/Madrid"),
                (("sweep", Settings(head_start=6 * HOUR, ceiling=0.8)),),
            ),
        ),
    )  # fmt: skip


def test_classes_in_shares_of_their_own_become_weights() -> None:
    policy = parse_policy(ACROSS)
    assert policy.weights == (("teama", 0.25), ("teamb*", 1.0))
    assert policy.on_alarm_shares == (AlarmShare("drift", "teama", weight=0.125),)
    assert [c.match.share for c in policy.classes] == ["teama", "teamb*", None]


def test_what_is_left_out_of_preemption_is_cautious() -> None:
    document = {**LEAST, "preemption": {}, "default": {"name": "sweep", "preemptible": True}}
    assert parse_policy(document).preemption == Preemption(HOUR, HOUR / 3, 2, How.LEVELS)


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
     ("default", "head_start"), ("on_alarm", 0, "by"), ("on_alarm", 0, "for"), ("preemption", "patience"),
     ("preemption", "protect"), ("respect_human",), ("windows", 0, "set", "sweep", "head_start")],
)  # fmt: skip
def test_what_is_no_duration_is_refused_where_it_stands(path: Path, value: object, words: str) -> None:
    found = problems(changed(WHOLE, *path, to=value))
    assert list(found) == [path]
    assert words in found[path][0]


@pytest.mark.parametrize(
    "case, document, path, words, remedy",
    [
        ("another version", changed(WHOLE, "version", to=2), ("version",), "this should be 1, not 2", ""),
        ("no mode of ours", changed(WHOLE, "mode", to="dry"), ("mode",), "'observe' or 'act', not 'dry'", ""),
        ("an empty queue", changed(WHOLE, "queue", to=""), ("queue",), "'' cannot stand here", "the queue's name"),
        ("an ARN for a name", changed(WHOLE, "queue", to="arn:aws:batch:x"), ("queue",),
         "'arn:aws:batch:x' cannot stand here", "not its ARN"),
        ("a share with a space", changed(WHOLE, "share", to="team a"), ("share",), "'team a' cannot stand here",
         "letters, digits, hyphens"),
        ("classes that are no list", changed(WHOLE, "classes", to={"a": 1}), ("classes",), "valid list", ""),
        ("a class that is no mapping", changed(WHOLE, "classes", 0, to="x"), ("classes", 0), "valid dictionary", ""),
        ("a class's name in capitals", changed(WHOLE, "classes", 0, "name", to="Prod"), ("classes", 0, "name"),
         "'Prod' cannot stand here", "small letters"),
        ("a class's name that is empty", changed(WHOLE, "classes", 0, "name", to=""), ("classes", 0, "name"),
         "'' cannot stand here", "small letters"),
        ("a pattern without end", changed(WHOLE, "on_alarm", 0, "alarm", to="a" * 257), ("on_alarm", 0, "alarm"),
         "this has 257 characters, and 256 are the most", "shorten it"),
        ("an empty tag of a deadline", changed(WHOLE, "classes", 0, "deadline", "tag", to=""),
         ("classes", 0, "deadline", "tag"), "this is empty", "at least one character"),
        ("a match by something unknown", changed(WHOLE, "classes", 0, "match", "jobname", to="x"),
         ("classes", 0, "match", "jobname"), "unknown key `jobname`", "did you mean `job_name`?"),
        ("an empty pattern", changed(WHOLE, "classes", 0, "match", "job_name", to=""),
         ("classes", 0, "match", "job_name"), "this is empty", "take the key out"),
        ("a tag that is no text", changed(WHOLE, "classes", 1, "match", "tag", "purpose", to=3),
         ("classes", 1, "match", "tag", "purpose"), "valid string, not 3", ""),
        ("a key misspelt", changed(WHOLE, "spraed", to="1h"), ("spraed",), "unknown key `spraed`",
         "did you mean `spread`?"),
        ("a key that is like none", changed(WHOLE, "on_alarm", 0, "zzz", to=1), ("on_alarm", 0, "zzz"),
         "unknown key `zzz`", "known here: alarm, boost, by, share, borrow_limit, weight, for"),
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
        ("a default that a class covers", changed(WHOLE, "classes", 2, "match", to={"job_name": "*"}),
         ("default",),
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
    "case, document, path, words, remedy",
    [
        ("a class that covers the policy's own share",
         changed(WHOLE, "classes", 0, "match", to={"share": "al?"}), ("classes", 1), "nothing can reach class research",
         "put it before production"),
        ("a class in a share that the policy does not rule",
         changed(WHOLE, "classes", 2, "match", "share", to="team-*"), ("classes", 2, "match", "share"),
         "the policy rules no share like team-*", "the policy's share is all"),
        ("classes with no share in common", changed(ACROSS, "across_shares", to=None), ("classes", 1, "match", "share"),
         "neither can go before the other", "across_shares: weights"),
        ("a weight that nothing uses", changed(ACROSS, "across_shares", to=None), ("classes", 0, "weight"),
         "a weight counts only across shares", "take it out"),
        ("a share without its weight", changed(ACROSS, "classes", 0, "weight", to=None), ("classes", 0),
         "`weight` of production is missing", "a lower weight gets more"),
        ("a weight of every share", changed(ACROSS, "classes", 0, "match", to={"job_name": "a"}),
         ("classes", 0, "weight"), "production is in all of them", "add `match.share`"),
        ("no weight", changed(ACROSS, "classes", 0, "weight", to=0), ("classes", 0, "weight"),
         "greater than or equal to 0.0001", ""),
        ("too much weight", changed(ACROSS, "classes", 0, "weight", to=1000), ("classes", 0, "weight"),
         "less than or equal to 999.9999", ""),
        ("a share that no scheduling policy can list",
         changed(ACROSS, "classes", 1, "match", "share", to="team[b-c]"), ("classes", 1, "match", "share"),
         "cannot list a share like team[b-c]", "letters and digits"),
        ("shares that overlap", changed(ACROSS, "classes", 1, "match", "share", to="team*"),
         ("classes", 1, "match", "share"), "cannot list team* beside teama, the share of production: they overlap", ""),
        ("two weights of one share",
         changed(ACROSS, "classes", 1, to={"name": "x", "match": {"share": "teama", "job_name": "a"}, "weight": 2}),
         ("classes", 1, "weight"), "share teama has one weight, and production gives it 0.25", "the same"),
        ("shares that are to be weighed, and no share", changed(ACROSS, "classes", to=[]), ("across_shares",),
         "no class has a share of its own", "a weight"),
        ("a ceiling below what the class is entitled to", changed(WHOLE, "classes", 0, "ceiling", to="50%"),
         ("classes", 0, "entitlement"), "above its ceiling", "raise the ceiling"),
        ("a part of nothing", changed(WHOLE, "default", "ceiling", to="0%"), ("default", "ceiling"),
         "'0%' is not a part of the pool", ""),
        ("more than all", changed(WHOLE, "default", "ceiling", to="101%"), ("default", "ceiling"),
         "over 0% and up to 100%", ""),
        ("a part as a bare number", changed(WHOLE, "default", "ceiling", to=0.6), ("default", "ceiling"), "as 70%", ""),
        ("evictions where nothing may be evicted", {**LEAST, "preemption": {}}, ("preemption",),
         "no class may be evicted", "preemptible: true"),
        ("a way to evict that is none", changed(WHOLE, "preemption", "how", to="force"), ("preemption", "how"),
         "'levels' or 'switch'", ""),
        ("a deadline that is no time", changed(WHOLE, "classes", 1, "deadline", to="noon"),
         ("classes", 1, "deadline"), "'noon' is not a duration", ""),
        ("a deadline by something unknown", changed(WHOLE, "classes", 0, "deadline", to={"tga": "x"}),
         ("classes", 0, "deadline", "tga"), "unknown key `tga`", "did you mean `tag`?"),
        ("a boost and no more", changed(WHOLE, "on_alarm", 0, to={"alarm": "a", "boost": "sweep"}), ("on_alarm", 0),
         "`by` is missing", "go together"),
        ("a share and no more", changed(WHOLE, "on_alarm", 0, to={"alarm": "a", "share": "all"}), ("on_alarm", 0),
         "one of the three", "`borrow_limit` or `weight`"),
        ("a boost and a borrow limit", changed(WHOLE, "on_alarm", 0, "borrow_limit", to=5), ("on_alarm", 0),
         "one of the three", ""),
        ("a boost of a share", changed(WHOLE, "on_alarm", 0, "share", to="all"), ("on_alarm", 0, "share"),
         "a boost is of a class", "take it out"),
        ("a borrow limit of nothing", changed(WHOLE, "on_alarm", 2, "share", to=None), ("on_alarm", 2),
         "`share` is missing", "add it"),
        ("a borrow limit below none", changed(WHOLE, "on_alarm", 2, "borrow_limit", to=-2),
         ("on_alarm", 2, "borrow_limit"), "greater than or equal to -1", ""),
        ("a weight where priorities count",
         changed(WHOLE, "on_alarm", 2, to={"alarm": "a", "share": "all", "weight": 1}), ("on_alarm", 2, "weight"),
         "only across shares", ""),
        ("a weight of a share that has none", changed(ACROSS, "on_alarm", 0, "share", to="teamc"),
         ("on_alarm", 0, "share"), "no class has a weight for share teamc", "one of: teama, teamb*"),
        ("two borrow limits at once",
         {**LEAST, "on_alarm": [{"alarm": "gpu-*", "share": "all", "borrow_limit": 50},
                                {"alarm": "*-low", "share": "a*", "borrow_limit": -1}]},
         ("on_alarm", 1, "borrow_limit"), "entry 1 sets it to 50 for the same share", "give both the same"),
        ("a window of no time", changed(WHOLE, "windows", 0, "when", to="Mon"), ("windows", 0, "when"),
         "'Mon' is not a window; write it as `Mon-Fri 20:00-06:00 Europe/Madrid`", ""),
        ("a window nowhere", changed(WHOLE, "windows", 0, "when", to="Mon 08:00-09:00 Europe/Atlantis"),
         ("windows", 0, "when"), "'Europe/Atlantis' is not a time zone", ""),
        ("a window that ends when it begins", changed(WHOLE, "windows", 0, "when", to="Mon 08:00-08:00 UTC"),
         ("windows", 0, "when"), "a whole day is 00:00-24:00", ""),
        ("a window of a class that is none", changed(WHOLE, "windows", 0, "set", to={"prod": {"head_start": "1h"}}),
         ("windows", 0, "set", "prod"), "no class is named prod", "one of: production"),
        ("a window that changes nothing", changed(WHOLE, "windows", 0, "set", to={"sweep": {}}),
         ("windows", 0, "set", "sweep"), "nothing is set", ""),
        ("a window for nobody", changed(WHOLE, "windows", 0, "set", to={}), ("windows", 0, "set"), "at least 1",
         "add one"),
        ("a window with a key that windows lack",
         changed(WHOLE, "windows", 0, "set", to={"sweep": {"preemptible": True}}),
         ("windows", 0, "set", "sweep", "preemptible"), "unknown key `preemptible`", "known here: head_start"),
        ("a window that turns parts over", changed(WHOLE, "windows", 0, "set", to={"production": {"ceiling": "50%"}}),
         ("windows", 0, "set", "production"), "above its ceiling then", ""),
    ],
)  # fmt: skip
def test_a_policy_that_contradicts_itself_is_refused_where_it_can_be_mended(
    case: str, document: dict[str, Any], path: Path, words: str, remedy: str
) -> None:
    found = problems(document)
    assert path in found, (case, found)
    message, said = found[path]
    assert words in message, case
    assert remedy in said, case


@pytest.mark.parametrize(
    "case, rules",
    [
        ("other alarms", ({"alarm": "a-*", "share": "all", "borrow_limit": 5},
                          {"alarm": "b-*", "share": "all", "borrow_limit": 6})),
        ("other shares", ({"alarm": "a", "share": "team-a", "borrow_limit": 5},
                          {"alarm": "a", "share": "team-b", "borrow_limit": 6})),
        ("the same limit", ({"alarm": "a*", "share": "all", "borrow_limit": 5, "for": "1h"},
                            {"alarm": "*a", "share": "all", "borrow_limit": 5})),
        ("two boosts of one class, of which the larger counts", ({"alarm": "a", "boost": "sweep", "by": "1h"},
                                                                 {"alarm": "a", "boost": "sweep", "by": "2h"})),
    ],
)  # fmt: skip
def test_alarms_that_do_not_contradict_each_other_are_allowed(case: str, rules: tuple[object, ...]) -> None:
    assert parse_policy({**LEAST, "on_alarm": list(rules)}), case


@pytest.mark.parametrize("text, wanted", [("70%", 0.7), ("100%", 1.0), ("0.5%", 0.005)])
def test_a_part_of_the_pool_is_read(text: str, wanted: float) -> None:
    assert fraction(text) == pytest.approx(wanted)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    document = changed(changed(changed(WHOLE, "window", to=[]), "spread", to="-1h"), "classes", 0, "nam", to="x")
    assert set(problems(document)) == {("window",), ("spread",), ("classes", 0, "nam")}


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
