"""What to move in a queue with quota shares: the levels of priorities that keep in-share preemption safe.

With in-share preemption on, any waiting job may evict a running one of a lower priority in its share, and Batch chooses
the victim by a rule of its own. So nothing that does not surely fit waits above what runs: a job is lifted to `FRONT`
when it fits, which protects it once it runs; what waits without fitting (the held job, the standby list) stands below,
and before that, what runs lower is protected. A deliberate eviction begins when its job has stood first in the share
since an earlier pass, so that nobody has started of whom the pass may not know. It puts everything that runs in the
share at `SHIELD`, its victims at `VICTIM` and the evictor between the two: nobody but the victims can be evicted,
whatever Batch's rule is and whether or not jobs of one priority evict each other, and nobody else who waits can evict
them, should the evictor find a place by itself. Those levels stay when it is over, for to lower them is a write for
each job that runs; only in a share that borrows, whose jobs Batch may take back, they are lowered at once.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pointsman.queues.cases import Tier
from pointsman.queues.estimates import Kind
from pointsman.queues.evictions import Eviction, Progress, follow
from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.moves import FRONT, RESERVED, Hold, Plan, moves_of
from pointsman.queues.plan import plan_for
from pointsman.queues.policy import How, Policy
from pointsman.queues.quota import Needs, QuotaShare, Rooms, needs_of
from pointsman.queues.ranking import Candidate, Ranks
from pointsman.queues.reasons import Idle, Move, Reason, hours, named
from pointsman.queues.standby import HIGHEST, stands_by
from pointsman.queues.starting import starting
from pointsman.queues.victims import choose
from pointsman.queues.view import QueueView
from pointsman.queues.waiting import Age, Line, Waiting, age

SHIELD, EVICTS, PROTECTED, VICTIM = 5001, 5000, FRONT, FRONT
OF_EVICTIONS = (Reason.PREEMPTOR, Reason.EVICTED, Reason.PROTECTED)
IN_LINE = HIGHEST  # of the standby list where running jobs could be evicted: one level for all of it


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one pass wants of all the shares.

    `evictions` are those that are new or went on, to be stored before a move is made. Nothing is wanted of an eviction
    until its jobs, `describe`, have been described for the very decision. A job that `claims` its place evicts soon.
    Once the moves are made, evictions that are `ready` may come about, and nobody but their victims is evicted.
    """

    moves: tuple[Move, ...] = ()
    holds: tuple[Hold, ...] = ()
    idle: tuple[tuple[Idle, int], ...] = ()
    backfills: int = 0
    evictions: tuple[Eviction, ...] = ()
    describe: tuple[str, ...] = ()
    claims: bool = False
    ready: tuple[Eviction, ...] = ()


def wanted(view: QueueView, policy: Policy, ranks: Ranks) -> Wanted:
    """What to move in the shares that the policy rules, and which evictions to ask for or to carry on."""
    waiting: dict[str, list[Line]] = {}
    for line in view.lines.lines:
        waiting.setdefault(line.share, []).append(line)
    running: dict[str, list[BusyJob]] = {}
    for each in view.busy:
        running.setdefault(each.share, []).append(each)
    total = _Total(view, policy, ranks)
    going = total.carry_on()
    parts = {share.name: view.lines.part(waiting.get(share.name, ())) for share in view.quota_shares}
    if any(share.preempts for share in view.quota_shares):
        total.expect(parts)
    for share in sorted(view.quota_shares, key=lambda share: share.name):
        total.share(share, parts[share.name], running.get(share.name, []), going.get(share.name))
    return total.wanted()


