"""What the clock wakes: queues and rollouts whose time has come."""

from dataclasses import dataclass, replace

from pointsman.errors import Conflict
from pointsman.log_ports import WakerLog
from pointsman.loops.notices import OVERDUE, QueueTeller
from pointsman.loops.rollout_wakers import DueRollouts
from pointsman.ports import Clock, Control, JobTable, Wakes

AHEAD = 30.0  # seconds, half a tick: what is due just after this one would otherwise be woken a minute late
FAR = 900.0  # seconds: no pass plans its next one so far ahead, unless its clock was wrong


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
