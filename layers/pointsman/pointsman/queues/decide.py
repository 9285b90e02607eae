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
from pointsman.queues.moves import FRONT, Hold, Plan, blame, moves_of
from pointsman.queues.policy import Policy
from pointsman.queues.ranking import Candidate, Lines, Ranks
from pointsman.queues.reasons import Idle, Move
from pointsman.queues.standby import STANDBY_SIZE, stand_by

LEAST_GAP = 30.0  # seconds between two passes of one queue
POLL = 60.0  # seconds to the next look at a queue in which jobs wait, when no event wakes it
IDLE_POLL = 300.0  # the same for a queue in which none does


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
class Decision:
    """What one pass wants: moves in the order in which to write them, and what follows from them.

    `hold` is the job for which freed capacity is held; `idle` says why instances stay free.
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

    A queue in which nothing can be moved (FIFO, container) gives a decision without moves.
    """
    ranks = ranks_at(policy, view.effects, view.now)
    plan = plan_for(view, policy, ranks)
    moves = moves_of(tuple(view.waiting), plan, view.now) if view.movable else ()
    if active := tuple(effect for effect in view.effects if effect.active(view.now)):
        calm = plan_for(view, policy, ranks_at(policy, (), view.now))
        moves = blame(moves, moves_of(tuple(view.waiting), calm, view.now), active)
    return Decision(
        queue=view.queue,
        at=view.now,
        moves=moves,
        hold=plan.hold,
        idle=_idle(view, plan),
        backfills=sum(1 for candidate, passed in plan.front if passed and candidate.job.priority != FRONT),
        next_wake=_next_wake(view, policy, ranks),
    )


def plan_for(view: QueueView, policy: Policy, ranks: Ranks) -> Plan:
    """What should start next; nothing where nothing can be moved."""
    if not view.movable:
        return Plan()
    hold = reserve(view, policy, ranks)
    front = fill(view, ranks, hold)
    if hold:
        return Plan(tuple(front), hold)
    chosen = {candidate.job.job_id for candidate, _ in front}
    small = [job for job in _ours(view, None) if job.size <= STANDBY_SIZE and job.job_id not in chosen]
    return Plan(tuple(front), None, stand_by(small, ranks, view.history, view.now))


def ranks_at(policy: Policy, effects: Iterable[Effect], now: float) -> Ranks:
    """Head starts with what active alarms add, and the waits beyond which a job goes first.

    Nothing can be evicted in a fair-share queue, so `max_wait` counts double there.
    """
    boosts: dict[str, float] = {}
    for effect in effects:
        if effect.active(now):
            boosts[effect.boost] = max(boosts.get(effect.boost, 0.0), effect.by)
    starts = {c.name: c.head_start + boosts.get(c.name, 0.0) for c in policy.classes}
    limits = {c.name: float("inf") if c.max_wait is None else 2 * c.max_wait for c in policy.classes}
    return Ranks(starts, limits, policy.spread, boosts)


def reserve(view: QueueView, policy: Policy, ranks: Ranks) -> Hold | None:
    """The job for which freed capacity is held (EASY backfilling; Lifka, JSSPP 1995), if any.

    The oldest of the highest class among those that do not fit now and have waited long enough; overdue ones first. A
    boost counts as time waited.
    """
    rule = policy.reservation
    if rule is None or rule.at_most == 0:
        return None
    place = {c.name: n for n, c in enumerate(policy.classes)}
    best: tuple[tuple[bool, int, float, str], WaitingJob] | None = None
    for job in view.waiting:
        waited = view.now - job.submitted
        counted = waited + ranks.boosts.get(job.kind.job_class, 0.0)
        if job.size <= max(view.free, STANDBY_SIZE) or job.size > view.capacity or counted < rule.after or job.foreign:
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

    While a place is held, a job that ranks after the held one starts only if it is expected to end in time, or fits
    beside it.
    """
    held = ranks.candidate(hold.job, view.history.predict(hold.job.kind), view.now) if hold else None
    free, spare = view.free, hold.spare if hold else 0
    lines = Lines(_ours(view, hold), ranks, view.history, view.now)
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


def _ours(view: QueueView, hold: Hold | None) -> list[WaitingJob]:
    held = hold.job.job_id if hold else None
    return [job for job in view.waiting if not job.foreign and job.job_id != held]


def _idle(view: QueueView, plan: Plan) -> tuple[tuple[Idle, int], ...]:
    left = view.free - sum(candidate.job.size for candidate, _ in plan.front)
    if left <= 0:
        return ()
    if not view.waiting:
        return ((Idle.NO_WORK, left),)
    if not view.movable:
        return ((Idle.NOT_RULED, left),)
    starting = {candidate.job.job_id for candidate, _ in plan.front}
    left_out = (job for job in _ours(view, plan.hold) if job.job_id not in starting)
    held = plan.hold is not None and any(job.size <= left for job in left_out)
    return ((Idle.RESERVATION if held else Idle.NOTHING_FITS, left),)


def _next_wake(view: QueueView, policy: Policy, ranks: Ranks) -> float:
    """When to look again if nothing wakes the queue: the next moment at which the same facts decide otherwise."""
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
