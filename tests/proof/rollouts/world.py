"""One random world: the product's own loops over the behaviour model, in a virtual time in which everything goes wrong.

The state machine, the clock, the events and the people are actors of it; a call of a pass may let all of them go on
before it is answered, so that passes overlap, and old ones come back late.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from random import Random
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.loops.rollout import RolloutLoop
from pointsman.loops.rollout_commands import RolloutCommands
from pointsman.loops.rollout_notices import Teller
from pointsman.loops.rollout_observe import RolloutObserver
from pointsman.loops.rollout_wakers import DueRollouts, RolloutRelay, RolloutWaker
from pointsman.loops.way_back import WayBack
from pointsman.rollout_documents import parse_request
from pointsman.rollouts.commands import By, start
from pointsman.rollouts.observations import AlarmState, Suspension
from pointsman.rollouts.phase import switch_name
from pointsman.rollouts.record import RolloutRecord
from pointsman.rollouts.request import Freeze, Request, Target
from pointsman.rollouts.specs import Change
from pointsman_emulator.models.inference import CopyState, InferenceModel
from tests.fakes.control import FakeControl
from tests.fakes.messages import FakeDeadLetters
from tests.fakes.rollout_fleet import FakePermissions, FakeSources
from tests.fakes.rollout_signals import FakeNotices
from tests.fakes.rollout_table import FakeRolloutTable
from tests.proof.rollouts.alarms import LateSignals
from tests.proof.rollouts.draw import World as Drawn
from tests.proof.rollouts.ends import afterwards
from tests.proof.rollouts.executions import Course, Executions
from tests.proof.rollouts.faults import Faults, Frame, Killed
from tests.proof.rollouts.people import People, state_of
from tests.proof.rollouts.promises import ALARM, alarmed
from tests.proof.rollouts.sagemaker import SIZES, ModelClient, ModelScaling, fleet_on
from tests.proof.rollouts.theirs import own_alarm
from tests.proof.rollouts.truth import Truth
from tests.proof.rollouts.watched import WatchedFleet, WatchedObserver, WatchedScaling, WatchedSignals, WatchedTable
from tests.unit.loops.rollout_world import STACK, Log
from tests.unit.rollouts.build import request

BEGIN = 1_800_000_000.0
LONGEST = 80_000.0  # seconds in which every rollout must have ended, or be held
AFTER = 1_500.0  # seconds for which the world goes on after the end
STEP = 20.0  # the longest time in which nothing is looked at
Action = Callable[[], None]


class World:
    """Everything, and its clock."""

    rollout = "r1"

    def __init__(self, drawn: Drawn) -> None:
        self.drawn, self.luck = drawn, Random(f"{drawn.seed} world")
        self._throttle, self._tidy = Random(f"{drawn.seed} throttle"), Random(f"{drawn.seed} tidy")
        self.steps, self.faults, self.numbers = 0, Counter[str](), count(1)
        self._agenda: list[tuple[float, int, Action]] = []
        self._now = BEGIN
        self.troubled = False
        self.sinking = Faults(self)
        self.clock = self  # what the ports call
        self.signals = LateSignals(_Truly(self), drawn.lag)
        self.model = InferenceModel(
            drawn.settings, drawn.seed, start=BEGIN - 20_000, sizes=SIZES.__getitem__,
            alarm_state=lambda name, _: self.signals.bells[name].state.value if name in self.signals.bells else None,
        )  # fmt: skip
        self.client = ModelClient(self.model, lambda: self.chance(drawn.trouble.refused, "an update is refused"))
        self.scaling = ModelScaling(self.model)
        self._fleet()
        self.truths: dict[str, Truth] = {}
        self.ours: list[object] = []  # the updates that we began
        self.table, self.execution, self.notices = FakeRolloutTable(), Executions(self), FakeNotices()
        self.control, self.log, self.people = FakeControl(), Log(), People(self)
        self._firing_until = self._blind_until = 0.0
        self.quiet_at: float | None = None  # when the requests ended
        self._wire()

    def _wire(self) -> None:
        wrap = self.sinking.wrap
        table = wrap(WatchedTable(self, self.table), "table")
        fleet = wrap(WatchedFleet(self, fleet_on(self.client)), "fleet")
        signals = wrap(WatchedSignals(self, self.signals), "signals")
        scaling = wrap(WatchedScaling(self, self.scaling), "scaling")
        permissions = FakePermissions()
        observer = RolloutObserver(
            self, fleet, signals, scaling, permissions, table, wrap(self.control, "control"),
            WayBack(permissions, FakeSources(), "ours"),
        )  # fmt: skip
        notices = wrap(self.notices, "notices")
        looking: Any = WatchedObserver(self, observer)
        self.loop = RolloutLoop(self, looking, table, fleet, signals, scaling, notices, self.log)
        waker = RolloutWaker(table, wrap(self.execution, "execution"))
        teller = Teller(table, notices, self.log)
        self.relay = RolloutRelay(table, waker, teller.late_alarm)
        self.due = DueRollouts(self, table, wrap(self.execution, "execution"), waker, teller.tell_of, self.log)
        self.commands = RolloutCommands(
            self, table, observer, self.execution, waker, FakeDeadLetters(), parse_request, self.log, STACK,
        )  # fmt: skip

    def _fleet(self) -> None:
        model, role = self.model, "arn:aws:iam::123456789012:role/endpoints"
        behaviour = {"EMULATED_BEHAVIOUR": self.drawn.bad} if "-" in self.drawn.bad else {}
        for name in ("ranker-v1", "ranker-v2", "ranker-v3", "hotfix"):
            environment = behaviour if name == "ranker-v2" else {}
            container = {"Image": f"images/{name}:1", "Environment": environment}
            model.create_model({"ModelName": name, "ExecutionRoleArn": role, "PrimaryContainer": container})
        for endpoint, (kind, least, most) in self.drawn.boxes.items():
            scaling = {"Status": "ENABLED", "MinInstanceCount": least, "MaxInstanceCount": most}
            variant = {"VariantName": "all", "InstanceType": kind, "InitialInstanceCount": least}
            variant |= {"ManagedInstanceScaling": scaling} if most > least else {}
            model.create_config(
                {"EndpointConfigName": endpoint, "ExecutionRoleArn": role, "ProductionVariants": [variant]}
            )
            model.create_endpoint({"EndpointName": endpoint, "EndpointConfigName": endpoint})
        needs = {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 1024}
        for part in self.drawn.parts:
            model.advance(model.now + 1000)
            model.create_component(
                {"InferenceComponentName": part.name, "EndpointName": part.endpoint, "VariantName": "all",
                 "Specification": {"ModelName": "ranker-v1", "ComputeResourceRequirements": needs},
                 "RuntimeConfig": {"CopyCount": part.copies}}
            )  # fmt: skip
        model.advance(BEGIN)
        for part in self.drawn.parts:
            if part.scales:
                kept = Suspension(scale_in=self.luck.random() < 0.3)
                self.scaling.add(part.name, max(1, part.copies - 1), part.copies, kept)

    # --------------------------------------------------------------------------------------------------------- time

    def now(self) -> float:
        """What a function's clock says."""
        return self._now + (self.sinking.frames[-1].skew if self.sinking.frames else 0.0)

    def true_now(self) -> float:
        """What the time is."""
        return self._now

    def later(self, seconds: float, action: Action) -> None:
        """Let something happen then."""
        heapq.heappush(self._agenda, (self._now + seconds, next(self.numbers), action))

    def pass_time(self, seconds: float) -> None:
        """Let time go by for everything that needs no function of ours."""
        until = self._now + seconds
        while self._now < until:
            step = min(STEP, until - self._now)
            self._now += step
            self.model.advance(self._now)
            self._alarms(step)
            for truth in self.truths.values():
                truth.looks()

    def live(self, until: float) -> None:
        """Let everything go on until then."""
        while self._agenda and self._agenda[0][0] <= until:
            at, _, action = heapq.heappop(self._agenda)
            self.pass_time(max(0.0, at - self._now))
            frames, self.sinking.frames = self.sinking.frames, list(self.sinking.frames)
            try:
                action()
            finally:
                self.sinking.frames = frames
        self.pass_time(max(0.0, until - self._now))

    def run_function(self, what: Callable[[], Any]) -> Any:
        """Run a function of ours, with a clock of its own."""
        skew = self.drawn.trouble.skew
        self.sinking.frames.append(Frame(self._now, self.luck.uniform(-skew, skew)))
        try:
            return what()
        finally:
            self.sinking.frames.pop()

    def chance(self, chance: float, what: str) -> bool:
        """Whether this goes wrong now."""
        if self.troubled and chance and self.luck.random() < chance:
            self.faults[what] += 1
            return True
        return False

    def throttles(self) -> bool:
        """Whether one call of the many of a read is not answered."""
        throttled = self.troubled and self._throttle.random() < self.drawn.trouble.fault
        self.faults["the history of one alarm is not read"] += throttled
        return throttled

    # ------------------------------------------------------------------------------------------------------- events

    def _alarms(self, seconds: float) -> None:
        luck, drawn, now = self.luck, self.drawn, self._now
        if (
            drawn.rate
            and self.troubled
            and now > self._firing_until + 60
            and luck.random() < drawn.rate * seconds
            and self._serves_new()
        ):
            self._firing_until = now + (10.0 if drawn.bad == "flaps" else luck.choice((60.0, 400.0)))
            self.faults["the alarm fires"] += 1
        if self.chance(drawn.noise * seconds, "the alarm knows nothing"):
            self._blind_until = now + luck.uniform(30, 900)
        bell = self.signals.bells.get(ALARM)
        if bell is None:
            return
        state = state_of(now <= self._firing_until, now >= self._blind_until)
        if bell.state is not state:
            self.signals.set_state(ALARM, state)
            fired = state.value == "ALARM"
            self._tell(lambda: self._relayed(fired=fired))

    def fire(self, seconds: float) -> None:
        """The alarm fires for so long, whatever the reason."""
        self._firing_until = max(self._firing_until, self._now + seconds)

    def ring(self, alarm: str, state: AlarmState) -> None:
        """An alarm that is none of the fleet's moves."""
        self.signals.set_state(alarm, state)
        self._tell(lambda: self.relay.alarm(alarm, fired=state is AlarmState.ALARM))

    def _relayed(self, *, fired: bool) -> None:
        ended = {
            name for name, truth in self.truths.items() if truth.ended_at is not None and self.table.kept[name].open
        }
        self.relay.alarm(ALARM, fired=fired)
        for name in ended if fired else ():
            alarmed(self.truths[name])

    def _serves_new(self) -> bool:
        return any(
            copy.spec.model == "ranker-v2" and copy.state is CopyState.SERVING
            for part in self.model.components.values()
            for copy in part.copies
        )

    def _tell(self, what: Callable[[], Any]) -> None:
        """An event: lost, doubled, late."""
        if self.chance(self.drawn.trouble.lost, "an event is lost"):
            return
        for _ in range(self.luck.choice((1, 1, 2)) if self.troubled else 1):
            delay = self.luck.choice((1.0, 5.0, 60.0, 86_400.0)) if self.troubled else 1.0
            self.later(delay, lambda: self._quietly(what))

    def _quietly(self, what: Callable[[], Any]) -> None:
        with suppress(PointsmanError, Killed):
            self.run_function(what)

    def _minute(self) -> None:
        self.later(60.0, self._minute)
        self.people.see_to_holds()
        if not self.chance(self.drawn.trouble.lost / 4, "a tick is lost"):
            self._quietly(self.due.wake)

    def _ghost(self) -> None:
        self.later(600.0, self._ghost)
        if self.chance(self.drawn.trouble.ghost, "a second execution of one name"):
            generation = self.table.kept[self.rollout].stored.generation
            self.execution.advance(Course(self.rollout, generation, ghost=True))

    def _scales(self) -> None:
        self.later(300.0, self._scales)
        for name, target in list(self.model.targets.items()):
            if self.chance(0.1, "auto scaling moves"):
                self.model.change_target(name, wish=self.luck.randint(target.minimum, target.maximum))

    # -------------------------------------------------------------------------------------------------------- a run

    @property
    def record(self) -> RolloutRecord:
        """The rollout's record."""
        return self.table.kept[self.rollout].stored.record

    def meddled(self, name: str) -> None:
        """Someone else wrote a component."""
        for truth in self.truths.values():
            truth.meddled[name] = self._now

    def watch(self, rollout: str) -> Truth:
        """The checks of a rollout, from its beginning."""
        return self.truths.setdefault(rollout, Truth(self, rollout))

    def ask(self, rollout: str, model: str) -> None:
        """A rollout is asked for."""
        there = {part.name for part in self.drawn.parts}
        asked = dict(self.drawn.asked)
        asked["yielding"] = tuple(give for give in asked["yielding"] if give.component in there)
        asked["freezes"] = tuple(Freeze(BEGIN + since, BEGIN + until) for since, until in asked["freezes"])
        wanted: Request = request(rollout=rollout, targets=(Target(prefix="m"),), change=Change(model=model), **asked)
        self.watch(rollout)
        older = self._tidy.random() < 0.2  # asked for before this release, which names kill switches otherwise
        switch = "" if older else switch_name(rollout, STACK)
        self.table.create(wanted, start(wanted, By("ana", self._now), switch))
        self.execution.start(rollout, 1)

    def run(self) -> "World":
        """From the request to the end, and a while after."""
        self.signals.add(ALARM)
        for part in self.drawn.parts if any(guard.own for guard in self.drawn.asked["guards"]) else ():
            self.signals.add(own_alarm(part.name))
        if self.drawn.gone:
            self.model.delete_model("ranker-v1")
        self.ask(self.rollout, "ranker-v2")
        self.troubled = True
        for at, deed in self.drawn.deeds:
            self.later(at, lambda deed=deed: self.people.does(deed))  # type: ignore[misc]
        if self.drawn.second is not None:
            self.later(self.drawn.second, lambda: self.ask("r2", "ranker-v3"))
        if self.drawn.quiet_from is not None:
            self.later(self.drawn.quiet_from, self._quiet)
        if self.drawn.deeds and self._tidy.random() < 0.15:
            self.later(self._tidy.uniform(200, 6000), self.people.delete_switches)
        for first, action in ((60.0, self._minute), (600.0, self._ghost), (300.0, self._scales)):
            self.later(first, action)
        while self._now < BEGIN + LONGEST and not self._over():
            self.troubled = self._now < BEGIN + self.drawn.trouble.until
            self.live(self._now + 300.0)
        self.live(self._now + AFTER)  # whoever is late comes now
        self.troubled = False
        while self._now < BEGIN + LONGEST and not self._over():
            self.live(self._now + 300.0)
        self.live(self._now + AFTER)
        told = [notice.key for notice in self.notices.told]
        first = self.truths[self.rollout]
        for why in {why for why, known in self.log.stumbles if not known}:
            first.wrongly("crash", f"a pass fails for no reason that is known: {why}")
        for rollout, truth in self.truths.items():
            afterwards(truth, self.table.kept[rollout], told, set(self.signals.bells))
        return self

    def _quiet(self) -> None:
        self.faults["the requests end"] += 1
        self.quiet_at = self._now
        if ALARM in self.signals.bells:
            self.signals.bells[ALARM].sampled = False

    def _over(self) -> bool:
        last = max([0.0, *(at for at, _ in self.drawn.deeds), self.drawn.second or 0.0])
        return self._now > BEGIN + last + 1 and all(
            kept.stored.record.phase.terminal for kept in self.table.kept.values()
        )


class _Truly:
    """The clock of what is no function of ours."""

    def __init__(self, world: World) -> None:
        self.now = world.true_now
