"""The rows of a queue's jobs, brought up to what a listing says or a Describe shows, and stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pointsman.errors import Conflict, Gone, Transient, Unreadable
from pointsman.loops.doubts import SETTLED
from pointsman.loops.priorities import Recorded, judge_priority
from pointsman.ports import BatchQueues, Clock, Control, JobTable, RecordedMove, Write
from pointsman.queues.jobs import JobRecord, Sighting, Stage, merge, refuse
from pointsman.queues.policy import Policy


@dataclass(frozen=True, slots=True)
class Described:
    """What came of describing jobs: who was `asked` for, whose row is as Batch has it now (`fresh`).

    Batch `refused` some, and so it is not known what they hold. `unread` says by job what of it could not be read;
    `told` is what people should know.
    """

    asked: frozenset[str] = frozenset()
    fresh: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    unread: Mapping[str, str] = field(default_factory=dict)
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """Changes rows, each by itself; with `keep` unset nothing is stored."""

    clock: Clock
    batch: BatchQueues
    jobs: JobTable
    control: Control
    keep: bool = True

    def take_in(self, known: dict[str, JobRecord], seen: Iterable[Sighting], doubts: set[str], now: float) -> None:
        """Merge a listing: it lags, so a job that an event touched a moment ago is doubted instead."""
        seen = list(seen)
        stored = self._stored([s.job_id for s in seen if s.job_id not in known], now)
        for sighting in seen:
            row = known.get(sighting.job_id) or stored.get(sighting.job_id)
            if row is not None and (row.status is sighting.status or now - row.at < SETTLED):
                known.setdefault(row.job_id, row)
                if row.stage is not sighting.status.stage:
                    doubts.add(row.job_id)
                continue
            merged = merge(row, sighting)
            if merged is not None:
                self.save(known, merged)

    def describe(
        self,
        known: dict[str, JobRecord],
        wanted: Sequence[str],
        ours: Recorded,
        policy: Policy,
        *,
        granted: int = 0,
        unlisted: set[str] | frozenset[str] = frozenset(),
    ) -> Described:
        """Describe these jobs, as far as the budget goes and Batch answers: what it said until then counts.

        So many calls are `granted` already. Who is `unlisted` neither waits nor holds capacity, as far as is listed.
        """
        if len(wanted) > granted:
            granted += self.jobs.take_budget(len(wanted) - granted, self.clock.now())
        chosen = wanted[:granted]
        stored = self._stored([i for i in chosen if i not in known], self.clock.now()) if chosen else {}
        seen: list[tuple[JobRecord | None, JobRecord]] = []
        asked: list[str] = []
        refused: list[str] = []
        unread: dict[str, str] = {}
        told: tuple[str, ...] = ()
        for job_id in chosen:
            row = known.get(job_id) or stored.get(job_id)
            try:
                sighting = self.batch.describe_job(job_id)
            except Transient as error:
                told = (f"{len(wanted) - len(asked)} jobs are described in a later pass: {error}",)
                break
            except Gone:
                asked.append(job_id)
                refused.append(job_id)
                if row is not None:
                    self.save(known, refuse(row, self.clock.now(), unlisted=job_id in unlisted))
                continue
            except Unreadable as error:
                asked.append(job_id)
                unread[job_id] = f"job {job_id} is left as it is: {error}"
                continue
            asked.append(job_id)
            merged = merge(row, _with_tags_of(sighting, policy))
            if merged is not None:
                seen.append((row, merged))
        # read after the priorities: whatever of ours was seen, its intent was stored before
        writes = self.control.writes([merged.job_id for _, merged in seen]) if seen else {}
        if self.keep and (lines := list(_landed((merged for _, merged in seen), writes, ours))):
            self.control.record(lines)  # before the doubt is gone
        for row, merged in seen:
            self.save(known, judge_priority(merged, row, writes.get(merged.job_id), ours))
        fresh = frozenset(merged.job_id for _, merged in seen)
        return Described(frozenset(asked), fresh, frozenset(refused), unread, (*unread.values(), *told))

    def _stored(self, job_ids: Sequence[str], now: float) -> dict[str, JobRecord]:
        return {job_id: no_later_than(now, row) for job_id, row in self.jobs.load(job_ids).items()}

    def save(self, known: dict[str, JobRecord], row: JobRecord) -> None:
        """Store the row, and believe it; where an event came in between, the next pass sees both."""
        if not self.keep:
            known[row.job_id] = row
            return
        try:
            known[row.job_id] = self.jobs.save(row)
        except Conflict:
            fresh = self.jobs.load([row.job_id]).get(row.job_id)
            if fresh is not None:
                known[row.job_id] = replace(fresh, doubtful=True)

    def doubt(self, known: dict[str, JobRecord], row: JobRecord) -> None:
        """Store that the row is in doubt, and believe that; it may be already, by a clock that is wrong."""
        kept = doubted(self.jobs, row) if self.keep else None
        known[row.job_id] = kept or replace(row, doubtful=True)


def doubted(jobs: JobTable, row: JobRecord) -> JobRecord | None:
    """Store that the job is to be described in the next pass; gives what is stored then, if it is.

    An event that came meanwhile does not tell of its priority. Of one that has ended nothing is in doubt. Raises
    `Conflict` when there are more such events.
    """
    try:
        return jobs.save(replace(row, doubtful=True))
    except Conflict:
        fresh = jobs.load([row.job_id]).get(row.job_id)
        if fresh is None or fresh.stage is Stage.ENDED:
            return fresh
        return jobs.save(replace(fresh, doubtful=True))


def no_later_than(now: float, row: JobRecord) -> JobRecord:
    """Doubt a row from a time yet to come: a clock has jumped, and what is seen from now on is newer all the same."""
    return replace(row, at=now, doubtful=True) if row.at > now + SETTLED else row


def _landed(rows: Iterable[JobRecord], writes: Mapping[str, Write], ours: Recorded) -> Iterator[RecordedMove]:
    """What the history may lack: writes that are seen to be set, of which no pass that came to its end knew."""
    for row in rows:
        write = writes.get(row.job_id)
        if write is None or write.line is None or row.detail is None:
            continue
        if ours.priorities.get(row.job_id) == write.after and write.at <= ours.at:
            continue
        if row.detail.priority == write.after:
            yield write.line


def _with_tags_of(seen: Sighting, policy: Policy) -> Sighting:
    return seen if seen.detail is None else replace(seen, detail=seen.detail.with_tags_of(policy.tags_read))
