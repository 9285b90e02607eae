"""The verbs of `pointsman rollout`: what they print, what they change, and how they exit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pointsman.errors import Misconfigured
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import HoldKind
from tests.unit.cli.rollout_harness import REQUEST, RolloutCommand
from tests.unit.loops.rollout_world import ALARM

CALLER = "claimed:arn:aws:iam::123456789012:user/ada"


@pytest.fixture
def command() -> RolloutCommand:
    return RolloutCommand()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "rollout.yaml"
    made.write_text(REQUEST)
    return made


@pytest.fixture
def started(command: RolloutCommand, file: Path) -> RolloutCommand:
    """The command after a rollout was asked for; nothing of it has been done yet."""
    result = command.run("rollout", "start", str(file), "--reason", "the new ranker")
    assert result.exit_code == 0, result.output
    return command


def told(command: RolloutCommand, *words: str, code: int = 0) -> dict[str, Any]:
    result = command.run("rollout", *words, "--json")
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def held(command: RolloutCommand, kind: HoldKind) -> Callable[[], bool]:
    return lambda: any(hold.kind is kind for hold in command.world.stored.record.holds)


def test_plan_says_what_would_be_done_and_changes_nothing(command: RolloutCommand, file: Path) -> None:
    plan = told(command, "plan", str(file))
    assert (plan["ok"], plan["components"], len(plan["waves"])) == (True, 2, 2)
    member = plan["waves"][0]["components"][0]
    assert (member["component"], member["batch"]["copies"]) == ("m1", 1)
    assert member["batch"]["sentence"].startswith("a copy fills more than half an instance")
    assert {line["direction"] for line in plan["capacity"]} == {"forward", "back"}
    assert {"instances_needed", "instances_there", "instances_most", "assumed"} < set(plan["capacity"][0])
    assert plan["seconds"] > 600
    world = command.world
    assert (world.table.kept, world.execution.lives, set(world.signals.bells)) == ({}, {}, {ALARM})


def test_plan_tells_a_person_waves_capacity_and_the_verdict(command: RolloutCommand, file: Path) -> None:
    text = command.run("rollout", "plan", str(file)).stdout
    for said in ("2 components on 2 endpoints in 2 waves", "wave 2: 1 component", "why this batch", "it may start"):
        assert said in text


def test_plan_says_what_each_guard_counts(command: RolloutCommand, file: Path) -> None:
    counted = "traffic: {namespace: Search, name: Served, dimensions: {Model: '{component}'}}"
    file.write_text(REQUEST.replace(f"[{ALARM}]", f"[{{alarm: {ALARM}, min_samples: 5, {counted}}}]"))
    text = command.run("rollout", "plan", str(file)).stdout
    assert f"{ALARM}: at least 5 minutes of Search/Served (Model={{component}}), Sum" in text
    (told_of,) = told(command, "plan", str(file))["alarms"]
    assert told_of["traffic"] == ["Search/Served (Model=m1), Sum", "Search/Served (Model=m2), Sum"]


def test_plan_of_what_would_be_refused_exits_with_1_and_says_what_to_do(command: RolloutCommand, file: Path) -> None:
    file.write_text(REQUEST.replace("prefix: m", "component: nobody"))
    result = command.run("rollout", "plan", str(file))
    assert result.exit_code == 1
    assert "component nobody: there is no such inference component" in result.stdout
    assert "it would be refused" in result.stdout
    plan = told(command, "plan", str(file), code=1)
    assert [c["check"] for c in plan["checks"] if c["level"] == "refused"] == ["unknown_component"]


def test_start_asks_for_the_rollout_in_the_callers_name(started: RolloutCommand) -> None:
    shown = told(started, "show", "r1")
    assert (shown["phase"], shown["intent"], shown["started_by"]) == ("PLANNED", "forward", CALLER)
    assert started.world.run() is Phase.SUCCEEDED


def test_start_of_another_request_of_the_same_name_is_refused(started: RolloutCommand, file: Path) -> None:
    file.write_text(REQUEST.replace("bake: 5m", "bake: 6m", 1))
    result = started.run("rollout", "start", str(file))
    assert result.exit_code == 2
    assert "there is a rollout of this name already" in result.stderr


def test_show_and_list_and_history_tell_a_rollout_that_succeeded(started: RolloutCommand) -> None:
    assert started.world.run() is Phase.SUCCEEDED
    shown = told(started, "show", "r1")
    assert (shown["phase"], shown["next_pass"], shown["needs_human"]) == ("SUCCEEDED", None, [])
    assert {c["state"] for c in shown["components"]} == {"DONE_NEW"}
    assert [r["rollout"] for r in told(started, "list")["rollouts"]] == ["r1"]
    commits = told(started, "history", "r1")["commits"]
    assert commits[0]["actor"] == CALLER
    assert [c["revision"] for c in commits] == list(range(1, len(commits) + 1))
    assert commits[-1]["said"][-1]["reason"] == "ended"
    for verb, said in (("show", "SUCCEEDED"), ("list", "SUCCEEDED"), ("history", "Wave 1 passed its gate")):
        words = ("rollout", verb) if verb == "list" else ("rollout", verb, "r1")
        assert said in started.run(*words).stdout


def test_pause_holds_and_resume_goes_on(started: RolloutCommand) -> None:
    assert told(started, "pause", "r1", "--reason", "lunch")["said"] == f"pause by {CALLER}: lunch."
    assert [hold["kind"] for hold in told(started, "show", "r1")["holds"]] == ["operator"]
    assert "operator by" in started.run("rollout", "show", "r1").stdout
    told(started, "resume", "r1")
    assert started.world.run() is Phase.SUCCEEDED


def test_rollback_takes_everything_back(started: RolloutCommand) -> None:
    started.world.run(stop=lambda: started.world.stored.record.wave == 1)
    told(started, "rollback", "r1", "--reason", "a complaint")
    assert started.world.run() is Phase.ROLLED_BACK
    assert set(started.world.models().values()) == {"ranker-v1"}


def test_rollback_of_what_has_ended_is_a_linked_rollout(started: RolloutCommand) -> None:
    assert started.world.run() is Phase.SUCCEEDED
    answer = told(started, "rollback", "r1", "--as", "r1-back")
    assert (answer["rollout"], told(started, "show", "r1")["phase"]) == ("r1-back", "SUCCEEDED")


def test_abort_keeps_what_is_done(started: RolloutCommand) -> None:
    started.world.run(stop=lambda: started.world.stored.record.wave == 1)
    told(started, "abort", "r1")
    assert started.world.run() is Phase.STOPPED
    assert started.world.models()["m1"] == "ranker-v2"


def test_approve_lets_a_wave_begin(command: RolloutCommand, file: Path) -> None:
    file.write_text(f"{REQUEST}approvals: [2]\n")
    command.run("rollout", "start", str(file))
    command.world.run(stop=held(command, HoldKind.APPROVAL))
    told(command, "approve", "r1", "2")
    assert command.world.run() is Phase.SUCCEEDED


def test_waive_needs_a_reason_and_a_hold(started: RolloutCommand) -> None:
    assert started.run("rollout", "waive", "r1", "no_traffic").exit_code == 2
    result = started.run("rollout", "waive", "r1", "no_traffic", "--reason", "night")
    assert (result.exit_code, "it is not held for no_traffic" in result.stderr) == (2, True)
    assert started.run("rollout", "waive", "r1", "drift", "--reason", "x").exit_code == 2


def test_adopt_of_a_component_that_has_not_drifted_is_refused(started: RolloutCommand) -> None:
    started.world.run_pass()
    result = started.run("rollout", "adopt", "r1", "m1", "--reason", "mine")
    assert (result.exit_code, "has not drifted" in result.stderr) == (2, True)


def test_retry_of_what_has_ended_is_a_new_rollout(started: RolloutCommand) -> None:
    started.world.run(stop=lambda: started.world.stored.record.wave == 1)
    told(started, "rollback", "r1")
    assert started.world.run() is Phase.ROLLED_BACK
    answer = told(started, "retry", "r1", "--as", "r2")
    assert answer["rollout"] == "r2"


@pytest.mark.parametrize("words", [("show",), ("watch",), ("history",), ("pause",), ("retry",)], ids=lambda w: w[0])
def test_a_rollout_that_nobody_knows_is_one_message_with_the_last_ones(
    started: RolloutCommand, words: tuple[str, ...]
) -> None:
    result = started.run("rollout", *words, "r9")
    assert result.exit_code == 2
    assert "there is no such rollout" in result.stderr
    assert "r1" in result.stderr


def test_list_of_none_exits_with_1(command: RolloutCommand) -> None:
    assert told(command, "list", code=1) == {"rollouts": [], "unread": [], "stop": None}


def test_list_tells_of_one_that_cannot_be_read_beside_the_others(started: RolloutCommand) -> None:
    started.world.table.fail_next("load", Misconfigured("rollout r1 was written by a later release"))
    result = started.run("rollout", "list")
    assert (result.exit_code, "r1 was written by a later release" in result.stdout) == (0, True)
    started.world.table.fail_next("load", Misconfigured("later"))
    unread = [{"rollout": "r1", "why": "later"}]
    assert told(started, "list") == {"rollouts": [], "unread": unread, "stop": None}


def test_what_was_commanded_names_the_command_that_shows_how_it_goes(started: RolloutCommand) -> None:
    result = started.run("rollout", "pause", "r1")
    assert result.stdout.startswith("r1: PLANNED; pause by ")
    assert result.stderr == "next: pointsman rollout watch r1\n"


@pytest.mark.parametrize("name", ["Bad Name!", "x" * 61, "-x"])
@pytest.mark.parametrize("verb", ["rollback", "retry"])
def test_a_name_of_a_linked_rollout_that_is_none_begins_nothing(started: RolloutCommand, verb: str, name: str) -> None:
    started.world.run(stop=lambda: started.world.stored.record.wave == 1)
    told(started, "abort", "r1")
    assert started.world.run() is Phase.STOPPED
    result = started.run("rollout", verb, "r1", "--as", name)
    assert result.exit_code == 2
    assert "small letters, digits and hyphens" in result.stderr
    assert set(started.world.table.kept) == {"r1"}
    assert {lock.owner for lock in started.world.table.locks(["e1", "e2"]).values()} == {""}
