"""Which jobs fit what is free, best first, and why instances stay free after that."""

from pointsman.queues.moves import Hold, Plan
from pointsman.queues.ranking import Candidate, Lines, Ranks
from pointsman.queues.reasons import Idle
from pointsman.queues.view import QueueView


def fill(view: QueueView, ranks: Ranks, hold: Hold | None) -> list[tuple[Candidate, Candidate | None]]:
    """The jobs to start now, best first, each with the first better job that it passes because that one does not fit.

    While a place is held, a job that ranks after the held one starts only if it is expected to end in time, or fits
    beside it.
    """
    held = ranks.candidate(hold.job, view.history.predict(hold.job.kind), view.now) if hold else None
    free, spare = view.free, hold.spare if hold else 0
    lines = Lines(view.ours(hold.job.job_id if hold else None), ranks, view.history, view.now)
    chosen: list[tuple[Candidate, Candidate | None]] = []
    passed: Candidate | None = None
    for candidate in lines:
        size = candidate.job.size
        if free == 0:
            break
        in_time = hold is None or view.now + candidate.expected <= hold.until
        before = held is not None and candidate.order < held.order
        if size > free or not (in_time or before or size <= spare):
            passed = passed or candidate
            lines.close()
            continue
        free -= size
        spare -= 0 if in_time else size
        chosen.append((candidate, passed))
        lines.take()
    return chosen


def idle(view: QueueView, plan: Plan) -> tuple[tuple[Idle, int], ...]:
    """Why instances stay free once the plan is carried out, and how many."""
    left = view.free - sum(candidate.job.size for candidate, _ in plan.front)
    if left <= 0:
        return ()
    if not view.waiting:
        return ((Idle.NO_WORK, left),)
    if not view.movable:
        return ((Idle.NOT_RULED, left),)
    starting = {candidate.job.job_id for candidate, _ in plan.front}
    left_out = (job for job in view.ours(plan.hold.job.job_id if plan.hold else None) if job.job_id not in starting)
    held = plan.hold is not None and any(job.size <= left for job in left_out)
    return ((Idle.RESERVATION if held else Idle.NOTHING_FITS, left),)
