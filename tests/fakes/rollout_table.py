"""Rollouts' table in memory, with the conditions of the real one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pointsman.errors import Conflict, Gone
from pointsman.rollout_ports import Refusal, StoredRollout
from pointsman.rollout_wake_ports import OpenRollout, Woken
from pointsman.rollouts.decision import CreateSwitch, Decision, DeleteSwitch, FireSwitch, JournalEntry
from pointsman.rollouts.draft import MOST_CHANGES
from pointsman.rollouts.observations import LockView
from pointsman.rollouts.reasons import Notice
from pointsman.rollouts.request import Request
from tests.fakes.faults import Faulty, can_fail


@dataclass
class Kept:
    """All items of one rollout; `token` is what the state machine stored."""

    stored: StoredRollout
    asked_at: float
    token: str = ""
    open: bool = True
    journal: list[JournalEntry] = field(default_factory=list)
    notices: dict[str, tuple[Notice, bool]] = field(default_factory=dict)

    def tell(self, notices: Iterable[Notice]) -> None:
        for notice in notices:
            self.notices.setdefault(notice.key, (notice, False))


class FakeRolloutTable(Faulty):
    """Records, plans, locks, journals and notices; `park` stores a token as the state machine does."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, Kept] = {}
        self.held: dict[str, LockView] = {}

    def park(self, rollout: str, wake_seq: int, token: str) -> bool:
        kept = self.kept[rollout]
        if kept.stored.wake_seq != wake_seq:
            return False
        kept.token = token
        return True

    @can_fail
    def create(self, request: Request, decision: Decision) -> None:
        line, record = decision.journal, decision.record
        assert line is not None
        if record.rollout in self.kept:
            raise Conflict(record.rollout)
        self._take(record.rollout, decision)
        unsent = record.rev if decision.notices else 0
        stored = StoredRollout(record, request, decision.plan, next_wake_at=line.at, unsent=unsent)
        self.kept[record.rollout] = kept = Kept(stored, line.at, journal=[line])
        kept.tell(decision.notices)

    @can_fail
    def load(self, rollout: str) -> StoredRollout:
        return self._find(rollout).stored

    @can_fail
    def commit(self, read: StoredRollout, decision: Decision, wake_at: float, generation: int) -> StoredRollout:
        record, line, kept = decision.record, decision.journal, self._find(read.record.rollout)
        assert line is not None
        assert decision.plan is not None or len(decision.changed) <= MOST_CHANGES
        self._unchanged(read, kept)
        for endpoint, fence in self._touched(read, decision):
            if self.held.get(endpoint) != LockView(record.rollout, fence):
                raise Conflict(endpoint)
        self._take(record.rollout, decision)
        for endpoint in decision.unlocks:
            if endpoint in self.held and self.held[endpoint].owner == record.rollout:
                self.held[endpoint] = LockView("", self.held[endpoint].fence)
        kept.journal.append(line)
        kept.tell(decision.notices)
        written = replace(
            read,
            record=record,
            plan=decision.plan or read.plan,
            generation=generation,
            passes=0 if generation != read.generation else read.passes + 1,
            next_wake_at=wake_at,
            unsent=record.rev if decision.notices else read.unsent,
        )
        kept.stored = replace(written, wake_seq=kept.stored.wake_seq)
        return written

    @can_fail
    def sleep(self, read: StoredRollout, wake_at: float, generation: int) -> None:
        kept = self._find(read.record.rollout)
        self._unchanged(read, kept)
        passes = 0 if generation != read.generation else kept.stored.passes + 1
        kept.stored = replace(kept.stored, next_wake_at=wake_at, generation=generation, passes=passes)

    @can_fail
    def reply(self, rollout: str, refusals: Mapping[str, Refusal]) -> None:
        kept = self._find(rollout)
        kept.stored = replace(kept.stored, refusals=dict(refusals))

    @can_fail
    def wake(self, rollout: str) -> Woken:
        kept = self._find(rollout)
        kept.stored = replace(kept.stored, wake_seq=kept.stored.wake_seq + 1)
        return Woken(kept.token, kept.stored.generation)

    @can_fail
    def succeed(self, rollout: str, generation: int) -> int:
        kept = self._find(rollout)
        if kept.stored.generation == generation:
            kept.stored = replace(kept.stored, generation=generation + 1, passes=0)
        return kept.stored.generation

    @can_fail
    def open(self) -> tuple[OpenRollout, ...]:
        lines = []
        for rollout, kept in self.kept.items():
            stored, plan = kept.stored, kept.stored.plan
            alarms, endpoints = (), ()
            if plan is not None and plan.endpoints:
                alarms = tuple(sorted({watch.alarm for watch in plan.watches} | {stored.record.kill_switch}))
                endpoints = plan.endpoints
            phase, unsent = stored.record.phase, stored.unsent
            if kept.open:
                wake, generation = stored.next_wake_at, stored.generation
                lines.append(OpenRollout(rollout, phase, wake, generation, unsent, alarms, endpoints))
        return tuple(sorted(lines, key=lambda line: line.next_wake_at))

    @can_fail
    def rollouts(self, limit: int) -> tuple[str, ...]:
        newest = sorted(self.kept, key=lambda rollout: (self.kept[rollout].asked_at, rollout), reverse=True)
        return tuple(newest[: max(0, limit)])

    @can_fail
    def locks(self, endpoints: Iterable[str]) -> Mapping[str, LockView]:
        return {endpoint: self.held[endpoint] for endpoint in endpoints if endpoint in self.held}

    @can_fail
    def journal(self, rollout: str) -> tuple[JournalEntry, ...]:
        return tuple(self.kept[rollout].journal) if rollout in self.kept else ()

    @can_fail
    def notices(self, rollout: str) -> tuple[Notice, ...]:
        return tuple(notice for notice, sent in self._find(rollout).notices.values() if not sent)

    @can_fail
    def sent(self, rollout: str, key: str) -> None:
        notices = self._find(rollout).notices
        notices[key] = (notices[key][0], True)

    @can_fail
    def settle(self, rollout: str, unsent: int) -> None:
        kept = self._find(rollout)
        if kept.stored.unsent == unsent:
            kept.stored = replace(kept.stored, unsent=0)

    @can_fail
    def late(self, rollout: str, notice: Notice) -> None:
        kept = self._find(rollout)
        if kept.stored.record.phase.terminal and notice.key not in kept.notices:
            kept.tell([notice])
            kept.stored = replace(kept.stored, unsent=kept.stored.unsent + 99_999_999)

    @can_fail
    def close(self, rollout: str) -> None:
        kept = self._find(rollout)
        if kept.stored.record.phase.terminal and not kept.stored.unsent:
            kept.open = False

    def _take(self, rollout: str, decision: Decision) -> None:
        linked = decision.plan.request.retry_of if decision.plan is not None else ""
        for endpoint, fence in decision.locks:
            lock = self.held.get(endpoint)
            if lock is not None and (lock.owner not in {"", rollout, linked} or lock.fence != fence - 1):
                raise Conflict(endpoint)
        self.held |= {endpoint: LockView(rollout, fence) for endpoint, fence in decision.locks}

    def _find(self, rollout: str) -> Kept:
        if rollout not in self.kept:
            raise Gone(rollout)
        return self.kept[rollout]

    @staticmethod
    def _unchanged(read: StoredRollout, kept: Kept) -> None:
        if (kept.stored.record.rev, kept.stored.generation) != (read.record.rev, read.generation):
            raise Conflict(read.record.rollout)

    @staticmethod
    def _touched(read: StoredRollout, decision: Decision) -> set[tuple[str, int]]:
        if read.plan is None:
            return set()
        where = {member.name: member.endpoint for member in read.plan.members}
        where |= {note.component: note.endpoint for note in read.record.copies}
        where |= {note.component: note.endpoint for note in read.record.scaling}
        acts = [act for act in decision.acts if not isinstance(act, CreateSwitch | FireSwitch | DeleteSwitch)]
        endpoints = {where[act.component] for act in acts if act.component in where}
        return {(endpoint, fence) for endpoint, fence in read.record.fences if endpoint in endpoints}
