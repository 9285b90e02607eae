"""What a pass sees of quota shares: what they allow now, what evictions would undo, and whom Batch preempted."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pointsman.errors import Gone, Misconfigured
from pointsman.loops.saved import Looks, saved_of
from pointsman.ports import QueueDescription, QueueRecord, Snapshot
from pointsman.queues.evictions import AT_MOST, Eviction
from pointsman.queues.jobs import BusyJob, JobRecord, Stage, WaitingJob
from pointsman.queues.levels import IN_LINE
from pointsman.queues.policy import Policy
from pointsman.queues.quota import Rooms
from pointsman.queues.reasons import Move, Reason
from pointsman.queues.view import QueueView
from pointsman.share_ports import Checkpoints, ShareRecords, ShareSettings

REMEMBERED = 86400.0  # seconds back that evictions are looked at: by then one is long over


@dataclass(frozen=True, slots=True)
class Shares:
    """The ports of a queue whose jobs are in shares."""

    settings: ShareSettings
    records: ShareRecords
    checkpoints: Checkpoints

    def described(self, queue: QueueDescription) -> QueueDescription:
        """The queue with its quota shares as they are this moment."""
        try:
            return replace(queue, quota_shares=self.settings.quota_shares(queue.name))
        except Gone:
            raise Misconfigured(f"there is no job queue {queue.name}") from None

    @staticmethod
    def remembered(queue: QueueDescription) -> QueueDescription:
        """The queue with its quota shares as an earlier look left them: since then we may have changed them."""
        return replace(queue, quota_shares=tuple(replace(share, settled=False) for share in queue.quota_shares))

    def seen(
        self, view: QueueView, queue: QueueDescription, policy: Policy, rows: Mapping[str, JobRecord], before: Looks
    ) -> tuple[QueueView, Looks, tuple[str, ...]]:
        """The view with all that quota shares add to it, the looks at checkpoints, and what people should know."""
        saved = saved_of(self.checkpoints, view, policy, rows, before)
        view = replace(
            view,
            busy=saved.busy,
            quota_shares=queue.quota_shares,
            pool=queue.limits,
            evictions=self.records.evictions(queue.name, view.now - REMEMBERED),
        )
        return view, saved.looks, (*saved.told, *_warnings(view, policy))


def _warnings(view: QueueView, policy: Policy) -> Iterable[str]:
    """Where quota shares are set so that jobs evict each other by themselves, or that nothing can be evicted."""
    preempting = {share.name for share in view.quota_shares if share.preempts}
    everyone: list[WaitingJob | BusyJob] = [*view.waiting, *view.busy]
    levels = {job.submitted_priority for job in everyone if job.share in preempting}
    if len(levels) > 1:
        yield (
            "jobs are submitted with different priorities while in-share preemption is on: such a job evicts others by "
            "itself; submit all with one priority, and keep people to it by the IAM condition batch:SchedulingPriority"
        )
    elif any(level >= IN_LINE for level in levels):
        yield f"jobs are submitted with priorities of {IN_LINE} or more, above those that Pointsman gives: submit lower"
    rule = policy.preemption
    if rule is not None and rule.how == "levels":
        for share in view.quota_shares:
            if not share.preempts and share.name in view.lines.shares:
                yield (
                    f"share {share.name} has in-share preemption off, so that nothing is evicted in it; turn it on, or "
                    "let the policy say `how: switch`"
                )
    for share in view.quota_shares:
        stuck = sum(len(line.jobs) for line in view.lines.lines if line.share == share.name)
        if not share.enabled and stuck:
            told = f"share {share.name} is disabled: it takes no new jobs; {stuck} wait in it and still start"
            yield f"{told} (enable it to take more)"


def settled(
    known: Mapping[str, JobRecord], ended: Iterable[JobRecord], snapshot: Snapshot | None, unsure: frozenset[str]
) -> bool:
    """Whether it is sure what runs and what is free: no job is in doubt, and a snapshot's use is what they add up to.

    What an event has moved since the snapshot may have held capacity then, or not.
    """
    if snapshot is None or unsure:
        return False
    sure = maybe = 0
    for row in (*known.values(), *ended):
        size = row.detail.size if row.detail else 0
        if row.at > snapshot.at - 1:  # the times of events are whole seconds
            maybe += size if row.created <= snapshot.at else 0
        elif row.stage is Stage.BUSY:
            sure += size
    return sure <= snapshot.used <= sure + maybe


def preempted(
    known: Mapping[str, JobRecord], record: QueueRecord, view: QueueView
) -> tuple[tuple[Move, ...], tuple[tuple[str, int], ...]]:
    """Whom Batch preempted since the last pass, each with why, and the counts of all that it ever did of these jobs."""
    before = dict(record.preempted)
    rows = {i: row for i, row in known.items() if row.preemptions and row.stage is not Stage.ENDED}
    if not rows:
        return (), ()
    jobs: dict[str, WaitingJob | BusyJob] = {job.job_id: job for job in view.waiting if job.job_id in rows}
    jobs |= {job.job_id: job for job in view.busy if job.job_id in rows}
    rooms = Rooms(view.quota_shares, view.pool, view.busy)
    counts, told = dict[str, int](), []
    for job_id, row in rows.items():
        job = jobs.get(job_id)
        counts[job_id] = row.preemptions if job is not None else before.get(job_id, 0)  # told once it is known for sure
        if job is not None and row.preemptions > before.get(job_id, 0) and record.passed_at:
            meant = _meant(job_id, range(before.get(job_id, 0), row.preemptions), view)
            told.append(_told(job, meant, rooms))
    return tuple(told), tuple(sorted(counts.items()))


def _meant(job_id: str, counts: range, view: QueueView) -> Eviction | None:
    """The newest eviction that asked the job to go when it had gone so often, and that was not over for long."""
    return next(
        (
            eviction
            for eviction in reversed(view.evictions)
            if (eviction.ended is None or view.now - eviction.ended <= AT_MOST)
            and any(victim.job_id == job_id and victim.preempted in counts for victim in eviction.victims)
        ),
        None,
    )


def _told(job: WaitingJob | BusyJob, meant: Eviction | None, rooms: Rooms) -> Move:
    """Why the job went: it was meant to; its share had borrowed; or neither."""
    if meant is not None:
        reason, text = Reason.EVICTED, f"Batch evicted {job.name} for {meant.evictor.name}, as it was asked to."
    elif rooms.borrowed(job.share, job.kind):
        reason = Reason.RECLAIMED
        text = f"Batch evicted {job.name}: share {job.share} ran it on borrowed instances, which their owner needs."
    else:
        reason, text = Reason.UNPLANNED, f"Batch evicted {job.name}, a job that nobody had asked it to evict."
    return Move(job.job_id, job.name, job.kind.job_class, job.priority, job.priority, reason, text)
