"""The order in which a queue's jobs should start: one number a job, lower first.

    score = submitted - head_start[class] + spread x log2(1 + expected GPU-hours)

Head start is ageing without rewriting: a job is overtaken only by jobs submitted at most one head start (plus
the spread's term) after it. The spread puts short jobs before long ones. Before the score counts the tier: what a
person put first, what is overdue or must start to meet its deadline, all others, what goes last. Jobs alike wait in
lines, first come first served, so that a pass costs as much as there are lines, not as there are jobs.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heapreplace
from math import log2

from pointsman.queues.cases import Cases, Tier, Why, cases_of
from pointsman.queues.effects import Effect
from pointsman.queues.estimates import History, Kind
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.policy import Policy
from pointsman.queues.view import QueueView
from pointsman.queues.waiting import Line, Waiting, age

HELD_SPREAD = 5400.0  # seconds: the spread, at most, by which a job goes before one for which a place is held
_TIER = 1e12  # seconds: more than any two scores are apart


@dataclass(frozen=True, slots=True)
class Ranks:
    """What the rank of a class depends on at one moment, in seconds.

    Its head start, of which alarms give it `boosts`; the wait beyond which a job goes first; and the spread. `cases`
    are what sets single jobs, and classes at their bounds, apart.
    """

    head_starts: Mapping[str, float]
    limits: Mapping[str, float]
    spread: float
    boosts: Mapping[str, float] = field(default_factory=dict)
    cases: Cases = field(default_factory=Cases)

    def candidate(self, job: WaitingJob, expected: float, now: float) -> "Candidate":
        """The job with its score; `expected` is its run time in seconds."""
        tier, score = self.place(job, expected, now)
        senior = job.submitted - self.head_starts[job.kind.job_class]
        claim = senior + min(self.spread, HELD_SPREAD) * log2(1 + expected * job.gpus / 3600)
        return Candidate(tier, score, claim, job, expected, self.cases.whys.get(job.job_id))

    def place(self, job: WaitingJob, expected: float, now: float) -> tuple[Tier, float]:
        """The job's tier and its score, by which it is before others or behind them."""
        name = job.kind.job_class
        tier = self.cases.tiers.get(job.job_id)
        if tier is None:
            tier = Tier.DUE if now - job.submitted > self.limits[name] else Tier.USUAL
        growth = log2(1 + expected * job.gpus / 3600)
        return tier, job.submitted - self.head_starts[name] + self.spread * growth

    def may_have(self, job: WaitingJob) -> bool:
        """Whether the job may be favoured: it does not go last, and its class's ceiling leaves room for it."""
        rooms, last = self.cases.rooms, self.cases.tiers.get(job.job_id) is Tier.LAST
        return not last and job.size <= rooms.get(job.kind.job_class, job.size)

    def after(self, started: Iterable[WaitingJob]) -> "Ranks":
        """The same once these jobs have started: their classes' ceilings leave less room."""
        if not self.cases.rooms:
            return self
        rooms = dict(self.cases.rooms)
        for job in started:
            if job.kind.job_class in rooms:
                rooms[job.kind.job_class] = max(0, rooms[job.kind.job_class] - job.size)
        return replace(self, cases=replace(self.cases, rooms=rooms))

    @staticmethod
    def effective(candidate: "Candidate") -> float:
        """The score as one number that also holds the tier."""
        return candidate.score + _TIER * (candidate.tier - Tier.USUAL)


def ranks_at(
    policy: Policy, effects: Iterable[Effect], now: float, cases: Cases | None = None, *, evicts: bool = False
) -> Ranks:
    """Head starts with what active alarms add, and the waits beyond which a job goes first.

    A class that holds its entitlement has no head start. Where nobody can be evicted (see `evicts`), `max_wait` counts
    double.
    """
    cases = cases or Cases()
    boosts: dict[str, float] = {}
    for effect in effects:
        if effect.active(now):
            boosts[effect.boost] = max(boosts.get(effect.boost, 0.0), effect.by)
    starts = {
        c.name: 0.0 if c.name in cases.satisfied else c.head_start + boosts.get(c.name, 0.0) for c in policy.classes
    }
    times = 1 if evicts else 2
    limits = {c.name: float("inf") if c.max_wait is None else times * c.max_wait for c in policy.classes}
    return Ranks(starts, limits, policy.spread, boosts, cases)


