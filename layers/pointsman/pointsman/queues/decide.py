"""One pass over one queue: from what is known to what should be moved, and why.

Batch starts the job at the head of a share and looks no further (strict head of line), so jobs deep in the queue
need no priority. A decision lifts the jobs that fit now, holds one place for a big job that has waited long, and keeps
a short standby list of small jobs that take what is freed before the next pass. All else keeps what it was submitted
with.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pointsman.queues.effects import Effect
from pointsman.queues.estimates import History
from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.policy import Policy
from pointsman.queues.ranking import Candidate, Lines, Ranks
from pointsman.queues.reasons import Idle, Move, Reason, hours, named

FRONT, RESERVED, STANDBY = 4999, 4998, 4997
STANDBY_JOBS = 30  # more writes beyond this gained nothing on the public traces
STANDBY_SIZE = 1  # a standby job fits whatever is freed, so it never blocks the queue
LEAST_GAP = 30.0  # seconds between two passes of one queue
POLL = 60.0  # seconds to the next look at a queue that has work, when no event wakes it
IDLE_POLL = 300.0  # the same for a queue without any


@dataclass(frozen=True, slots=True)
class QueueView:
    """Everything that a decision depends on; `used` and `capacity` are instances."""

    queue: str
    now: float
    capacity: int
    used: int
    movable: bool
    waiting: Sequence[WaitingJob] = ()
    busy: Sequence[BusyJob] = ()
    effects: Sequence[Effect] = ()
    history: History = field(default_factory=History)

    @property
    def free(self) -> int:
        """Instances that a job could start on now."""
        return max(0, self.capacity - self.used)


@dataclass(frozen=True, slots=True)
class Hold:
    """The reservation of this pass: the job waits for `until`; `spare` instances will still be free then."""

    job: WaitingJob
    until: float
    spare: int


@dataclass(frozen=True, slots=True)
class Decision:
    """What one pass wants: moves in the order in which to write them, and what follows from them.

    `order` are the jobs meant to start first, in order; `idle` says why instances stay free.
    """

    queue: str
    at: float
    moves: tuple[Move, ...]
    hold: Hold | None
    idle: tuple[tuple[Idle, int], ...]
    backfills: int
    next_wake: float


def decide(view: QueueView, policy: Policy) -> Decision:
    """What to move in a fair-share queue now; a pure function of its arguments.

    A queue that cannot be moved (FIFO, container) and a policy in no share of the queue give a decision without moves.
    """
    ranks = ranks_at(policy, view.effects, view.now)
    hold = reserve(view, policy, ranks) if view.movable else None
    front = fill(view, ranks, hold) if view.movable else []
    chosen = {c.job.job_id for c, _ in front} | ({hold.job.job_id} if hold else set())
    standby = [] if hold or not view.movable else stand_by(view, ranks, chosen)
    moves = _moves(view, ranks, hold, front, standby) if view.movable else ()
    return Decision(
        queue=view.queue,
        at=view.now,
        moves=moves,
        hold=hold,
        idle=_idle(view, hold, sum(c.job.size for c, _ in front)),
        backfills=sum(m.reason is Reason.BACKFILL for m in moves),
        next_wake=_next_wake(view, policy, ranks),
    )


def ranks_at(policy: Policy, effects: Iterable[Effect], now: float) -> Ranks:
    """Head starts with what active alarms add, and the waits beyond which a job goes first.

    Nothing can be evicted in a fair-share queue, so `max_wait` counts double there.
    """
    starts = {c.name: c.head_start for c in policy.classes}
    for effect in effects:
        if effect.active(now) and effect.boost in starts:
            base = next(c.head_start for c in policy.classes if c.name == effect.boost)
            starts[effect.boost] = max(starts[effect.boost], base + effect.by)
    limits = {c.name: float("inf") if c.max_wait is None else 2 * c.max_wait for c in policy.classes}
    return Ranks(starts, limits, policy.spread)


def reserve(view: QueueView, policy: Policy, ranks: Ranks) -> Hold | None:
    """The job for which freed capacity is held (EASY backfilling; Lifka, JSSPP 1995), if any.

    The oldest of the highest class among those that do not fit now and have waited long enough; overdue ones first.
    """
    rule = policy.reservation
    if rule is None or rule.at_most == 0:
        return None
    place = {c.name: n for n, c in enumerate(policy.classes)}
    best: tuple[tuple[bool, int, float, str], WaitingJob] | None = None
    for job in view.waiting:
        waited = view.now - job.submitted
        if job.size <= max(view.free, STANDBY_SIZE) or job.size > view.capacity or waited < rule.after or job.foreign:
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


def fill(view: QueueView, ranks: Ranks, hold: Hold | None) -> list[tuple[Candidate, Candidate | None]]:
    """The jobs to start now, best first, each with the first better job that it passes because that one does not fit.

    While a place is held, a job starts only if it is expected to end in time, or fits beside the held job.
    """
    free, spare = view.free, hold.spare if hold else 0
    lines = Lines(_ours(view, hold), ranks, view.history, view.now)
    chosen: list[tuple[Candidate, Candidate | None]] = []
    passed: Candidate | None = None
    for candidate in lines:
        size = candidate.job.size
        if free == 0:
            break
        in_time = hold is None or view.now + candidate.expected <= hold.until
        if size > free or not (in_time or size <= spare):
            passed = passed or candidate
            lines.close()
            continue
        free -= size
        spare -= 0 if in_time else size
        chosen.append((candidate, passed))
        lines.take()
    return chosen


def _ours(view: QueueView, hold: Hold | None) -> list[WaitingJob]:
    held = hold.job.job_id if hold else None
    return [job for job in view.waiting if not job.foreign and job.job_id != held]


def stand_by(view: QueueView, ranks: Ranks, chosen: set[str]) -> list[WaitingJob]:
    """The standby list: those who are on it stay until they start, vacancies go to the best ranked small jobs."""
    small = [j for j in _ours(view, None) if j.size <= STANDBY_SIZE and j.job_id not in chosen]
    standing = [j for j in small if j.priority == STANDBY]
    lines = Lines((j for j in small if j.priority != STANDBY), ranks, view.history, view.now)
    for candidate in lines:
        if len(standing) >= STANDBY_JOBS:
            break
        standing.append(candidate.job)
        lines.take()
    return standing


def _moves(
    view: QueueView,
    ranks: Ranks,
    hold: Hold | None,
    front: Sequence[tuple[Candidate, Candidate | None]],
    standby: Sequence[WaitingJob],
) -> tuple[Move, ...]:
    """The writes of this pass: what blocks is returned first, then the held place, the front, the standby list."""
    wanted: dict[str, Move] = {}
    if hold:
        wanted[hold.job.job_id] = _move(hold.job, RESERVED, Reason.RESERVED, _reserved(hold, view))
    for candidate, passed in front:
        job = candidate.job
        if hold is None and job.priority == STANDBY:
            wanted[job.job_id] = _move(job, STANDBY, Reason.STANDBY, "")
            continue
        reason = Reason.OVERDUE if candidate.overdue else Reason.BACKFILL if passed else Reason.FRONT
        wanted[job.job_id] = _move(job, FRONT, reason, _lifted(candidate, passed, hold, ranks, view))
    for job in standby:
        text = f"{named(job)} takes the next instance that is freed between passes."
        wanted[job.job_id] = _move(job, STANDBY, Reason.STANDBY, text)
    returned = [
        _move(job, job.submitted_priority, Reason.RETURNED, _returned(job))
        for job in view.waiting
        if job.job_id not in wanted
        and not job.foreign
        and job.priority != job.submitted_priority
        and not (hold and job.priority == STANDBY)
    ]
    return tuple(m for m in (*returned, *wanted.values()) if m.before != m.after)


def _move(job: WaitingJob, after: int, reason: Reason, sentence: str) -> Move:
    return Move(job.job_id, job.name, job.kind.job_class, job.priority, after, reason, sentence)


def _reserved(hold: Hold, view: QueueView) -> str:
    waited = hours(view.now - hold.job.submitted)
    when = "no known time" if hold.until == float("inf") else f"about {hours(hold.until - view.now)} from now"
    return f"{named(hold.job)} has waited {waited}; what is freed is held for it, it is expected to fit {when}."


def _lifted(candidate: Candidate, passed: Candidate | None, hold: Hold | None, ranks: Ranks, view: QueueView) -> str:
    job, start = candidate.job, ranks.head_starts[candidate.job.kind.job_class]
    boost = next((e for e in view.effects if e.active(view.now) and e.boost == job.kind.job_class), None)
    why = f" (head start {hours(start)}, raised by alarm {boost.alarm})" if boost else ""
    if candidate.overdue:
        return f"{named(job)} has waited {hours(view.now - job.submitted)}, past its limit; it goes first{why}."
    if hold and (passed is None or passed.order > candidate.order):
        return f"{named(job)} fits beside or ends before the place held for {named(hold.job)}{why}."
    if passed:
        return f"{named(job)} fits what is free; {named(passed.job)} ranks before it and does not fit{why}."
    return f"{named(job)} ranks first and fits what is free{why}."


def _returned(job: WaitingJob) -> str:
    return f"{named(job)} no longer fits what is free, or others rank before it; it goes back to its own place."


def _idle(view: QueueView, hold: Hold | None, taken: int) -> tuple[tuple[Idle, int], ...]:
    left = view.free - taken
    if left <= 0:
        return ()
    if not view.waiting:
        return ((Idle.NO_WORK, left),)
    if not view.movable:
        return ((Idle.NOT_RULED, left),)
    held = hold is not None and any(job.size <= left for job in _ours(view, hold))
    return ((Idle.RESERVATION if held else Idle.NOTHING_FITS, left),)


def _next_wake(view: QueueView, policy: Policy, ranks: Ranks) -> float:
    """When to look again if nothing wakes the queue: the next moment at which the same facts decide otherwise."""
    if not view.waiting and not view.busy:
        return view.now + IDLE_POLL
    after = policy.reservation.after if policy.reservation else float("inf")
    moments = [effect.end for effect in view.effects if effect.active(view.now)]
    for job in view.waiting:
        moments += (job.submitted + after, job.submitted + ranks.limits[job.kind.job_class])
    due = min((m for m in moments if m > view.now), default=float("inf"))
    return max(view.now + LEAST_GAP, min(view.now + POLL, due))
