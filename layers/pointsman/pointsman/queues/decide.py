"""One pass over one queue: from what is known to what should be moved, and why.

Batch starts the job at the head of a share and looks no further (strict head of line), so jobs deep in the queue
need no priority. A decision lifts the jobs that fit now, holds one place for a big job that has waited long, and keeps
a short standby list of small jobs that take what is freed before the next pass. All else keeps what it was submitted
with.
"""

from dataclasses import dataclass, field

from pointsman.queues.cases import cases_of, failing
from pointsman.queues.evictions import Eviction
from pointsman.queues.fill import idle
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.levels import OF_EVICTIONS, wanted
from pointsman.queues.moves import FRONT, Hold, blame, given_back, moves_of
from pointsman.queues.plan import plan_for
from pointsman.queues.policy import Policy
from pointsman.queues.ranking import Ranks, evicts, ranks_at
from pointsman.queues.reasons import Idle, Move, Told
from pointsman.queues.turns import blocker, several
from pointsman.queues.usage import Usage
from pointsman.queues.view import QueueView
from pointsman.queues.wake import LEAST_GAP, next_wake


@dataclass(frozen=True, slots=True)
class Decision:
    """What one pass wants: moves in the order in which to write them, and what follows from them.

    `hold` is the job for which freed capacity is held, of several shares' `holds` the first; `idle` says why instances
    stay free; `blocker` is a job of another share at which Batch stops. `told` is what people should know of single
    jobs. `evictions` are to be stored before the moves are made; the jobs in `describe` are to be described first, and
    then it is decided again. Evictions that are `ready` may come about once the moves are made. `usage` is for the next
    view.
    """

    queue: str
    at: float
    moves: tuple[Move, ...]
    hold: Hold | None
    idle: tuple[tuple[Idle, int], ...]
    backfills: int
    next_wake: float
    blocker: WaitingJob | None = None
    told: tuple[Told, ...] = ()
    holds: tuple[Hold, ...] = ()
    evictions: tuple[Eviction, ...] = ()
    describe: tuple[str, ...] = ()
    ready: tuple[Eviction, ...] = ()
    usage: Usage = field(default_factory=Usage)


def decide(view: QueueView, policy: Policy) -> Decision:
    """What to move in a queue now; a pure function of its arguments.

    A queue in which nothing can be moved (FIFO, container) gives a decision without moves.
    """
    policy = policy.at(view.now)
    cases = cases_of(view, policy)
    ranks = ranks_at(policy, view.effects, view.now, cases, evicts=evicts(view, policy))
    if view.quota_shares and view.movable:
        return _by_levels(view, policy, ranks)
    plan = plan_for(view, policy, ranks)
    moves = moves_of(view.lines, plan, view.now) if view.movable else ()
    if active := tuple(effect for effect in view.effects if effect.active(view.now)):
        calm = plan_for(view, policy, ranks_at(policy, (), view.now, cases))
        moves = blame(moves, moves_of(view.lines, calm, view.now), active)
    if view.movable:
        moves = (*given_back(failing(view)), *moves)
    stop = blocker(view, plan) if several(view) and view.movable else None
    return Decision(
        queue=view.queue,
        at=view.now,
        moves=moves,
        hold=plan.hold,
        idle=idle(view, plan, stop, ranks),
        backfills=sum(1 for candidate, passed in plan.front if passed and candidate.job.priority != FRONT),
        next_wake=next_wake(view, policy, ranks),
        blocker=stop,
        told=cases.told,
        holds=(plan.hold,) if plan.hold else (),
        usage=cases.usage,
    )


def _by_levels(view: QueueView, policy: Policy, ranks: Ranks) -> Decision:
    """The same in a queue with quota shares."""
    want = wanted(view, policy, ranks)
    moves = want.moves
    if active := tuple(effect for effect in view.effects if effect.active(view.now)):
        calm = ranks_at(policy, (), view.now, ranks.cases, evicts=evicts(view, policy))
        blamed = blame(moves, wanted(view, policy, calm).moves, active)
        moves = tuple(old if old.reason in OF_EVICTIONS else new for old, new in zip(moves, blamed, strict=True))
    going = want.claims or want.describe or any(eviction.open for eviction in (*view.evictions, *want.evictions))
    wake = next_wake(view, policy, ranks)
    return Decision(
        queue=view.queue,
        at=view.now,
        moves=moves,
        hold=want.holds[0] if want.holds else None,
        idle=want.idle,
        backfills=want.backfills,
        next_wake=min(wake, view.now + LEAST_GAP) if going else wake,
        told=ranks.cases.told,
        holds=want.holds,
        evictions=want.evictions,
        describe=want.describe,
        ready=want.ready,
        usage=ranks.cases.usage,
    )
