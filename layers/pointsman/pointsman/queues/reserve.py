"""For which job freed capacity is held, and until when."""

from collections.abc import Iterator
from itertools import chain

from pointsman.queues.cases import Tier
from pointsman.queues.estimates import remaining_of
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.moves import Hold
from pointsman.queues.policy import Policy
from pointsman.queues.ranking import Ranks, evicts
from pointsman.queues.standby import STANDBY_SIZE
from pointsman.queues.turns import several, whose_turn
from pointsman.queues.view import QueueView


def reserve(view: QueueView, policy: Policy, ranks: Ranks) -> Hold | None:
    """The job for which freed capacity is held (EASY backfilling; Lifka, JSSPP 1995), if any.

    The oldest of the highest class among those that do not fit now and have waited long enough; what a person put
    first and overdue ones before them. A boost counts as time waited; a job that ran and came back has waited since
    then; what is overdue, or must start to meet its deadline, has waited long enough. Where jobs can be evicted, who
    may evict has waited long enough at once: a place that frees itself is cheaper than one that is taken. None for a
    class that makes way (see `JobClass`), holds its entitlement or is at its ceiling, nor for what goes last.

    Where jobs of several shares wait, only the share whose turn it is can hold a place: what is freed goes to that
    share, whatever priorities say.
    """
    rule = policy.reservation
    if rule is None or rule.at_most == 0:
        return None
    turn = whose_turn(view) if several(view) else None
    place = {c.name: n for n, c in enumerate(policy.classes) if c.name not in ranks.cases.satisfied}
    least, tiers, rooms = max(view.free, STANDBY_SIZE), ranks.cases.tiers, ranks.cases.rooms
    yielding = {c.name for c in policy.classes if c.preemptible}
    at_once = evicts(view, policy)
    best: tuple[tuple[Tier, int, float, str], WaitingJob] | None = None
    lines = [line for line in view.lines.lines if least < line.kind.size <= view.capacity]
    oldest = filter(None, (line.first(tiers, line.again) for line in lines))
    again = (job for line in lines for job in line.again.values() if job.job_id not in tiers)
    for job in chain(oldest, again, view.lines.found(tiers)):
        size, name = job.kind.size, job.kind.job_class
        if size <= least or size > view.capacity or job.foreign or name not in place or size > rooms.get(name, size):
            continue
        waited, tier = view.now - job.submitted, tiers.get(job.job_id)
        if tier is None and waited > ranks.limits[name]:
            tier = Tier.DUE
        waits = view.now - job.waits_since + ranks.boosts.get(name, 0.0)
        enough = name not in yielding and (at_once or waits >= rule.after)
        if tier is Tier.LAST or not (enough or tier is not None):
            continue
        if turn is not None and job.share != turn:
            continue
        key = (Tier.USUAL if tier is None else tier, place[name], job.submitted, job.job_id)
        if best is None or key < best[0]:
            best = (key, job)
    return None if best is None else hold_for(best[1], view)


def hold_for(job: WaitingJob, view: QueueView) -> Hold:
    """The place that is held for this job, until it is expected to fit."""
    free = view.free
    for end, size in sorted(_ends(view)):
        free += size
        if free >= job.size:
            return Hold(job, end, free - job.size)
    return Hold(job, float("inf"), 0)


def _ends(view: QueueView) -> Iterator[tuple[float, int]]:
    """When each job that runs is expected to end, and what it frees."""
    known: dict[int, tuple[float, ...]] = {}  # by the kind's own identity: to hash it costs more than all else here
    for job in view.busy:
        kind = job.kind
        alike = known.get(id(kind))
        if alike is None:
            alike = known[id(kind)] = view.history.alike(kind)
        elapsed = 0.0 if job.started is None else max(0.0, view.now - job.started)
        yield view.now + remaining_of(alike, elapsed), kind.size
