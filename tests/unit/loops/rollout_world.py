"""A small world for the rollouts' loops: a fleet, its alarms and the table in memory, and the clock that ends waits."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pointsman.errors import Conflict, Transient
from pointsman.loops.rollout import Advance, RolloutLoop
from pointsman.loops.rollout_commands import RolloutCommands
from pointsman.loops.rollout_notices import Teller
from pointsman.loops.rollout_observe import RolloutObserver
from pointsman.loops.rollout_wakers import DueRollouts, RolloutRelay, RolloutWaker
from pointsman.loops.way_back import WayBack
from pointsman.rollout_documents import parse_request
from pointsman.rollout_log_ports import RolloutPass
from pointsman.rollout_ports import StoredRollout
from pointsman.rollout_wake_ports import Life
from pointsman.rollouts.commands import By, start
from pointsman.rollouts.decision import SubmitUpdate
from pointsman.rollouts.observations import AlarmState, ScalingView
from pointsman.rollouts.phase import Phase, switch_name
from pointsman.rollouts.request import Amount, Request
from pointsman.rollouts.specs import Spec
from tests.fakes.clock import FakeClock
from tests.fakes.control import FakeControl
from tests.fakes.log import FakeLog
from tests.fakes.messages import FakeDeadLetters
from tests.fakes.rollout_fleet import FakeFleet, FakePermissions, FakeScaling, FakeSources
from tests.fakes.rollout_signals import FakeExecution, FakeNotices, FakeSignals
from tests.fakes.rollout_table import FakeRolloutTable
from tests.unit.rollouts.build import NEW, OLD, SMALL_BOX, request

ALARM, STACK = "fleet-errors", "prod"
Wrap = Callable[[Any, str], Any]


@dataclass
class Log(FakeLog):
    """What the loops tell."""

    passes: list[RolloutPass] = field(default_factory=list)
    stumbles: list[tuple[str, bool]] = field(default_factory=list)
    commands: list[tuple[str, str, str]] = field(default_factory=list)

    def advanced(self, report: RolloutPass) -> None:
        self.passes.append(report)

    def stumbled(self, rollout: str, why: str, *, known: bool) -> None:  # noqa: ARG002
        self.stumbles.append((why, known))

    def commanded(self, rollout: str, verb: str, actor: str, outcome: str) -> None:  # noqa: ARG002
        self.commands.append((verb, actor, outcome))


def small(**changes: Any) -> Request:
    """A rollout of everything that begins with m, in two waves, with short bakes."""
    values: dict[str, Any] = {
        "waves": (Amount(1), Amount(100, percent=True)),
        "bake": 300.0,
        "final_bake": 300.0,
        "wait": 60.0,
    }
    return request(**{**values, **changes})


class World:
    """Two endpoints with two components; `wrap` stands around every port that a pass uses."""

    def __init__(self, wrap: Wrap = lambda port, _name: port) -> None:
        self.clock = FakeClock()
        self.fleet, self.signals, self.scaling = FakeFleet(self.clock), FakeSignals(self.clock), FakeScaling()
        self.table, self.execution, self.notices = FakeRolloutTable(), FakeExecution(), FakeNotices()
        self.permissions, self.control, self.dead_letters = FakePermissions(), FakeControl(), FakeDeadLetters()
        self.sources, self.log = FakeSources(), Log()
        self.bad: set[str] = set()  # models for which the alarm fires
        self.fleet.firing = self.signals.firing
        for endpoint in ("e1", "e2"):
            self.fleet.add_endpoint(endpoint, 2, 3, SMALL_BOX)
        self.fleet.add("m1", "e1", OLD, 2)
        self.fleet.add("m2", "e2", OLD, 2)
        self.fleet.models = {"ranker-v1", "ranker-v2", "hotfix"}
        self.signals.add(ALARM)
        table, fleet, signals = wrap(self.table, "table"), wrap(self.fleet, "fleet"), wrap(self.signals, "signals")
        scaling, execution = wrap(self.scaling, "scaling"), wrap(self.execution, "execution")
        self.observer = RolloutObserver(
            self.clock, fleet, signals, scaling, self.permissions, table, wrap(self.control, "control"),
            WayBack(self.permissions, self.sources, "ours"),
        )  # fmt: skip
        self.loop = RolloutLoop(
            self.clock, self.observer, table, fleet, signals, scaling, wrap(self.notices, "notices"), self.log
        )
        self.waker = RolloutWaker(table, execution)
        teller = Teller(table, wrap(self.notices, "notices"), self.log)
        self.relay = RolloutRelay(table, self.waker, teller.late_alarm)
        self.due = DueRollouts(self.clock, table, execution, self.waker, teller.tell_of, self.log)
        self.commands = RolloutCommands(
            self.clock, table, self.observer, execution, self.waker, self.dead_letters, parse_request, self.log, STACK,
        )  # fmt: skip

    def ask(self, **changes: Any) -> None:
        """A rollout is asked for."""
        wanted = small(**changes)
        self.table.create(wanted, start(wanted, By("ana", self.clock.now()), switch_name(wanted.rollout, STACK)))
        self.execution.start(wanted.rollout, 1)

    @property
    def stored(self) -> StoredRollout:
        return self.table.kept["r1"].stored

    @property
    def phase(self) -> Phase:
        return self.stored.record.phase

    def run_pass(self) -> Advance:
        return self.loop.run("r1", self.stored.generation)

    def run(self, seconds: float = 40_000.0, stop: Callable[[], bool] = lambda: False) -> Phase:
        """What the state machine does: pass and wait, until the rollout ends, or `stop`, or the time is over."""
        until = self.clock.now() + seconds
        while self.clock.now() < until and not stop():
            self.react()
            try:
                advance = self.run_pass()
            except (Transient, Conflict):
                self.clock.advance(5)
                continue
            if advance.ended and advance.phase != "SUPERSEDED":
                break
            self.clock.advance(min(advance.wait_seconds, 30))
        return self.phase

    def react(self) -> None:
        """What happens by itself: a bad version lets the alarm fire while it serves, or is rolled."""
        self.fleet.catch_up()
        serving = {part.view.spec.model for part in self.fleet.parts.values()}
        serving |= {part.flight.act.spec.model for part in self.fleet.parts.values() if part.flight}
        state = AlarmState.ALARM if serving & self.bad else AlarmState.OK
        self.signals.set_state(ALARM, state)

    def models(self) -> dict[str, str | None]:
        return {name: part.view.spec.model for name, part in self.fleet.parts.items()}

    def copies(self) -> dict[str, int]:
        return {name: part.view.desired for name, part in self.fleet.parts.items()}

    def sent(self, component: str) -> list[SubmitUpdate]:
        return self.fleet.parts[component].sent

    def make_room(self) -> Request:
        """`e2` becomes full: a component there gives way."""
        self.fleet.add_endpoint("e2", 3, 3, SMALL_BOX)
        self.fleet.add("y1", "e2", Spec("yielding", compute=OLD.compute), 1)
        self.scaling.targets["y1"] = ScalingView(0, 3)
        return small()


__all__ = ["ALARM", "NEW", "OLD", "Life", "Log", "World", "small"]
