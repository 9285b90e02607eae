"""SageMaker and CloudWatch as they truly are in a small world, and what is wrong by that truth.

What AWS does not document is a `Habits`: when the mark is shown, whether a rolled-back attempt keeps it, whether a
reason is given, whether alarms are read all the time or at the end of an update only.
"""

import random
from dataclasses import dataclass, field

from pointsman.rollouts.observations import (
    Absent,
    AlarmState,
    AlarmView,
    Answer,
    ComponentView,
    EndpointView,
    LockView,
    Observations,
    Occupant,
    Pool,
    ScalingView,
    Seen,
    Status,
    Suspension,
)
from pointsman.rollouts.specs import Compute, Spec
from tests.unit.rollouts.build import BIG_BOX, NEW, OLD, ONE_GPU, SMALL_BOX

HISTORY_LAG = 60.0


@dataclass
class Habits:
    mark_at_start: bool = True
    mark_kept: bool = True
    reason_given: bool = True
    alarms_read_always: bool = True


@dataclass
class Flight:
    spec: Spec
    ends: float
    alarms: tuple[str, ...]
    mark: int
    forward: bool
    dies: bool
    tripped: bool = False


@dataclass
class Part:
    """One inference component."""

    name: str
    endpoint: str
    copies: int
    spec: Spec = OLD
    current: int = 0
    modified: float = 0.0
    failure: str = ""
    mark: int | None = None
    busy_until: float = 0.0
    flight: Flight | None = None
    taken_back: bool = False
    gone: bool = False
    scaling: Suspension | None = None

    def __post_init__(self) -> None:
        self.current = self.copies

    @property
    def moves_itself(self) -> bool:
        """Whether auto scaling may change its copies."""
        return self.scaling is not None and not self.scaling.whole


class Refused(Exception):
    """SageMaker refuses the call."""


