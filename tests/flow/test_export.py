"""A day on the emulator, exported and simulated: the past of a queue is what was submitted to it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman.wiring import Wiring
from pointsman_cli.access import Target
from pointsman_cli.checkout import shipped
from pointsman_cli.demo.day import opened
from pointsman_cli.demo.scenario import DEMO_SEED, demo_day
from pointsman_cli.main import cli
from pointsman_simulator.baselines import fifo_strict
from pointsman_simulator.measures import Run
from pointsman_simulator.replay import Replay, from_trace
from tests.fakes.job_table import FakeJobTable

JOBS = 40
CAPACITY = 16
PACE = 0.1  # the demo's day in a tenth of its time


@dataclass(frozen=True)
class Forgetful:
    """The deployment with a job table that knows no job: all must be asked of Batch."""

    wiring: Wiring
    jobs: FakeJobTable

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wiring, name)


@dataclass(frozen=True)
class OneDeployment:
    deployment: Any

    @contextmanager
    def open(self, target: Target) -> Iterator[Any]:
        assert target.demo_at is None
        yield self.deployment


def exported_to(past: Path, deployment: Any) -> dict[str, Any]:
    words = ["queue", "export", "search-training", "--since", "7d", "--out", str(past), "--json"]
    result = CliRunner().invoke(cli, words, obj=OneDeployment(deployment))
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(result.stdout)
    return told


def waits(run: Run) -> dict[str, float]:
    classes = {job.job_class for job in run.jobs}
    return {name: fmean(job.waited for job in run.jobs if job.job_class == name) for name in classes}


def test_a_day_played_exported_and_replayed_first_in_first_out_waits_as_the_day_would_have(tmp_path: Path) -> None:
    """Pointsman reordered the day; what a job asked for, when, and how long it ran is in the export as it was."""
    day = demo_day(DEMO_SEED, CAPACITY, shipped("examples/policy.yaml"), 1.0, shipped("template.yaml"))
    fitting = [job for job in day.jobs if job.gpus <= CAPACITY][:JOBS]
    quick = tuple(replace(job, submit=job.submit * PACE, seconds=job.seconds * PACE) for job in fitting)
    day = replace(day, jobs=quick, drift=None)
    past = tmp_path / "past.csv"
    with opened(day) as stage:
        stage.finish(lambda *_: None)
        told = exported_to(past, stage.wiring)
        asked = exported_to(tmp_path / "asked.csv", Forgetful(stage.wiring, FakeJobTable()))
    assert (asked["from_table"], asked["described"]) == (0, JOBS)
    assert (tmp_path / "asked.csv").read_text() == past.read_text()
    assert (told["jobs"], told["from_table"], told["described"], told["complete"]) == (JOBS, JOBS, 0, True)
    assert told["capacity"] == CAPACITY

    window = "{}:{}".format(*told["window"])
    replay = from_trace(past, window, told["capacity"], "derived_class", [one.name for one in day.policy.classes])
    exported = fifo_strict(replay)
    submitted = fifo_strict(Replay(day.jobs, 0, CAPACITY, day.window))
    assert waits(exported) == pytest.approx(waits(submitted), abs=1.0)
    assert max(waits(submitted).values()) > 600
    assert replay.gpu_seconds == pytest.approx(sum(job.seconds * job.gpus for job in day.jobs), rel=1e-4)
