"""What wakes queues and rollouts beside job events: alarms and endpoints that they name, and the clock."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from json import dumps
from typing import Any

from pointsman.documents import InvalidDocument
from pointsman.errors import Conflict, Poison
from pointsman.inbound import EndpointChanged, watched_event
from pointsman.log_ports import WakerLog
from pointsman.loops.notices import OVERDUE, QueueTeller
from pointsman.loops.rollout_wakers import DueRollouts, RolloutRelay
from pointsman.policy_documents import stored_policy
from pointsman.ports import Clock, Control, DeadLetters, JobTable, Wakes

AHEAD = 30.0  # seconds, half a tick: what is due just after this one would otherwise be woken a minute late
FAR = 900.0  # seconds: no pass plans its next one so far ahead, unless its clock was wrong


@dataclass(frozen=True, slots=True)
class AlarmRelay:
    """An alarm or an endpoint wakes the queues and rollouts that name it; what it means is decided in their pass."""

    clock: Clock
    control: Control
    wakes: Wakes
    rollouts: RolloutRelay
    dead_letters: DeadLetters
    log: WakerLog

    def relay(self, event: Mapping[str, Any]) -> tuple[str, ...]:
        """The queues and the rollouts that were woken. Raises `Transient` for the platform to try again."""
        try:
            news = watched_event(event)
        except Poison as poison:
            self.dead_letters.bury(dumps(event, default=str), poison.reason, poison.place)
            self.log.poisoned(poison.reason, poison.place)
            return ()
        if isinstance(news, EndpointChanged):
            rollouts = self.rollouts.endpoint(news.endpoint)
            self.log.woken((), rollouts=rollouts, because=f"endpoint {news.endpoint}")
            return rollouts
        # Rollouts before queues: a fleet may have to go back.
        rollouts = self.rollouts.alarm(news.alarm, fired=news.fired)
        queues = tuple(queue for queue in self.control.queues() if self._names(queue, news.alarm))
        for queue in queues:
            self.wakes.wake(queue, self.clock.now())
        self.log.woken(queues, rollouts=rollouts, because=f"alarm {news.alarm}")
        return (*rollouts, *queues)

    def _names(self, queue: str, alarm: str) -> bool:
        stored = self.control.policy(queue)
        if stored is None:
            return False
        try:
            policy = stored_policy(stored.document)
        except InvalidDocument:
            return True  # the pass says what is wrong with it
        named = [rule.alarm for rule in policy.on_alarm] + [rule.alarm for rule in policy.on_alarm_shares]
        return any(fnmatchcase(alarm, pattern) for pattern in named)


@dataclass(frozen=True, slots=True)
class DueQueues:
    """Each minute: queues whose time has come are woken, so that no queue depends on an event."""

    clock: Clock
    control: Control
    jobs: JobTable
    wakes: Wakes
    log: WakerLog
    teller: QueueTeller

    def wake(self) -> tuple[str, ...]:
        """The queues that were woken; a queue with a policy and no wake record gets one.

        Notices that a pass has stored, and not sent, are sent.
        """
        now, woken, overdue = self.clock.now(), [], 0.0
        queues = self.control.queues()
        for queue in queues:
            record = self.jobs.queue(queue)
            if record.version == 0:
                try:
                    self.jobs.save_queue(replace(record, next_wake_at=now))
                except Conflict:
                    continue  # a pass has just made it
            if record.next_wake_at:
                overdue = max(overdue, now - record.next_wake_at)
            if not now + AHEAD < record.next_wake_at < now + FAR:
                self.wakes.wake(queue, now)
                woken.append(queue)
        self.log.woken(tuple(woken), because="due")
        self.log.overdue(overdue)
        for queue in queues:
            self.teller.tell(queue, now - OVERDUE)
        return tuple(woken)


@dataclass(frozen=True, slots=True)
class Due:
    """All that the minute's tick wakes. A fault with a rollout keeps no queue waiting."""

    rollouts: DueRollouts
    queues: DueQueues

    def wake(self) -> tuple[str, ...]:
        """The rollouts and the queues that were woken; raises `Transient` after the last when some were not."""
        try:
            rollouts = self.rollouts.wake()
        finally:
            queues = self.queues.wake()
        return (*rollouts, *queues)
