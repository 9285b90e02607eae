"""The command on a deployment in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from click.testing import CliRunner, Result

from pointsman.loops.inspect import Inspector
from pointsman.loops.observe import Observer
from pointsman.loops.quota import Shares
from pointsman_cli.access import Target
from pointsman_cli.main import cli
from tests.fakes.alarms import FakeAlarms
from tests.fakes.batch import FakeBatchQueues
from tests.fakes.clock import FakeClock
from tests.fakes.control import FakeControl
from tests.fakes.day_table import FakeDayTable
from tests.fakes.job_table import FakeJobTable
from tests.fakes.rollout_table import FakeRolloutTable
from tests.fakes.share_records import FakeCheckpoints, FakeShareRecords

POLICY = """\
version: 1
queue: search-training
mode: act
share: all
classes:
  - {name: production, match: {job_name: "prod-*"}, head_start: 24h, max_wait: 1h}
  - {name: research, match: {tag: {purpose: explore}}, head_start: 6h}
default: {name: sweep}
reservation: {after: 2h}
on_alarm:
  - {alarm: "ranker-drift-*", boost: production, by: 12h, for: 2h}
"""


@dataclass
class FakeDeployment:
    clock: FakeClock
    control: FakeControl
    jobs: FakeJobTable
    batch: FakeBatchQueues
    alarms: FakeAlarms
    days: FakeDayTable = field(default_factory=FakeDayTable)
    rollouts: FakeRolloutTable = field(default_factory=FakeRolloutTable)

    def inspector(self) -> Inspector:
        shares = Shares(self.batch, FakeShareRecords(), FakeCheckpoints())
        observer = Observer(self.clock, self.batch, self.alarms, self.jobs, self.control, shares, keep=False)
        return Inspector(observer, self.jobs, self.control)


@dataclass
class FakeAccess:
    deployment: FakeDeployment
    asked: list[Target] = field(default_factory=list)

    @contextmanager
    def open(self, target: Target) -> Iterator[FakeDeployment]:
        self.asked.append(target)
        yield self.deployment

    def caller(self, target: Target) -> str:
        self.asked.append(target)
        return "arn:aws:iam::123456789012:user/ada"


@dataclass
class Command:
    """The command on a deployment in memory: `run("queue", "show", "q")`."""

    access: FakeAccess

    @property
    def deployment(self) -> FakeDeployment:
        return self.access.deployment

    def run(self, *words: str) -> Result:
        return CliRunner(env={"COLUMNS": None}).invoke(cli, list(words), obj=self.access)


def in_memory() -> Command:
    """The command on an empty deployment, beside one fair-share queue of eight instances."""
    clock = FakeClock()
    batch = FakeBatchQueues(clock)
    batch.add_queue("search-training", capacity=8, shares=("all",))
    return Command(FakeAccess(FakeDeployment(clock, FakeControl(), FakeJobTable(), batch, FakeAlarms())))
