"""The command on rollouts in memory: the loops' small world, and the function that obeys commands."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from click.testing import CliRunner, Result

from pointsman.ports import Clock, Standstill
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.planner import make_plan
from pointsman.rollouts.request import Request
from pointsman_cli.access import Target
from pointsman_cli.main import cli
from tests.fakes.rollout_table import FakeRolloutTable
from tests.unit.loops.rollout_world import ALARM, World

REQUEST = f"""\
version: 1
rollout: r1
targets: [{{prefix: m}}]
change: {{model: ranker-v2}}
waves: [1, 100%]
wait: 1m
bake: 5m
final_bake: 5m
guards: [{ALARM}]
"""


@dataclass
class FakeRollouts:
    world: World

    @property
    def clock(self) -> Clock:
        return self.world.clock

    @property
    def rollout_table(self) -> FakeRolloutTable:
        return self.world.table

    def standstill(self) -> Standstill | None:
        return self.world.control.standstill()

    def wake_rollout(self, rollout: str) -> None:
        self.world.waker.wake(rollout)

    def rollout_plan(self, request: Request) -> Plan:
        return make_plan(request, self.world.observer.survey(request), self.clock.now())

    def command_rollout(self, command: Mapping[str, Any]) -> Mapping[str, Any]:
        obeyed = self.world.commands.receive(command)
        assert obeyed is not None
        return obeyed.answer()


@dataclass
class RolloutCommand:
    """`run("rollout", "show", "r1")`."""

    world: World = field(default_factory=World)

    @contextmanager
    def rollouts(self, target: Target) -> Iterator[FakeRollouts]:  # noqa: ARG002 - the real one's signature
        yield FakeRollouts(self.world)

    def caller(self, target: Target) -> str:  # noqa: ARG002 - the same
        return "arn:aws:iam::123456789012:user/ada"

    def run(self, *words: str) -> Result:
        return CliRunner(env={"COLUMNS": None}).invoke(cli, list(words), obj=self)
