"""Who may evict whom, and which eviction costs least: the choice, on facts alone."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import islice, takewhile

from pointsman.queues.evictions import Eviction, Party
from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.pins import PinKind
from pointsman.queues.policy import Policy, Preemption
from pointsman.queues.quota import Needs, Rooms, needs_of
from pointsman.queues.ranking import Ranks
from pointsman.queues.view import QueueView
from pointsman.queues.waiting import Waiting

MOMENT = 180.0  # seconds after a checkpoint in which an eviction costs little
HASTE = 3.0  # times patience, after which any moment will do
CANDIDATES = 8  # waiting jobs, the most urgent first, for whom victims are sought in one pass


def choose(
    view: QueueView,
    policy: Policy,
    ranks: Ranks,
    rooms: Rooms,
    waiting: Iterable[WaitingJob],
    runs: Sequence[BusyJob],
) -> Eviction | None:
    """The eviction to ask for in a share, if any: for the most urgent job for whom there are lawful victims.

    `waiting` wait in the share, `runs` hold capacity in it. The most urgent is the oldest of the highest class.
    """
    rule = policy.preemption
    if rule is None:
        return None
    for job in _evictors(view, policy, rule, ranks, rooms, Waiting.of(waiting)):
        victims = least_loss(job, _lawful(view, policy, rule, job, runs), rooms, view.now, rule)
        if victims:
            return Eviction(
                share=job.share,
                asked=view.now,
                evictor=Party(job.job_id, job.name, job.kind.job_class, job.size),
                victims=tuple(Party(v.job_id, v.name, v.kind.job_class, v.size, v.preempted) for v in victims),
                how=rule.how,
                lost=sum(_loss(v, view.now) * v.size for v in victims),
            )
    return None


def _evictors(
    view: QueueView, policy: Policy, rule: Preemption, ranks: Ranks, rooms: Rooms, waiting: Waiting
) -> Sequence[WaitingJob]:
    """Jobs that have waited past patience and do not fit.

    Of classes that hold less than their entitlement and their ceiling; none that goes last. What was evicted itself has
    waited since then, and who may be evicted evicts nobody before it is overdue: else evictions breed evictions.
    """
    tried = {e.evictor.job_id for e in view.evictions if e.open or view.now - (e.ended or e.asked) < rule.patience}
    place = {c.name: n for n, c in enumerate(policy.classes) if c.name not in ranks.cases.satisfied}
    yielding = {c.name for c in policy.classes if c.preemptible}
    found: list[WaitingJob] = []
    for line in waiting.lines:
        needs, name = needs_of(line.kind), line.kind.job_class
        least = max(rule.patience, ranks.limits[name]) if name in yielding else rule.patience
        if view.now - line.jobs[0].submitted < least or name not in place or rooms.fits(line.share, needs):
            continue
        if rooms.can_ever(line.share, needs):
            found += islice(_patient(line.ours(tried), view.now, least, rule, ranks), CANDIDATES)
    return nsmallest(CANDIDATES, found, key=lambda job: (place[job.kind.job_class], job.submitted, job.job_id))


def _patient(
    jobs: Iterable[WaitingJob], now: float, least: float, rule: Preemption, ranks: Ranks
) -> Iterator[WaitingJob]:
    """Those of these jobs, the oldest first, that were submitted so long ago and have waited past patience since."""
    for job in takewhile(lambda job: now - job.submitted >= least, jobs):
        if now - job.waits_since >= rule.patience and ranks.may_have(job):
            yield job


def _lawful(
    view: QueueView, policy: Policy, rule: Preemption, job: WaitingJob, running: Iterable[BusyJob]
) -> list[BusyJob]:
    """Running jobs that this job may evict.

    Of a lower class that may be evicted; known to resume from checkpoints; not protected; not evicted too often; not
    put first by a person.
    """
    place = {c.name: n for n, c in enumerate(policy.classes)}
    classes = {c.name: c for c in policy.classes}
    units = needs_of(job.kind).keys()
    first = {pin.job_id for pin in view.pins if pin.kind is PinKind.FIRST and pin.active(view.now)}
    return [
        other
        for other in running
        if place[other.kind.job_class] > place[job.kind.job_class]
        and classes[other.kind.job_class].preemptible
        and other.saved is not None
        and other.started is not None
        and view.now - other.started >= rule.protect
        and other.preempted < rule.at_most_per_job
        and (other.outlives is None or other.preempted < other.outlives)
        and units & needs_of(other.kind).keys()
        and other.job_id not in first
    ]


def least_loss(
    job: WaitingJob, lawful: Sequence[BusyJob], rooms: Rooms, now: float, rule: Preemption
) -> tuple[BusyJob, ...]:
    """The victims that lose least and make room for the job, none of them needlessly; empty when there is no such set.

    Just after a checkpoint is the moment; once the job has waited `HASTE` times the patience, any moment will do.
    """
    hasty = now - job.submitted >= HASTE * rule.patience
    cheap = sorted(
        (other for other in lawful if hasty or _loss(other, now) <= MOMENT),
        key=lambda other: (_loss(other, now) * other.size, other.size, other.job_id),
    )
    needs = needs_of(job.kind)
    picked: list[BusyJob] = []
    for other in cheap:
        picked.append(other)
        if _enough(rooms, job.share, needs, picked):
            break
    else:
        return ()
    for other in sorted(picked, key=lambda o: -_loss(o, now) * o.size):
        rest = [each for each in picked if each is not other]
        if rest and _enough(rooms, job.share, needs, rest):
            picked = rest
    return tuple(picked)


def _enough(rooms: Rooms, share: str, needs: Needs, victims: Sequence[BusyJob]) -> bool:
    return rooms.without(share, victims).fits(share, needs)


def _loss(job: BusyJob, now: float) -> float:
    """Seconds of work that an eviction now would undo."""
    return max(0.0, now - job.saved) if job.saved is not None else float("inf")
