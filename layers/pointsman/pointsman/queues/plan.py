"""What should start next in a queue whose head holds all others back: the front, the held place, the standby list."""

from pointsman.queues.fill import fill, heads
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.moves import Plan
from pointsman.queues.policy import Policy
from pointsman.queues.ranking import Ranks
from pointsman.queues.reserve import hold_for, reserve
from pointsman.queues.standby import STANDBY_JOBS, STANDBY_SIZE, stand_by
from pointsman.queues.turns import several
from pointsman.queues.view import QueueView

STANDBY_OF_A_SHARE = 4  # of a queue's many shares, so that the head of each takes what is freed


def plan_for(view: QueueView, policy: Policy, ranks: Ranks, claims: WaitingJob | None = None) -> Plan:
    """What should start next; nothing where nothing can be moved. A job that `claims` the place is the one held for."""
    if not view.movable:
        return Plan()
    hold = hold_for(claims, view) if claims else reserve(view, policy, ranks)
    held = hold is not None
    front = fill(view, ranks, hold)
    chosen = {candidate.job.job_id for candidate, _ in front}
    left = ranks.after(candidate.job for candidate, _ in front)
    if not several(view):
        standby = stand_by(view.lines, left, view.history, view.now, without=chosen, held=held)
        return Plan(tuple(front), hold, standby)
    small = view.lines.part(line for line in view.lines.lines if line.kind.size <= STANDBY_SIZE)
    most = max(STANDBY_OF_A_SHARE, STANDBY_JOBS // len(view.shares))
    standing: list[tuple[WaitingJob, int]] = []
    for part in small.by_share(chosen).values():
        places = stand_by(part, left, view.history, view.now, most, chosen, held=held)
        left = left.after(job for job, _ in places)
        standing += places
    if held:
        return Plan(tuple(front), hold, tuple(standing))
    served = {candidate.job.share for candidate, _ in front} | {job.share for job, _ in standing}
    return Plan(tuple(front), None, tuple(standing), tuple(heads(view, left, served)))
