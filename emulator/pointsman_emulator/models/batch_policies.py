"""What orders a queue, and what a job's exit leads to: fair share, quota shares, rules of retry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from pointsman_emulator.models.batch_values import ANY_TYPE, BatchRefusedError

HIGHEST_SHARES = 20
"""Quota shares of one queue (UG:service_limits)."""
HIGHEST_LIMITS = 5
"""Capacity units of a quota share, or of an environment under quota management (UG:quota-shares)."""


@dataclass(frozen=True, slots=True)
class FairShare:
    """A fair-share policy. A LOWER weight earns MORE (API:ShareAttributes); an id not listed weighs 1.0."""

    weights: dict[str, float] = field(default_factory=dict)
    """By share id; one that ends in `*` is a prefix, and the shares under it split its weight."""
    decay_seconds: float = 0.0
    compute_reservation: float = 0.0
    """Per cent: (reservation / 100) ^ active shares is held back for shares that are absent (API:FairsharePolicy)."""

    def entry_of(self, share: str) -> str | None:
        """The entry of the policy that names this share, exactly or by its prefix; None for a share not listed."""
        if share in self.weights:
            return share
        for pattern in self.weights:
            if pattern.endswith("*") and share.startswith(pattern[:-1]):
                return pattern
        return None

    def weight_of(self, share: str, members: int = 1) -> float:
        """The weight of one share of the `members` under its entry. Sharing a prefix makes each of them weaker.

        With {"team*": 1.0} and two shares of that prefix, each weighs 2.0.
        """
        entry = self.entry_of(share)
        if entry is None:
            return 1.0
        return self.weights[entry] * (max(1, members) if entry != share else 1)


@dataclass(frozen=True, slots=True)
class QuotaSharePolicy:
    """A quota-share policy. FIFO is the only strategy that the service has (API:QuotaSharePolicy)."""

    idle_assignment: Literal["FIFO"] = "FIFO"


@dataclass(frozen=True, slots=True)
class QuotaShare:
    """One quota share: what it may use by instance type, and what it lends and borrows (UG:quota-shares)."""

    limits: Mapping[str, int]
    """Instances by type; 1 to 5 types, at least 1 of each."""
    strategy: Literal["RESERVE", "LEND", "LEND_AND_BORROW"] = "RESERVE"
    borrow_limit: int = -1
    """Per cent of its own limit, of each type; -1 is without limit. With LEND_AND_BORROW only."""
    in_share_preemption: bool = False
    enabled: bool = True

    def check(self) -> None:
        """Raise BatchRefusedError unless the service would take these values."""
        check_limits(self.limits)
        if self.borrow_limit < -1:
            raise BatchRefusedError("borrowLimit must be -1 or more")
        if self.borrow_limit != -1 and self.strategy != "LEND_AND_BORROW":
            raise BatchRefusedError("borrowLimit can only be specified with the strategy LEND_AND_BORROW")

    @property
    def lends(self) -> bool:
        """Whether others may use what it leaves idle."""
        return self.strategy != "RESERVE"

    @property
    def borrows(self) -> bool:
        """Whether it may use what others leave idle."""
        return self.strategy == "LEND_AND_BORROW"


Policy = FairShare | QuotaSharePolicy


def check_limits(limits: Mapping[str, int]) -> None:
    """Raise BatchRefusedError unless these are limits by instance type that quota management takes."""
    if not 1 <= len(limits) <= HIGHEST_LIMITS:
        raise BatchRefusedError(f"Between 1 and {HIGHEST_LIMITS} capacityLimits are allowed")
    if ANY_TYPE in limits:
        raise BatchRefusedError(f"Quota management needs instance types as capacity units, not {ANY_TYPE}")
    if any(limit < 1 for limit in limits.values()):
        raise BatchRefusedError("maxCapacity must be at least 1")


@dataclass(frozen=True, slots=True)
class RetryRule:
    """A rule of evaluateOnExit: what to do after an exit whose status reason matches (API:ServiceJobEvaluateOnExit)."""

    action: str
    """RETRY or EXIT, in any case: the documentation's samples differ in that."""
    reason: str
    """A pattern in which `*` stands for any text."""

    def matches(self, reason: str) -> bool:
        """Whether an exit with this reason falls under the rule."""
        return _pattern(self.reason).fullmatch(reason) is not None

    @property
    def retries(self) -> bool:
        """Whether the job is tried again."""
        return self.action.upper() == "RETRY"


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in glob.split("*")), re.DOTALL)
