"""What an eviction would leave running jobs of their work: their newest checkpoints, looked up in turns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pointsman.errors import Misconfigured, Transient
from pointsman.queues.jobs import BusyJob, JobRecord
from pointsman.queues.policy import Policy
from pointsman.queues.view import QueueView
from pointsman.share_ports import Checkpoints

LOOKUPS = 20  # of checkpoints, at most, in one pass: who was never looked up comes first, then the oldest look
REMEMBERED = 1000  # looks that one pass leaves for the next

Looks = tuple[tuple[str, float | None], ...]
"""By job when it last saved its work, as last looked up (None: that could not be known); the oldest look first."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The busy jobs with what is saved of their work, the looks for the next pass, and what people should know."""

    busy: tuple[BusyJob, ...]
    looks: Looks = ()
    told: tuple[str, ...] = ()


def saved_of(
    checkpoints: Checkpoints, view: QueueView, policy: Policy, rows: Mapping[str, JobRecord], before: Looks
) -> Saved:
    """Look up the work of those that somebody may evict now; of others, what an earlier pass saw is the least.

    A place that cannot be read just now fails no pass: what is known of it stays.
    """
    asked = {job.job_id: rows[job.job_id] for job in _in_question(view, policy)}
    places = {i: row.detail.checkpoints for i, row in asked.items() if row.detail and row.detail.checkpoints}
    seen = {job_id: newest for job_id, newest in before if job_id in places}
    for job_id in [*(i for i in places if i not in seen), *seen][:LOOKUPS]:
        known = seen.pop(job_id, None)
        seen[job_id] = _newest(checkpoints, places[job_id], known)  # and so comes last
    unknown = [
        f"what {asked[job_id].name} saved under {places[job_id]} cannot be read"
        for job_id, newest in seen.items()
        if newest is None
    ]
    unknown += [f"{row.name} has no CheckpointConfig" for job_id, row in asked.items() if job_id not in places]
    return Saved(tuple(_with(job, seen) for job in view.busy), (*seen.items(),)[-REMEMBERED:], tuple(_told(unknown)))


def _in_question(view: QueueView, policy: Policy) -> Iterable[BusyJob]:
    """Running jobs, old enough and of classes that may be evicted, in shares where somebody waits past patience."""
    rule = policy.preemption
    if rule is None:
        return
    pressed = {line.share for line in view.lines.lines if view.now - line.jobs[0].submitted >= rule.patience}
    preemptible = {c.name for c in policy.classes if c.preemptible}
    for job in view.busy if pressed else ():
        old = job.started is not None and view.now - job.started >= rule.protect
        if old and job.share in pressed and job.kind.job_class in preemptible:
            yield job


def _newest(checkpoints: Checkpoints, place: str, known: float | None) -> float | None:
    try:
        return checkpoints.newest(place)
    except Transient:
        return known
    except Misconfigured:  # one job's place is no matter of the queue's
        return None


def _with(job: BusyJob, seen: Mapping[str, float | None]) -> BusyJob:
    newest = seen.get(job.job_id)
    return job if newest is None or job.started is None else replace(job, saved=max(job.started, newest))


def _told(unknown: list[str]) -> Iterable[str]:
    if len(unknown) == 1:
        yield f"a job counts as not resumable and is not evicted: {unknown[0]}"
    elif unknown:
        yield f"{len(unknown)} jobs count as not resumable and are not evicted: {unknown[0]}"
