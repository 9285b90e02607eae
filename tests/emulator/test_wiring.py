"""The wiring check: what a template that lost something is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.emulator.worlds import HERE, Make, World


@pytest.fixture
def without(tmp_path: Path, world: Make) -> object:
    """Makes a world whose template lacks a resource."""

    def make(*names: str) -> World:
        folder = tmp_path / "stack"
        shutil.copytree(HERE, folder)
        template = folder / "template.yaml"
        kept: list[str] = []
        skipping = False
        for line in template.read_text().splitlines():
            if line.startswith("  ") and not line.startswith("   "):
                skipping = line.strip().removesuffix(":") in names
            elif not line.startswith(" "):
                skipping = False
            if not skipping:
                kept.append(line)
        template.write_text("\n".join(kept))
        return world(template=template)

    return make


def test_a_whole_template_has_no_fault(world: Make) -> None:
    w = world()
    w.submit(seconds=60)
    w.aws.run_for(1200)
    report = w.aws.wiring.check()
    assert report.ok, str(report)
    assert "reached JobsQueue" in str(report)


def test_a_deleted_rule_is_told_by_the_event_type_and_the_missing_target(without: object) -> None:
    w = without("JobRule")  # type: ignore[operator]
    w.submit(seconds=60)
    w.aws.run_for(600)
    faults = w.aws.wiring.check().faults
    assert any('"Batch Service Job State Change" from aws.batch' in it and "JobsQueue" in it for it in faults), faults
    assert any("JobsQueuePolicy refers to JobRule" in it for it in faults), faults


def test_a_target_that_does_not_let_its_rule_in_is_told(without: object) -> None:
    w = without("JobsQueuePolicy", "AlarmPermission")  # type: ignore[operator]
    w.submit(seconds=60)
    w.aws.run_for(600)
    faults = w.aws.wiring.check().faults
    assert any("did not reach JobsQueue" in it and "does not let this rule in" in it for it in faults), faults
    assert any("did not reach HearAlarmFunction" in it for it in faults), faults


def test_the_jobs_end_the_same_when_the_rule_is_gone(without: object) -> None:
    w = without("JobRule")  # type: ignore[operator]
    job = w.submit(seconds=60)
    w.aws.run_for(600)
    assert w.describe(job)["status"] == "SUCCEEDED"
    assert w.records() == {}
