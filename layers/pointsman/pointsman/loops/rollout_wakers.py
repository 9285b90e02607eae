"""What wakes rollouts: alarms, endpoints that change their state, commands, and the clock. A wake decides nothing."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from pointsman.errors import Gone, PointsmanError, Transient
from pointsman.ports import Clock
from pointsman.rollout_wake_ports import Execution, Life, OpenRollout, RolloutIndex, RolloutWakeLog
from pointsman.rollouts.phase import is_switch

WATCHED_AFTER = 86_400.0  # seconds after a rollout's end in which an alarm of its is told of


@dataclass(frozen=True, slots=True)
class RolloutWaker:
    """Wakes one rollout: counts the wake, and ends the wait of whoever waits."""

    table: RolloutIndex
    execution: Execution

    def wake(self, rollout: str) -> None:
        """Make a pass happen soon. Raises `Gone` when there is no such rollout."""
        woken = self.table.wake(rollout)
        if woken.token:
            self.execution.answer(woken.token)


@dataclass(frozen=True, slots=True)
class RolloutRelay:
    """An alarm or an endpoint wakes the open rollouts that it concerns.

    `late` is told of an alarm that fires when its rollout has ended.
    """

    table: RolloutIndex
    waker: RolloutWaker
    late: Callable[[str, str], None]

    def alarm(self, alarm: str, *, fired: bool) -> tuple[str, ...]:
        """An alarm changed: the rollouts that were woken. Raises `Transient` for the platform to try again.

        Where one has ended, people are told once, and nothing is started.
        """
        concerned = [line for line in self.table.open() if alarm in line.alarms]
        for line in concerned:
            if line.phase.terminal and fired and not is_switch(alarm, line.rollout):
                with suppress(Gone):
                    self.late(line.rollout, alarm)
        return self._wake([line.rollout for line in concerned if not line.phase.terminal])

    def endpoint(self, endpoint: str) -> tuple[str, ...]:
        """An endpoint changed: the rollouts that were woken."""
        lines = [line for line in self.table.open() if endpoint in line.endpoints]
        return self._wake([line.rollout for line in lines if not line.phase.terminal])

    def _wake(self, rollouts: list[str]) -> tuple[str, ...]:
        """Wake all that can be woken, and only then raise for another try."""
        woken, faults = [], []
        for rollout in rollouts:
            try:
                self.waker.wake(rollout)
            except Gone:
                continue
            except PointsmanError as fault:
                faults.append(f"{rollout}: {fault}")
                continue
            woken.append(rollout)
        if faults:
            raise Transient("; ".join(faults))
        return tuple(woken)


@dataclass(frozen=True, slots=True)
class DueRollouts:
    """Each minute: rollouts whose time has passed are woken, carried on where no execution lives, and told of.

    A fault with one rollout keeps no other waiting. `tell` sends the notices that a rollout which has ended left.
    """

    clock: Clock
    table: RolloutIndex
    execution: Execution
    waker: RolloutWaker
    tell: Callable[[str], None]
    log: RolloutWakeLog

    def wake(self) -> tuple[str, ...]:
        """The rollouts that were woken; raises `Transient` after the last one when there was a fault with any."""
        now, woken, faults, overdue = self.clock.now(), [], [], 0.0
        for line in self.table.open():
            if line.next_wake_at > now:
                continue
            try:
                if line.phase.terminal:
                    self._finish(line, now)
                    continue
                overdue = max(overdue, now - line.next_wake_at)
                self.waker.wake(line.rollout)
                self._carry_on(line.rollout, line.generation)
            except Gone:
                continue
            except PointsmanError as fault:
                faults.append(f"{line.rollout}: {fault}")
                continue
            woken.append(line.rollout)
        self.log.overdue(overdue)
        if faults:
            raise Transient("; ".join(faults))
        return tuple(woken)

    def _finish(self, line: OpenRollout, now: float) -> None:
        if line.unsent:
            self.tell(line.rollout)
        elif now > line.next_wake_at + WATCHED_AFTER:
            self.table.close(line.rollout)

    def _carry_on(self, rollout: str, generation: int) -> None:
        """Start an execution where none lives; the name of one that has ended is taken, so that it is the next."""
        life = self.execution.life(rollout, generation)
        if life is Life.ENDED:
            self.log.died(rollout, generation)
            generation = self.table.succeed(rollout, generation)
        if life is not Life.RUNNING:
            self.execution.start(rollout, generation)
