"""What sets single jobs and classes apart from the usual order, found once a pass.

A person's pin goes before everything. A job that must start soon to meet its deadline is due, as one that has waited
too long is. Last go what can never fit and what fails again and again. A class that holds its entitlement of the pool
no longer jumps; one that is at its ceiling gets no more.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from pointsman.queues.estimates import Kind
from pointsman.queues.jobs import Due, WaitingJob
from pointsman.queues.pins import PinKind
from pointsman.queues.policy import Policy
from pointsman.queues.quota import Rooms, needs_of
from pointsman.queues.reasons import Reason, Tell, Told, hours, named
from pointsman.queues.view import QueueView

NEAR = 3600.0  # seconds before its latest start from which a job with a deadline goes first
CRASHES = 3  # times in a row that a job, or the newest jobs of a kind, failed soon before they go last


class Tier(IntEnum):
    """What counts before any score; the lower goes first."""

    FIRST = 0
    DUE = 1
    USUAL = 2
    LAST = 3


@dataclass(frozen=True, slots=True)
class Why:
    """Why a job goes first: the reason of its move, and the sentence."""

    reason: Reason
    sentence: str


@dataclass(frozen=True, slots=True)
class Cases:
    """`tiers` and `whys` by job, `told` of jobs; by class, `rooms` are instances that it may still be given.

    `satisfied` classes hold their entitlement: no head start, no place held, no eviction. A class without a ceiling has
    no entry in `rooms`. `next_change` is when the same facts make other cases.
    """

    tiers: Mapping[str, Tier] = field(default_factory=dict)
    whys: Mapping[str, Why] = field(default_factory=dict)
    told: tuple[Told, ...] = ()
    satisfied: frozenset[str] = frozenset()
    rooms: Mapping[str, int] = field(default_factory=dict)
    next_change: float = float("inf")


def cases_of(view: QueueView, policy: Policy) -> Cases:
    """What is special now, under the policy as the open windows make it."""
    held: dict[str, int] = {}
    for busy in view.busy:
        held[busy.kind.job_class] = held.get(busy.kind.job_class, 0) + busy.kind.size
    parts = [c for c in policy.classes if c.entitlement is not None or c.ceiling is not None]
    found = _Finding(view)
    for job in found.special(view):
        found.look(job)
    return Cases(
        tiers=found.tiers,
        whys=found.whys,
        told=tuple(sorted(found.told, key=lambda told: (told.what, told.job_id))),
        satisfied=frozenset(
            c.name for c in parts if c.entitlement and held.get(c.name, 0) >= c.entitlement * view.capacity
        ),
        rooms={c.name: max(0, int(c.ceiling * view.capacity + 1e-9) - held.get(c.name, 0)) for c in parts if c.ceiling},
        next_change=found.next_change,
    )


class _Finding:
    """The cases of single jobs, as they are found."""

    def __init__(self, view: QueueView) -> None:
        self._now, self._history, self._capacity = view.now, view.history, view.capacity
        self._rooms = Rooms(view.quota_shares, view.pool, ()) if view.quota_shares else None
        self._never: dict[tuple[str, Kind], bool] = {}
        self._pins = {pin.job_id: pin for pin in view.pins if pin.active(view.now)}
        self._looping: dict[Kind, bool] = {}
        self.tiers: dict[str, Tier] = {}
        self.whys: dict[str, Why] = {}
        self.told: list[Told] = []
        self.next_change = min((pin.until for pin in self._pins.values()), default=float("inf"))

    def special(self, view: QueueView) -> Iterator[WaitingJob]:
        """The jobs that may be a case; a queue has many that are not, so that this is cheap."""
        capacity, pins, crashes, shares = view.capacity, self._pins, view.history.crashes, self._rooms is not None
        for job in view.waiting:
            kind = job.kind
            if (
                job.due is not None
                or kind.size > capacity
                or (shares and self._cannot(job))
                or job.crashes >= CRASHES
                or (pins and job.job_id in pins)
                or (crashes and self._loops(kind))
            ):
                yield job

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
        if self._cannot(job):
            self.tiers[job.job_id] = Tier.LAST
            bound = f"share {job.share} may not have so much" if self._rooms else f"the queue may use {self._capacity}"
            self._tell(Tell.CANNOT_FIT, job, f"{named(job)} can never start: {bound}. {_owner(job)}")
        elif job.crashes >= CRASHES or self._loops(job.kind):
            self.tiers[job.job_id] = Tier.LAST
            own = f"its last {job.crashes} attempts" if job.crashes >= CRASHES else "the newest jobs of its kind"
            self._tell(Tell.CRASH_LOOP, job, f"{named(job)} goes last: {own} failed within minutes. {_owner(job)}")
        pin = self._pins.get(job.job_id)
        if pin is not None and not job.foreign:
            first = pin.kind is PinKind.FIRST
            self.tiers[job.job_id] = Tier.FIRST if first else Tier.LAST
            if first:
                text = f"{named(job)} was put first by {pin.by}, for another {hours(pin.until - self._now)}."
                self.whys[job.job_id] = Why(Reason.PINNED, text)

    def _deadline(self, job: WaitingJob, due: Due) -> None:
        if due.at is None:
            text = f"{named(job)} names {due.unread[:80]!r} as its deadline, which is no time: it counts as none."
            self._tell(Tell.UNREADABLE, job, text)
            return
        longest = self._history.careful(job.kind)
        near = due.at - longest - NEAR
        left = due.at - self._now
        if self._now < near:
            self.next_change = min(self.next_change, near)
            return
        if left <= 0:
            self._tell(Tell.MISSED, job, f"{named(job)} has missed its deadline by {hours(-left)}. {_owner(job)}")
            return
        self.next_change = min(self.next_change, due.at)
        self.tiers[job.job_id] = Tier.DUE
        enough = f"must start within {hours(left - longest)}" if left > longest else "is late"
        text = f"{named(job)} {enough}: it is due in {hours(left)}, and such jobs take up to {hours(longest)}."
        self.whys[job.job_id] = Why(Reason.DEADLINE, f"{text} It goes first.")
        self._tell(Tell.AT_RISK, job, text)

    def _tell(self, what: Tell, job: WaitingJob, sentence: str) -> None:
        self.told.append(Told(what, job.job_id, job.name, job.kind.job_class, sentence))


def _owner(job: WaitingJob) -> str:
    return f"Its owner is {job.kind.team}." if job.kind.team else "It names no owner."
