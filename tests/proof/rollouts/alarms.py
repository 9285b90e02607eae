"""CloudWatch as a rollout meets it: histories that lag, states that flap, alarms that are edited and deleted."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pointsman.ports import Clock
from pointsman.rollout_ports import AlarmQuery
from pointsman.rollouts.observations import AlarmState, AlarmView
from tests.fakes.rollout_signals import Bell, FakeSignals


class LateSignals(FakeSignals):
    """Alarms whose history tells of a move only after a while."""

    def __init__(self, clock: Clock, lag: float) -> None:
        super().__init__(clock)
        self.lag = lag
        self.problem = ""
        self.deleted: dict[str, Bell] = {}
        self.unfit_since: float | None = None  # when someone edited or deleted one
        self.history: dict[str, list[tuple[float, AlarmState]]] = {}

    def add(self, alarm: str) -> None:
        super().add(alarm)
        self.history[alarm] = [(self.clock.now(), AlarmState.OK)]

    def set_state(self, alarm: str, state: AlarmState) -> None:
        if alarm not in self.bells or self.bells[alarm].state is state:
            return
        super().set_state(alarm, state)
        self.history.setdefault(alarm, []).append((self.clock.now(), state))

    def read(self, queries: Iterable[AlarmQuery], now: float) -> Mapping[str, AlarmView]:
        told = self.clock.now() - self.lag
        return {
            name: replace(view, entered=tuple(at for at in view.entered if at <= told), problem=self._problem(name))
            for name, view in super().read(queries, now).items()
        }

    def edit(self, alarm: str, settings: str) -> None:
        """Someone changes the alarm."""
        if alarm in self.bells:
            self.bells[alarm].settings = settings
            self._unfit()

    def remove(self, alarm: str) -> None:
        """Someone deletes the alarm."""
        if alarm in self.bells:
            self.deleted[alarm] = self.bells.pop(alarm)
            self._unfit()

    def bring_back(self) -> None:
        """What was deleted or edited is as before."""
        for alarm, bell in self.deleted.items():
            self.bells[alarm] = bell
        self.deleted = {}
        for bell in self.bells.values():
            bell.settings = "as made"
        self.unfit_since = None

    def _unfit(self) -> None:
        self.unfit_since = self.clock.now() if self.unfit_since is None else self.unfit_since

    def healthy_since(self, alarm: str, since: float) -> bool:
        """Whether the alarm was OK at any time from then on."""
        moves = self.history.get(alarm, [])
        before = [state for at, state in moves if at <= since]
        return bool(before and before[-1] is AlarmState.OK) or any(
            at > since and state is AlarmState.OK for at, state in moves
        )

    def _problem(self, alarm: str) -> str:
        return "" if alarm.startswith("pointsman-kill") else self.problem
