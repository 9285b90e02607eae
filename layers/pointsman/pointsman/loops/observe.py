"""OBSERVE: what a queue is like now, from the job table and as few reads of Batch as will do.

The table is a cache that events feed. Each pass takes one snapshot; what contradicts the table, what is doubtful and
what was never described is described, the most useful first, within the account's API budget. Where events are
missing, the jobs that hold capacity are listed as well.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from pointsman.errors import Conflict, Gone, Misconfigured, Transient
from pointsman.loops.view import capacity_used, finished, jobs_of, problems_of, table_use
from pointsman.ports import (
    Alarms,
    BatchQueues,
    Clock,
    Control,
    JobTable,
    QueueDescription,
    QueueKind,
    QueueRecord,
    Snapshot,
    Sweep,
    Write,
)
from pointsman.queues.decide import QueueView
from pointsman.queues.effects import Effect, effects_of
from pointsman.queues.estimates import History
from pointsman.queues.jobs import JobRecord, Sighting, Stage, Status, merge
from pointsman.queues.policy import Policy
from pointsman.queues.standby import LOWEST

DESCRIBE_QUEUE_EVERY = 300.0  # seconds; a capacity limit rarely changes
SWEEP_EVERY = 600.0  # seconds between listings when nothing is suspicious
DESCRIBES = 40  # of jobs, at most, in one pass: the account's budget refills 60 calls between two passes
PAGES = 12  # of a listing, at most, in one pass
SNAPSHOT_JOBS = 100  # a snapshot names no more
SETTLED = 60.0  # seconds after which an event is older than any lag of a listing
ALARM_MEMORY = 7 * 86400.0  # seconds back that an open-ended effect looks for its alarm's transition
WRITTEN = 15.0  # seconds after a pass began by which its writes are in a snapshot
ODD_JOBS = 10  # people raise a job or two: where more are out of order, the snapshot is behind
FOLD_WITHOUT_DETAIL = 3600.0  # seconds after which an ended job that was never described is let go

_BUSY = (Status.SCHEDULED, Status.STARTING, Status.RUNNING)


@dataclass(frozen=True, slots=True)
class Observation:
    """What a pass decides on; `unfinished` says that there was more to look at than the budget allowed."""

    view: QueueView
    description: QueueDescription
    records: Mapping[str, JobRecord]
    record: QueueRecord
    described: int
    listed: int
    problems: tuple[str, ...]
    unfinished: bool


@dataclass(frozen=True, slots=True)
class Observer:
    """Reads a queue; with `keep` unset it stores nothing of what it learns (`queue plan`)."""

    clock: Clock
    batch: BatchQueues
    alarms: Alarms
    jobs: JobTable
    control: Control
    keep: bool = True

    def observe(self, record: QueueRecord, policy: Policy, *, died: bool = False) -> Observation:
        """Look at the queue; `died` says that an earlier pass may have set priorities that it did not record.

        Raises `Transient`, and `Misconfigured` when there is no such queue.
        """
        now = self.clock.now()
        record, description = self._describe_queue(record, now)
        known = {row.job_id: row for row in self.jobs.active(record.queue)}
        snapshot = self._snapshot(description, now)
        listed = described = 0
        unfinished = False
        unsure: set[str] = set()
        if description.kind is not QueueKind.CONTAINER:
            unsure = _contradictions(known, snapshot, dict(record.priorities))
            odd = unsure | _disordered(known, snapshot, record) if description.kind is QueueKind.FAIR_SHARE else unsure
            doubts = odd & set(record.suspects)  # one pass later, an event that was on its way has come
            record = replace(record, suspects=tuple(sorted(odd)))
            if died:
                self._doubt_unrecorded(record, known, snapshot)
            if _suspicious(known, snapshot, doubts) or record.sweep is not None or now - record.swept >= SWEEP_EVERY:
                record, seen, listed, missing = self._sweep(record, snapshot, now)
                self._take_in(known, seen, doubts, now)
                doubts |= {i for i in missing(known) if i in known}
            wanted = _to_describe(known, snapshot, doubts)
            described, fresh = self._describe(known, wanted[:DESCRIBES], dict(record.priorities))
            record = replace(record, priorities=tuple((i, p) for i, p in record.priorities if i not in fresh))
            unsure -= set(wanted[:described])
            unfinished = len(wanted) > described or record.sweep is not None
        history = self._learn(record.queue, known, policy, now)
        sure = {job_id: row for job_id, row in known.items() if job_id not in unsure}
        waiting, busy, strangers = jobs_of(record, description, policy, sure)
        view = QueueView(
            queue=record.queue,
            now=now,
            capacity=description.capacity,
            used=capacity_used(known, snapshot),
            movable=description.kind is QueueKind.FAIR_SHARE and description.enabled,
            waiting=waiting,
            busy=busy,
            effects=self._effects(policy, now),
            history=history,
        )
        problems = tuple(problems_of(description, policy, strangers))
        record = replace(record, priorities=_still_active(record, known))
        return Observation(view, description, known, record, described, listed, problems, unfinished)

    def _describe_queue(self, record: QueueRecord, now: float) -> tuple[QueueRecord, QueueDescription]:
        if record.description and now - record.described_at < DESCRIBE_QUEUE_EVERY:
            return record, record.description
        self.jobs.take_budget(3, now)
        try:
            description = self.batch.describe_queue(record.queue)
        except Gone:
            raise Misconfigured(f"there is no job queue {record.queue}") from None
        return replace(record, description=description, described_at=now), description

    def _snapshot(self, description: QueueDescription, now: float) -> Snapshot | None:
        if description.kind is QueueKind.CONTAINER or not self.jobs.take_budget(1, now):
            return None
        return self.batch.snapshot(description.name)

    def _doubt_unrecorded(self, record: QueueRecord, known: dict[str, JobRecord], snapshot: Snapshot | None) -> None:
        """Doubt the jobs that we last meant to have another priority than we believe: a pass that died may have set it.

        The doubt is stored, so that it outlives a pass that fails again and a budget that does not reach.
        """
        if snapshot is None:
            raise Transient("an earlier pass did not come to its end, and there is no budget to see what it did")
        ours = dict(record.priorities)
        busy = {row.job_id for row in known.values() if row.stage is Stage.BUSY}  # such a job may come back to wait
        for job_id, write in self.control.writes((ours.keys() | busy | set(snapshot.front)) & known.keys()).items():
            row = known[job_id]
            believed = ours.get(job_id, row.detail.priority if row.detail else None)
            if write.after != believed and not row.doubtful:
                self._save(known, replace(row, doubtful=True))

    def _sweep(
        self, record: QueueRecord, snapshot: Snapshot | None, now: float
    ) -> "tuple[QueueRecord, list[Sighting], int, _Missing]":
        """List the jobs that hold capacity, and more of the waiting ones where a snapshot does not reach."""
        deep = snapshot is None or len(snapshot.front) >= SNAPSHOT_JOBS
        allowed = self.jobs.take_budget(PAGES if deep else PAGES // 2, now)
        seen: list[Sighting] = []
        pages, busy = 0, Sweep(now, _BUSY[0])
        complete = False
        while pages < allowed and not complete:
            page = self.batch.list_jobs(record.queue, busy.status, busy.token)
            pages, seen = pages + 1, [*seen, *page.jobs]
            complete = page.next_token is None and busy.status is _BUSY[-1]
            following = busy.status if page.next_token or complete else _BUSY[_BUSY.index(busy.status) + 1]
            busy = Sweep(now, following, page.next_token)
        sweep = (record.sweep or Sweep(now, Status.RUNNABLE)) if deep else None
        while sweep is not None and pages < allowed:
            page = self.batch.list_jobs(record.queue, sweep.status, sweep.token)
            pages, seen = pages + 1, [*seen, *page.jobs]
            sweep = Sweep(sweep.began, sweep.status, page.next_token) if page.next_token else None
        record = replace(record, sweep=sweep, swept=now if sweep is None else record.swept)
        return record, seen, pages, _Missing({s.job_id for s in seen}, now) if complete else _Missing(None, now)

    def _take_in(self, known: dict[str, JobRecord], seen: Iterable[Sighting], doubts: set[str], now: float) -> None:
        """Merge a listing: it lags, so a job that an event touched a moment ago is doubted instead."""
        seen = list(seen)
        stored = self.jobs.load([s.job_id for s in seen if s.job_id not in known])
        for sighting in seen:
            row = known.get(sighting.job_id) or stored.get(sighting.job_id)
            if row is not None:
                settled = now - row.at >= SETTLED
                if row.status is sighting.status or (row.stage is sighting.status.stage and not settled):
                    known.setdefault(row.job_id, row)
                    continue
                if not settled:
                    doubts.add(row.job_id)
                    continue
            merged = merge(row, sighting)
            if merged is not None:
                self._save(known, merged)

    def _describe(
        self, known: dict[str, JobRecord], wanted: Sequence[str], ours: Mapping[str, int]
    ) -> tuple[int, set[str]]:
        """Describe these jobs as far as the budget goes; returns how many, and those whose priority is now as told."""
        granted = self.jobs.take_budget(len(wanted), self.clock.now()) if wanted else 0
        chosen = wanted[:granted]
        writes = self.control.writes(chosen) if chosen else {}
        stored = self.jobs.load([i for i in chosen if i not in known]) if chosen else {}
        fresh: set[str] = set()
        for job_id in chosen:
            row = known.get(job_id) or stored.get(job_id)
            try:
                sighting = self.batch.describe_job(job_id)
            except Gone:
                if row is not None:
                    self._save(known, replace(row, status=Status.FAILED, doubtful=False, folded=True))
                continue
            merged = merge(row, sighting)
            if merged is not None:
                unknown = row is None or row.submitted_priority is None
                self._save(known, _judge_priority(merged, writes.get(job_id), ours.get(job_id), rebuilt=unknown))
                fresh.add(job_id)
        return len(chosen), fresh

    def _save(self, known: dict[str, JobRecord], row: JobRecord) -> None:
        if not self.keep:
            known[row.job_id] = row
            return
        try:
            known[row.job_id] = self.jobs.save(row)
        except Conflict:  # an event came in between: the next pass sees both
            fresh = self.jobs.load([row.job_id]).get(row.job_id)
            if fresh is not None:
                known[row.job_id] = replace(fresh, doubtful=True)

    def _learn(self, queue: str, known: dict[str, JobRecord], policy: Policy, now: float) -> History:
        """Fold the run times of jobs that have ended into the history, once each."""
        history = self.jobs.history(queue)
        ended = [row for row in known.values() if row.stage is Stage.ENDED]
        ready = [row for row in ended if not row.needs_describe or now - row.at > FOLD_WITHOUT_DETAIL]
        lessons = [f for row in sorted(ready, key=lambda r: r.at) if not row.folded and (f := finished(row, policy))]
        for row in ended:
            del known[row.job_id]
        if not ready or not self.keep:
            return history.learn(lessons)
        history = history.learn(lessons)
        if lessons:
            self.jobs.save_history(queue, history)
        for row in ready:
            if not row.folded:
                self._save({}, replace(row, folded=True))
        return history

    def _effects(self, policy: Policy, now: float) -> tuple[Effect, ...]:
        """Effects of the policy's rules, as stored and as the alarms' histories say; a lost event makes no difference.

        An alarm's history is read from the oldest effect on that has not ended, so that its end is seen.
        """
        found: dict[tuple[str, float, str], Effect] = {}
        stored = {_key(e): e for e in self.control.effects(policy.queue)} if policy.on_alarm else {}
        ruled: dict[tuple[str, float, str], Effect] = {}
        for rule in policy.on_alarm:
            ours = {k: e for k, e in stored.items() if e.boost == rule.boost and fnmatchcase(e.alarm, rule.alarm)}
            ruled |= ours
            since = now - (ALARM_MEMORY if rule.lasts is None else rule.lasts)
            since = min([since, *(effect.since for effect in ours.values() if effect.end == float("inf"))])
            for effect in effects_of(replace(policy, on_alarm=(rule,)), self.alarms.transitions(rule.alarm, since)):
                other = found.get(_key(effect))
                if other is None or other.by < effect.by:
                    found[_key(effect)] = effect
        for key, effect in found.items():
            if ruled.get(key) != effect and (effect.active(now) or key in ruled):
                if self.keep:
                    self.control.put_effect(policy.queue, effect)
                ruled[key] = effect
        return tuple(sorted(ruled.values(), key=lambda e: (e.since, e.alarm, e.boost)))


def _key(effect: Effect) -> tuple[str, float, str]:
    return (effect.alarm, effect.since, effect.boost)


@dataclass(frozen=True, slots=True)
class _Missing:
    """After a complete listing: jobs that the table believes to hold capacity, and that were not listed."""

    listed: set[str] | None
    at: float

    def __call__(self, known: Mapping[str, JobRecord]) -> set[str]:
        if self.listed is None:
            return set()
        return {
            row.job_id
            for row in known.values()
            if row.stage is Stage.BUSY and row.job_id not in self.listed and self.at - row.at >= SETTLED
        }


def _contradictions(
    known: Mapping[str, JobRecord], snapshot: Snapshot | None, priorities: Mapping[str, int]
) -> set[str]:
    """Jobs on which the snapshot and the table disagree, where the snapshot is the newer of the two."""
    if snapshot is None:
        return set()
    front = set(snapshot.front)
    whole = len(front) < SNAPSHOT_JOBS
    doubts = set()
    for row in known.values():
        if row.at >= snapshot.at - 1:
            continue
        waits = row.stage is Stage.WAITING
        expected = whole or priorities.get(row.job_id, 0) >= LOWEST
        if waits is not (row.job_id in front) and (expected or not waits):
            doubts.add(row.job_id)
    return doubts


def _disordered(known: Mapping[str, JobRecord], snapshot: Snapshot | None, record: QueueRecord) -> set[str]:
    """Neighbours of one share whom the snapshot shows in another order than we believe: someone may have set one.

    It is the only cheap sight of a priority that someone else set. A snapshot older than our own writes tells nothing.
    """
    if snapshot is None or snapshot.at < record.passed_at + WRITTEN:
        return set()
    ours = dict(record.priorities)
    last: dict[str | None, tuple[str, int]] = {}
    odd: set[str] = set()
    for job_id in snapshot.front:
        row = known.get(job_id)
        if row is None or row.detail is None or row.doubtful:
            continue
        believed = row.detail.priority if row.foreign else ours.get(job_id, row.detail.priority)
        before = last.get(row.detail.share)
        if before is not None and before[1] < believed:
            odd |= {before[0], job_id}
        last[row.detail.share] = (job_id, believed)
    return odd if len(odd) <= ODD_JOBS else set()


def _suspicious(known: Mapping[str, JobRecord], snapshot: Snapshot | None, doubts: set[str]) -> bool:
    """Whether events seem to be missing: the use differs from what the table adds up to, or jobs are in doubt."""
    if snapshot is None:
        return False
    newest = max((row.at for row in known.values()), default=0.0)
    return bool(doubts) or (newest <= snapshot.at - SETTLED / 2 and table_use(known) != snapshot.used)


def _to_describe(known: Mapping[str, JobRecord], snapshot: Snapshot | None, doubts: set[str]) -> list[str]:
    """What to describe, the most useful first: doubts, the front, the waiting, the busy, the ended."""
    place = {job_id: n for n, job_id in enumerate(snapshot.front if snapshot else ())}
    stages = {Stage.WAITING: 2, Stage.BUSY: 3, Stage.ENDED: 4}
    wanted = {
        row.job_id: (0 if row.doubtful or row.job_id in doubts else 1 if row.job_id in place else stages[row.stage],
                     place.get(row.job_id, 0), row.created)
        for row in known.values()
        if row.needs_describe or row.job_id in doubts
    }  # fmt: skip
    wanted |= {job_id: (1, n, 0.0) for job_id, n in place.items() if job_id not in known}
    return sorted(wanted, key=lambda job_id: wanted[job_id])


def _judge_priority(row: JobRecord, write: Write | None, ours: int | None, *, rebuilt: bool) -> JobRecord:
    """Say whether the described priority is someone else's; a lost table is rebuilt from what we wrote."""
    if row.detail is None or row.stage is not Stage.WAITING:
        return row
    submitted = write.submitted if write is not None and rebuilt else row.submitted_priority
    ones = {submitted, ours} | ({write.before, write.after} if write else set())
    return replace(row, submitted_priority=submitted, foreign=row.detail.priority not in ones)


def _still_active(record: QueueRecord, known: Mapping[str, JobRecord]) -> tuple[tuple[str, int], ...]:
    """A job that holds capacity may come back to wait, and then with the priority that we gave it."""
    active = {job_id for job_id, row in known.items() if row.stage is not Stage.ENDED}
    return tuple((job_id, priority) for job_id, priority in record.priorities if job_id in active)
