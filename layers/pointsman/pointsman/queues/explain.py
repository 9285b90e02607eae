"""Why a waiting job waits, and what would be ahead of it: the same facts and the same order as the decision's."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from pointsman.queues.ahead import Ahead, ahead_of, order_of, wanted_order
from pointsman.queues.cases import Tier
from pointsman.queues.decide import Decision
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.moves import FRONT
from pointsman.queues.pins import Pin
from pointsman.queues.policy import Policy
from pointsman.queues.quota import Rooms, needs_of
from pointsman.queues.ranking import Candidate, Ranks, ranks_of
from pointsman.queues.reasons import hours, named
from pointsman.queues.standby import stands_by
from pointsman.queues.view import QueueView

AHEAD_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a waiting job stands in its share: `position` 1 is the next to start of the `waiting` jobs there.

    `score_parts` say how its score came about; `pin` is what a person said of it.
    `head_holds` is what holds the first of those `ahead` (empty: nobody is).
    """

    job: WaitingJob
    position: int
    waiting: int
    waited: float
    expected: float
    ahead: tuple[Ahead, ...]
    holds: str
    score_parts: tuple[tuple[str, str], ...]
    head_holds: str = ""
    pin: Pin | None = None


def in_order(view: QueueView, policy: Policy) -> list[Candidate]:
    """Every job that the policy may move, in the order in which it wants them to start."""
    return wanted_order(view, ranks_of(view, policy))


def explain(view: QueueView, policy: Policy, decision: Decision, job_id: str) -> Standing | None:
    """The standing of one job, or None when it does not wait in the queue."""
    job = next((j for j in view.waiting if j.job_id == job_id), None)
    if job is None:
        return None
    ranks = ranks_of(view, policy)
    order = order_of(view, ranks, job)
    place = next((n for n, c in enumerate(order) if c.job.job_id == job_id), len(order))
    expected = view.history.predict(job.kind)
    return Standing(
        job=job,
        position=place + 1,
        waiting=sum(1 for other in view.waiting if other.share == job.share),
        waited=view.now - job.submitted,
        expected=expected,
        ahead=ahead_of(view, ranks, job, order[: min(place, AHEAD_SHOWN)]),
        holds=_holds(view, decision, ranks, job, order),
        score_parts=_parts(view, ranks, job, expected),
        head_holds=_holds(view, decision, ranks, order[0].job, order) if place else "",
        pin=next((pin for pin in view.pins if pin.job_id == job_id and pin.active(view.now)), None),
    )


def _holds(view: QueueView, decision: Decision, ranks: Ranks, job: WaitingJob, order: Sequence[Candidate]) -> str:
    move = next((m for m in decision.moves if m.job_id == job.job_id), None)
    if job.size > view.capacity and (view.capacity or view.movable):
        return f"It can never start: it asks for {job.size} instances, the queue may use {view.capacity}."
    if not view.movable:
        return _in_turn(view, job, order[0].job)
    stop = decision.blocker
    if stop is not None and stop.share != job.share:
        return (
            f"Share {stop.share} is next by its weighted use, and its first job {named(stop)} does not fit what is "
            "free: nothing of another share starts before it, whatever its priority."
        )
    if job.foreign:
        return _left(view, job)
    if move is not None:
        return move.sentence
    return _waits(view, decision, ranks, job)


def _left(view: QueueView, job: WaitingJob) -> str:
    """What is said of a job whose priority is someone else's."""
    still = "" if job.foreign_until == float("inf") else f" for another {hours(job.foreign_until - view.now)}"
    return f"Someone else set its priority to {job.priority}; Pointsman leaves it as it is{still}."


def _in_turn(view: QueueView, job: WaitingJob, head: WaitingJob) -> str:
    """What holds a job where Batch starts one after the other, and nobody passes the first."""
    first = head.job_id == job.job_id
    if view.capacity:
        free = f"{view.free} of {view.capacity} are free"
        if head.size > view.free:
            room = f"asks for {head.size} instance{'' if head.size == 1 else 's'}, {free}"
        else:
            room = f"fits what is free ({free}), and Batch starts it by itself"
    else:
        room = "is looked at by Batch's compute environments, of which Pointsman knows nothing"
    if first:
        return f"Nothing is moved in this queue, and it is first: it {room}."
    return f"Nothing is moved in this queue, so nothing passes the first. That is {named(head)}, which {room}."


