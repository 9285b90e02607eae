"""The stream of requests: who serves it, what is lost, what is measured."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman_emulator.models.inference import MetricValue
from pointsman_emulator.models.inference_values import InferenceRefusedError, behaviour_of
from tests.emulator.components import BEHAVIOURS, Fleet, component_request, rolling


def measured(fleet: Fleet) -> list[MetricValue]:
    values: list[MetricValue] = []
    fleet.model.publish = values.extend
    return values


def served(model: str = "old", rate: float = 2.0, seconds: float = 600.0, **settings: Any) -> tuple[Fleet, list[Any]]:
    fleet = Fleet(copies=0, **settings)
    fleet.model.create_component(component_request(model=model))
    fleet.run(600)
    values = measured(fleet)
    fleet.model.start_traffic("llm", rate, until=fleet.model.now + seconds, arrivals="even")
    fleet.run(seconds + 120)
    return fleet, values


def totals(values: list[MetricValue], name: str) -> tuple[float, float]:
    found = [value for value in values if value.name == name]
    return sum(it.total for it in found), sum(it.samples for it in found)


def test_the_same_seed_sends_the_same_requests_whatever_serves_them() -> None:
    counts = []
    for model in ("old", "slow", "bad-api"):
        fleet = Fleet(copies=0)
        fleet.model.create_component(component_request(model=model))
        fleet.run(600)
        fleet.model.start_traffic("llm", 3.0)
        fleet.run(1000)
        counts.append(fleet.model.counts("llm").requests)
    assert len(set(counts)) == 1
    assert 2700 < counts[0] < 3300


def test_even_arrivals_come_at_the_rate() -> None:
    fleet, values = served(rate=2.0, seconds=600)
    assert abs(fleet.model.counts("llm").requests - 1200) <= 1
    assert totals(values, "Invocations")[0] == fleet.model.counts("llm").requests


def test_metrics_are_told_each_minute_under_the_components_name_only() -> None:
    _, values = served()
    assert {value.namespace for value in values} == {"AWS/SageMaker"}
    assert {value.dimensions for value in values} == {(("InferenceComponentName", "llm"),)}
    assert {value.at % 60 for value in values} == {0}
    names = {value.name for value in values}
    assert names >= {"Invocations", "InvocationsPerCopy", "Invocation4XXErrors", "Invocation5XXErrors", "ModelLatency"}


@pytest.mark.parametrize(
    "model,metric,failing", [("bad-api", "Invocation4XXErrors", True), ("broken", "Invocation5XXErrors", True)]
)
def test_a_bad_spec_answers_with_errors_and_each_request_is_a_zero_or_a_one(
    model: str, metric: str, *, failing: bool
) -> None:
    fleet, values = served(model)
    counts = fleet.model.counts("llm")
    total, samples = totals(values, metric)
    assert (total, samples) == (counts.requests, counts.requests)
    assert counts.failed == counts.requests * failing
    assert counts.lost == 0


def test_a_good_spec_has_no_errors() -> None:
    fleet, values = served()
    assert totals(values, "Invocation4XXErrors")[0] == totals(values, "Invocation5XXErrors")[0] == 0
    assert fleet.model.counts("llm").failed == 0


def test_a_slow_spec_shows_in_the_latency_in_microseconds() -> None:
    _, values = served("slow", rate=0.5)
    total, samples = totals(values, "ModelLatency")
    assert total / samples == pytest.approx(10e6)


def test_a_spec_may_fail_after_a_while() -> None:
    fleet = Fleet(copies=0)
    fleet.model.create_component(component_request(model="tiring"))
    fleet.run(241)
    fleet.model.start_traffic("llm", 2.0)
    fleet.run(290)
    assert fleet.model.counts("llm").failed == 0
    fleet.run(100)
    assert fleet.model.counts("llm").failed > 100


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_spec_may_fail_some_of_the_requests(rate: float) -> None:
    BEHAVIOURS["partly"] = {"EMULATED_BEHAVIOUR": "5xx", "EMULATED_RATE": str(rate)}
    try:
        fleet, _ = served("partly", rate=5.0)
    finally:
        del BEHAVIOURS["partly"]
    counts = fleet.model.counts("llm")
    assert counts.failed / counts.requests == pytest.approx(rate, abs=0.05)


def test_a_request_that_finds_every_place_taken_is_lost() -> None:
    fleet, values = served(rate=100.0, seconds=120, concurrency=1, backlog=2)
    counts = fleet.model.counts("llm")
    # three copies, one request each at a time, half a second each: six a second
    assert counts.requests - counts.lost == pytest.approx(6 * 120, rel=0.05)
    assert all(len(copy.work) <= 3 for copy in fleet.llm.copies)
    assert totals(values, "NoCapacityInvocationFailures")[0] == 0


def test_a_component_of_no_copies_loses_every_request_and_says_that_it_has_no_capacity() -> None:
    fleet = Fleet()
    fleet.model.update_runtime("llm", 0)
    fleet.run(600)
    values = measured(fleet)
    fleet.model.start_traffic("llm", 1.0, until=fleet.model.now + 120)
    fleet.run(300)
    counts = fleet.model.counts("llm")
    assert counts.lost == counts.requests > 0
    assert totals(values, "NoCapacityInvocationFailures")[0] == totals(values, "Invocation4XXErrors")[0] == counts.lost


def test_without_requests_nothing_is_measured() -> None:
    fleet = Fleet()
    values = measured(fleet)
    fleet.run(3600)
    assert values == []


@pytest.mark.parametrize("stop,lost", [(30.0, False), (0.0, True)])
def test_a_copy_that_goes_finishes_what_it_has_in_hand_or_loses_it(stop: float, *, lost: bool) -> None:
    fleet = Fleet(copies=4, initial=4, copy_stop=stop, latency=4.0)
    fleet.model.start_traffic("llm", 2.0)
    fleet.run(600)
    fleet.model.update_runtime("llm", 2)
    fleet.run(60)
    assert (fleet.model.counts("llm").lost > 0) is lost


@pytest.mark.parametrize("lag", [0.0, 60.0])
def test_metrics_may_come_late(lag: float) -> None:
    fleet = Fleet(metric_lag=lag)
    told: list[float] = []
    fleet.model.publish = lambda _: told.append(fleet.model.now)
    fleet.model.start_traffic("llm", 1.0)
    fleet.run(300)
    assert told[0] == 3660 + lag


def test_while_an_update_rolls_new_and_old_copies_share_the_requests() -> None:
    fleet = Fleet(copies=4, initial=6, most=None)
    fleet.model.start_traffic("llm", 4.0)
    fleet.update("new", rolling(1, 600))
    fleet.run(800)
    shares = fleet.model.counts("llm").by_model
    assert shares["old"] > shares["new"] > 0


def test_a_behaviour_that_is_none_is_refused() -> None:
    with pytest.raises(InferenceRefusedError, match="EMULATED_BEHAVIOUR"):
        behaviour_of({"EMULATED_BEHAVIOUR": "explodes"})


def test_times_of_a_spec_go_before_those_of_the_settings() -> None:
    found = behaviour_of({"EMULATED_START_SECONDS": "5", "EMULATED_LATENCY": "0.1"})
    assert (found.start_seconds, found.latency) == (5.0, 0.1)
