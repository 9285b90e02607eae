"""`pointsman report`, on days in memory."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pointsman.queues.days import DAY, day_of
from pointsman.rollouts.commands import By, start
from pointsman.rollouts.phase import Phase
from tests.unit.cli.harness import Command
from tests.unit.loops.rollout_world import small
from tests.unit.report.two_weeks import days

NOW = 1_800_000_000.0
QUEUE = "search-training"


@pytest.fixture
def counted(ruled: Command) -> Command:
    """The command on a queue that was counted for two weeks."""
    for day in days(QUEUE, NOW):
        ruled.deployment.days.save([day])
    return ruled


def line(text: str, first: str) -> list[str]:
    """The cells of the first row that begins so."""
    row = next(row for row in text.splitlines() if row.startswith(first))
    return [cell.strip() for cell in row.removeprefix(first).split("  ") if cell.strip()]


def test_each_day_stands_beside_the_same_weekday_of_the_week_before(counted: Command) -> None:
    result = counted.run("report", QUEUE)

    assert result.exit_code == 0
    today = f"Fri {day_of(NOW)}"
    assert line(result.stdout, today) == [
        "75.0% | 50.0%",
        "5.0 | 12.0",
        "11 | 11",
        "0 | 2",
        "0.0 | 2.0",
        "20 | 20",
        "- | -",
    ]
    unseen = f"Tue {day_of(NOW - 3 * DAY)}"
    assert line(result.stdout, unseen)[0] == "- | 50.0%"
    assert line(result.stdout, "change")[:2] == ["+25.0 points", "-47%"]


def test_waits_are_told_by_class_in_the_order_of_the_policy(counted: Command) -> None:
    waits = counted.run("report", QUEUE).stdout.partition("Waits in hours")[2]

    head = next(row for row in waits.splitlines() if row.startswith("day"))
    assert head.index("production, p90") < head.index("sweep, mean") < head.index("all, mean")
    assert line(waits, "week")[0] == "0.50 | 1.00"
    assert line(waits, "change")[0] == "-50%"


def test_json_has_every_day_and_the_weeks(counted: Command) -> None:
    told = json.loads(counted.run("report", QUEUE, "--json", "--weeks", "3").stdout)

    assert [week["ago"] for week in told["weeks"]] == [0, 1, 2]
    today = told["weeks"][0]["days"][-1]
    assert (today["day"], today["utilisation"], today["started"]) == (day_of(NOW), 0.75, 11)
    assert today["classes"]["production"]["mean_wait_seconds"] == 1800.0
    before = told["weeks"][1]["total"]
    assert (before["evictions"], before["lost_gpu_hours"]) == ({"evicted": 14}, 14.0)
    assert told["weeks"][0]["days"][3] == {"day": day_of(NOW - 3 * DAY), "counted_hours": 0.0}
    assert told["weeks"][2]["total"]["utilisation"] is None


def test_rollouts_that_ended_in_the_weeks_are_counted_by_outcome(counted: Command) -> None:
    table = counted.deployment.rollouts
    for name, ended, phase in (
        ("good", NOW - 600, Phase.SUCCEEDED),
        ("bad", NOW - 60, Phase.ROLLED_BACK),
        ("old", NOW - 30 * DAY, Phase.SUCCEEDED),
        ("open", None, Phase.RUNNING),
    ):
        begun = start(small(rollout=name), By("ana", NOW - 40 * DAY))
        record = replace(begun.record, phase=phase, started_at=NOW - 3600, ended_at=ended)
        table.create(small(rollout=name), replace(begun, record=record))

    result = counted.run("report", QUEUE)
    told = json.loads(counted.run("report", QUEUE, "--json").stdout)

    assert line(result.stdout, f"Fri {day_of(NOW)}")[-1] == "1 + 1 not | -"
    assert {(one["rollout"], one["outcome"]) for one in told["weeks"][0]["days"][-1]["rollouts"]} == {
        ("good", "SUCCEEDED"),
        ("bad", "ROLLED_BACK"),
    }


def test_the_page_is_written_where_it_was_asked_for(counted: Command, tmp_path: Path) -> None:
    file = tmp_path / "report.html"

    result = counted.run("report", QUEUE, "--html", str(file))

    assert f"The page is {file}." in result.stdout.replace("\n", "")
    assert "search-training: week by week" in file.read_text()


def test_a_place_that_cannot_be_written_is_named(counted: Command, tmp_path: Path) -> None:
    result = counted.run("report", QUEUE, "--html", str(tmp_path / ("long" * 100)))

    assert (result.exit_code, "cannot be written" in result.stderr) == (2, True)


def test_a_queue_that_was_never_counted_says_so(ruled: Command) -> None:
    result = ruled.run("report", QUEUE)

    assert (result.exit_code, result.stderr) == (1, "")
    assert "no pass has counted anything" in result.stdout


def test_a_queue_without_a_policy_is_a_mistake(command: Command) -> None:
    result = command.run("report", "other")

    assert (result.exit_code, "this queue has no policy" in result.stderr) == (2, True)
