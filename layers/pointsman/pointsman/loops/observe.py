"""OBSERVE: what a queue is like now, from the job table and as few reads of Batch as will do.

The table is a cache that events feed. Each pass takes one snapshot; what contradicts the table, what is doubtful and
what was never described is described, the most useful first, within the account's API budget. Where events are
missing, the jobs that hold capacity are listed as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pointsman.errors import Gone, Misconfigured, Transient
from pointsman.loops.alarms import effects_now
from pointsman.loops.doubts import SETTLED, contradictions, disordered, suspicious, to_describe
from pointsman.loops.ended import learned, set_apart
from pointsman.loops.fit import misfits
from pointsman.loops.listing import due, sweep
from pointsman.loops.priorities import Recorded, recorded
from pointsman.loops.quota import Shares, preempted, settled
from pointsman.loops.room import room_of
from pointsman.loops.rows import Rows, no_later_than
from pointsman.loops.view import jobs_of, problems_of, shares_of, table_use
from pointsman.ports import (
    Alarms,
    BatchQueues,
    Clock,
    Control,
    JobTable,
    QueueDescription,
    QueueRecord,
    Snapshot,
)
from pointsman.queues.jobs import NO_QUEUE, JobRecord, Stage
from pointsman.queues.kinds import QueueKind
from pointsman.queues.policy import Policy
from pointsman.queues.reasons import Move
from pointsman.queues.view import QueueView

QUEUE_CALLS = 3  # to describe a queue
DESCRIBE_QUEUE_EVERY = 300.0  # seconds; a capacity limit rarely changes
STRAYS = 10  # jobs without a known queue that one pass describes
DESCRIBES = 40  # of jobs, at most, in one pass: the account's budget refills 60 calls between two passes
SUSPECTS = 500  # that one pass leaves for the next, whose record is one item; more than it could describe


@dataclass(frozen=True, slots=True)
class Observation:
    """What a pass decides on; `unfinished` says that there was more to look at than the budget allowed.

    `preempted` are jobs that Batch has evicted since the last pass, `ended` those that have ended, and are
    no longer in `records`.
    """

    view: QueueView
    description: QueueDescription
    records: Mapping[str, JobRecord]
    record: QueueRecord
    described: int
    listed: int
    problems: tuple[str, ...]
    unfinished: bool
    preempted: tuple[Move, ...] = ()
    ended: tuple[JobRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Cleared:
    """What came of doubts: `unsure` are jobs that this pass does not decide on."""

    record: QueueRecord
    unsure: frozenset[str] = frozenset()
    described: int = 0
    listed: int = 0
    unfinished: bool = False
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Observer:
    """Reads a queue; with `keep` unset it stores nothing of what it learns (`queue plan`)."""

    clock: Clock
    batch: BatchQueues
    alarms: Alarms
    jobs: JobTable
    control: Control
    shares: Shares
    keep: bool = True

    def observe(self, record: QueueRecord, policy: Policy, *, died: bool = False) -> Observation:
        """Look at the queue; `died` says that an earlier pass may have set priorities that it did not record.

        Raises `Transient`, and `Misconfigured` when there is no such queue.
        """
        now = self.clock.now()
        record, description, left = self._describe_queue(record, now)
        quota = description.kind is QueueKind.QUOTA_SHARE
        if quota and (left or self.jobs.take_budget(1, now)):
            description = self.shares.described(description)
        elif quota and record.described_at != now:
            description = self.shares.remembered(description)
        taught = self.jobs.history(record.queue)  # before the jobs: who is let go meanwhile is not learned from again
        known = {row.job_id: no_later_than(now, row) for row in self.jobs.active(record.queue)}
        if quota:
            self._place_strays(record.queue, known, policy)
        snapshot = self._snapshot(description, now)
        used = snapshot.used if snapshot and snapshot.at >= max((r.at for r in known.values()), default=0.0) else None
        cleared = Cleared(record)
        if description.kind is not QueueKind.CONTAINER:
            cleared = self._clear_up(record, known, snapshot, policy, kind=description.kind, died=died)
        record = cleared.record
        ended = set_apart(known)
        history = learned(taught, ended, policy, now)
        sure = {job_id: row for job_id, row in known.items() if job_id not in cleared.unsure}
        pins = {pin.job_id: pin for pin in self.control.pins(record.queue) if pin.active(now)}
        waiting, busy, strangers = jobs_of(record, description, policy, sure, pins, now)
        shares = shares_of(description, snapshot, sure) if description.kind is QueueKind.FAIR_SHARE else ()
        effects, untold = effects_now(policy, now, self.control, self.alarms, keep=self.keep)
        room = room_of(self.batch, self.jobs, description, len(shares), now)
        view = QueueView(
            queue=record.queue,
            now=now,
            capacity=description.capacity,
            used=used if used is not None else table_use(known),
            movable=(description.kind is QueueKind.FAIR_SHARE or bool(description.quota_shares))
            and description.enabled
            and not misfits(description, policy),
            waiting=waiting,
            busy=busy,
            effects=effects,
            history=history,
            strangers=strangers,
            pins=tuple(pins.values()),
            shares=shares,
            elsewhere=room.elsewhere,
            withheld=room.withheld,
            past=record.usage,
            unsure=cleared.unsure,
        )
        problems = (*problems_of(description, policy, strangers, view.used), *room.told, *cleared.told, *untold)
        record = replace(record, priorities=_still_active(record, known))
        seen = Observation(
            view,
            description,
            known,
            record,
            cleared.described,
            cleared.listed,
            problems,
            cleared.unfinished,
            ended=ended,
        )
        return self._with_quota(seen, policy, cleared.unsure, snapshot) if quota else seen

    def _place_strays(self, queue: str, known: dict[str, JobRecord], policy: Policy) -> None:
        """Describe jobs of which only a preemption is known, and so not even their queue."""
        strays = {row.job_id: row for row in self.jobs.active(NO_QUEUE)[:STRAYS]}
        if strays:
            self._rows.describe(strays, tuple(strays), Recorded({}, 0.0), policy, unlisted=set(strays))
            known |= {job_id: row for job_id, row in strays.items() if row.queue == queue}

    def _with_quota(
        self, seen: Observation, policy: Policy, unsure: frozenset[str], snapshot: Snapshot | None
    ) -> Observation:
        """The same with what quota shares add."""
        view, looks, told = self.shares.seen(seen.view, seen.description, policy, seen.records, seen.record.saved)
        shown = {job.job_id for job in view.busy}.union(
            job.job_id for jobs in (view.waiting, view.strangers) for job in jobs
        )
        unsure |= seen.records.keys() - shown
        view = replace(view, unsure=unsure, settled=settled(seen.records, seen.ended, snapshot, unsure))
        gone, counts = preempted(seen.records, seen.record, view)
        record = replace(seen.record, preempted=counts, saved=looks)
        return replace(seen, view=view, record=record, problems=(*seen.problems, *told), preempted=gone)

    def look_again(self, seen: Observation, policy: Policy, job_ids: Sequence[str]) -> Observation:
        """The same with these jobs described just now, as far as the budget goes."""
        known, ours = dict(seen.records), recorded(seen.record, self.clock.now())
        described = self._rows.describe(known, job_ids, ours, policy)
        fresh = described.fresh
        record = replace(seen.record, priorities=tuple((i, p) for i, p in seen.record.priorities if i not in fresh))
        pins = {pin.job_id: pin for pin in seen.view.pins}
        sure = {job_id: row for job_id, row in known.items() if job_id in fresh or job_id not in seen.view.unsure}
        sure = {job_id: row for job_id, row in sure.items() if row.stage is not Stage.ENDED}
        waiting, busy, strangers = jobs_of(record, seen.description, policy, sure, pins, seen.view.now)
        saved = {job.job_id: job.saved for job in seen.view.busy}
        busy = tuple(replace(job, saved=saved.get(job.job_id)) for job in busy)
        view = replace(
            seen.view,
            waiting=waiting,
            busy=busy,
            strangers=strangers,
            used=sum(job.size for job in busy),
            described=frozenset(fresh),
            unsure=(seen.view.unsure - fresh) | described.refused,
            settled=seen.view.settled and not described.refused,
        )
        return replace(seen, view=view, records=known, record=record, described=seen.described + len(fresh))

    def _clear_up(
        self,
        record: QueueRecord,
        known: dict[str, JobRecord],
        snapshot: Snapshot | None,
        policy: Policy,
        *,
        kind: QueueKind,
        died: bool,
    ) -> "Cleared":
        """Find what may not be believed, list where events seem to be missing, and describe what is in doubt.

        A disagreement is a doubt when it is still there one pass later: by then an event that was on its way has come.
        """
        now, before = self.clock.now(), set(record.suspects)
        unsure = contradictions(known, snapshot, dict(record.priorities))
        ordered = kind in (QueueKind.FAIR_SHARE, QueueKind.QUOTA_SHARE)
        odd = unsure | disordered(known, snapshot, record) if ordered else unsure
        doubts = odd & before
        if died:
            record = self._doubt_unrecorded(record, known, snapshot)
        in_question = [known[job_id] for job_id in before & known.keys()]
        asked = suspicious(known, snapshot, doubts)
        asked |= any(row.stage is Stage.BUSY or row.refused for row in in_question)
        listed, granted, told, unlisted = 0, 0, tuple[str, ...](), set[str]()
        if asked or due(record, snapshot, now):
            first = to_describe(known, snapshot, doubts, policy)[:DESCRIBES]  # they go before a listing
            granted = self.jobs.take_budget(len(first), now)
            record, listing = sweep(self.batch, self.jobs, record, snapshot, now, asked=asked)
            listed, told = listing.pages, listing.told
            self._rows.take_in(known, listing.jobs, doubts, now)
            missing = listing.missing(known)
            unlisted = listing.unheld(known) - set(snapshot.front if snapshot else ())
            gone = {job_id for job_id in missing if job_id in before or known[job_id].stage is Stage.WAITING}
            walking = before & known.keys() if record.walk else set()  # who was missing is looked for once more
            odd = odd | missing | {job_id for job_id in walking if known[job_id].stage is Stage.BUSY}
            doubts = doubts | gone
        wanted = to_describe(known, snapshot, doubts, policy)
        described = self._rows.describe(
            known, wanted[:DESCRIBES], recorded(record, now), policy, granted=granted, unlisted=unlisted
        )
        record = replace(
            record,
            suspects=tuple(sorted(odd | described.refused)[:SUSPECTS]),
            priorities=tuple((i, p) for i, p in record.priorities if i not in described.fresh),
        )
        unfinished = len(wanted) > len(described.asked) or bool(record.sweep or record.walk)
        unsure = (unsure - described.asked) | (described.unread.keys() & known.keys())
        return Cleared(record, frozenset(unsure), len(described.asked), listed, unfinished, (*described.told, *told))

    def _describe_queue(self, record: QueueRecord, now: float) -> tuple[QueueRecord, QueueDescription, int]:
        """The queue, and how many calls are left that were granted to describe it and are too few for that."""
        if record.description and abs(now - record.described_at) < DESCRIBE_QUEUE_EVERY:
            return record, record.description, 0
        granted = self.jobs.take_budget(QUEUE_CALLS, now)
        if record.description and granted < QUEUE_CALLS:  # the first look cannot wait, any other can
            return record, record.description, granted
        try:
            description = self.batch.describe_queue(record.queue)
        except Gone:
            raise Misconfigured(f"there is no job queue {record.queue}") from None
        return replace(record, description=description, described_at=now), description, 0

    def _snapshot(self, description: QueueDescription, now: float) -> Snapshot | None:
        if description.kind is QueueKind.CONTAINER or not self.jobs.take_budget(1, now):
            return None
        return self.batch.snapshot(description.name)

    def _doubt_unrecorded(
        self, record: QueueRecord, known: dict[str, JobRecord], snapshot: Snapshot | None
    ) -> QueueRecord:
        """Doubt the jobs that a pass may have set before it died: what was meant since one came to its end, or differs.

        The doubt is stored, so that it outlives a pass that fails again and a budget that does not reach. What the pass
        that died took a job to have is newer than what the record says.
        """
        if snapshot is None:
            raise Transient("an earlier pass did not come to its end, and there is no budget to see what it did")
        ours, front = recorded(record, self.clock.now()), set(snapshot.front)
        priorities = dict(ours.priorities)
        may_be = {  # one that holds capacity may come back to wait, or has after the snapshot
            row.job_id
            for row in known.values()
            if row.stage is Stage.BUSY or not snapshot.whole or row.job_id in front or row.at > snapshot.at - SETTLED
        }
        for job_id, write in self.control.writes(may_be | (priorities.keys() & known.keys())).items():
            row = known[job_id]
            believed = ours.priorities.get(job_id, row.detail.priority if row.detail else None)
            if write.at > ours.at:
                priorities[job_id] = write.before
            if write.after != believed or write.at > ours.at:
                self._rows.doubt(known, row)
        return replace(record, priorities=tuple(priorities.items()))

    @property
    def _rows(self) -> Rows:
        return Rows(self.clock, self.batch, self.jobs, self.control, self.keep)


def _still_active(record: QueueRecord, known: Mapping[str, JobRecord]) -> tuple[tuple[str, int], ...]:
    """A job that holds capacity may come back to wait, and then with the priority that we gave it."""
    active = {job_id for job_id, row in known.items() if row.stage is not Stage.ENDED}
    return tuple((job_id, priority) for job_id, priority in record.priorities if job_id in active)
