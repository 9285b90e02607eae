"""Quota shares: what one may use of its own, and what it may borrow of what others lend.

A share uses up to its own limit, by instance type. One that borrows gets more while others that lend leave theirs
unused, up to `borrow_limit` per cent of its own limit. What an owner lent comes back when it has work: Batch evicts
borrowers for it. Two shares with a limit of 4 each that may borrow 200 %: one can reach 8, since the other can lend
no more than its 4 (User Guide: sm_job_stuck_in_runnable_misconfiguration).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pointsman.queues.estimates import Kind
from pointsman.queues.jobs import BusyJob

ANY_TYPE = "NUM_INSTANCES"
Needs = Mapping[str, int]
"""Instances by type."""


class Strategy(StrEnum):
    """Whether a share lends what it leaves unused, and whether it borrows."""

    RESERVE = "RESERVE"
    LEND = "LEND"
    LEND_AND_BORROW = "LEND_AND_BORROW"


@dataclass(frozen=True, slots=True)
class QuotaShare:
    """A quota share as Batch describes it.

    `limits` are instances by type; `borrow_limit` is a percentage of them (-1: no limit). With `preempts`, a waiting
    job may evict running ones of a lower priority in the same share. `settled` is false while Batch still carries out
    a change of it, and where it is only known from an earlier look.
    """

    name: str
    arn: str
    limits: tuple[tuple[str, int], ...]
    strategy: Strategy = Strategy.RESERVE
    borrow_limit: int = -1
    preempts: bool = False
    enabled: bool = True
    settled: bool = True

    @property
    def lends(self) -> bool:
        """Whether others may use what it leaves."""
        return self.strategy is not Strategy.RESERVE

    @property
    def borrows(self) -> bool:
        """Whether it may use what others leave."""
        return self.strategy is Strategy.LEND_AND_BORROW

    def limit(self, unit: str) -> int:
        """Its own instances of this type."""
        return dict(self.limits).get(unit, 0)


def needs_of(kind: Kind) -> Needs:
    """What a job of this kind asks for, by type."""
    return dict(kind.types) if kind.types else {ANY_TYPE: kind.size}


class Rooms:
    """What the shares of one queue use, and what still fits in each."""

    def __init__(self, shares: Sequence[QuotaShare], pool: Iterable[tuple[str, int]], busy: Iterable[BusyJob]) -> None:
        """Count what the busy jobs hold; `pool` is what the service environment allows of each type."""
        self._shares = {share.name: share for share in shares}
        self._pool = dict(pool)
        self._used: dict[tuple[str, str], int] = {}
        for job in busy:
            self.take(job.share, needs_of(job.kind))

    def take(self, share: str, needs: Needs) -> None:
        """A job of this share holds these instances now."""
        for unit, count in needs.items():
            self._used[share, unit] = self._used.get((share, unit), 0) + count

    def give(self, share: str, needs: Needs) -> None:
        """A job of this share holds these instances no longer."""
        self.take(share, {unit: -count for unit, count in needs.items()})

    def used(self, share: str, unit: str) -> int:
        """Instances of this type that the share's jobs hold."""
        return self._used.get((share, unit), 0)

    def free(self, unit: str) -> int:
        """Instances of this type that nobody holds."""
        return self._pool.get(unit, 0) - sum(used for (_, each), used in self._used.items() if each == unit)

    def room(self, share: str, unit: str) -> int:
        """Instances of this type that a job of the share could start on without anybody being evicted for it."""
        one = self._shares.get(share)
        if one is None:
            return 0
        own = max(0, one.limit(unit) - self.used(share, unit))
        if one.lends:  # what of all that is lent out may be its own has to be taken back first
            own = max(0, min(own, self._lendable(unit) - self._borrowed(unit)))
        return max(0, min(self.free(unit), own + self._borrowable(one, unit)))

    def _lendable(self, unit: str) -> int:
        """What those that lend have not used of their own."""
        return sum(max(0, s.limit(unit) - self.used(s.name, unit)) for s in self._shares.values() if s.lends)

    def _borrowed(self, unit: str) -> int:
        return sum(self._over(share, unit) for share in self._shares.values())

    def _over(self, share: QuotaShare, unit: str) -> int:
        return max(0, self.used(share.name, unit) - share.limit(unit))

    def _borrowable(self, share: QuotaShare, unit: str) -> int:
        if not share.borrows:
            return 0
        own = max(0, share.limit(unit) - self.used(share.name, unit))
        left = self._lendable(unit) - own - self._borrowed(unit)
        if share.borrow_limit >= 0:
            left = min(left, share.limit(unit) * share.borrow_limit // 100 - self._over(share, unit))
        return max(0, left)

    def fits(self, share: str, needs: Needs) -> bool:
        """Whether a job of the share could start on this now, nobody being evicted for it."""
        return all(count <= self.room(share, unit) for unit, count in needs.items())

    def can_ever(self, share: str, needs: Needs) -> bool:
        """Whether the share could have this much at all, with everything that others may lend unused."""
        one = self._shares.get(share)
        if one is None:
            return False
        for unit, count in needs.items():
            most = one.limit(unit)
            if one.borrows:
                lent = sum(s.limit(unit) for s in self._shares.values() if s.lends and s.name != share)
                allowed = lent if one.borrow_limit < 0 else one.limit(unit) * one.borrow_limit // 100
                most += min(lent, allowed)
            if count > min(most, self._pool.get(unit, 0)):
                return False
        return True

    def borrowed(self, share: str, kind: Kind) -> bool:
        """Whether a job of this kind could only have run in the share on what it had borrowed."""
        one = self._shares.get(share)
        return one is not None and any(
            self.used(share, unit) + count > one.limit(unit) for unit, count in needs_of(kind).items()
        )

    def shared(self, share: str) -> bool:
        """Whether jobs of other shares may take what is free for this one before its own do."""
        one = self._shares[share]
        asked = {unit: sum(each.limit(unit) for each in self._shares.values()) for unit, _ in one.limits}
        return one.lends or any(total > self._pool.get(unit, 0) for unit, total in asked.items())

    def borrowing(self, share: str) -> bool:
        """Whether the share's jobs hold more than is its own, so that Batch may take it back."""
        one = self._shares[share]
        return any(self._over(one, unit) for name, unit in self._used if name == share)

    def without(self, share: str, jobs: Iterable[BusyJob]) -> "Rooms":
        """The same once these jobs of the share hold nothing."""
        other = Rooms((*self._shares.values(),), self._pool.items(), ())
        other._used = dict(self._used)
        for job in jobs:
            other.give(share, needs_of(job.kind))
        return other
