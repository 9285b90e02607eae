"""`pointsman rollout watch`: it draws anew, ends with the rollout, and does the rollout no harm when it is ended."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.errors import Transient
from pointsman.rollouts.phase import Phase
from pointsman_cli import rollout_watch
from pointsman_cli.main import cli
from tests.unit.cli.rollout_harness import REQUEST, RolloutCommand


@pytest.fixture
def started(tmp_path: Path) -> RolloutCommand:
    file = tmp_path / "rollout.yaml"
    file.write_text(REQUEST)
    command = RolloutCommand()
    assert command.run("rollout", "start", str(file)).exit_code == 0
    return command


@pytest.fixture
def passing(started: RolloutCommand, monkeypatch: pytest.MonkeyPatch) -> RolloutCommand:
    """The rollout goes on while the command sleeps."""
    world = started.world

    def sleep(seconds: float) -> None:
        world.run(seconds=max(seconds, 60.0))

    monkeypatch.setattr(rollout_watch, "sleep", sleep)
    return started


def test_it_draws_until_the_end_and_exits_by_it(passing: RolloutCommand) -> None:
    result = passing.run("rollout", "watch", "r1")
    assert result.exit_code == 0
    seen = re.findall(r"^r1: (\w+)", result.stdout, re.MULTILINE)
    assert (seen[0], seen[-1], set(seen)) == ("PLANNED", "SUCCEEDED", {"PLANNED", "RUNNING", "FINAL_BAKE", "SUCCEEDED"})


def test_on_a_terminal_each_drawing_takes_the_place_of_the_one_before(passing: RolloutCommand) -> None:
    result = CliRunner(env={"COLUMNS": "120", "FORCE_COLOR": "1", "TERM": "xterm"}).invoke(
        cli, ["rollout", "watch", "r1"], obj=passing
    )
    assert result.exit_code == 0
    drawings = result.stdout.split("\x1b[2K")  # what erases a line
    assert len(drawings) > 5
    assert "SUCCEEDED" in drawings[-1]


def test_one_that_was_rolled_back_is_exit_1(passing: RolloutCommand) -> None:
    passing.world.bad = {"ranker-v2"}
    result = passing.run("rollout", "watch", "r1")
    assert (result.exit_code, passing.world.phase) == (1, Phase.ROLLED_BACK)
    assert "next        pointsman rollout retry r1" in result.stdout


def test_a_look_that_fails_for_a_moment_is_taken_again(passing: RolloutCommand) -> None:
    passing.world.table.fail_next("load", Transient("busy"), times=3)
    assert passing.run("rollout", "watch", "r1").exit_code == 0


def test_looks_that_fail_for_long_are_one_message(started: RolloutCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollout_watch, "sleep", lambda _: None)
    started.world.table.fail_next("load", Transient("busy"), times=99)
    result = started.run("rollout", "watch", "r1")
    assert (result.exit_code, result.stderr) == (3, "Error: AWS could not be reached, or asks to try later: busy\n")


def test_ctrl_c_ends_the_watching_and_not_the_rollout(started: RolloutCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(rollout_watch, "sleep", interrupted)
    result = started.run("rollout", "watch", "r1")
    assert result.exit_code == 130
    assert result.stderr == "r1 goes on; `pointsman rollout watch r1` looks again\n"
    assert started.world.run() is Phase.SUCCEEDED
