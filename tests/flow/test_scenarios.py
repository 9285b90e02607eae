"""Each scenario of `pointsman demo rollout`: what comes of the rollout, and of the requests meanwhile."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman_cli.demo.rollout.scenarios import NEW, OLD
from pointsman_cli.main import cli
from tests.flow.scenes import models, played, stretches, times


def run(*words: str) -> str:
    """What `pointsman demo rollout` prints."""
    result = CliRunner().invoke(cli, ["demo", "rollout", *words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_single_gpu_replaces_one_copy_at_a_time_on_an_added_instance_and_loses_no_request() -> None:
    result = played("single-gpu")
    assert (result.outcome, models(result)) == ("SUCCEEDED", {"llm": NEW})
    assert (result.lowest_serving, result.wanted_copies) == (3, 3)
    assert (result.lost, result.failed) == (0, 0)
    assert result.requests > 10_000
    assert times(result, "instances", "chat has 4 instances")
    assert len(times(result, "sagemaker", "llm: 1 old copy is gone")) == 3
    assert stretches(result) == ["Await update", "Bake", "Succeeded"]
    (execution,) = result.executions
    assert (execution.name, execution.status, execution.error) == ("single-gpu-1", "SUCCEEDED", "")
    assert (execution.events[0].kind, execution.events[-1].kind) == ("ExecutionStarted", "ExecutionSucceeded")


def test_bad_api_trips_an_alarm_and_the_wave_that_had_passed_goes_back_too() -> None:
    result = played("bad-api")
    assert (result.outcome, models(result)) == ("ROLLED_BACK", {"drafts": OLD, "llm": OLD})
    assert result.cause == "Alarm llm-errors is in ALARM."
    assert (result.lowest_serving, result.wanted_copies) == (5, 5)
    assert (result.lost, result.failed > 0) == (0, True)
    assert times(result, "wave_passed", "drafts")  # too quiet to tell
    assert times(result, "native_rollback", "llm")
    assert times(result, "reverted", "drafts")
    assert stretches(result) == ["Await update", "Bake", "Await update", "Await rollback", "Rolled back"]
    (execution,) = result.executions
    assert (execution.name, execution.status, execution.error) == ("bad-api-1", "FAILED", "RolloutRolledBack")
    assert [event.number for event in execution.events] == list(range(1, len(execution.events) + 1))


def test_full_endpoint_is_refused_with_the_numbers_and_a_person_is_told_in_words() -> None:
    said = run("full-endpoint", "--history")
    assert "outcome   REJECTED" in said
    assert "needs 4 instances" in said
    assert "3 is the most" in said
    assert "llm: updating" not in said  # nothing was changed
    assert "3 of 3 served at the lowest" in said
    assert ": 0 lost, 0 answered with an error" in said
    assert "execution full-endpoint-1  FAILED  RolloutRejected" in said


@pytest.fixture(scope="module")
def tried() -> dict[str, Any]:
    """The object of `full-endpoint`, tried for all that, with the history of its execution."""
    found: dict[str, Any] = json.loads(run("full-endpoint", "--capacity", "try", "--history", "--json"))
    return found


def test_full_endpoint_that_is_tried_is_rolled_back_and_goes_on_serving(tried: dict[str, Any]) -> None:
    assert (tried["outcome"], [left["model"] for left in tried["left"]]) == ("ROLLED_BACK", [OLD])
    assert "Not enough hardware resources" in tried["cause"]
    assert (tried["lowest_serving"], tried["wanted_copies"]) == (3, 3)
    assert (tried["requests_lost"], tried["requests"] > 1000) == (0, True)


def test_the_command_prints_one_object(tried: dict[str, Any]) -> None:
    expected = {"scenario", "outcome", "lowest_serving", "wanted_copies", "requests", "requests_failed", "faults"}
    assert expected < set(tried)
    assert {*tried["timeline"][0]} == {"at", "what", "why"}


def test_the_object_has_every_event_of_an_execution_where_the_history_is_asked_for(tried: dict[str, Any]) -> None:
    (execution,) = tried["executions"]
    assert (execution["name"], execution["status"]) == ("full-endpoint-1", "FAILED")
    assert execution["error"] == "RolloutRolledBack"
    assert {*execution["events"][0]} == {"id", "at", "type", "state", "error"}
    entered = [event["state"] for event in execution["events"] if event["type"].endswith("StateEntered")]
    assert entered[:4] == ["Advance", "Choose by phase", "Await update", "Advance"]
    assert entered[-1] == "Rolled back"
    assert execution["events"][-1]["type"] == "ExecutionFailed"


def test_make_room_lowers_the_component_that_yields_and_restores_it() -> None:
    result = played("make-room")
    assert (result.outcome, models(result)["llm"]) == ("SUCCEEDED", NEW)
    assert [left.copies for left in result.left if left.component == "embed"] == [2]
    assert (result.lowest_serving, result.wanted_copies, result.lost) == (3, 3, 0)
    lowered, updating = times(result, "room_made"), times(result, "sent")
    restored = times(result, "restored")
    assert lowered[0] <= updating[0] < restored[0]


def test_a_scenario_that_nobody_knows_is_one_message() -> None:
    result = CliRunner().invoke(cli, ["demo", "rollout", "everything"])
    assert result.exit_code == 2
    assert "single-gpu" in result.stderr


def test_with_every_event_dropped_the_end_is_the_same() -> None:
    result = played("bad-api", events=0.0)
    assert (result.outcome, models(result)) == ("ROLLED_BACK", {"drafts": OLD, "llm": OLD})
    assert (result.lowest_serving, result.wanted_copies, result.lost) == (5, 5, 0)
