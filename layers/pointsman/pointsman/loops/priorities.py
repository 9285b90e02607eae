"""Whose a priority is that Batch shows: what the job was submitted with, what a pass set, or what someone else did."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pointsman.ports import QueueRecord, Write
from pointsman.queues.jobs import JobRecord, Stage


@dataclass(frozen=True, slots=True)
class Recorded:
    """What passes that came to their end left jobs with, and when the last one did (0: nobody knows)."""

    priorities: Mapping[str, int]
    at: float


def recorded(record: QueueRecord, now: float) -> Recorded:
    """What the queue's record says; a time yet to come is of a clock that has jumped."""
    return Recorded(dict(record.priorities), record.recorded_at if record.recorded_at <= now else 0.0)


def judge_priority(row: JobRecord, before: JobRecord | None, write: Write | None, ours: Recorded) -> JobRecord:
    """Say whether the described priority is someone else's, and since when; a lost table is rebuilt from our writes.

    What our last write replaced can only be seen again, other than by someone's hand, while no pass that came to its
    end since says that it has landed, or by a look from before it.
    """
    if row.detail is None or row.stage is not Stage.WAITING:
        return row
    priority, believed, theirs = row.detail.priority, ours.priorities.get(row.job_id), False
    if believed is None and before is not None and before.detail:
        believed, theirs = before.detail.priority, before.foreign
    if theirs and before is not None and priority == believed:  # as it was: since when too
        return replace(row, foreign=True, foreign_since=before.foreign_since or before.at)
    submitted, ones = row.submitted_priority, set() if theirs else {believed}
    if write is not None:
        if before is None or before.submitted_priority is None:
            submitted = write.submitted
        landed = believed == write.after and write.at <= min(row.at, ours.at)
        ones |= {write.after} if landed else {write.before, write.after}
    foreign = priority not in {submitted, *ones}
    return replace(row, submitted_priority=submitted, foreign=foreign, foreign_since=row.at if foreign else 0.0)