class _Total:
    """What is wanted of the shares that were looked at so far, and what their jobs will hold then."""

    def __init__(self, view: QueueView, policy: Policy, ranks: Ranks) -> None:
        self._view, self._policy, self._ranks = view, policy, ranks
        unknown = max(0, view.used - sum(job.size for job in view.busy))  # held by jobs that were not described yet
        pool = [(unit, max(0, limit - unknown)) for unit, limit in view.pool]
        self._rooms = Rooms(view.quota_shares, pool, view.busy)
        self._expected: dict[str, Needs] = {}  # of the shares that were not looked at yet
        self._moves: list[Move] = []
        self._holds: list[Hold] = []
        self._started: list[tuple[Candidate, Candidate | None]] = []
        self._evictions: list[Eviction] = []
        self._describe: list[str] = []
        self._ready: list[Eviction] = []
        self._claims = False
        self._above = False  # somebody starts by itself whose class has all it may have

    def wanted(self) -> Wanted:
        left = max(0, self._view.free - sum(candidate.job.size for candidate, _ in self._started))
        reason = Idle.NOTHING_FITS if self._view.waiting else Idle.NO_WORK
        if left and (self._above or any(map(self._capped, self._view.lines.lines))):
            reason = Idle.CEILING
        return Wanted(
            moves=tuple(self._moves),
            holds=tuple(self._holds),
            idle=((reason, left),) if left else (),
            backfills=sum(1 for candidate, passed in self._started if passed and candidate.job.priority != FRONT),
            evictions=tuple(self._evictions),
            describe=tuple(dict.fromkeys(self._describe)),
            claims=self._claims,
            ready=tuple(self._ready),
        )

    def _capped(self, line: Line) -> bool:
        """Whether nothing but their class's ceiling keeps jobs of the line from being lifted."""
        fits = self._rooms.fits(line.share, needs_of(line.kind))
        return fits and self._has_all(line.kind) and line.first() is not None

    def _has_all(self, kind: Kind) -> bool:
        """Whether the kind's class may not have that much more."""
        return kind.size > self._ranks.cases.rooms.get(kind.job_class, kind.size)

    def carry_on(self) -> dict[str, Eviction]:
        """The open evictions by their shares, as they stand now."""
        view, going = self._view, dict[str, Eviction]()
        if not any(eviction.open for eviction in view.evictions):
            return going
        evictors = {eviction.evictor.job_id for eviction in view.evictions}
        waiting = {job.job_id: job for job in view.lines.found(evictors)}
        busy = {job.job_id: job for job in view.busy}
        for before in view.evictions:
            after = follow(before, waiting, busy, view.unsure, view.now)
            if after != before:
                self._evictions.append(after)
            if after.open:
                going[after.share] = after
        return going

    def expect(self, parts: Mapping[str, Waiting]) -> None:
        """Keep in mind what each share's first jobs take by themselves: Batch may look at any share first."""
        for share, lines in parts.items():
            trial = self._rooms.without(share, ())
            starting(share, lines, trial)
            units = {unit for line in lines.lines for unit in needs_of(line.kind)}
            self._expected[share] = {unit: trial.used(share, unit) - self._rooms.used(share, unit) for unit in units}

    def share(self, share: QuotaShare, lines: Waiting, runs: Sequence[BusyJob], going: Eviction | None) -> None:
        """Add one share. While somebody is evicted in it, nothing else in it is moved."""
        self._expected.pop(share.name, None)
        if going is not None:
            self._evict(going, lines, runs)
            return
        if lines and self._view.settled and _may_evict(share, self._policy):
            chosen = choose(self._view, self._policy, self._ranks, self._rooms, lines, runs)
            evictor = lines.get(chosen.evictor.job_id) if chosen else None
            if evictor is not None and not _stands_first(evictor, lines):
                self._claims = True
                self._order(share, lines, runs, evictor)
                return
            if chosen is not None and _sure(self._view, chosen):
                self._evictions.append(chosen)
                self._evict(chosen, lines, runs)
                return
            self._describe += chosen.parties if chosen else ()
        self._order(share, lines, runs)

    def _evict(self, eviction: Eviction, lines: Waiting, runs: Sequence[BusyJob]) -> None:
        """Shield who runs, as far as that is sure; only then, and while who evicts waits for sure, it is raised."""
        moves = evicting(eviction, lines, runs, self._view.now)
        if moves and not _sure(self._view, eviction):
            self._describe += eviction.parties
            return
        ready = self._view.settled and lines.get(eviction.evictor.job_id) is not None
        self._moves += [move for move in moves if ready or move.after == SHIELD]
        self._ready += [eviction] if ready else []

    def _order(
        self, share: QuotaShare, lines: Waiting, runs: Sequence[BusyJob], claims: WaitingJob | None = None
    ) -> None:
        """Lift what fits, hold a place, line up the small, and protect what runs from those who wait.

        Who `claims` the place is held for, and nobody else. Who would evict here once others have taken the room does
        not get what they are expected to take.
        """
        others = self._expected.items() if share.preempts else ()
        for other, needs in others:
            self._rooms.take(other, needs)
        starts = starting(share.name, lines, self._rooms) if share.preempts else []
        front: list[tuple[Candidate, Candidate | None]] = [
            (self._candidate(job), None) for job in starts if self._ranks.may_have(job) and not job.foreign
        ]
        standby: list[tuple[WaitingJob, int]] = []
        hold: Hold | None = None
        level = share.preempts or _switches(self._policy)
        self._above |= any(map(self._has_all, {job.kind for job in starts}))
        self._ranks = self._ranks.after(starts)
        for units, part in _by_units(_without(lines, starts)).items():
            own = claims if claims in part else None
            plan = plan_for(self._part(share, units, part, runs), self._policy, self._ranks, own)
            self._ranks = self._ranks.after(candidate.job for candidate, _ in plan.front)
            for candidate, _ in plan.front:
                self._rooms.take(share.name, needs_of(candidate.job.kind))
            front += plan.front
            hold = plan.hold if own else hold or plan.hold
            standby += self._in_line(plan.standby) if level else plan.standby
        for other, needs in others:
            self._rooms.give(other, needs)
        plan = Plan(tuple(front), hold, tuple(standby))
        waiters = [(RESERVED, hold.job)] if hold else []
        waiters += [(number, job) for job, number in plan.standby]
        if self._rooms.shared(share.name):
            waiters += [(FRONT, candidate.job) for candidate, _ in front]
        if share.preempts:
            self._moves += protecting(runs, waiters)
            self._moves += lowered(runs) if self._rooms.borrowing(share.name) and not waiters else []
        sure = self._view.settled and share.settled
        nobody = not share.preempts and (share.settled or not _switches(self._policy))  # can evict here
        if sure or nobody:  # else it is not known who would be evicted, or lose protection
            moves = moves_of(lines, plan, self._view.now)
            self._moves += [*_kept(starts, moves), *moves]
        self._holds += [hold] if hold else []
        self._started += front

    def _in_line(self, standby: Collection[tuple[WaitingJob, int]]) -> list[tuple[WaitingJob, int]]:
        """The list on one level, where Batch goes by age: nobody joins before one that has waited too long."""
        tiers = {job.job_id: self._candidate(job).tier for job, _ in standby}
        late = max((job.submitted for job, _ in standby if tiers[job.job_id] <= Tier.DUE), default=0.0)
        return [
            (job, IN_LINE)
            for job, _ in standby
            if stands_by(job) or tiers[job.job_id] <= Tier.DUE or job.submitted >= late
        ]

    def _candidate(self, job: WaitingJob) -> Candidate:
        return self._ranks.candidate(job, self._view.history.predict(job.kind), self._view.now)

    def _part(self, share: QuotaShare, units: Sequence[str], part: Waiting, runs: Sequence[BusyJob]) -> QueueView:
        """The part of one share for jobs of these instance types, as a queue of its own."""
        rooms = self._rooms
        room = min(rooms.room(share.name, unit) for unit in units)
        held = sum(rooms.used(share.name, unit) for unit in units)
        kinds = {(line.kind.types, line.kind.size): line.kind for line in part.lines}
        most = max((kind.size for kind in kinds.values() if rooms.can_ever(share.name, needs_of(kind))), default=0)
        capacity = max(room + held, most)
        return replace(
            self._view,
            waiting=part,
            busy=[job for job in runs if not needs_of(job.kind).keys().isdisjoint(units)],
            capacity=capacity,
            used=capacity - room,
            elsewhere=0,
            withheld=0,
            shares=(),
        )


