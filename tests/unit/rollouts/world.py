"""Passes over one rollout in the small world: they overlap, are slow, die between any two calls, and lose replies."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from pointsman.rollouts.commands import By, CommandRefused, abort, adopt, pause, resume, rollback, start
from pointsman.rollouts.decide import decide, freeze
from pointsman.rollouts.decision import (
    Act,
    CreateSwitch,
    Decision,
    DeleteSwitch,
    FireSwitch,
    JournalEntry,
    ResumeScaling,
    SetCopies,
    SubmitUpdate,
    SuspendScaling,
    replay,
)
from pointsman.rollouts.observations import WHOLE, AlarmState, LockView, Observations
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.record import Direction, HoldKind, RolloutRecord, State
from pointsman.rollouts.request import Amount, Yielding
from tests.unit.rollouts.build import NEW, OTHER, request
from tests.unit.rollouts.ends import SEEN_LATE, TIMEOUT, check_end
from tests.unit.rollouts.truth import Habits, Refused, Truth

HUMAN = "maria"


@dataclass
class Edges:
    """What surrounds the core, each at its best; an ablation takes one away."""

    condition_on_rev: bool = True
    write_ahead: bool = True
    see: Callable[[Observations], Observations] = lambda seen: seen
    believe: Callable[[RolloutRecord], RolloutRecord] = lambda record: record
    commit: Callable[[RolloutRecord, float], RolloutRecord] = lambda record, _now: record
    carry: Callable[[Act], Act] = lambda act: act


@dataclass
class Trouble:
    """What goes wrong besides: the chances of a kill at a step, of an overlap, of an unreadable component."""

    kill: float = 0.0
    overlap: float = 0.0
    slow: float = 0.0
    unreadable: float = 0.0


class World:
    """One rollout's store, its passes, and the checks against what is true."""

    def __init__(self, truth: Truth, trouble: Trouble, edges: Edges | None = None, **asked: Any) -> None:
        self.truth, self.trouble, self.edges = truth, trouble, edges or Edges()
        values: dict[str, Any] = {
            "waves": (Amount(1), Amount(2), Amount(100, percent=True)),
            "bake": 300.0,
            "final_bake": 300.0,
            "wait": 60.0,
            "concurrency": 2,
            "yielding": (Yielding("y1"),),
        }
        self.request = request(**{**values, **asked})
        self.plan: Plan | None = None
        self.journal: list[JournalEntry] = []
        self.notices: list[str] = []
        self.passes = 0
        self.refusals: dict[str, tuple[int, str]] = {}
        self.helped = True  # a person sees to holds after half an hour
        self.acts: list[Act] = []
        self.first = RolloutRecord(self.request.rollout)
        self.record = self.first
        self.wake: float | None = truth.now
        self.before = {name: (part.copies, part.scaling) for name, part in truth.parts.items()}
        self.commit(self.first, start(self.request, By(HUMAN, truth.now)))
        self.running: list[tuple[float, Iterator[None]]] = []

    # ------------------------------------------------------------------------------------------------------- passes

    def one_pass(self) -> Iterator[None]:
        """Load, observe, decide, commit, act: it may stand still or die at each `yield`."""
        self.passes += 1
        record, plan = self.record, self.plan
        seen = self.edges.see(
            replace(self.truth.observe(unreadable=self.trouble.unreadable), refusals=self.said(record))
        )
        yield
        decision = self.decision(record, plan, seen)
        yield
        if not self.edges.write_ahead:
            for act in decision.acts:
                self.carry_out(act)
                yield
        if not self.commit(record, decision):
            return
        yield
        if self.edges.write_ahead:
            for act in decision.acts:
                self.carry_out(act)
                yield

    def decision(self, record: RolloutRecord, plan: Plan | None, seen: Observations) -> Decision:
        """The core's answer; asked twice, it is the same (S17)."""
        if plan is None:
            return freeze(record, self.request, seen, self.truth.now)
        believed = self.edges.believe(record)
        decision = decide(believed, plan, seen, self.truth.now)
        if self.passes % 7 == 0 and decision != decide(believed, plan, seen, self.truth.now):
            self.truth.wrong.append("S17 the same facts decide otherwise")
        if decision.journal is not None and len(decision.journal.components) > 40:
            self.truth.wrong.append("a pass changes more than a transaction takes")
        return decision

    def commit(self, read: RolloutRecord, decision: Decision) -> bool:
        """The transaction, on condition of the revision."""
        if self.edges.condition_on_rev and self.record.rev != read.rev:
            return False
        self.wake = decision.next_wake_at
        if decision.journal is None:
            return True
        if any(self.truth.locks.get(name, LockView("", 0)).owner not in {"", self.request.rollout}
               for name, _ in decision.locks):  # fmt: skip
            return False
        if self.record.phase.terminal:
            self.truth.wrong.append("S15 a record that has ended is changed")
        if decision.record.intent < self.record.intent:
            self.truth.wrong.append("S7 the intent falls")
        for name, fence in decision.locks:
            self.truth.locks[name] = LockView(self.request.rollout, fence)
        for name in decision.unlocks:
            self.truth.locks[name] = LockView("", self.truth.locks[name].fence)
        self.plan = self.plan or decision.plan
        self.record = self.edges.commit(decision.record, self.truth.now)
        self.journal.append(decision.journal)
        self.notices += [notice.key for notice in decision.notices]
        if self.record.phase.terminal:
            check_end(self.record, self.plan, self.truth, self.excursions(), self.before)
            self.check_books()
        return True

    def check_books(self) -> None:
        """What must be true of our own books when the rollout ends."""
        wrong, record = self.truth.wrong, self.record
        if len(set(self.notices)) != len(self.notices):
            wrong.append("S18 a notice is given twice")
        bounds = {Direction.FORWARD: 3, Direction.BACK: 6}
        if any(c.tried(d) > most + c.granted for c in record.components for d, most in bounds.items()):
            wrong.append("S20 too many attempts")
        if replay(self.first, self.journal) != record:
            wrong.append("S16 the journal does not rebuild the record")

    def carry_out(self, act: Act) -> None:
        """One call; SageMaker may refuse it."""
        act = self.edges.carry(act)
        self.acts.append(act)
        truth = self.truth
        if self.record.phase.terminal and not isinstance(act, SetCopies | ResumeScaling | DeleteSwitch):
            truth.wrong.append(f"S15 {type(act).__name__} after the end")
        try:
            if isinstance(act, SubmitUpdate):
                self.submit(act)
            elif isinstance(act, SetCopies):
                truth.set_copies(act.component, act.copies)
            elif isinstance(act, SuspendScaling | ResumeScaling):
                part = truth.parts[act.component]
                wanted = WHOLE if isinstance(act, SuspendScaling) else act.suspension
                part.scaling = None if part.scaling is None else wanted
            elif isinstance(act, CreateSwitch):
                truth.switch = truth.switch or AlarmState.OK
            elif isinstance(act, FireSwitch):
                truth.switch = AlarmState.ALARM
            else:
                truth.switch = None
        except Refused as refused:
            if isinstance(act, SubmitUpdate):
                self.refusals[act.component] = (act.attempt.number, str(refused))

    def said(self, record: RolloutRecord) -> dict[str, str]:
        """What SageMaker answered to the present attempts."""
        numbers = {c.name: c.attempt.number for c in record.components if c.attempt is not None}
        return {name: text for name, (number, text) in self.refusals.items() if numbers.get(name) == number}

    def submit(self, act: SubmitUpdate) -> None:
        """An update, with what must hold as it is sent."""
        truth, forward = self.truth, act.attempt.direction is Direction.FORWARD
        component = self.record.component(act.component)
        if act.attempt not in component.attempts:
            truth.wrong.append(f"S2 no intent names attempt {act.attempt.number} of {act.component}")
        planned = self.plan.member(act.component).old if self.plan is not None else None
        drifted = truth.parts[act.component].spec == OTHER != planned and component.adopted is None
        if drifted and truth.now > truth.parts[act.component].modified + TIMEOUT:  # before, no read can have shown it
            truth.wrong.append(f"S13 {act.component} was changed by someone else, and is overwritten")
        truth.update(act.component, act.spec, act.alarms, act.attempt.mark, forward=forward)
        if self.plan is None or not forward:
            return
        flying = [p for p in truth.parts.values() if p.flight is not None and p.flight.forward]
        if len(flying) > self.plan.request.concurrency:
            truth.wrong.append("S6 more in flight than the plan allows")
        wave = self.plan.member(act.component).wave
        skipped = {c.name for c in self.record.components if c.state is State.SKIPPED}
        for member in self.plan.members:
            part = truth.parts[member.name]
            if member.wave < wave and part.spec != NEW and member.name not in skipped and not part.gone:
                truth.wrong.append(f"S5 {act.component} of wave {wave} changes, and {member.name} is not new")
        late = [at for at in self.excursions() if at < truth.now - SEEN_LATE]
        if late and wave > 0:
            truth.wrong.append(f"S9 an excursion at {late[0]:.0f}, and wave {wave} goes on")

    def excursions(self) -> list[float]:
        """When the alarm fired after the first change."""
        since = self.truth.first_change
        return [at for at in self.truth.alarmed if since is not None and at >= since]

    # ------------------------------------------------------------------------------------------------------- people

    def command(self, verb: Callable[[RolloutRecord, By], Decision]) -> None:
        """A person's command, if it can be obeyed."""
        with suppress(CommandRefused):
            self.commit(self.record, verb(self.record, By(HUMAN, self.truth.now, "a test")))

    def human(self) -> None:
        """A person sees what a hold shows: adopts what drifted, and rolls back what is stuck."""
        kinds = {hold.kind for hold in self.record.holds}
        seen, plan = self.truth.observe(), self.plan
        if HoldKind.OPERATOR in kinds:
            self.command(resume)
        elif HoldKind.DRIFT in kinds and plan is not None:
            for component in self.record.components:
                if component.state is State.DRIFTED:
                    self.command(lambda r, by, n=component.name: adopt(r, plan, n, seen, by))  # type: ignore[misc]
            if self.record.hold(HoldKind.DRIFT) and any(p.gone for p in self.truth.parts.values()):
                self.command(rollback)
        elif HoldKind.STUCK in kinds:
            self.command(rollback)

    def mischief(self, what: str) -> None:
        """Someone does something in the middle."""
        if what == "abort":
            self.command(abort)
        elif what == "rollback":
            self.command(rollback)
        elif what == "pause":
            self.command(pause)
        elif what == "drift":
            part = self.truth.parts["m3"]
            if part.flight is None and part.busy_until <= self.truth.now:
                part.spec, part.modified, part.mark = OTHER, self.truth.now, 1234
        elif what == "gone":
            part = self.truth.parts["m4"]
            part.gone = part.flight is None

    # --------------------------------------------------------------------------------------------------------- time

    def ready(self) -> "World":
        """The world with a bad version that trips the alarm as soon as it serves."""
        self.truth.bad, self.truth.rate = True, 1.0
        return self

    def run(
        self,
        mischief: tuple[str, float] = ("", 0.0),
        until: float = 200_000.0,
        stop: Callable[[], bool] = lambda: False,
    ) -> RolloutRecord:
        """Let the world go on until the rollout has ended, so much time has passed, or it shall stop."""
        truth, luck = self.truth, self.truth.luck
        begin = truth.now
        held_since: float | None = None
        while truth.now < begin + until and not (self.record.phase.terminal and not self.running) and not stop():
            if mischief[0] and truth.now > begin + mischief[1]:
                self.mischief(mischief[0])
                mischief = ("", 0.0)
            held_since = (held_since or truth.now) if self.record.holds else None
            if self.helped and held_since is not None and truth.now > held_since + 1800:
                self.human()
                held_since = None
            due = self.wake is not None and self.wake <= truth.now
            if (due and not self.running) or (self.trouble.overlap and luck.random() < self.trouble.overlap):
                self.running.append((truth.now, self.one_pass()))
            self.step()
            if self.running:
                if self.trouble.slow and luck.random() < self.trouble.slow:
                    truth.advance(luck.uniform(1, 40))
            elif self.wake is not None:
                truth.advance(min(60.0, max(5.0, self.wake - truth.now)))
        return self.record

    def step(self) -> None:
        """One step of one of the passes, or its death."""
        luck = self.truth.luck
        if not self.running:
            return
        began, one = pair = luck.choice(self.running)
        if self.truth.now > began + TIMEOUT or (self.trouble.kill and luck.random() < self.trouble.kill):
            self.running.remove(pair)
            self.wake = max(self.truth.now + 5, self.wake or 0.0) if self.wake is not None else None
            return
        try:
            next(one)
        except StopIteration:
            self.running.remove(pair)


def world_of(truth: Truth, trouble: Trouble, edges: Edges | None = None, **asked: Any) -> World:
    """The small fleet, and a rollout asked for."""
    truth.fleet()
    return World(truth, trouble, edges, **asked)


def calm(**changes: object) -> Truth:
    """A truth without luck."""
    import random

    return replace(Truth(random.Random(1), Habits()), **changes)  # type: ignore[arg-type]
