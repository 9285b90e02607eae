"""For which job freed capacity is held, and until when."""

from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.moves import Hold
from pointsman.queues.policy import Policy
from pointsman.queues.ranking import Ranks
from pointsman.queues.standby import STANDBY_SIZE
from pointsman.queues.turns import several, whose_turn
from pointsman.queues.view import QueueView


def reserve(view: QueueView, policy: Policy, ranks: Ranks) -> Hold | None:
    """The job for which freed capacity is held (EASY backfilling; Lifka, JSSPP 1995), if any.

    The oldest of the highest class among those that do not fit now and have waited long enough; overdue ones first. A
    boost counts as time waited. Where jobs of several shares wait, only the share whose turn it is can hold a place:
    what is freed goes to that share, whatever priorities say.
    """
    rule = policy.reservation
    if rule is None or rule.at_most == 0:
        return None
    turn = whose_turn(view) if several(view) else None
    place = {c.name: n for n, c in enumerate(policy.classes)}
    best: tuple[tuple[bool, int, float, str], WaitingJob] | None = None
    for job in view.waiting:
        waited = view.now - job.submitted
        counted = waited + ranks.boosts.get(job.kind.job_class, 0.0)
        if job.size <= max(view.free, STANDBY_SIZE) or job.size > view.capacity or counted < rule.after or job.foreign:
            continue
        if turn is not None and job.share != turn:
            continue
        key = (waited <= ranks.limits[job.kind.job_class], place[job.kind.job_class], job.submitted, job.job_id)
        if best is None or key < best[0]:
            best = (key, job)
    if best is None:
        return None
    free = view.free
    for end, size in sorted((_end(view, job), job.kind.size) for job in view.busy):
        free += size
        if free >= best[1].size:
            return Hold(best[1], end, free - best[1].size)
    return Hold(best[1], float("inf"), 0)


def _end(view: QueueView, job: BusyJob) -> float:
    elapsed = 0.0 if job.started is None else max(0.0, view.now - job.started)
    return view.now + view.history.remaining(job.kind, elapsed)
