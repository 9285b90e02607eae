"""What wakes queues beside job events: alarms that a policy names, and the clock."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from json import dumps
from typing import Any

from pointsman.documents import InvalidDocument, stored_policy
from pointsman.errors import Conflict, Poison
from pointsman.inbound import alarm_event
from pointsman.ports import Clock, Control, DeadLetters, JobTable, WakerLog, Wakes

AHEAD = 30.0  # seconds, half a tick: what is due just after this one would otherwise be woken a minute late


@dataclass(frozen=True, slots=True)
class AlarmRelay:
    """An alarm event wakes the queues whose policy names the alarm; what the alarm does is decided in their pass."""

    clock: Clock
    control: Control
    wakes: Wakes
    dead_letters: DeadLetters
    log: WakerLog

    def relay(self, event: Mapping[str, Any]) -> tuple[str, ...]:
        """The queues that were woken. Raises `Transient` for the platform to try again."""
        try:
            alarm = alarm_event(event).alarm
        except Poison as poison:
            self.dead_letters.bury(dumps(event, default=str), poison.reason, poison.place)
            self.log.poisoned(poison.reason, poison.place)
            return ()
        queues = tuple(queue for queue in self.control.queues() if self._names(queue, alarm))
        for queue in queues:
            self.wakes.wake(queue, self.clock.now())
        self.log.woken(queues, because=f"alarm {alarm}")
        return queues

    def _names(self, queue: str, alarm: str) -> bool:
        stored = self.control.policy(queue)
        if stored is None:
            return False
        try:
            return any(fnmatchcase(alarm, rule.alarm) for rule in stored_policy(stored.document).on_alarm)
        except InvalidDocument:
            return True  # the pass says what is wrong with it


@dataclass(frozen=True, slots=True)
class DueQueues:
    """Each minute: queues whose time has come are woken, so that no queue depends on an event."""

    clock: Clock
    control: Control
    jobs: JobTable
    wakes: Wakes
    log: WakerLog

    def wake(self) -> tuple[str, ...]:
        """The queues that were woken; a queue with a policy and no wake record gets one."""
        now, woken = self.clock.now(), []
        for queue in self.control.queues():
            record = self.jobs.queue(queue)
            if record.version == 0:
                try:
                    self.jobs.save_queue(replace(record, next_wake_at=now))
                except Conflict:
                    continue  # a pass has just made it
            if record.next_wake_at <= now + AHEAD:
                self.wakes.wake(queue, now)
                woken.append(queue)
        self.log.woken(tuple(woken), because="due")
        return tuple(woken)
