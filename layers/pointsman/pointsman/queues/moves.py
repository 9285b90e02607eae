"""From what should start to the writes that bring it about, each with the sentence that an operator reads."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pointsman.queues.cases import Tier
from pointsman.queues.effects import Effect
from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.ranking import Candidate
from pointsman.queues.reasons import Move, Reason, hours, named
from pointsman.queues.standby import stands_by
from pointsman.queues.waiting import Waiting

FRONT, RESERVED = 4999, 4998


@dataclass(frozen=True, slots=True)
class Hold:
    """The reservation of this pass: the job waits for `until`; `spare` instances will still be free then."""

    job: WaitingJob
    until: float
    spare: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What should start next: the front with what each of it passes, the held place, and the standby list.

    `heads` are lifted beside the front, for shares whose turn may come sooner than believed.
    """

    front: tuple[tuple[Candidate, Candidate | None], ...] = ()
    hold: Hold | None = None
    standby: tuple[tuple[WaitingJob, int], ...] = ()
    heads: tuple[tuple[Candidate, Candidate | None], ...] = ()


def moves_of(waiting: Waiting, plan: Plan, now: float) -> tuple[Move, ...]:
    """The writes of a pass, in order: what blocks is returned first, then the front, the held place, the standby list.

    While a place is held nobody is taken off the standby list: Batch reaches nobody behind the held job.
    """
    wanted: dict[str, Move] = {}
    hold, staying = plan.hold, set() if plan.hold else _staying(plan)
    for candidate, passed in (*plan.front, *plan.heads):
        job = candidate.job
        if job.job_id in staying:
            wanted[job.job_id] = _move(job, job.priority, Reason.STANDBY, "")  # first in the queue already
            continue
        if candidate.why is not None:
            wanted[job.job_id] = _move(job, FRONT, candidate.why.reason, candidate.why.sentence)
            continue
        reason = Reason.OVERDUE if candidate.overdue else Reason.BACKFILL if passed else Reason.FRONT
        wanted[job.job_id] = _move(job, FRONT, reason, _lifted(candidate, passed, hold, now))
    if hold:
        wanted[hold.job.job_id] = _move(hold.job, RESERVED, Reason.RESERVED, _reserved(hold, now))
    for job, number in plan.standby:
        text = f"{named(job)} takes the next instance that is freed between passes."
        wanted[job.job_id] = _move(job, number, Reason.STANDBY, text)
    unwanted = [
        job for job in waiting.moved if job.job_id not in wanted and not job.foreign and not (hold and stands_by(job))
    ]
    unwanted.sort(key=lambda job: (-job.priority, job.submitted, job.job_id))
    returned = [_move(job, job.submitted_priority, Reason.RETURNED, _returned(job)) for job in unwanted]
    return tuple(move for move in (*returned, *wanted.values()) if move.before != move.after)


def _staying(plan: Plan) -> set[str]:
    """Who fits and stands by where it starts already: before the list of its share.

    Who goes before the usual order stays only where nobody of its share that ranks behind it gets a higher number.
    """
    staying: set[str] = set()
    tops, behind = dict[str, int](), dict[str, int]()
    for job, number in plan.standby:
        tops[job.share] = max(number, tops.get(job.share, 0))
    first = (candidate for candidate, _ in (*plan.front, *plan.heads))
    for candidate in sorted(first, key=lambda candidate: candidate.order, reverse=True):
        job, share, number = candidate.job, candidate.job.share, FRONT
        least = max(tops.get(share, 0), behind.get(share, 0) if candidate.tier < Tier.USUAL else 0)
        if stands_by(job) and job.priority >= least:
            staying.add(job.job_id)
            number = job.priority
        behind[share] = max(number, behind.get(share, 0))
    return staying


def given_back(failing: Iterable[BusyJob]) -> tuple[Move, ...]:
    """The writes that take from jobs which fail again and again what we gave them, while they are tried once more."""
    return tuple(
        Move(
            job.job_id,
            job.name,
            job.kind.job_class,
            job.priority,
            job.submitted_priority,
            Reason.RETURNED,
            f"{named(job)} fails again and again: it goes back to its own place, so that others get a turn.",
        )
        for job in failing
    )


def blame(moves: tuple[Move, ...], calm: tuple[Move, ...], effects: tuple[Effect, ...]) -> tuple[Move, ...]:
    """Name the alarm in moves that would be lower, or not be, without it; `calm` are the moves without effects."""
    by_class = {effect.boost: effect for effect in effects}
    without = {move.job_id: move.after for move in calm}
    return tuple(
        replace(move, reason=Reason.BOOSTED, sentence=f"{move.sentence} {_boost(by_class[move.job_class])}")
        if move.job_class in by_class and move.after > without.get(move.job_id, move.before)
        else move
        for move in moves
    )


def _boost(effect: Effect) -> str:
    return f"Alarm {effect.alarm} gives {effect.boost} {hours(effect.by)} more head start."


def _move(job: WaitingJob, after: int, reason: Reason, sentence: str) -> Move:
    return Move(job.job_id, job.name, job.kind.job_class, job.priority, after, reason, sentence)


def _reserved(hold: Hold, now: float) -> str:
    when = "at no known time" if hold.until == float("inf") else f"about {hours(hold.until - now)} from now"
    waited = hours(now - hold.job.submitted)
    return f"{named(hold.job)} has waited {waited}; what is freed is held for it, it is expected to fit {when}."


def _lifted(candidate: Candidate, passed: Candidate | None, hold: Hold | None, now: float) -> str:
    job = candidate.job
    if candidate.overdue:
        return f"{named(job)} has waited {hours(now - job.submitted)}, past its limit: it goes first."
    if passed and hold and passed.job.size <= job.size:
        held = f"{named(hold.job)}, for which a place is held"
        return f"{named(job)} does not delay {held}; {named(passed.job)} ranks before it and would."
    if passed:
        return f"{named(job)} fits what is free; {named(passed.job)} ranks before it and does not."
    if hold:
        return f"{named(job)} does not delay {named(hold.job)}, for which a place is held, or ranks before it."
    return f"{named(job)} ranks first and fits what is free."


def _returned(job: WaitingJob) -> str:
    return f"{named(job)} no longer fits what is free, or others rank before it: it goes back to its own place."
