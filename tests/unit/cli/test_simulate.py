"""`pointsman simulate` and `pointsman demo`: what is wrong is said of the option that is to be changed."""

from pathlib import Path
from typing import Any

import pytest

from pointsman_cli import simulate
from tests.unit.cli.harness import Command

TRACE = """\
submit_s,duration_s,gpus,vc,derived_class
100,600,4,blue,sweep
"""
GIVEN = {"--trace": "trace.csv", "--window": "100:200", "--capacity": "4"}


def words_of(given: dict[str, str]) -> list[str]:
    return [word for option in given.items() for word in option]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "trace.csv").write_text(TRACE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("verb", ["simulate", "demo"])
@pytest.mark.parametrize(
    "option, value, told",
    [
        ("--trace", "none.csv", "No such file"),
        ("--window", "100", "is not a window"),
        ("--window", "100:x", "not a number"),
        ("--window", "200:100", "is empty"),
        ("--window", "300:400", "no job to run"),
        ("--capacity", "3", "no job"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_cannot_be_played_names_the_option_to_change(
    command: Command, verb: str, option: str, value: str, told: str
) -> None:
    result = command.run(verb, *words_of({**GIVEN, option: value}))

    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {option}: ")
    assert told in result.stderr


@pytest.mark.usefixtures("here")
def test_a_rule_for_classes_that_is_none_is_a_mistake_of_that_option(command: Command) -> None:
    result = command.run("simulate", *words_of({**GIVEN, "--classes": "people:ada"}))

    assert (result.exit_code, result.stderr.partition('"')[0]) == (2, "Error: --classes: classes ")


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs one after the other: starting workers takes longer than they would save."""

    def each(tasks: Any, replay: Any, world: Any) -> Any:
        return [simulate._run(task, replay, world) for task in tasks]

    monkeypatch.setattr(simulate, "simulated", each)


def three(here: Path, begins: int = 0) -> dict[str, str]:
    """Three teams, of one job each."""
    rows = [f"{begins},9,1,{team},sweep" for team in "abc"]
    (here / "three.csv").write_text("\n".join(["submit_s,duration_s,gpus,team,derived_class", *rows, ""]))
    return {"--trace": "three.csv", "--window": f"{begins}:{begins + 9}", "--capacity": "2"}


@pytest.mark.usefixtures("in_this_process")
def test_how_many_jobs_never_fit_is_said_of_each_run(command: Command, here: Path) -> None:
    result = command.run("simulate", *words_of(three(here)), "--runs", "pools_equal,pools_demand,fifo_strict")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-2:] == [
        "pools_equal: 3 of 3 jobs never fit; its figures are those of the others.",
        "pools_demand: 1 of 3 jobs never fit; its figures are those of the others.",
    ]


@pytest.mark.usefixtures("in_this_process")
def test_a_page_is_written_of_runs_in_which_no_job_fits(command: Command, here: Path) -> None:
    asked = ("--runs", "pools_equal,pointsman", "--report", "page.html")
    result = command.run("simulate", *words_of(three(here)), *asked)

    assert (result.exit_code, result.stderr) == (0, "")
    assert "pools_equal (without 3 jobs that fit no pool)" in (here / "page.html").read_text()


def test_more_teams_than_quota_shares_are_a_mistake_of_the_runs(command: Command, here: Path) -> None:
    (here / "policy.yaml").write_text("version: 1\nqueue: q\nshare: '*'\ndefault: {name: sweep}\n")
    asked = ("--policy", "policy.yaml", "--runs", "pointsman_quota")
    result = command.run("simulate", *words_of(three(here)), *asked)

    assert (result.exit_code, result.stderr.partition(" would ")[0]) == (2, "Error: --runs: 3 teams")


WINDOWS = "windows:\n  - {when: 'daily 20:00-08:00 Europe/Madrid', set: {sweep: {head_start: 1h}}}\n"


def test_with_windows_it_is_said_when_the_replay_begins(command: Command, here: Path) -> None:
    (here / "policy.yaml").write_text(f"version: 1\nqueue: q\nshare: all\ndefault: {{name: sweep}}\n{WINDOWS}")
    asked = ("--policy", "policy.yaml", "--runs", "pointsman")
    result = command.run("simulate", *words_of(three(here, 1_772_452_800)), *asked)
    assert (result.exit_code, result.stderr) == (0, "")
    told = "The policy's windows are open as by the file's own seconds, which begin Mon 2026-03-02 13:00 CET."
    assert result.stdout.splitlines()[-1] == told

    result = command.run("simulate", *words_of(three(here, 1_772_452_800_000)), *asked)
    assert (result.exit_code, result.stderr.partition(" is no time")[0]) == (
        2,
        "Error: --window: the policy has windows of the week, and 1772452800000",
    )