def _by_units(lines: Waiting) -> dict[tuple[str, ...], Waiting]:
    """The lines that ask for the same instance types; first those of the oldest job."""
    groups: dict[tuple[str, ...], list[Line]] = {}
    oldest: dict[tuple[str, ...], Age] = {}
    for line in lines.lines:
        units = tuple(sorted(needs_of(line.kind)))
        groups.setdefault(units, []).append(line)
        oldest[units] = min(age(line.jobs[0]), oldest.get(units, age(line.jobs[0])))
    return {units: lines.part(groups[units]) for units in sorted(groups, key=lambda units: oldest[units])}


def _without(lines: Waiting, jobs: Collection[WaitingJob]) -> Waiting:
    gone = {job.job_id for job in jobs}
    return Waiting(job for job in lines if job.job_id not in gone) if gone else lines


def _kept(starts: Iterable[WaitingJob], moves: Sequence[Move]) -> list[Move]:
    """Raise those who start as they are, where others are raised who must not evict them a moment later."""
    moved = {move.job_id for move in moves}
    if all(move.after < move.before for move in moves):
        return []
    text = "starts by itself now: it is raised, so that nobody who waits evicts it."
    return [
        _move(job, PROTECTED, Reason.PROTECTED, f"{named(job)} {text}")
        for job in starts
        if job.job_id not in moved and job.priority < PROTECTED and not job.foreign
    ]


