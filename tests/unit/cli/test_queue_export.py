"""`pointsman queue export`: a queue's past as a file, within the budget, in as many goes as it takes."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from pointsman.queues.jobs import Status, merge
from pointsman.queues.kinds import QueueKind
from pointsman_cli import export
from pointsman_simulator.traces import Window, read_trace
from tests.unit.cli.harness import Command

DAY = 86_400.0
CLASSES = ("production", "research", "sweep")


@pytest.fixture
def past(tmp_path: Path) -> Path:
    return tmp_path / "past.csv"


def ended(command: Command, job_id: str, *, ago: float, waited: float = 60.0, ran: float = 3600.0, **job: Any) -> None:
    """A job that was submitted so many seconds ago, and has ended."""
    batch, now = command.deployment.batch, command.deployment.clock.now()
    status = job.pop("status", Status.SUCCEEDED)
    batch.add_job(job_id, "search-training", status, created=now - ago, **job)
    start = now - ago + waited
    batch.jobs[job_id] = replace(batch.jobs[job_id], started=start, stopped=start + ran)


def asked(command: Command, past: Path, *words: str) -> Result:
    return command.run("queue", "export", "search-training", "--out", str(past), *words)


def facts(command: Command, past: Path, *words: str, code: int = 0) -> dict[str, Any]:
    result = asked(command, past, *words, "--json")
    assert (result.exit_code, result.stderr) == (code, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def rows(past: Path) -> dict[str, dict[str, str]]:
    with past.open(newline="") as lines:
        return {row["job_id"]: row for row in csv.DictReader(lines)}


def test_a_job_is_written_with_its_times_its_team_and_its_class_under_the_ruling_policy(
    ruled: Command, past: Path
) -> None:
    ended(ruled, "e-1", ago=DAY, waited=90, ran=1800.5, name="prod-ranker", size=2, gpus=16, tags={"team": "ranking"})
    ended(ruled, "e-2", ago=2 * DAY, name="look", tags={"purpose": "explore"})
    told = facts(ruled, past)
    now = ruled.deployment.clock.now()
    assert (told["jobs"], told["described"], told["complete"]) == (2, 2, True)
    row = rows(past)["e-1"]
    assert {key: row[key] for key in ("submit_s", "duration_s", "wait_s", "gpus", "instances", "team", "name")} == {
        "submit_s": f"{now - DAY:.3f}", "duration_s": "1800.500", "wait_s": "90.000", "gpus": "16", "instances": "2",
        "team": "ranking", "name": "prod-ranker",
    }  # fmt: skip
    assert {key: one["derived_class"] for key, one in rows(past).items()} == {"e-1": "production", "e-2": "research"}
    assert rows(past)["e-2"]["team"] == "all"
    assert list(rows(past)) == ["e-2", "e-1"]


def test_what_is_written_is_what_simulate_reads(ruled: Command, past: Path) -> None:
    ended(ruled, "e-1", ago=DAY, name="prod-ranker", size=4)
    ended(ruled, "e-2", ago=DAY / 2, name="sweep-17", size=1, ran=10)
    start, end = facts(ruled, past)["window"]
    jobs = read_trace(past, Window(start, end), CLASSES).jobs
    assert [(job.name, job.gpus, job.seconds, job.job_class, job.team) for job in jobs] == [
        ("prod-ranker-1", 4, 3600.0, "production", "all"),
        ("sweep-17-2", 1, 10.0, "sweep", "all"),
    ]


def test_what_pointsmans_table_knows_is_not_described_again(ruled: Command, past: Path) -> None:
    ended(ruled, "e-1", ago=DAY, name="prod-ranker", size=2)
    record = merge(None, ruled.deployment.batch.jobs["e-1"])
    assert record is not None
    ruled.deployment.jobs.save(record)
    told = facts(ruled, past)
    assert (told["from_table"], told["described"]) == (1, 0)
    assert ruled.deployment.batch.described == []
    assert rows(past)["e-1"]["instances"] == "2"


def test_jobs_that_have_not_ended_or_never_started_are_left_out_and_counted(ruled: Command, past: Path) -> None:
    ended(ruled, "e-1", ago=DAY)
    batch, now = ruled.deployment.batch, ruled.deployment.clock.now()
    batch.add_job("e-2", "search-training", Status.FAILED, created=now - DAY)
    for job in ("r-1", "s-0"):
        record = merge(None, batch.jobs[job])
        assert record is not None
        ruled.deployment.jobs.save(record)
    told = facts(ruled, past)
    assert (told["jobs"], told["never_started"], told["unfinished"]) == (1, 1, 2)
    assert "Left out: 2 that have not ended, 1 that never started." in asked(ruled, past).stdout


def test_jobs_from_before_are_left_out(ruled: Command, past: Path) -> None:
    ended(ruled, "e-1", ago=DAY)
    ended(ruled, "e-2", ago=3 * DAY)
    assert facts(ruled, past, "--since", "2d")["jobs"] == 1
    assert set(rows(past)) == {"e-1"}


def test_when_the_budget_is_used_up_it_stops_and_the_same_command_goes_on(ruled: Command, past: Path) -> None:
    for n in range(150):
        ended(ruled, f"e-{n}", ago=DAY + n, name=f"sweep-{n}")
    first = facts(ruled, past, code=1)
    assert not first["complete"]
    assert first["jobs"] + first["missing"] == 150
    assert first["described"] + first["pages"] == 120
    ruled.deployment.clock.advance(60)
    second = facts(ruled, past)
    assert (second["jobs"], second["kept"], second["complete"]) == (150, first["jobs"], True)
    assert len(ruled.deployment.batch.described) == len(set(ruled.deployment.batch.described)) == 150


def test_with_patience_it_waits_for_the_budget(ruled: Command, past: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(130):
        ended(ruled, f"e-{n}", ago=DAY + n)
    waited: list[float] = []

    class Waiting(export.Budget):
        def __init__(self, found: Any, patience: float) -> None:
            super().__init__(
                found, patience, pause=lambda seconds: (waited.append(seconds), found.clock.advance(seconds))
            )

    monkeypatch.setattr(export, "Budget", Waiting)
    assert facts(ruled, past, "--wait", "10m")["complete"]
    assert 0 < sum(waited) <= 600


def test_a_listing_that_was_cut_short_is_not_complete(ruled: Command, past: Path) -> None:
    ended(ruled, "e-1", ago=DAY)
    ruled.deployment.jobs.take_budget(120, ruled.deployment.clock.now())
    told = facts(ruled, past, code=1)
    assert (told["jobs"], told["pages"], told["complete"]) == (0, 0, False)


def test_rows_stay_when_batch_has_forgotten_their_jobs_and_get_the_class_they_have_now(
    ruled: Command, past: Path, policy_file: Path
) -> None:
    ended(ruled, "e-1", ago=DAY, name="prod-ranker")
    facts(ruled, past)
    del ruled.deployment.batch.jobs["e-1"]
    ended(ruled, "e-2", ago=DAY / 2, name="sweep-1")
    other = policy_file.with_name("other.yaml")
    other.write_text(
        policy_file.read_text()
        .replace("name: production", "name: release")
        .replace("boost: production", "boost: release")
    )
    told = facts(ruled, past, "--policy", str(other))
    assert (told["jobs"], told["kept"]) == (2, 1)
    assert {key: row["derived_class"] for key, row in rows(past).items()} == {"e-1": "release", "e-2": "sweep"}


@pytest.mark.parametrize(
    "gpus,capacity,exact",
    [((8, 16), 64, True), ((1, 2), 8, True), ((8, 2), 27, False)],
    ids=["eight GPUs an instance", "one GPU an instance", "instances of two kinds"],
)
def test_the_pool_is_told_in_gpus(
    ruled: Command, past: Path, gpus: tuple[int, int], capacity: int, exact: bool
) -> None:
    """The queue has 8 instances; the jobs ask for one instance and for two."""
    ended(ruled, "e-1", ago=DAY, size=1, gpus=gpus[0])
    ended(ruled, "e-2", ago=DAY, size=2, gpus=gpus[1])
    told = facts(ruled, past)
    assert (told["capacity"], told["exact"]) == (capacity, exact)
    text = asked(ruled, past).stdout
    assert ("replayed roughly" in text) is not exact
    assert f"--capacity {capacity} " in text


def test_a_queue_without_a_past_is_said_and_exits_with_1(ruled: Command, past: Path) -> None:
    result = asked(ruled, past)
    assert result.exit_code == 1
    assert "No job of search-training that has run and ended was found since" in result.stdout


def test_a_queue_without_a_policy_is_refused_with_the_remedy(command: Command, past: Path) -> None:
    ended(command, "e-1", ago=DAY)
    result = asked(command, past)
    assert result.exit_code == 2
    assert "`pointsman policy apply` one in mode observe, or name one by --policy" in result.stderr
    assert not past.exists()


def test_a_container_queue_is_refused(ruled: Command, past: Path) -> None:
    ruled.deployment.batch.change_queue("search-training", kind=QueueKind.CONTAINER)
    result = asked(ruled, past)
    assert result.exit_code == 2
    assert "this is a container queue: it has no service jobs to export" in result.stderr


HEAD = ",".join(export.COLUMNS)


def kept(*, at: str = "1.0", size: str = "1", tags: str = "{}") -> str:
    """A file of one row."""
    return f"{HEAD}\n{at},60.0,8,a,sweep,sweep-1,30.0,{size},all,{tags},job-1\n"


@pytest.mark.parametrize(
    "text",
    ["submit_s,duration_s\n1,2\n", "", "hello", f"{HEAD}\n1,2\n", kept(at="nan"), kept(at="1e999"), kept(size="0"),
     kept(size="-1"), kept(tags="[1]"), kept(tags="null"), kept(tags='"{""team"": 1}"')],
)  # fmt: skip
def test_a_file_of_another_kind_is_never_written_over(ruled: Command, past: Path, text: str) -> None:
    ended(ruled, "e-1", ago=DAY)
    past.write_text(text)
    result = asked(ruled, past)
    assert result.exit_code == 2
    assert "this file is no export of a queue" in result.stderr
    assert past.read_text() == text


def test_a_folder_that_is_not_there_is_named_before_anything_is_asked(ruled: Command, tmp_path: Path) -> None:
    result = asked(ruled, tmp_path / "absent" / "past.csv")
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr
    assert ruled.deployment.batch.described == []


def test_a_team_that_a_spreadsheet_would_take_for_a_formula_is_a_text(ruled: Command, past: Path) -> None:
    ended(ruled, "e-1", ago=DAY, tags={"team": "=1+1"})
    facts(ruled, past)
    assert rows(past)["e-1"]["team"] == "'=1+1"
    assert json.loads(rows(past)["e-1"]["tags"]) == {"team": "=1+1"}
