"""Quota shares at work: what each uses, and what they lend and borrow among themselves (UG:quota-shares)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pointsman_emulator.models.batch_environment import Environment
from pointsman_emulator.models.batch_jobs import ServiceJob
from pointsman_emulator.models.batch_line import WaitingLine
from pointsman_emulator.models.batch_policies import QuotaShare
from pointsman_emulator.models.batch_values import BatchSettings

Used = Callable[["Share", str], int]
"""Instances of a unit that count as used by a share."""


class Share:
    """One quota share at work."""

    def __init__(self, name: str, value: QuotaShare, *, by_size: bool) -> None:
        self.name = name
        self.value = value
        self.line = WaitingLine(by_size=by_size)
        self.usage: dict[str, int] = {}
        self.stopping: dict[str, int] = {}
        """Those of `usage` whose jobs are being preempted."""
        self.evictable: list[tuple[tuple[float, ...], ServiceJob]] = []
        """Jobs that hold instances and are not being preempted, the first victim first."""
        self.priorities: list[int] = []
        """Their priorities, sorted."""
        self.claim: ServiceJob | None = None
        """The head for which `victims` are being preempted, or which waits for what others' victims leave over."""
        self.victims: list[ServiceJob] = []
        self.head: ServiceJob | None = None
        """The job that was its first when that was last seen to change, at `head_since`."""
        self.head_since = 0.0

    def charge(self, needs: Mapping[str, int], sign: int) -> None:
        """Instances are taken (1) or given back (-1)."""
        for unit, instances in needs.items():
            self.usage[unit] = self.usage.get(unit, 0) + sign * instances


def holding(share: Share, unit: str) -> int:
    """What a share's jobs hold now, and what the job for which others are being preempted will."""
    return share.usage.get(unit, 0) + (share.claim.needs.get(unit, 0) if share.claim else 0)


def staying(share: Share, unit: str) -> int:
    """The same, when the jobs that are being preempted have stopped."""
    return holding(share, unit) - share.stopping.get(unit, 0)


def within(share: Share, needs: Mapping[str, int], usage: Mapping[str, int]) -> bool:
    """Whether a job lies within its share's own limits beside this usage."""
    limits = share.value.limits
    for unit, instances in needs.items():  # noqa: SIM110 - a generator here costs the model a tenth of its speed
        if usage.get(unit, 0) + instances > limits.get(unit, 0):
            return False
    return True


class Loans:
    """What shares lend: of each unit, what lenders leave idle, and what others use above their limits."""

    def __init__(self, shares: Iterable[Share], environment: Environment, used: Used, settings: BatchSettings) -> None:
        self._used = used
        self._settings = settings
        self._lent: dict[str, int] = {}
        self._idle: dict[str, int] = {}
        nobodys = dict(environment.limits)
        for share in shares:
            limits = share.value.limits
            for unit in limits if share.usage.keys() <= limits.keys() else {**limits, **share.usage}:
                limit = limits.get(unit, 0)
                nobodys[unit] = nobodys.get(unit, 0) - limit
                idle = limit - used(share, unit)
                if idle < 0:
                    self._lent[unit] = self._lent.get(unit, 0) - idle
                elif share.value.lends:
                    self._idle[unit] = self._idle.get(unit, 0) + idle
        self._nobodys = {unit: left for unit, left in nobodys.items() if left > 0}

    def allow(self, share: Share, needs: Mapping[str, int], usage: Mapping[str, int]) -> bool:
        """Whether a job may start beside what its share uses.

        Above its own limits a share must borrow, within its borrow limit; and the lenders' idle instances must cover
        what all shares then use above theirs, so a lender that takes its own back needs them returned first. Of two
        shares of 4 that lend and borrow at 200 %, one may reach 8, not 12.
        """
        value = share.value
        for unit, instances in needs.items():
            limit = value.limits.get(unit, 0)
            counted, after = self._used(share, unit), usage.get(unit, 0) + instances
            lent = self._lent.get(unit, 0) - max(0, counted - limit)
            idle = self._idle.get(unit, 0) - (max(0, limit - counted) if value.lends else 0)
            if after > limit:
                if after - limit > borrow_limit(value, unit, self._settings):
                    return False
                if self._settings.unassigned_capacity == "lendable":
                    idle += self._nobodys.get(unit, 0)
                if lent + after - limit > idle:
                    return False
            elif value.lends and lent > idle + limit - after + self._nobodys.get(unit, 0):
                return False
        return True


def borrow_limit(value: QuotaShare, unit: str, settings: BatchSettings) -> float:
    """How many instances of a unit a share may borrow: a per cent of its own limit (API:QuotaShareResourceSharing).

    A limit of 2 with 100 runs at most 4. Of a type that it has no limit for it borrows nothing.
    """
    limit = value.limits.get(unit, 0)
    if not value.borrows or not limit:
        return 0
    if value.borrow_limit < 0:
        return float("inf")
    up = 99 if settings.borrow_rounding == "up" else 0
    return (limit * value.borrow_limit + up) // 100


def lendable_to(
    borrower: Share, shares: Iterable[Share], environment: Environment, unit: str, *, all_idle: bool
) -> int:
    """What a share could borrow of a unit at most, if nothing were in use; `all_idle`: also what no share owns."""
    lent, owned = 0, 0
    for share in shares:
        limit = share.value.limits.get(unit, 0)
        owned += limit
        if share is not borrower and share.value.lends:
            lent += limit
    return lent + (max(0, environment.limits.get(unit, 0) - owned) if all_idle else 0)
