"""Each scenario of `pointsman demo rollout`: what comes of the rollout, and of the requests meanwhile."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman_cli.demo.rollout.play import play
from pointsman_cli.demo.rollout.result import Result
from pointsman_cli.demo.rollout.scenario import Scenario
from pointsman_cli.demo.rollout.scenarios import NEW, OLD, SCENARIOS
from pointsman_cli.main import cli

TRY = {"capacity": "try", "reason": "no other way today", "person": "maria"}


def scenario(name: str, **keys: Any) -> Scenario:
    made = SCENARIOS[name]()
    return made.asking(**keys) if keys else made


def played(name: str, **keys: Any) -> Result:
    result = play(scenario(name, **keys), lambda _: None)
    assert result.faults == ()
    return result


def models(result: Result) -> dict[str, str]:
    return {left.component: left.model for left in result.left}


def times(result: Result, what: str, why: str = "") -> list[float]:
    return [line.at - result.started for line in result.timeline if line.what == what and why in line.why]


def test_single_gpu_replaces_one_copy_at_a_time_on_an_added_instance_and_loses_no_request() -> None:
    result = played("single-gpu")
    assert (result.outcome, models(result)) == ("SUCCEEDED", {"llm": NEW})
    assert (result.lowest_serving, result.wanted_copies) == (3, 3)
    assert (result.lost, result.failed) == (0, 0)
    assert result.requests > 10_000
    assert times(result, "instances", "chat has 4 instances")
    assert len(times(result, "sagemaker", "llm: 1 old copies are gone")) == 3


def test_bad_api_trips_an_alarm_and_the_wave_that_had_passed_goes_back_too() -> None:
    result = played("bad-api")
    assert (result.outcome, models(result)) == ("ROLLED_BACK", {"drafts": OLD, "llm": OLD})
    assert result.cause == "Alarm llm-errors is in ALARM."
    assert (result.lowest_serving, result.wanted_copies) == (5, 5)
    assert (result.lost, result.failed > 0) == (0, True)
    assert times(result, "wave_passed", "drafts")  # too quiet to tell
    assert times(result, "native_rollback", "llm")
    assert times(result, "reverted", "drafts")


def test_full_endpoint_is_refused_with_the_numbers_and_nothing_is_changed() -> None:
    result = played("full-endpoint")
    assert (result.outcome, models(result)) == ("REJECTED", {"llm": OLD})
    assert "needs 4 instances" in result.cause
    assert "3 is the most" in result.cause
    assert not times(result, "sagemaker")
    assert (result.lost, result.requests > 1000) == (0, True)


def test_full_endpoint_that_is_tried_is_rolled_back_and_goes_on_serving() -> None:
    result = played("full-endpoint", **TRY)
    assert (result.outcome, models(result)) == ("ROLLED_BACK", {"llm": OLD})
    assert "Not enough hardware resources" in result.cause
    assert (result.lowest_serving, result.wanted_copies) == (3, 3)
    assert (result.lost, result.requests > 1000) == (0, True)


def test_make_room_lowers_the_component_that_yields_and_restores_it() -> None:
    result = played("make-room")
    assert (result.outcome, models(result)["llm"]) == ("SUCCEEDED", NEW)
    assert [left.copies for left in result.left if left.component == "embed"] == [2]
    assert (result.lowest_serving, result.wanted_copies, result.lost) == (3, 3, 0)
    lowered, updating = times(result, "room_made"), times(result, "sent")
    restored = times(result, "restored")
    assert lowered[0] <= updating[0] < restored[0]


def test_fleet_goes_back_whole_from_its_second_wave() -> None:
    result = played("fleet")
    assert result.outcome == "ROLLED_BACK"
    assert set(models(result).values()) == {OLD}
    assert (result.lowest_serving, result.wanted_copies, result.lost) == (41, 41, 0)
    assert result.cause == "Alarm chat-en-errors is in ALARM."
    touched = {line.why.partition(":")[0] for line in result.timeline if line.what == "sent"}
    assert touched == {"chat-en", "embed-de", "embed-en"}


@pytest.mark.parametrize(
    "name,keys", [("single-gpu", {}), ("bad-api", {}), ("full-endpoint", TRY), ("make-room", {}), ("fleet", {})]
)
def test_the_same_requests_are_lost_where_a_copy_goes_before_the_next_one_serves(
    name: str, keys: dict[str, Any]
) -> None:
    result = play(scenario(name, **keys).drained_first(), lambda _: None)
    assert result.lost > 100
    assert result.lowest_serving < result.wanted_copies


def test_the_plan_of_the_fleet_says_what_chose_each_batch() -> None:
    result = CliRunner().invoke(cli, ["demo", "rollout", "fleet", "--plan", "--json"])
    assert result.exit_code == 0, result.output
    plan = json.loads(result.stdout)
    batches = {c["component"]: c["batch"] for wave in plan["waves"] for c in wave["components"]}
    assert [len(wave["components"]) for wave in plan["waves"]] == [1, 2, 9]
    assert (batches["chat-fr"]["copies"], batches["chat-fr"]["reason"]) == (1, "large")
    assert (batches["rank-web"]["copies"], batches["rank-web"]["sentence"]) == (4, "4 copies fit on one instance")
    assert (batches["tag-mail"]["copies"], batches["tag-mail"]["reason"]) == (1, "lowered")


def test_the_command_prints_one_object() -> None:
    result = CliRunner().invoke(cli, ["demo", "rollout", "full-endpoint", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {"scenario", "outcome", "lowest_serving", "wanted_copies", "requests", "requests_failed"} < set(found)
    assert (found["outcome"], found["requests_lost"]) == ("REJECTED", 0)
    assert {*found["timeline"][0]} == {"at", "what", "why"}


def test_the_command_tells_a_person_in_words() -> None:
    result = CliRunner().invoke(cli, ["demo", "rollout", "full-endpoint", "--capacity", "try"])
    assert result.exit_code == 0, result.output
    assert "ROLLED_BACK" in result.stdout
    assert "3 of 3 served at the lowest" in result.stdout


def test_a_scenario_that_nobody_knows_is_one_message() -> None:
    result = CliRunner().invoke(cli, ["demo", "rollout", "everything"])
    assert result.exit_code == 2
    assert "single-gpu" in result.stderr
