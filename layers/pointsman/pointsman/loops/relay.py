"""What alarms and endpoints wake: the queues and the rollouts that name them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from pointsman.errors import Poison, Unreadable
from pointsman.inbound import EndpointChanged, watched_event
from pointsman.log_ports import WakerLog
from pointsman.loops.rollout_wakers import RolloutRelay
from pointsman.ports import Clock, Control, DeadLetters, Wakes

VERSION = 1  # of the documents that this release reads


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
            self.dead_letters.bury(json.dumps(event, default=str), poison.reason, poison.place)
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
        try:
            stored = self.control.policy(queue)
        except Unreadable:  # the pass says what is wrong
            return True
        if stored is None:
            return False
        return any(fnmatchcase(alarm, pattern) for pattern in _patterns(stored.document))


def _patterns(document: str) -> list[str]:
    """The alarms that a stored policy names; all where this release cannot read it: the pass says what is wrong.

    It was checked when it was applied, so that what checks policies need not be imported on the safety path.
    """
    try:
        told = json.loads(document)
        return [str(rule["alarm"]) for rule in told.get("on_alarm", ())] if told["version"] == VERSION else ["*"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ["*"]
