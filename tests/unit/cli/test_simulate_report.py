"""`pointsman simulate --report`: a page beside the table, and what keeps it from being written."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pointsman_cli import simulate as command
from pointsman_cli.main import cli
from pointsman_cli.report.charts import TIMES
from pointsman_simulator.workload import generate


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A hundred jobs of a generated day."""
    file = tmp_path / "past.csv"
    lines = [f"{job.submit},{job.seconds},{job.gpus},{job.team},{job.job_class}" for job in generate(4, jobs=100)]
    file.write_text("\n".join(["submit_s,duration_s,gpus,team,derived_class", *lines]) + "\n")
    return file


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs one after the other: starting workers takes longer than they would save."""

    def each(tasks: Any, replay: Any, world: Any) -> Any:
        return [command._run(task, replay, world) for task in tasks]

    monkeypatch.setattr(command, "simulated", each)


def asked(trace: Path, *words: str) -> Result:
    window = ("--window", "0:86400", "--capacity", "40")
    return CliRunner(env={"COLUMNS": None}).invoke(cli, ["simulate", "--trace", str(trace), *window, *words])


def test_the_page_is_written_beside_the_table_with_the_command_that_made_it(trace: Path) -> None:
    page = trace.with_name("page of it.html")
    result = asked(trace, "--runs", "fifo_strict,pointsman", "--report", str(page))
    assert result.exit_code == 0, result.output
    assert f"The page is {page}." in result.stdout
    html = page.read_text()
    made = f"pointsman simulate --trace {trace} --window 0:86400 --capacity 40 --runs fifo_strict,pointsman --report"
    assert f"<pre>{made} &#x27;{page}&#x27;</pre>" in html
    assert html.count(f"head starts {TIMES}") >= 4


def test_the_policys_own_line_is_there_when_only_baselines_were_asked_for(trace: Path) -> None:
    page = trace.with_name("page.html")
    result = asked(trace, "--runs", "fifo_strict", "--report", str(page), "--json")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("{")
    assert f"pointsman, head starts {TIMES}0.5" in page.read_text()


def test_nothing_more_is_played_without_a_page(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[str] = []
    real = command._run

    def noted(task: Any, replay: Any, world: Any) -> Any:
        played.append(task[0])
        return real(task, replay, world)

    monkeypatch.setattr(command, "_run", noted)
    assert asked(trace, "--runs", "fifo_strict,pointsman").exit_code == 0
    assert played == ["fifo_strict", "pointsman"]


def test_without_plotly_it_says_what_to_install_before_it_plays(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    result = asked(trace, "--report", str(trace.with_name("page.html")))
    assert result.exit_code == 2
    assert "--report: plotly is missing (in a checkout of the repository `make setup` installs" in result.stderr


def test_a_folder_that_is_not_there_is_named_before_it_plays(trace: Path) -> None:
    result = asked(trace, "--report", str(trace.with_name("absent") / "page.html"))
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr


def test_a_policy_with_classes_of_its_own_is_tried_on_jobs_of_those(trace: Path) -> None:
    policy = trace.with_name("policy.yaml")
    classes = "classes:\n  - {name: release, match: {job_name: 'r*'}}\ndefault: {name: rest}\n"
    policy.write_text(f"version: 1\nqueue: q\nshare: all\n{classes}")
    trace.write_text(trace.read_text().replace(",production", ",release").replace(",sweep", ",rest"))
    result = asked(trace, "--policy", str(policy), "--runs", "fifo_strict")
    assert result.exit_code == 2
    assert "the jobs have classes that the policy does not name: batch-inference, research" in result.stderr
    trace.write_text(trace.read_text().replace(",research", ",rest").replace(",batch-inference", ",rest"))
    result = asked(trace, "--policy", str(policy), "--runs", "fifo_strict")
    assert result.exit_code == 0, result.output
    assert "release" in result.stdout
