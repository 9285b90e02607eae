"""`pointsman uninstall`, in memory: what it refuses, and what it leaves alone."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pointsman.ports import Write
from pointsman.queues.jobs import merge
from pointsman.rollouts.record import Switch
from pointsman_cli.access import Target
from pointsman_cli.main import cli
from tests.fakes.rollout_table import FakeRolloutTable
from tests.unit.cli.harness import Command, FakeDeployment
from tests.unit.loops.rollout_world import World

QUEUE = "search-training"


@dataclass
class Leftovers:
    """Kill switches by name."""

    names: list[str] = field(default_factory=list)

    def standing(self) -> tuple[str, ...]:
        return tuple(self.names)

    def delete(self, alarm: str) -> None:
        self.names.remove(alarm)


@dataclass
class Fleet:
    rollout_table: FakeRolloutTable
    kill_switches: Leftovers = field(default_factory=Leftovers)
    control_table: str = "control-1"
    stack: str = "prod"


@dataclass
class Installed:
    """A deployment with a queue and rollouts."""

    deployment: FakeDeployment
    world: World = field(default_factory=World)

    def __post_init__(self) -> None:
        self.fleet = Fleet(self.world.table)

    @contextmanager
    def open(self, target: Target) -> Iterator[FakeDeployment]:  # noqa: ARG002 - the real one's signature
        yield self.deployment

    @contextmanager
    def rollouts(self, target: Target) -> Iterator[Fleet]:  # noqa: ARG002 - the same
        yield self.fleet

    def caller(self, target: Target) -> str:  # noqa: ARG002 - the same
        return "ada"

    def run(self, *words: str) -> Result:
        return CliRunner().invoke(cli, ["uninstall", "--stack", "pointsman", "--yes", *words], obj=self)


@pytest.fixture
def installed(ruled: Command) -> Installed:
    return Installed(ruled.deployment)


def test_rollouts_that_are_open_are_brought_to_their_end_first(installed: Installed) -> None:
    installed.world.ask()
    result = installed.run()
    assert result.exit_code == 2
    assert "1 rollout not at an end: r1" in result.stderr
    assert "`pointsman rollout abort`" in result.stderr
    assert not installed.deployment.control.stopped()
    installed.world.run()
    ours, others = ["pointsman-kill/prod/r1", "pointsman-kill/prod/lost"], ["pointsman-kill/prod-b/r1"]
    installed.fleet.kill_switches.names = [*ours, *others]
    told = json.loads(installed.run("--json").stdout)
    assert told["kill_switches"] == {"deleted": ours, "left": others}


@pytest.mark.parametrize(
    "switch, deleted", [(Switch.DELETING, True), (Switch.DELETED, False)], ids=["never seen gone", "deleted already"]
)
def test_a_kill_switch_of_a_name_that_two_deployments_may_share_is_deleted_only_where_ours_is_left(
    installed: Installed, switch: Switch, deleted: bool
) -> None:
    installed.world.ask()
    installed.world.run()
    kept = installed.world.table.kept["r1"]
    kept.stored = replace(kept.stored, record=replace(kept.stored.record, alarm="", switch=switch))
    installed.fleet.kill_switches.names = ["pointsman-kill-other", "pointsman-kill-r1"]
    told = json.loads(installed.run("--json").stdout)
    assert told["kill_switches"]["deleted"] == (["pointsman-kill-r1"] if deleted else [])


@pytest.mark.parametrize(
    "job, stands, submitted, after, then",
    [
        ("s-0", 4999, 0, 4999, 0),
        ("s-0", 4000, 0, 4999, 4000),
        ("r-1", 4999, 0, 4999, 4999),
        ("r-1", 0, 10, 0, 10),
    ],
    ids=["waits, as we set it", "waits, as someone else set it", "runs, protected", "runs, as a victim"],
)
def test_of_a_job_that_we_moved(
    installed: Installed, job: str, stands: int, submitted: int, after: int, then: int
) -> None:
    found = installed.deployment
    for record in found.batch.jobs.values():
        merged = merge(None, record)
        assert merged is not None
        found.jobs.save(merged)
    found.batch.set_priority(job, stands)
    row = found.jobs.load([job])[job]
    assert row.detail is not None
    found.jobs.save(replace(row, submitted_priority=submitted, detail=replace(row.detail, priority=after)))
    found.control.put_writes([Write(job, submitted, submitted, after, found.clock.now())], {})
    told = json.loads(installed.run("--json").stdout)
    assert found.batch.describe_job(job).detail.priority == then
    assert [(one["queue"], one["jobs"]) for one in told["queues"]] == [(QUEUE, int(stands != then))]


def test_a_policy_that_cannot_be_read_is_told_and_the_rest_is_done(installed: Installed, policy_file: Path) -> None:
    assert policy_file.exists()
    installed.deployment.control.put_policy(QUEUE, '{"version": 7}', 0.0, "ada")
    result = installed.run()
    assert result.exit_code == 1
    assert f"warning: {QUEUE}: its shares are left as they are, its policy cannot be read" in result.stderr
    assert "sam delete --stack-name pointsman" in result.stdout


def test_a_queue_that_is_gone_needs_nothing(installed: Installed) -> None:
    installed.deployment.control.put_policy("gone", '{"version": 1}', 0.0, "ada")
    told = json.loads(installed.run("--json").stdout)
    assert {"queue": "gone", "shares": [], "jobs": 0, "problems": []} in told["queues"]
