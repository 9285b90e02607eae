"""The rollout request as people write it: what it becomes, and every mistake by its path and its remedy."""

from typing import Any

import pytest

from pointsman.documents import InvalidDocument
from pointsman.rollout_documents import LARGEST, parse_request, request_schema
from pointsman.rollouts.request import INVOCATIONS, Amount, Capacity, Metric, NoTraffic, Target

LEAST: dict[str, Any] = {
    "version": 1,
    "rollout": "ranker-2",
    "targets": [{"prefix": "ranker-"}],
    "change": {"model": "ranker-v2"},
}
FULL: dict[str, Any] = {
    **LEAST,
    "targets": [{"component": "ranker-a"}, {"endpoint": "search"}, {"tag": {"team": "search"}}],
    "change": {
        "model": "ranker-v2",
        "image": "repo/ranker:2",
        "artifact": "s3://models/ranker.tar.gz",
        "environment": {"REVISION": "2", "OLD_FLAG": None},
        "compute": {"accelerators": 1, "cores": 4, "memory_mb": 16000},
    },
    "waves": [1, "25%", "100%"],
    "batch": "25%",
    "wait": "2m",
    "bake": "15m",
    "final_bake": "1h",
    "guards": [
        "fleet-latency",
        {"alarm": "{component}-5xx", "min_samples": 5, "traffic": "invocations"},
        {
            "alarm": "{endpoint}-slow",
            "traffic": {"namespace": "Search", "name": "Served", "dimensions": {"Model": "{component}", "At": "live"}},
        },
    ],
    "waive_alarms": [
        {"alarm": "fleet-latency", "reason": "being mended", "person": "maria", "until": "2026-12-24T18:00:00Z"},
    ],
    "no_traffic": {"extend": "2h"},
    "capacity": "try",
    "reason": "no other way today",
    "person": "maria",
    "yielding": [{"component": "batch-scorer", "least": 1}],
    "freezes": [{"from": "2026-12-24T18:00:00Z", "until": "2026-12-27T06:00:00+01:00"}],
    "approvals": [2],
}


def problems(**changes: Any) -> dict[str, str]:
    document = {key: value for key, value in {**LEAST, **changes}.items() if value is not ...}
    with pytest.raises(InvalidDocument) as caught:
        parse_request(document)
    return {".".join(map(str, p.path)): f"{p.message} ({p.remedy})" for p in caught.value.problems}


def test_the_least_request_takes_every_default() -> None:
    request = parse_request(LEAST)
    assert request.targets == (Target(prefix="ranker-"),)
    assert request.waves == (Amount(1), Amount(25, percent=True), Amount(100, percent=True))
    assert (request.bake, request.capacity, request.no_traffic) == (600.0, Capacity.REQUIRE, NoTraffic.HOLD)


def test_a_full_request_says_all_that_it_says() -> None:
    request = parse_request(FULL)
    assert request.targets[2] == Target(tag=("team", "search"))
    assert dict(request.change.environment) == {"REVISION": "2", "OLD_FLAG": None}
    assert request.change.compute is not None
    assert (request.no_traffic, request.extend, request.capacity) == (NoTraffic.EXTEND, 7200.0, Capacity.TRY)
    assert [(g.alarm, g.own, g.min_samples, g.counted) for g in request.guards] == [
        ("fleet-latency", False, 1, None),
        ("{component}-5xx", True, 5, INVOCATIONS),
        ("{endpoint}-slow", True, 1, Metric("Search", "Served", (("At", "live"), ("Model", "{component}")), "Sum")),
    ]
    assert request.freezes[0].until - request.freezes[0].since == 59 * 3600


def test_a_freeze_over_a_change_of_the_clocks_is_as_long_as_it_is() -> None:
    night = {"from": "2026-10-25T00:00:00+02:00", "until": "2026-10-25T06:00:00+01:00"}
    (freeze,) = parse_request({**LEAST, "freezes": [night]}).freezes
    assert freeze.until - freeze.since == 7 * 3600