def _may_evict(share: QuotaShare, policy: Policy) -> bool:
    """Whether a deliberate eviction can come about in this share."""
    rule = policy.preemption
    return rule is not None and share.settled and (share.preempts or rule.how is How.SWITCH)


def _stands_first(job: WaitingJob, lines: Waiting) -> bool:
    """Whether Batch starts nobody of the share before this job."""
    others = (other.priority for line in lines.lines for other in line.raised.values() if other.job_id != job.job_id)
    return len(lines) == 1 or job.priority > max(others, default=0)


def _sure(view: QueueView, eviction: Eviction) -> bool:
    """Whether all of the eviction's jobs were described for this decision."""
    return view.described.issuperset(eviction.parties)


def _switches(policy: Policy) -> bool:
    """Whether in-share preemption is switched on for each eviction."""
    return policy.preemption is not None and policy.preemption.how is How.SWITCH


def protecting(runs: Iterable[BusyJob], waiters: Sequence[tuple[int, WaitingJob]]) -> list[Move]:
    """Raise what runs lower than somebody who waits, or beside an older one of the same priority."""
    if not waiters:
        return []
    level, first = min(waiters, key=lambda waiter: (-waiter[0], waiter[1].submitted, waiter[1].job_id))
    moves = []
    for job in runs:
        behind = first.submitted <= job.submitted
        if job.priority < level or (job.priority == level and behind):
            text = f"{named(job)} runs lower than {named(first)}, which waits: it is raised, so that it is not evicted."
            after = SHIELD if level == PROTECTED and behind else PROTECTED
            moves.append(_move(job, after, Reason.PROTECTED, text))
    return moves


def lowered(runs: Iterable[BusyJob]) -> list[Move]:
    """Lower what an eviction that is over has left above all others: what Batch takes back would evict them."""
    text = "no longer stands above the others: its share borrows, and a job that is taken back must evict nobody."
    return [
        _move(job, PROTECTED, Reason.RETURNED, f"{named(job)} {text}")
        for job in runs
        if job.priority in (SHIELD, EVICTS) and job.priority != job.submitted_priority
    ]


def evicting(eviction: Eviction, lines: Waiting, runs: Iterable[BusyJob], now: float) -> list[Move]:
    """The priorities that bring the eviction about: shields first, the evictor last."""
    evictor = lines.get(eviction.evictor.job_id)
    if evictor is None:
        return []
    victims = {victim.job_id for victim in eviction.victims}
    shields: list[Move] = []
    exposed: list[Move] = []
    asked = eviction.progress is Progress.ASKED
    for job in runs if asked else ():
        if job.job_id in victims:
            text = (
                f"{named(job)} makes room for {named(evictor)}, which has waited {hours(now - evictor.submitted)}; "
                f"it resumes from its checkpoint."
            )
            exposed.append(_move(job, VICTIM, Reason.EVICTED, text))
        elif job.priority < SHIELD:
            text = f"{named(job)} is kept from being evicted while {named(evictor)} evicts others."
            shields.append(_move(job, SHIELD, Reason.PROTECTED, text))
    names = ", ".join(f"{victim.name} ({victim.job_class})" for victim in eviction.victims)
    text = f"{named(evictor)} has waited {hours(now - evictor.submitted)} and takes the place of {names}."
    lift = _move(evictor, EVICTS, Reason.PREEMPTOR, text)
    return [move for move in (*shields, *exposed, lift) if move.before != move.after]


def _move(job: WaitingJob | BusyJob, after: int, reason: Reason, sentence: str) -> Move:
    return Move(job.job_id, job.name, job.kind.job_class, job.priority, after, reason, sentence)
