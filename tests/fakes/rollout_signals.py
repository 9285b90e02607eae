"""Alarms, the kill switch, executions and notices in memory."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pointsman.ports import Clock
from pointsman.rollout_ports import AlarmQuery
from pointsman.rollout_wake_ports import Life
from pointsman.rollouts.observations import AlarmState, AlarmView
from pointsman.rollouts.reasons import Notice
from pointsman.rollouts.request import Metric
from tests.fakes.faults import Faulty, can_fail


@dataclass
class Bell:
    """One alarm, with its whole history; it takes a sample each minute since it was made."""

    made: float
    state: AlarmState = AlarmState.OK
    entered: list[float] = field(default_factory=list)
    settings: str = "as made"
    sampled: bool = True


class FakeSignals(Faulty):
    """CloudWatch's alarms, read and (the kill switch) written."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.bells: dict[str, Bell] = {}
        self.published: list[tuple[Metric, float, float]] = []

    def add(self, alarm: str) -> None:
        self.bells[alarm] = Bell(self.clock.now())

    def set_state(self, alarm: str, state: AlarmState) -> None:
        bell = self.bells[alarm]
        if state is AlarmState.ALARM and bell.state is not state:
            bell.entered.append(self.clock.now())
        bell.state = state

    def publish(self, metric: Metric, value: float) -> None:
        self.published.append((metric, self.clock.now(), value))

    def firing(self, alarm: str) -> bool:
        return alarm in self.bells and self.bells[alarm].state is AlarmState.ALARM

    @can_fail
    def read(self, queries: Iterable[AlarmQuery], now: float) -> Mapping[str, AlarmView]:
        return {q.alarm: self._view(q, now) for q in queries if q.alarm in self.bells}

    def _view(self, query: AlarmQuery, now: float) -> AlarmView:
        bell, since = self.bells[query.alarm], query.since
        entered = tuple(at for at in bell.entered if since is not None and at >= since)
        samples = () if query.settled is None else self._samples(query, bell, query.settled, now)[-query.enough :]
        return AlarmView(query.alarm, bell.state, entered=entered[-1:], samples=samples, settings=bell.settings)

    def _samples(self, query: AlarmQuery, bell: Bell, begin: float, now: float) -> tuple[float, ...]:
        if query.traffic:
            minutes = {at // 60 * 60 for of, at, value in self.published if of in query.traffic and value > 0}
            return tuple(sorted(at for at in minutes if begin <= at <= now))
        samples = []
        at = bell.made + (max(begin, bell.made) - bell.made) // 60 * 60
        while bell.sampled and at <= now:
            samples += [at] if at >= begin else []
            at += 60
        return tuple(samples)

    @can_fail
    def make(self, alarm: str) -> None:
        if not self.firing(alarm):
            self.bells[alarm] = Bell(self.clock.now())

    @can_fail
    def fire(self, alarm: str) -> None:
        self.bells.setdefault(alarm, Bell(self.clock.now()))
        self.set_state(alarm, AlarmState.ALARM)

    @can_fail
    def delete(self, alarm: str) -> None:
        self.bells.pop(alarm, None)


class FakeExecution(Faulty):
    """Executions by name, and the tokens that were answered."""

    def __init__(self) -> None:
        super().__init__()
        self.lives: dict[tuple[str, int], Life] = {}
        self.answered: list[str] = []

    @can_fail
    def start(self, rollout: str, generation: int) -> None:
        self.lives.setdefault((rollout, generation), Life.RUNNING)

    @can_fail
    def answer(self, token: str) -> None:
        self.answered.append(token)

    @can_fail
    def life(self, rollout: str, generation: int) -> Life:
        return self.lives.get((rollout, generation), Life.ABSENT)


class FakeNotices(Faulty):
    """What people were told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Notice] = []

    @can_fail
    def send(self, notice: Notice) -> None:
        self.told.append(notice)
