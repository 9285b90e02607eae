"""The wiring check: with a rule taken out of the template it names what was lost, and the queue ends the same."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.flow.day import ROOT, TEMPLATE, opened


def without(logical_id: str) -> Callable[[str], str]:
    """The template's text without one resource: from its line to the next of the same depth."""

    def change(text: str) -> str:
        lines = text.splitlines(keepends=True)
        first = lines.index(f"  {logical_id}:\n")
        last = next(n for n in range(first + 1, len(lines)) if lines[n][:2] == "  " and lines[n][2] not in " \n")
        return "".join(lines[:first] + lines[last:])

    return change


def copied(folder: Path, change: Callable[[str], str]) -> Path:
    """A changed copy of the template, beside the code that it names."""
    for name in ("functions", "layers", "statemachines"):
        (folder / name).symlink_to(ROOT / name)
    copy = folder / "template.yaml"
    copy.write_text(change(TEMPLATE.read_text()))
    return copy


@dataclass(frozen=True)
class Played:
    faults: tuple[str, ...]
    line: dict[str, int]
    order: list[str]
    ends: dict[str, tuple[str, int]]
    said: str


def play(template: Path) -> Played:
    with opened(template=template) as day:
        day.apply()
        day.submit("sweep-hold", 4, minutes=15)
        for name in ("sweep-a", "sweep-b", "research-a", "prod-a", "prod-b"):
            day.submit(name, minutes=5)
        day.pass_minutes(10)
        line = day.line()
        day.aws.put_metric("Search/Models", "PredictionDrift", 0.5, Model="ranker")
        day.drain(1)
        assert not day.aws.failures
        assert not day.failed_passes()
        report = day.aws.wiring.check()
        return Played(report.faults, line, day.in_order_of_start(), day.ends(), str(report))


@pytest.fixture(scope="module")
def whole() -> Played:
    return play(TEMPLATE)


def test_with_the_template_as_it_is_every_kind_of_event_reaches_its_target(whole: Played) -> None:
    assert whole.faults == ()
    assert "Batch Service Job State Change (aws.batch)" in whole.said
    assert "reached JobEventsQueue" in whole.said
    assert "reached RelayAlarmFunction" in whole.said
    assert "reached WakeDueFunction" in whole.said


def test_with_the_job_state_rule_deleted_the_check_names_the_event_and_the_target_and_the_queue_ends_the_same(
    whole: Played, tmp_path: Path
) -> None:
    broken = play(copied(tmp_path, without("JobStateRule")))
    [lost] = [fault for fault in broken.faults if "produced" in fault]
    assert '"Batch Service Job State Change" from aws.batch' in lost
    assert "matched by no rule" in lost
    assert "JobEventsQueue" in lost
    assert broken.line == whole.line
    assert broken.order == whole.order
    assert broken.ends == whole.ends


def test_a_rule_whose_target_lets_nobody_in_is_found(tmp_path: Path) -> None:
    broken = play(copied(tmp_path, without("AlarmRulePermission")))
    [lost] = [fault for fault in broken.faults if "CloudWatch Alarm State Change" in fault]
    assert "did not reach RelayAlarmFunction by" in lost
    assert set(broken.ends.values()) == {("SUCCEEDED", 1)}