def _waits(view: QueueView, decision: Decision, ranks: Ranks, job: WaitingJob) -> str:
    if view.quota_shares:
        return _holds_in_share(view, decision, job)
    hold = decision.hold
    if ranks.cases.tiers.get(job.job_id) is Tier.LAST:
        told = next((t.sentence for t in decision.told if t.job_id == job.job_id), None)
        pin = next((pin for pin in view.pins if pin.job_id == job.job_id), None)
        by = pin.by if pin is not None and pin.by else "A person"
        return told or f"{by} put it behind all others."
    if hold and hold.job.job_id == job.job_id:
        return "What is freed is held for it."
    if job.priority == FRONT:
        return "It is lifted to the front and starts as soon as Batch sees that it fits."
    if hold and job.size <= view.free:
        return f"It would fit, but the place is held for {named(hold.job)}, which has waited longer than allowed."
    if stands_by(job):
        return "It takes the next instance that is freed."
    if job.size > ranks.cases.rooms.get(job.kind.job_class, job.size):
        return f"{job.kind.job_class} is at its ceiling: Batch starts the job by itself when no other fits."
    if job.size > view.free:
        return f"It does not fit: it asks for {job.size} instances, {view.free} of {view.capacity} are free."
    return "Jobs that rank before it take what is free."


def _holds_in_share(view: QueueView, decision: Decision, job: WaitingJob) -> str:
    """What holds a job of a quota share: its share's limits, and what runs in it."""
    rooms, needs = Rooms(view.quota_shares, view.pool, view.busy), needs_of(job.kind)
    asked = " and ".join(f"{count} {unit}" for unit, count in sorted(needs.items()))
    move = next((m for m in decision.moves if m.job_id == job.job_id), None)
    hold = next((h for h in decision.holds if h.job.share == job.share), None)
    going = next((e for e in view.evictions if e.open and e.evictor.job_id == job.job_id), None)
    if not rooms.can_ever(job.share, needs):
        return f"It can never start: it asks for {asked}, more than share {job.share} may use and borrow."
    if job.foreign:
        return _left(view, job)
    if going is not None:
        return f"It takes the place of {', '.join(victim.name for victim in going.victims)}."
    if move is not None:
        return move.sentence
    if hold is not None:
        own = hold.job.job_id == job.job_id
        return "What is freed is held for it." if own else f"A place of its share is held for {named(hold.job)}."
    if job.priority == FRONT:
        return "It is lifted to the front of its share and starts as soon as Batch sees that it fits."
    if stands_by(job):
        return "It takes the next instance that is freed in its share."
    room = " and ".join(f"{rooms.room(job.share, unit)} {unit}" for unit in sorted(needs))
    if not rooms.fits(job.share, needs):
        return f"It does not fit: it asks for {asked}, share {job.share} has room for {room}."
    return "Jobs of its share that rank before it take what is free."


def _parts(view: QueueView, ranks: Ranks, job: WaitingJob, expected: float) -> tuple[tuple[str, str], ...]:
    gpu_hours = expected * job.gpus / 3600
    spread = ranks.spread * log2(1 + gpu_hours)
    boosts = [e for e in view.effects if e.active(view.now) and e.boost == job.kind.job_class]
    why = f", raised by alarm {boosts[0].alarm}" if boosts else ""
    if job.kind.job_class in ranks.cases.satisfied:
        why = ", which holds its entitlement, now and on average"
    return (
        ("waiting since", f"{hours(view.now - job.submitted)} ago"),
        ("head start", f"{hours(ranks.head_starts[job.kind.job_class])} ({job.kind.job_class}{why})"),
        ("put back", f"{hours(spread)} (expected {gpu_hours:.1f} GPU-hours)"),
    )
