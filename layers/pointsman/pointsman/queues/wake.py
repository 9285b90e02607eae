"""When a queue is looked at again if nothing wakes it."""

from itertools import chain

from pointsman.queues.policy import Policy
from pointsman.queues.ranking import Ranks
from pointsman.queues.view import QueueView

LEAST_GAP = 30.0  # seconds between two passes of one queue
POLL = 60.0  # seconds to the next look at a queue in which jobs wait, when no event wakes it
IDLE_POLL = 300.0  # the same for a queue in which none does


def next_wake(view: QueueView, policy: Policy, ranks: Ranks) -> float:
    """The next moment at which the same facts decide otherwise, and no later than the next poll."""
    now = view.now
    if not view.waiting:
        return now + IDLE_POLL
    never = float("inf")
    after = policy.reservation.after if policy.reservation else never
    waits = {
        c.name: tuple(w for w in (after - ranks.boosts.get(c.name, 0.0), ranks.limits[c.name]) if w < never)
        for c in policy.classes
    }
    effects = (effect.end for effect in view.effects if effect.active(now))
    due = min(m for m in chain(effects, (policy.next_edge(now), ranks.cases.next_change, never)) if m > now)
    for job in view.waiting:
        for wait in waits[job.kind.job_class]:
            if now < job.submitted + wait < due:
                due = job.submitted + wait
        if job.foreign and now < job.foreign_until < due:
            due = job.foreign_until
    return max(now + LEAST_GAP, min(now + POLL, due))
