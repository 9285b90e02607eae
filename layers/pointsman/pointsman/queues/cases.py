"""What sets single jobs and classes apart from the usual order, found once a pass.

A person's pin goes before everything. A job that must start soon to meet its deadline is due, as one that has waited
too long is. Last go what can never fit and what fails again and again. A class that holds its entitlement of the pool,
now and on average, no longer jumps; one that is at its ceiling gets no more.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import nsmallest

from pointsman.queues.estimates import Kind
from pointsman.queues.jobs import SOON, BusyJob, Due, WaitingJob
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.policy import Policy
from pointsman.queues.quota import Rooms, needs_of
from pointsman.queues.reasons import Reason, Tell, Told, hours, named
from pointsman.queues.usage import Usage
from pointsman.queues.view import QueueView
from pointsman.queues.waiting import Jobs, Waiting

NEAR = 3600.0  # seconds before its latest start from which a job with a deadline goes first
TOLD_AT_MOST = 100  # jobs of each kind of news
ROUNDING = 1e-9  # of a part of the pool
CRASHES = 3  # times in a row that a job, or the newest jobs of a kind, failed soon before they go last


class Tier(IntEnum):
    """What counts before any score; the lower goes first."""

    FIRST = 0
    DUE = 1
    USUAL = 2
    LAST = 3


@dataclass(frozen=True, slots=True)
class Why:
    """Why a job goes first: a person's pin, or its deadline, `left` seconds away; jobs alike take up to `longest`."""

    job: WaitingJob
    left: float
    longest: float = 0.0
    pin: Pin | None = None

    @property
    def reason(self) -> Reason:
        """The reason of the job's move."""
        return Reason.PINNED if self.pin else Reason.DEADLINE

    @property
    def sentence(self) -> str:
        """What an operator reads."""
        if self.pin:
            return f"{named(self.job)} was put first by {self.pin.by}, for another {hours(self.left)}."
        return f"{at_risk(self)} It goes first."


def at_risk(why: Why) -> str:
    """How near a job's deadline is."""
    start = why.left - why.longest
    soon = f"must start within {hours(start)}" if start > 0 else "is late"
    return f"{named(why.job)} {soon}: it is due in {hours(why.left)}, and such jobs take up to {hours(why.longest)}."


@dataclass(frozen=True, slots=True)
class Cases:
    """`tiers` and `whys` by job; `told` of the oldest jobs of each kind of news.

    By class, `rooms` are instances that it may still be given; one without a ceiling has no entry. `satisfied` classes
    hold their entitlement: no head start, no place held, no eviction. `next_change` is when the same facts make other
    cases; `usage` is what the classes hold of the pool, and held.
    """

    tiers: Mapping[str, Tier] = field(default_factory=dict)
    whys: Mapping[str, Why] = field(default_factory=dict)
    told: tuple[Told, ...] = ()
    satisfied: frozenset[str] = frozenset()
    rooms: Mapping[str, int] = field(default_factory=dict)
    next_change: float = float("inf")
    usage: Usage = field(default_factory=Usage)


def cases_of(view: QueueView, policy: Policy) -> Cases:
    """What is special now, under the policy as the open windows make it."""
    parts = [c for c in policy.classes if c.entitlement is not None or c.ceiling is not None]
    held, whole = view.held, max(1, view.capacity)
    usage = view.past.seen({name: count / whole for name, count in held.items()}, view.now)
    found = _Finding(view)
    for job in found.special(view.lines):
        found.look(job)
    return Cases(
        tiers=found.tiers,
        whys=found.whys,
        told=found.all_told(),
        satisfied=_satisfied(usage, policy),
        rooms={c.name: max(0, int(c.ceiling * view.capacity + 1e-9) - held.get(c.name, 0)) for c in parts if c.ceiling},
        next_change=found.next_change,
        usage=usage,
    )


def _satisfied(usage: Usage, policy: Policy) -> frozenset[str]:
    """The classes that hold their entitlement of the pool, now and on average of late."""
    held, average = dict(usage.held), dict(usage.average)
    return frozenset(
        c.name
        for c in policy.classes
        if c.entitlement and min(held.get(c.name, 0.0), average.get(c.name, 0.0)) >= c.entitlement - ROUNDING
    )


def failing(view: QueueView) -> list[BusyJob]:
    """Jobs that we put forward, and that are being tried once more after they failed soon again and again.

    Batch starts such a job anew the moment it fails: while it keeps its priority nothing behind it gets a turn. One
    that has run for a while this time is left alone, and one that a person put first.
    """
    if not view.waiting:
        return []
    first = {pin.job_id for pin in view.pins if pin.active(view.now) and pin.kind is PinKind.FIRST}
    return [
        job
        for job in view.busy
        if job.priority > job.submitted_priority
        and (job.crashes >= CRASHES or view.history.crashed(job.kind) >= CRASHES)
        and (job.started is None or view.now - job.started < SOON)
        and job.job_id not in first
    ]


