"""The order in which a queue's jobs should start: one number a job, lower first.

    score = submitted - head_start[class] + spread x log2(1 + expected GPU-hours)

Head start is ageing without rewriting: a job is overtaken only by jobs submitted at most one head start (plus
the spread's term) after it. The spread puts short jobs before long ones. Jobs alike wait in lines, first come
first served, so that a pass costs as much as there are lines, not as there are jobs.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import log2

from pointsman.queues.effects import Effect
from pointsman.queues.estimates import History, Kind
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.policy import Policy

_OVERDUE = 1e12  # seconds: ahead of everything that is not overdue


@dataclass(frozen=True, slots=True)
class Ranks:
    """What the rank of a class depends on at one moment, in seconds.

    Its head start, of which alarms give it `boosts`; the wait beyond which a job goes first; and the spread.
    """

    head_starts: Mapping[str, float]
    limits: Mapping[str, float]
    spread: float
    boosts: Mapping[str, float] = field(default_factory=dict)

    def candidate(self, job: WaitingJob, expected: float, now: float) -> "Candidate":
        """The job with its score; `expected` is its run time in seconds."""
        name = job.kind.job_class
        gpu_hours = expected * job.gpus / 3600
        score = job.submitted - self.head_starts[name] + self.spread * log2(1 + gpu_hours)
        return Candidate(overdue=now - job.submitted > self.limits[name], score=score, job=job, expected=expected)

    @staticmethod
    def effective(candidate: "Candidate") -> float:
        """The score as one number that also puts the overdue first."""
        return candidate.score - (_OVERDUE if candidate.overdue else 0.0)


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


@dataclass(frozen=True, slots=True)
class Candidate:
    """The first job of a line, with its score and its expected run time in seconds."""

    overdue: bool
    score: float
    job: WaitingJob
    expected: float

    @property
    def order(self) -> tuple[bool, float, float, str]:
        """The sort key: overdue jobs first, then by score; the oldest, then the id, break ties."""
        return (not self.overdue, self.score, self.job.submitted, self.job.job_id)


class Lines:
    """Waiting jobs in lines of a kind; yields the best candidate next, and lets a line be closed."""

    def __init__(self, waiting: Iterable[WaitingJob], ranks: Ranks, history: History, now: float) -> None:
        """Line the jobs up; O(jobs) once, then O(log lines) a candidate."""
        lines: dict[Kind, list[WaitingJob]] = {}
        for job in waiting:
            lines.setdefault(job.kind, []).append(job)
        self._ranks, self._now = ranks, now
        self._rest: dict[Kind, Iterator[WaitingJob]] = {}
        self._expected: dict[Kind, float] = {}
        self._heap: list[tuple[tuple[bool, float, float, str], Candidate]] = []
        for kind, line in lines.items():
            line.sort(key=lambda job: (job.submitted, job.job_id))
            self._rest[kind] = iter(line)
            self._expected[kind] = history.predict(kind)
            self._queue_next(kind, push=False)
        heapify(self._heap)

    def _queue_next(self, kind: Kind, *, push: bool = True) -> None:
        job = next(self._rest[kind], None)
        if job is None:
            return
        candidate = self._ranks.candidate(job, self._expected[kind], self._now)
        entry = (candidate.order, candidate)
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
        _, candidate = heappop(self._heap)
        self._queue_next(candidate.job.kind)

    def close(self) -> None:
        """Nothing more of the best candidate's line can be served."""
        heappop(self._heap)
