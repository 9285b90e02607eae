"""When a queue is looked at again if nothing wakes it."""

from bisect import bisect_right
from itertools import chain

from pointsman.queues.policy import Policy
from pointsman.queues.ranking import Ranks
from pointsman.queues.view import QueueView
from pointsman.queues.waiting import Line

LEAST_GAP = 30.0  # seconds between two passes of one queue
LOOKS = 5.0  # times that a look at a queue took, between two passes: so a long queue costs a fifth of the time at most
POLL = 60.0  # seconds to the next look at a queue in which jobs wait, when no event wakes it
IDLE_POLL = 300.0  # the same for a queue in which none does


def gap(looked: float) -> float:
    """Seconds at least from the beginning of a pass to the next of its queue, when its look took so many seconds.

    No more than `IDLE_POLL`: a function that stood still in its look has not seen a long queue.

    >>> gap(0.5), gap(9.0), gap(400.0)
    (30.0, 45.0, 300.0)
    """
    return min(max(LEAST_GAP, LOOKS * looked), IDLE_POLL)


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
    for line in view.lines.lines:
        for wait in waits[line.kind.job_class]:
            due = min(due, _next_to_wait(line, wait, now))
        for job in line.foreign.values():
            if now < job.foreign_until < due:
                due = job.foreign_until
    return max(now + LEAST_GAP, min(now + POLL, due))


def _next_to_wait(line: Line, wait: float, now: float) -> float:
    """When the next job of the line will have waited so long."""
    if line.jobs[-1].submitted + wait <= now:
        return float("inf")
    place = bisect_right(line.jobs, now, key=lambda job: job.submitted + wait)
    return line.jobs[place].submitted + wait
