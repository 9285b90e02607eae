"""One pass over one queue: observe, decide, act, record.

One writer: the wakes of a queue are one FIFO group, and the queue's record is a lease taken by conditional write. A
pass that fails is recorded with the time of the next; one that is killed is found by the lease it never gave back.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from pointsman.documents import InvalidDocument
from pointsman.errors import Conflict, Gone, Misconfigured, Transient, Unreadable
from pointsman.log_ports import PassLog, PassReport
from pointsman.loops.days import DayBook
from pointsman.loops.decision import look_and_decide
from pointsman.loops.ended import let_go
from pointsman.loops.gpus import GpuGauge
from pointsman.loops.notices import QueueTeller, store
from pointsman.loops.observe import Observation, Observer
from pointsman.loops.rows import doubted
from pointsman.loops.share_keeper import Kept, ShareKeeper
from pointsman.policy_documents import stored_policy
from pointsman.ports import (
    BatchQueues,
    Clock,
    Control,
    JobTable,
    QueueRecord,
    RecordedMove,
    StoredPolicy,
    Wakes,
    Write,
)
from pointsman.queues.decide import Decision
from pointsman.queues.notices import standing, unplanned
from pointsman.queues.policy import Mode, Policy
from pointsman.queues.reasons import Move, Reason
from pointsman.queues.wake import POLL, gap

LEASE = 150.0  # seconds; longer than the function may run
LAST_CALL = 45.0  # seconds before the lease runs out from which no write is begun: as long as one may take
FRESH = 45.0  # seconds for which a look at quota shares is acted on: each start and each end may change who can go


class Outcome(StrEnum):
    """What came of a move."""

    DONE = "done"
    OBSERVED = "observed"
    GONE = "gone"
    DEFERRED = "deferred"
    SEEN = "seen"


@dataclass(frozen=True, slots=True)
class QueueLoop:
    """Carries out passes; `new_owner` names each pass that takes a lease."""

    clock: Clock
    observer: Observer
    batch: BatchQueues
    jobs: JobTable
    control: Control
    wakes: Wakes
    log: PassLog
    teller: QueueTeller
    days: DayBook
    gpus: GpuGauge
    new_owner: Callable[[], str]

    def run(self, queue: str) -> None:
        """One pass; never raises for a pass that fails, since a failing message blocks the queue's group.

        Raises `Transient` only when not even the failure could be recorded.
        """
        owner = self.new_owner()
        with self.log.correlated(f"{queue}/{owner}"):
            self._run(queue, owner)

    def _run(self, queue: str, owner: str) -> None:
        now = self.clock.now()
        try:
            stored = self.control.policy(queue)
        except Unreadable as error:  # nothing is known of this queue, and the minute wakes it again
            self.log.failed(queue, str(error), known=True)
            return
        if stored is None:
            self.log.skipped(queue, "it has no policy: its jobs are recorded, nothing is decided")
            return
        record = self.jobs.queue(queue)
        if now < record.lease_until < now + 2 * LEASE:  # no honest clock gave a longer one
            self._later(queue, now, "another pass holds the lease")
            return
        if abs(now - record.passed_at) < gap(record.looked):
            self._later(queue, now, "the last pass was a moment ago")
            return
        died, taken = bool(record.owner), replace(record, owner=owner, lease_until=now + LEASE)
        try:
            taken = self.jobs.save_queue(taken)
        except Conflict:
            self._later(queue, now, "another pass was faster")
            return
        self._guarded(taken, stored, died=died)

    def _later(self, queue: str, now: float, why: str) -> None:
        self.wakes.wake(queue, now)
        self.log.skipped(queue, why)

    def _guarded(self, taken: QueueRecord, stored: StoredPolicy, *, died: bool) -> None:
        now = self.clock.now()
        try:
            finished = self._pass(taken, stored, died=died)
        except (Transient, Conflict, Gone, Misconfigured, InvalidDocument) as error:
            finished = self._failed(taken, str(error), now)
            self.log.failed(taken.queue, str(error), known=True)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not block the queue's wakes either
            finished = self._failed(taken, f"{type(error).__name__}: {error}", now)
            self.log.failed(taken.queue, str(error), known=False)
        try:
            self.jobs.save_queue(replace(finished, lease_until=0.0, passed_at=now))
        except Conflict:
            self.log.failed(taken.queue, "the lease was lost in mid-pass", known=True)

    @staticmethod
    def _failed(taken: QueueRecord, why: str, now: float) -> QueueRecord:
        """The record after a failure: it keeps its owner, since priorities may be set that nothing recorded."""
        return replace(taken, problem=why[:500], next_wake_at=now + POLL)

    def _pass(self, taken: QueueRecord, stored: StoredPolicy, *, died: bool) -> QueueRecord:
        policy = stored_policy(stored.document)
        began = self.clock.now()
        seen, decision = look_and_decide(self.observer, taken, policy, died=died)
        looked = self.clock.now() - began
        uncounted = self.days.count(seen, policy)
        unsaid = let_go(self.jobs, self.control, seen.view, seen.ended, policy)
        mode = Mode.OBSERVE if self.control.stopped() else policy.mode
        outcomes, fault = [Outcome.OBSERVED for _ in decision.moves], None
        if mode is Mode.ACT:
            outcomes, fault = self._act(stored, seen, decision, taken)
        if fault is not None:  # what Batch did by itself is seen again
            self._record(stored, replace(seen, preempted=()), decision, outcomes)
            raise fault
        self._record(stored, seen, decision, outcomes)
        untold = self._tell(seen, decision, taken)
        kept = self._keep_shares(seen, decision, outcomes, policy, taken, act=mode is Mode.ACT)
        gauged, gpus, unread = self.gpus.measure(seen, seen.record)
        problems = (*seen.problems, *kept.problems, *([unread] if unread else []), *uncounted, *unsaid, *untold)
        self.log.passed(
            PassReport(
                seen.view,
                decision,
                tuple(outcomes),
                mode.value,
                stored.number,
                seen.described,
                seen.listed,
                problems,
                seen.preempted,
                gpus,
            )
        )
        unfinished = seen.unfinished or Outcome.DEFERRED in outcomes
        if unfinished:
            self.wakes.wake(taken.queue, self.clock.now())
        return replace(
            gauged,
            owner="",
            priorities=_priorities(seen, decision, outcomes),
            recorded_at=self.clock.now(),
            deferred=Outcome.DEFERRED in outcomes,
            would=() if mode is Mode.ACT else tuple((m.job_id, m.after) for m in decision.moves),
            next_wake_at=max(seen.view.now + gap(looked), 0.0 if unfinished else decision.next_wake),
            looked=looked,
            usage=decision.usage,
            problem="; ".join(problems)[:500],
            described_at=0.0 if kept.changed else seen.record.described_at,
        )

    def _tell(self, seen: Observation, decision: Decision, taken: QueueRecord) -> tuple[str, ...]:
        """What begins is stored before it is told, and what has ended, so that it can begin again.

        Where a notice cannot be read nobody is told of anything, but by the answer. Raises `Transient` once another
        pass may have been made.
        """
        queue, rows = decision.queue, seen.records
        unsure = seen.view.unsure | {job_id for job_id, row in rows.items() if row.doubtful}
        stands = standing(decision.told, rows.values(), queue)
        try:
            happened, last = unplanned(seen.preempted, rows), partial(self._last, taken)
            store(self.control, queue, stands, happened, seen.view.now, unsure, last)
        except Unreadable as error:
            return (f"people are told of nothing: {error}",)
        self.teller.tell(queue, self.clock.now())
        return ()

    def _last(self, taken: QueueRecord) -> None:
        """Raise `Transient` once this may no longer be the queue's last pass."""
        if self.clock.now() >= taken.lease_until:
            raise Transient("the pass stood still until its lease had run out")

    def _fence(self, taken: QueueRecord, seen: Observation) -> None:
        """Raise `Transient` once another pass may soon be made: one that stood still writes no more.

        Where who waits may evict who runs it writes no more once what it saw may be so no longer.
        """
        now = self.clock.now()
        if now > taken.lease_until - LAST_CALL:
            raise Transient("the pass stood still until its lease had all but run out")
        if seen.view.quota_shares and now - seen.view.now > FRESH:
            raise Transient("the pass stood still until what it saw was too old to act on")

    def _keep_shares(
        self,
        seen: Observation,
        decision: Decision,
        outcomes: Sequence[Outcome],
        policy: Policy,
        taken: QueueRecord,
        *,
        act: bool,
    ) -> Kept:
        """What shares should have beside priorities; an eviction is let go when all those of its share are set."""
        moves = zip(decision.moves, outcomes, strict=True)
        undone = {_share(seen, move) for move, outcome in moves if outcome is not Outcome.DONE}
        ready = [eviction for eviction in decision.ready if eviction.share not in undone]
        fence = partial(self._fence, taken, seen)
        keeper = ShareKeeper(self.observer.shares, self.observer.alarms, self.jobs, fence)
        return keeper.keep(seen.description, policy.at(seen.view.now), ready, seen.view.now, act=act)

    def _act(
        self, stored: StoredPolicy, seen: Observation, decision: Decision, taken: QueueRecord
    ) -> tuple[list[Outcome], Exception | None]:
        """What came of each move, and the fault that cut them short, if one did: what came before it is told."""
        outcomes: list[Outcome] = []
        fault: Exception | None = None
        try:
            for outcome in self._set(stored, seen, decision, taken):
                outcomes.append(outcome)  # noqa: PERF402 - a fault must not take along those before it
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised once they are told
            fault = error
        return outcomes + [Outcome.DEFERRED] * (len(decision.moves) - len(outcomes)), fault

    def _set(
        self, stored: StoredPolicy, seen: Observation, decision: Decision, taken: QueueRecord
    ) -> Iterator[Outcome]:
        """Set the priorities, within the account's budget; what we mean to set is stored before the first is.

        So is every eviction that is asked for or went on: a pass that is killed here is carried on by the next. Where
        a running job could not be protected, nobody else of its share is raised: who waits might evict it.
        """
        now = self.clock.now()
        self._fence(taken, seen)
        for eviction in decision.evictions:
            self.observer.shares.records.put_eviction(decision.queue, eviction)
        granted = self.jobs.take_budget(len(decision.moves), now) if decision.moves else 0
        chosen = decision.moves[:granted]
        lines = [RecordedMove(decision.queue, decision.at, move, stored.number, Outcome.DONE) for move in chosen]
        before = self.control.writes([move.job_id for move in chosen])
        self._fence(taken, seen)  # what was read is no later pass's, and the condition sees to the rest
        self.control.put_writes([_intent(seen, line, now) for line in lines], before)
        exposed: set[str | None] = set()
        for move in chosen:
            share = _share(seen, move)
            if move.after > move.before and share in exposed:
                yield Outcome.DEFERRED
                continue
            self._fence(taken, seen)
            try:
                self.batch.set_priority(move.job_id, move.after)
            except Gone:
                yield Outcome.GONE
                doubted(self.jobs, seen.records[move.job_id])
                exposed |= {share} if move.reason is Reason.PROTECTED else set()
            except Transient:  # it may have been carried out, and only its answer been lost
                doubted(self.jobs, seen.records[move.job_id])
                return
            else:
                yield Outcome.DONE

    def _record(self, stored: StoredPolicy, seen: Observation, decision: Decision, outcomes: Sequence[Outcome]) -> None:
        """Write the history: what Batch did by itself, and each move with what came of it.

        What was deferred is decided again, and not a line.
        """
        told = set(seen.record.would)
        self.control.record(
            [RecordedMove(decision.queue, decision.at, move, stored.number, Outcome.SEEN) for move in seen.preempted]
            + [
                RecordedMove(decision.queue, decision.at, move, stored.number, outcome)
                for move, outcome in zip(decision.moves, outcomes, strict=True)
                if outcome is not Outcome.DEFERRED
                and not (outcome is Outcome.OBSERVED and (move.job_id, move.after) in told)
            ]
        )


def _share(seen: Observation, move: Move) -> str | None:
    detail = seen.records[move.job_id].detail
    return detail.share if detail else None


def _intent(seen: Observation, line: RecordedMove, now: float) -> Write:
    move, submitted = line.move, seen.records[line.move.job_id].submitted_priority
    return Write(move.job_id, move.before if submitted is None else submitted, move.before, move.after, now, line)


def _priorities(seen: Observation, decision: Decision, outcomes: Sequence[Outcome]) -> tuple[tuple[str, int], ...]:
    """What our writes left the active jobs with; a job back at what Batch described needs no entry."""
    ours = dict(seen.record.priorities)
    for move, outcome in zip(decision.moves, outcomes, strict=True):
        if outcome is Outcome.DONE:
            ours[move.job_id] = move.after
    described = {i: row.detail.priority for i, row in seen.records.items() if row.detail}
    return tuple((i, priority) for i, priority in ours.items() if described.get(i) != priority)