MISTAKES = [
    ("a key that nobody knows", {"wavs": [1]}, "wavs", "did you mean `waves`?"),
    ("a key within a section", {"change": {"modle": "x"}}, "change.modle", "did you mean `model`?"),
    ("nothing changed", {"change": {}}, "change", "nothing is changed"),
    ("no targets", {"targets": []}, "targets", "at least 1"),
    ("a missing key", {"change": ...}, "change", "`change` is missing"),
    ("a target of two kinds", {"targets": [{"prefix": "a", "endpoint": "b"}]}, "targets.0", "one of component"),
    ("a target twice", {"targets": [{"prefix": "a"}, {"prefix": "a"}]}, "targets.1", "given twice"),
    ("a name that is none", {"rollout": "Ranker 2"}, "rollout", "small letters, digits"),
    ("a name that is too long for an execution's", {"rollout": "r" * 61}, "rollout", "60 at most"),
    ("a component's name that is none", {"targets": [{"component": "a_b"}]}, "targets.0.component", "hyphens between"),
    ("an artifact that is nowhere", {"change": {"artifact": "/m"}}, "change.artifact", "begin it with s3://"),
    ("a wave of nothing", {"waves": [0]}, "waves.0", "not an amount"),
    ("waves that shrink", {"waves": ["50%", "25%"]}, "waves.1", "totals reached"),
    ("a wave over all", {"waves": ["150%"]}, "waves.0", "not an amount"),
    ("a batch that SageMaker refuses", {"batch": "60%"}, "batch", "5 % to 50 %"),
    ("a duration without a unit", {"bake": "10"}, "bake", "not a duration"),
    ("a wait that is too long", {"wait": "2h"}, "wait", "longer than"),
    ("a final bake over a day", {"final_bake": "25h"}, "final_bake", "longer than"),
    ("a poll that is none", {"poll": "5s"}, "poll", "not within 30 s and 900 s"),
    ("a poll that leaves an alarm unseen too long", {"poll": "1h"}, "poll", "not within 30 s and 900 s"),
    ("trying without a person", {"capacity": "try"}, "capacity", "add `reason` and `person`"),
    ("passing unseen without a person", {"no_traffic": "waive"}, "no_traffic", "add `reason` and `person`"),
    ("an alarm twice", {"guards": ["a", {"alarm": "a"}]}, "guards.1", "given twice"),
    ("a waiver of what does not watch", {"waive_alarms": FULL["waive_alarms"]}, "waive_alarms.0.alarm", "no guard"),
    ("a moment without its zone", {"freezes": [{"from": "2026-12-24T18:00:00", "until": "2027-01-01T00:00:00Z"}]},
     "freezes.0.from", "time zone"),
    ("a freeze that ends first", {"freezes": [{"from": "2026-12-24T18:00:00Z", "until": "2026-12-24T17:00:00Z"}]},
     "freezes.0.until", "before it begins"),
    ("an approval of a wave that is none", {"approvals": [4]}, "approvals.0", "only 3 waves"),
    ("what is not built", {"calendar": "holidays"}, "calendar", "not built yet"),
    ("a metric without its namespace", {"guards": [{"alarm": "a", "traffic": {"name": "Served"}}]},
     "guards.0.traffic.namespace", "is missing"),
    ("a metric's key that nobody knows", {"guards": [{"alarm": "a", "traffic": {"namespace": "S", "nam": "Served"}}]},
     "guards.0.traffic.nam", "did you mean `name`?"),
    ("a statistic that counts nothing", {"guards": [{"alarm": "a", "traffic": {"namespace": "S", "name": "Served",
     "stat": "p99"}}]}, "guards.0.traffic.stat", "Sum"),
    ("what is not built of a guard", {"guards": [{"alarm": "a", "metric": "x"}]}, "guards.0.metric", "not built yet"),
    ("copies, which a rollout never sends", {"change": {"model": "x", "copies": 3}}, "change.copies", "not built yet"),
    ("a request of 300 KB", {"targets": [{"component": f"c{n:060d}"} for n in range(4000)]}, "", "bytes"),
]  # fmt: skip


@pytest.mark.parametrize("changes,path,said", [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_named_by_its_path(changes: dict[str, Any], path: str, said: str) -> None:
    found = problems(**changes)
    assert path in found, found
    assert said in found[path]


def test_all_mistakes_are_named_at_once() -> None:
    assert set(problems(wavs=[1], batch="x", bake=5)) == {"wavs", "batch", "bake"}


@pytest.mark.parametrize("document", [None, [], "version: 1"])
def test_a_request_is_a_mapping(document: object) -> None:
    with pytest.raises(InvalidDocument, match="mapping"):
        parse_request(document)


def test_the_schema_names_every_key() -> None:
    schema = request_schema()
    assert {"targets", "change", "waves", "guards", "capacity"} <= set(schema["properties"])
    assert set(schema["required"]) == {"version", "rollout", "targets", "change"}
    assert schema["properties"]["bake"]["default"] == "600s"
    assert LARGEST < 300_000
