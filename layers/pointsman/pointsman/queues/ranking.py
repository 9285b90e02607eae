"""The order in which a queue's jobs should start: one number a job, lower first.

    score = submitted - head_start[class] + spread x log2(1 + expected GPU-hours)

Head start is ageing without rewriting: a job is overtaken only by jobs submitted at most one head start (plus
the spread's term) after it. The spread puts short jobs before long ones. Before the score counts the tier: what a
person put first, what is overdue or must start to meet its deadline, all others, what goes last. Jobs alike wait in
lines, first come first served, so that a pass costs as much as there are lines, not as there are jobs.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from math import log2

from pointsman.queues.cases import Cases, Tier, Why, cases_of
from pointsman.queues.effects import Effect
from pointsman.queues.estimates import History, Kind
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.policy import Policy
from pointsman.queues.view import QueueView

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
        name = job.kind.job_class
        gpu_hours = expected * job.gpus / 3600
        score = job.submitted - self.head_starts[name] + self.spread * log2(1 + gpu_hours)
        tier = self.cases.tiers.get(job.job_id)
        if tier is None:
            tier = Tier.DUE if now - job.submitted > self.limits[name] else Tier.USUAL
        return Candidate(tier, score, job, expected, self.cases.whys.get(job.job_id))

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


def ranks_at(policy: Policy, effects: Iterable[Effect], now: float, cases: Cases | None = None) -> Ranks:
    """Head starts with what active alarms add, and the waits beyond which a job goes first.

    A class that holds its entitlement has no head start. Nothing can be evicted in a fair-share queue, so `max_wait`
    counts double there.
    """
    cases = cases or Cases()
    boosts: dict[str, float] = {}
    for effect in effects:
        if effect.active(now):
            boosts[effect.boost] = max(boosts.get(effect.boost, 0.0), effect.by)
    starts = {
        c.name: 0.0 if c.name in cases.satisfied else c.head_start + boosts.get(c.name, 0.0) for c in policy.classes
    }
    limits = {c.name: float("inf") if c.max_wait is None else 2 * c.max_wait for c in policy.classes}
    return Ranks(starts, limits, policy.spread, boosts, cases)


def ranks_of(view: QueueView, policy: Policy) -> Ranks:
    """Everything that ranks depend on now: the open windows, the alarms, and what sets single jobs apart."""
    ruling = policy.at(view.now)
    return ranks_at(ruling, view.effects, view.now, cases_of(view, ruling))


@dataclass(frozen=True, slots=True)
class Candidate:
    """The first job of a line, with its score and its expected run time in seconds; `why` it goes first, if it does."""

    tier: Tier
    score: float
    job: WaitingJob
    expected: float
    why: Why | None = None

    @property
    def overdue(self) -> bool:
        """Whether it goes first because it has waited too long."""
        return self.tier is Tier.DUE and self.why is None

    @property
    def order(self) -> tuple[Tier, float, float, str]:
        """The sort key: by tier, then by score; the oldest, then the id, break ties."""
        return (self.tier, self.score, self.job.submitted, self.job.job_id)


_Line = tuple[Tier | None, Kind]
_Entry = tuple[tuple[Tier, float, float, str], Candidate, _Line]


class Lines:
    """Waiting jobs in lines of a kind; yields the best candidate next, and lets a line be closed."""

    def __init__(self, waiting: Iterable[WaitingJob], ranks: Ranks, history: History, now: float) -> None:
        """Line the jobs up; O(jobs) once, then O(log lines) a candidate.

        Jobs that are a case of their own stand in a line of their tier, so that every line is in order.
        """
        kinds: dict[Kind, list[WaitingJob]] = {}
        for job in waiting:
            kinds.setdefault(job.kind, []).append(job)
        self._ranks, self._now = ranks, now
        self._rest: dict[_Line, Iterator[WaitingJob]] = {}
        self._expected: dict[Kind, float] = {}
        self._heap: list[_Entry] = []
        for kind, jobs in kinds.items():
            jobs.sort(key=lambda job: (job.submitted, job.job_id))
            self._expected[kind] = history.predict(kind)
            for tier, line in self._by_tier(jobs).items():
                self._rest[tier, kind] = iter(line)
                self._queue_next((tier, kind), push=False)
        heapify(self._heap)

    def _by_tier(self, jobs: list[WaitingJob]) -> dict[Tier | None, list[WaitingJob]]:
        tiers = self._ranks.cases.tiers
        if not tiers:
            return {None: jobs}
        lines: dict[Tier | None, list[WaitingJob]] = {}
        for job in jobs:
            lines.setdefault(tiers.get(job.job_id), []).append(job)
        return lines

    def _queue_next(self, line: _Line, *, push: bool = True) -> None:
        job = next(self._rest[line], None)
        if job is None:
            return
        candidate = self._ranks.candidate(job, self._expected[line[1]], self._now)
        entry = (candidate.order, candidate, line)
        if push:
            heappush(self._heap, entry)
        else:
            self._heap.append(entry)

    def __iter__(self) -> Iterator[Candidate]:
        """Candidates in order; `take` or `close` the line of each before asking for the next."""
        while self._heap:
            yield self._heap[0][1]

    def take(self) -> None:
        """The best candidate is served: the next of its line stands in."""
        _, _, line = heappop(self._heap)
        self._queue_next(line)

    def close(self) -> None:
        """Nothing more of the best candidate's line can be served."""
        heappop(self._heap)
