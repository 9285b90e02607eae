"""Quota shares at work: what each uses, and what they lend and borrow among themselves (UG:quota-shares)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil, floor

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
        """The head for which jobs are being preempted."""
        self.claim_number = 0
        self.head: ServiceJob | None = None
        """The job that was its first when that was last seen to change, at `head_since`."""
        self.head_since = 0.0

    def charge(self, needs: Mapping[str, int], sign: int) -> None:
        """Instances are taken (1) or given back (-1)."""
        for unit, instances in needs.items():
            self.usage[unit] = self.usage.get(unit, 0) + sign * instances


def holding(share: Share, unit: str) -> int:
    """What a share's jobs hold now."""
    return share.usage.get(unit, 0)


def staying(share: Share, unit: str) -> int:
    """What they hold, less what is being preempted."""
    return share.usage.get(unit, 0) - share.stopping.get(unit, 0)


def within(share: Share, needs: Mapping[str, int], used: Used) -> bool:
    """Whether a job would still lie within its share's own limits."""
    limits = share.value.limits
    for unit, instances in needs.items():  # noqa: SIM110 - a generator here costs the model a tenth of its speed
        if used(share, unit) + instances > limits.get(unit, 0):
            return False
    return True


@dataclass(slots=True)
class Loans:
    """What all shares of a queue together could lend of each unit, and what they use above their limits."""

    lendable: dict[str, int]
    excess: dict[str, int]

    def allow(self, share: Share, needs: Mapping[str, int], used: Used, settings: BatchSettings) -> bool:
        """Whether a job may go beyond its share's limits.

        It may if the share borrows, within its borrow limit, and if the lenders leave idle what all would then borrow.
        Of two shares of 4 that lend and borrow at 200 %, one may reach 8, not 12.
        """
        if not share.value.borrows:
            return False
        for unit, instances in needs.items():
            limit = share.value.limits.get(unit, 0)
            in_use = used(share, unit)
            above = in_use + instances - limit
            if above <= 0:
                continue
            if above > borrow_limit(share.value, unit, settings):
                return False
            others_lend = self.lendable.get(unit, 0) - max(0, limit - in_use)
            others_borrow = self.excess.get(unit, 0) - max(0, in_use - limit)
            if others_borrow + above > others_lend:
                return False
        return True


def loans(shares: Iterable[Share], environment: Environment, used: Used, settings: BatchSettings) -> Loans:
    """The state of borrowing in a queue."""
    lendable: dict[str, int] = {}
    excess: dict[str, int] = {}
    if settings.unassigned_capacity == "lendable":
        lendable.update(unassigned(shares, environment))
    for share in shares:
        lends = share.value.lends
        for unit, limit in share.value.limits.items():
            idle = limit - used(share, unit)
            if idle < 0:
                excess[unit] = excess.get(unit, 0) - idle
            elif lends:
                lendable[unit] = lendable.get(unit, 0) + idle
    return Loans(lendable, excess)


def unassigned(shares: Iterable[Share], environment: Environment) -> dict[str, int]:
    """What an environment has beyond the limits of all its shares."""
    left = dict(environment.limits)
    for share in shares:
        for unit, limit in share.value.limits.items():
            if unit in left:
                left[unit] = max(0, left[unit] - limit)
    return left


def borrow_limit(value: QuotaShare, unit: str, settings: BatchSettings) -> float:
    """How many instances of a unit a share may borrow: a per cent of its own limit (API:QuotaShareResourceSharing).

    A limit of 2 with 100 runs at most 4.
    """
    if not value.borrows:
        return 0
    if value.borrow_limit < 0:
        return float("inf")
    amount = value.limits.get(unit, 0) * value.borrow_limit / 100
    return ceil(amount) if settings.borrow_rounding == "up" else floor(amount)
