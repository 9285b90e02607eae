"""Whose a priority is that Batch shows: what the job was submitted with, what a pass set, or what someone else did."""

from dataclasses import replace

from pointsman.ports import Write
from pointsman.queues.jobs import JobRecord, Stage


def judge_priority(row: JobRecord, before: JobRecord | None, write: Write | None, ours: int | None) -> JobRecord:
    """Say whether the described priority is someone else's, and since when; a lost table is rebuilt from our writes.

    What our last write replaced can only be seen again, other than by someone's hand, while it may not have landed, or
    by a look from before it.
    """
    if row.detail is None or row.stage is not Stage.WAITING:
        return row
    priority, believed, theirs = row.detail.priority, ours, False
    if ours is None and before is not None and before.detail:
        believed, theirs = before.detail.priority, before.foreign
    if theirs and before is not None and priority == believed:  # as it was: since when too
        return replace(row, foreign=True, foreign_since=before.foreign_since or before.at)
    submitted, ones = row.submitted_priority, set() if theirs else {believed}
    if write is not None:
        if before is None or before.submitted_priority is None:
            submitted = write.submitted
        landed = believed == write.after and write.at <= row.at
        ones |= {write.after} if landed else {write.before, write.after}
    foreign = priority not in {submitted, *ones}
    return replace(row, submitted_priority=submitted, foreign=foreign, foreign_since=row.at if foreign else 0.0)
