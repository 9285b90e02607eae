"""Each scenario of `pointsman demo rollout`: what comes of the rollout, and of the requests meanwhile."""

import json

from click.testing import CliRunner

from pointsman_cli.demo.rollout.scenarios import NEW, OLD
from pointsman_cli.main import cli
from tests.flow.scenes import TRY, models, played, times


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


def test_with_every_event_dropped_the_end_is_the_same() -> None:
    result = played("bad-api", events=0.0)
    assert (result.outcome, models(result)) == ("ROLLED_BACK", {"drafts": OLD, "llm": OLD})
    assert (result.lowest_serving, result.wanted_copies, result.lost) == (5, 5, 0)