def ranks_of(view: QueueView, policy: Policy) -> Ranks:
    """Everything that ranks depend on now: the open windows, the alarms, and what sets single jobs apart."""
    ruling = policy.at(view.now)
    return ranks_at(ruling, view.effects, view.now, cases_of(view, ruling), evicts=evicts(view, ruling))


def evicts(view: QueueView, policy: Policy) -> bool:
    """Whether jobs of the queue can be evicted for others."""
    return bool(view.quota_shares) and view.movable and policy.preemption is not None


@dataclass(frozen=True, slots=True)
class Candidate:
    """The first job of a line, with its score and its expected run time in seconds; `why` it goes first, if it does.

    `claim` is the score with a spread of `HELD_SPREAD` at most: while a place is held for a big job, a small one does
    not go before it merely because it is small.
    """

    tier: Tier
    score: float
    claim: float
    job: WaitingJob
    expected: float
    why: Why | None = None

    @property
    def overdue(self) -> bool:
        """Whether it goes first because it has waited too long."""
        return self.tier is Tier.DUE and self.why is None

    def claims_before(self, held: "Candidate") -> bool:
        """Whether the job may start before one for which a place is held, whatever becomes of that."""
        return (self.tier, self.claim, self.job.submitted) < (held.tier, held.claim, held.job.submitted)

    @property
    def order(self) -> tuple[Tier, float, float, str]:
        """The sort key: by tier, then by score; the oldest, then the id, break ties."""
        return (self.tier, self.score, self.job.submitted, self.job.job_id)


@dataclass(slots=True, eq=False)
class _Rest:
    """What is left of a line, and how long each of its jobs is expected to run."""

    jobs: Iterator[WaitingJob]
    expected: float


_Entry = tuple[Tier, float, float, str, WaitingJob, _Rest]


def _by_tier(waiting: Waiting, tiers: Mapping[str, Tier]) -> dict[tuple[Tier, str, Kind], list[WaitingJob]]:
    """The jobs that are cases of their own, of each tier and line together."""
    found: dict[tuple[Tier, str, Kind], list[WaitingJob]] = {}
    for job in waiting.found(tiers) if tiers else ():
        found.setdefault((tiers[job.job_id], job.share, job.kind), []).append(job)
    return found


class Lines:
    """Waiting jobs in lines of a kind; yields the best candidate next, and lets a line be closed."""

    def __init__(
        self,
        waiting: Iterable[WaitingJob],
        ranks: Ranks,
        history: History,
        now: float,
        *without: Collection[str],
    ) -> None:
        """Begin at the heads; O(lines) once, then O(log lines) a candidate. Jobs `without` are passed over.

        Jobs that are a case of their own stand in a line of their tier, so that every line is in order.
        """
        self._ranks, self._now = ranks, now
        self._heap: list[_Entry] = []
        lined, tiers = Waiting.of(waiting), ranks.cases.tiers
        for line in lined.lines:
            self._append(_Rest(line.ours(tiers, *without), history.predict(line.kind)))
        for jobs in _by_tier(lined, tiers).values():
            ours = Line(jobs[0].share, jobs[0].kind, sorted(jobs, key=age)).ours(*without)
            self._append(_Rest(ours, history.predict(jobs[0].kind)))
        heapify(self._heap)

    def _append(self, rest: "_Rest") -> None:
        entry = self._next(rest)
        if entry is not None:
            self._heap.append(entry)

    def _next(self, rest: "_Rest") -> "_Entry | None":
        job = next(rest.jobs, None)
        if job is None:
            return None
        tier, score = self._ranks.place(job, rest.expected, self._now)
        return (tier, score, job.submitted, job.job_id, job, rest)

    def __bool__(self) -> bool:
        """Whether there is a candidate left."""
        return bool(self._heap)

    def __iter__(self) -> Iterator[Candidate]:
        """Candidates in order; `take` or `close` the line of each before asking for the next."""
        while self._heap:
            _, _, _, _, job, rest = self._heap[0]
            yield self._ranks.candidate(job, rest.expected, self._now)

    def take(self) -> None:
        """The best candidate is served: the next of its line stands in."""
        entry = self._next(self._heap[0][-1])
        if entry is None:
            heappop(self._heap)
        else:
            heapreplace(self._heap, entry)

    def close(self) -> None:
        """Nothing more of the best candidate's line can be served."""
        heappop(self._heap)
