"""When a queue is looked at again if nothing wakes it."""

from pointsman.queues.policy import Policy
from pointsman.queues.ranking import Ranks
from pointsman.queues.view import QueueView

LEAST_GAP = 30.0  # seconds between two passes of one queue
POLL = 60.0  # seconds to the next look at a queue in which jobs wait, when no event wakes it
IDLE_POLL = 300.0  # the same for a queue in which none does


def next_wake(view: QueueView, policy: Policy, ranks: Ranks) -> float:
    """The next moment at which the same facts decide otherwise, and no later than the next poll."""
    if not view.waiting:
        return view.now + IDLE_POLL
    after = policy.reservation.after if policy.reservation else float("inf")
    moments = [effect.end for effect in view.effects if effect.active(view.now)]
    for job in view.waiting:
        moments += (
            job.submitted + after - ranks.boosts.get(job.kind.job_class, 0.0),
            job.submitted + ranks.limits[job.kind.job_class],
        )
    due = min((m for m in moments if m > view.now), default=float("inf"))
    return max(view.now + LEAST_GAP, min(view.now + POLL, due))