class _Finding:
    """The cases of single jobs, as they are found."""

    def __init__(self, view: QueueView) -> None:
        self._now, self._history = view.now, view.history
        self._capacity = view.capacity if view.capacity or view.movable else float("inf")  # of containers: not known
        self._rooms = Rooms(view.quota_shares, view.pool, ()) if view.quota_shares else None
        self._never: dict[tuple[str, Kind], bool] = {}
        self._pins = {pin.job_id: pin for pin in view.pins if pin.active(view.now)}
        self._looping: dict[Kind, bool] = {}
        self.tiers: dict[str, Tier] = {}
        self.whys: dict[str, Why] = {}
        self._longest: dict[Kind, float] = {}
        self._told: dict[Tell, list[WaitingJob]] = {}
        self.next_change = min((pin.until for pin in self._pins.values()), default=float("inf"))

    def special(self, waiting: Waiting) -> Iterable[WaitingJob]:
        """The jobs that may be a case: lines that go last as a whole, and what stands out in the others."""
        special: Jobs = {}
        crashes, typed, capacity = self._history.crashes, self._rooms is not None, self._capacity
        for line in waiting.lines:
            never = self._cannot(line.jobs[0]) if typed else line.kind.size > capacity
            if never or (crashes and self._loops(line.kind)):
                special.update((job.job_id, job) for job in line.jobs)
                continue
            if line.due:
                special |= line.due
            if line.crashed:
                special.update((job.job_id, job) for job in line.crashed.values() if job.crashes >= CRASHES)
        special.update((job.job_id, job) for job in waiting.found(self._pins))
        return special.values()

    def _cannot(self, job: WaitingJob) -> bool:
        """Whether the job asks for more than its queue, or its quota share, may ever have."""
        if self._rooms is None:
            return job.kind.size > self._capacity
        known = self._never.get((job.share, job.kind))
        if known is None:
            known = not self._rooms.can_ever(job.share, needs_of(job.kind))
            self._never[job.share, job.kind] = known
        return known

    def _loops(self, kind: Kind) -> bool:
        known = self._looping.get(kind)
        if known is None:
            known = self._looping[kind] = self._history.crashed(kind) >= CRASHES
        return known

    def look(self, job: WaitingJob) -> None:
        """What is special about the job; what a person says comes last, and counts."""
        if job.due is not None:
            self._deadline(job, job.due)
        if self._cannot(job) or job.crashes >= CRASHES or self._loops(job.kind):
            self._last(job)
            self._tell(Tell.CANNOT_FIT if self._cannot(job) else Tell.CRASH_LOOP, job)
        pin = self._pins.get(job.job_id)
        if pin is None or job.foreign:
            return
        if pin.kind is PinKind.LAST:
            self._last(job)
            return
        self.tiers[job.job_id] = Tier.FIRST
        self.whys[job.job_id] = Why(job, pin.until - self._now, pin=pin)

    def _last(self, job: WaitingJob) -> None:
        self.tiers[job.job_id] = Tier.LAST
        self.whys.pop(job.job_id, None)

    def _deadline(self, job: WaitingJob, due: Due) -> None:
        if due.at is None:
            self._tell(Tell.UNREADABLE, job)
            return
        longest = self._longest.get(job.kind)
        if longest is None:
            longest = self._longest[job.kind] = self._history.careful(job.kind)
        left = due.at - self._now
        if left > longest + NEAR:
            self.next_change = min(self.next_change, due.at - longest - NEAR)
            return
        self._tell(Tell.AT_RISK if left > 0 else Tell.MISSED, job)
        if left > 0:
            self.next_change = min(self.next_change, due.at)
            self.tiers[job.job_id] = Tier.DUE
            self.whys[job.job_id] = Why(job, left, longest)

    def _tell(self, what: Tell, job: WaitingJob) -> None:
        self._told.setdefault(what, []).append(job)

    def all_told(self) -> tuple[Told, ...]:
        """What people should know, of each kind the oldest jobs."""
        return tuple(
            Told(what, job.job_id, job.name, job.kind.job_class, self._sentence(what, job))
            for what, jobs in sorted(self._told.items())
            for job in nsmallest(TOLD_AT_MOST, jobs, key=lambda job: (job.submitted, job.job_id))
        )

    def _sentence(self, what: Tell, job: WaitingJob) -> str:
        owner = f"Its owner is {job.kind.team}." if job.kind.team else "It names no owner."
        left = (job.due.at if job.due and job.due.at else 0.0) - self._now
        if what is Tell.AT_RISK:
            return at_risk(Why(job, left, self._longest[job.kind]))
        if what is Tell.MISSED:
            return f"{named(job)} has missed its deadline by {hours(-left)}. {owner}"
        if what is Tell.UNREADABLE:
            unread = job.due.unread[:80] if job.due else ""
            return f"{named(job)} names {unread!r} as its deadline, which is no time: it counts as none. {owner}"
        if what is Tell.CANNOT_FIT:
            bound = f"share {job.share} may not have so much" if self._rooms else f"the queue may use {self._capacity}"
            return f"{named(job)} can never start: {bound}. {owner}"
        own = f"its last {job.crashes} attempts" if job.crashes >= CRASHES else "the newest jobs of its kind"
        return f"{named(job)} goes last: {own} failed within minutes. {owner}"