@dataclass
class Truth:
    """All that is true at one time."""

    luck: random.Random
    habits: Habits
    bad: bool = False
    flaps: bool = False  # the alarm of a bad version fires seldom, and for less than a poll
    rate: float = 0.01  # how often a second a bad version trips the alarm, else
    quiet: bool = False  # nobody calls, so there are no samples
    problem: str = ""  # what CloudWatch says against the alarm's evaluation
    refuses: bool = False  # every update is refused
    dies: float = 0.0  # the chance that an update fails by itself
    cramped: set[str] = field(default_factory=set)  # who finds no room for other copies, and keeps its own
    now: float = 1_000_000.0
    parts: dict[str, Part] = field(default_factory=dict)
    boxes: dict[str, tuple[int, int, Compute]] = field(default_factory=dict)
    alarm_until: float = 0.0
    alarmed: list[float] = field(default_factory=list)
    switch: AlarmState | None = None
    locks: dict[str, LockView] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    first_change: float | None = None

    def fleet(self) -> None:
        """Four components on three endpoints: two share one, one has auto scaling, one has one copy, one needs room."""
        self.boxes = {"e1": (2, 3, BIG_BOX), "e2": (1, 2, BIG_BOX), "e3": (4, 4, SMALL_BOX)}
        for part in (
            Part("m1", "e1", 4),
            Part("m2", "e1", 1),
            Part("m3", "e2", 3, scaling=Suspension()),
            Part("m4", "e3", 2),
            Part("y1", "e3", 2, scaling=Suspension(scale_in=True)),
        ):
            self.parts[part.name] = part

    def advance(self, seconds: float) -> None:
        """Let time pass, and what happens by itself happen."""
        self.now += seconds
        for part in self.parts.values():
            if part.flight is not None:
                self._fly(part, part.flight)
            elif part.moves_itself and part.busy_until <= self.now and self.luck.random() < 0.002 * seconds:
                fewer = -1 if part.scaling == Suspension() else 1
                part.copies = part.current = max(2, min(4, part.copies + self.luck.choice((fewer, 1))))
                part.busy_until, part.modified = self.now + 30, self.now
        serving_new = any(p.spec == NEW and not p.gone for p in self.parts.values())
        chance = (0.0005 if self.flaps else self.rate) * seconds
        if self.bad and serving_new and self.now > self.alarm_until + 120 and self.luck.random() < chance:
            self.alarmed.append(self.now)
            self.alarm_until = self.now + (10.0 if self.flaps else self.luck.choice((60.0, 400.0)))

    def _fly(self, part: Part, flight: Flight) -> None:
        fires = self.now < self.alarm_until and "fleet-errors" in flight.alarms
        fires = fires or (self.switch is AlarmState.ALARM and any("kill" in name for name in flight.alarms))
        over = self.now >= flight.ends
        if fires and (self.habits.alarms_read_always or over):
            flight.tripped = True
        if not over and not flight.tripped:
            return
        part.flight, part.modified = None, self.now
        if flight.tripped or flight.dies:
            part.taken_back = part.taken_back or flight.forward
            if self.habits.reason_given:
                part.failure = f"rolled back at {self.now:.0f}"
            if not self.habits.mark_kept:
                part.mark = None
        else:
            part.spec, part.mark = flight.spec, flight.mark

    def update(self, name: str, spec: Spec, alarms: tuple[str, ...], mark: int, *, forward: bool) -> None:
        """UpdateInferenceComponent."""
        part = self._part(name)
        if forward and part.taken_back:
            self.wrong.append(f"S4 {name} was taken back by SageMaker, and is updated again")
        if forward and part.spec == NEW:
            self.wrong.append(f"S4 {name} is updated twice")
        if any(p.flight for p in self.parts.values() if p.endpoint == part.endpoint):
            self.wrong.append(f"S3 two changes at once on {part.endpoint}")
        if not forward and alarms:
            self.wrong.append(f"S12 the way back of {name} lists alarms")
        if part.copies < 2:
            self.wrong.append(f"S6 {name} has one copy, and is rolled")
        if part.moves_itself:
            self.wrong.append(f"scaling: {name} is rolled while auto scaling may move it")
        dies = self.luck.random() < self.dies
        ends = self.now + self.luck.uniform(60, 400)
        part.flight = Flight(spec, ends, alarms, mark, forward, dies)
        part.modified = self.now
        if self.habits.mark_at_start:
            part.mark = mark
        if self.first_change is None:
            self.first_change = self.now

    def set_copies(self, name: str, copies: int) -> None:
        """UpdateInferenceComponentRuntimeConfig."""
        part = self._part(name)
        if part.moves_itself and copies < part.copies:
            self.wrong.append(f"scaling: {name} is lowered while auto scaling would raise it again")
        if name not in self.cramped:
            part.copies = part.current = copies
        part.busy_until, part.modified = self.now + 20, self.now

    def _part(self, name: str) -> Part:
        part = self.parts[name]
        if self.refuses or part.gone or part.flight is not None or part.busy_until > self.now:
            raise Refused(f"cannot update {name} in state UPDATE_RC_IN_PROGRESS")
        return part

    def observe(self, *, unreadable: float = 0.0) -> Observations:
        """What a read shows that begins now."""
        views: dict[str, Seen] = {}
        for part in self.parts.values():
            hidden = self.luck.random() < unreadable
            views[part.name] = Absent.UNREADABLE if hidden else Absent.NOT_FOUND if part.gone else self._view(part)
        endpoints = {
            name: EndpointView(
                name,
                True,
                (Pool("box", count, shape),),
                most,
                tuple(Occupant(p.name, p.copies, ONE_GPU) for p in self.parts.values() if p.endpoint == name),
            )
            for name, (count, most, shape) in self.boxes.items()
        }
        samples = () if self.quiet else (self.now - 30, self.now - 1)
        rows = tuple(at for at in self.alarmed if at + HISTORY_LAG <= self.now)
        state = AlarmState.ALARM if self.now < self.alarm_until else AlarmState.OK
        alarm = AlarmView("fleet-errors", state, entered=rows, samples=samples, problem=self.problem)
        scaling = {p.name: ScalingView(2, 4, p.scaling) for p in self.parts.values() if p.scaling is not None}
        return Observations(
            began=self.now,
            components=views,
            endpoints=endpoints,
            alarms={"fleet-errors": alarm},
            scaling=scaling,
            kill_switch=self.switch,
            locks=dict(self.locks),
            models={"ranker-v1": Answer.YES, "ranker-v2": Answer.YES},
        )

    def _view(self, part: Part) -> ComponentView:
        updating = part.flight is not None or part.busy_until > self.now
        return ComponentView(
            name=part.name,
            endpoint=part.endpoint,
            status=Status.UPDATING if updating else Status.IN_SERVICE,
            spec=part.spec,
            desired=part.copies,
            current=part.current,
            modified=part.modified,
            failure=part.failure,
            mark=part.mark,
        )
