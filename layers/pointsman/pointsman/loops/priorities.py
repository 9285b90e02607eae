"""Whose a priority is that Batch shows: what the job was submitted with, what a pass set, or what someone else did."""

from dataclasses import replace

from pointsman.ports import Write
from pointsman.queues.jobs import JobRecord, Stage


def judge_priority(row: JobRecord, before: JobRecord | None, write: Write | None, ours: int | None) -> JobRecord:
    """Say whether the described priority is someone else's, and since when; a lost table is rebuilt from our writes.

    What our last write replaced can only be seen again, other than by someone's hand, while it may not have landed.
    """
    if row.detail is None or row.stage is not Stage.WAITING:
        return row
    believed, theirs = ours, False
    if ours is None and before is not None and before.detail:
        believed, theirs = before.detail.priority, before.foreign
    landed = write is not None and believed == write.after
    submitted, ones = row.submitted_priority, set() if theirs else {believed}
    if write is not None:
        rebuilt = before is None or before.submitted_priority is None
        submitted = write.submitted if rebuilt else submitted
        ones |= {write.after, believed if landed else write.before}
    foreign = row.detail.priority not in {submitted, *ones}
    since = _since(row.detail.priority, None if landed else before, row.at) if foreign else 0.0
    return replace(row, submitted_priority=submitted, foreign=foreign, foreign_since=since)


def _since(priority: int, before: JobRecord | None, now: float) -> float:
    """The time of the first Describe that showed this priority of someone else's."""
    same = before is not None and before.foreign and before.detail and before.detail.priority == priority
    return (before.foreign_since or before.at) if before and same else now
