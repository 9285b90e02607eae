"""Who is preempted for whom under quota management; pure decisions.

Documented: lent capacity is reclaimed when its owner has work; inside a share a higher priority may evict lower ones if
the share allows it; jobs of a share above its limit may be taken, whatever its strategy; victims may be SCHEDULED,
STARTING or RUNNING (UG:preemption, UG:quota-shares). Whom AWS takes among them it does not say: that is a setting.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import merge

from pointsman_emulator.models.batch_environment import Environment
from pointsman_emulator.models.batch_jobs import ServiceJob
from pointsman_emulator.models.batch_shares import Loans, Share, staying, within
from pointsman_emulator.models.batch_values import BatchSettings

PREFIX = "PREEMPTION_IN_PROGRESS: "
"""How the status reason of a job begins that is being preempted (UG:batch-service-job-preemption-events)."""

_Candidate = tuple[tuple[float, ...], int, ServiceJob, Share]


def victim_key(job: ServiceJob, settings: BatchSettings, draw: float) -> tuple[float, ...]:
    """Where a job stands among possible victims, the first victim lowest; its time runs from its dispatch."""
    spared = 1.0 if settings.borrowers_first and not job.borrowed else 0.0
    dispatched = job.scheduled_at or 0.0
    match settings.victim_rule:
        case "lowest":
            return (spared, job.priority, -dispatched, job.order)
        case "longest":
            return (spared, dispatched, job.order)
        case "shortest":
            return (spared, -dispatched, job.order)
        case "random":
            return (spared, draw, job.order)


class Preemption:
    """The choice of victims for one job, at one moment; jobs that are being preempted already count as gone.

    `free` is what the environment will have left of each unit once they are.
    """

    def __init__(
        self,
        owner: Share,
        job: ServiceJob,
        shares: Iterable[Share],
        environment: Environment,
        free: Mapping[str, int],
        settings: BatchSettings,
    ) -> None:
        self._owner = owner
        self._job = job
        self._shares = list(shares)
        self._environment = environment
        self._free = dict(free)
        self._settings = settings
        self._released: dict[Share, dict[str, int]] = {}

    def reclaim(self) -> list[ServiceJob] | None:
        """Jobs of other shares above their limits that make room for one within its owner's; None: they do not."""
        before = {share: dict(released) for share, released in self._released.items()}, dict(self._free)
        if self._fits():
            return []
        picked: list[ServiceJob] = []
        others = [share for share in self._shares if share is not self._owner and self._above(share, self._job.needs)]
        for _, _, victim, share in merge(*(_candidates(share, place) for place, share in enumerate(others))):
            if not any(unit in victim.needs for unit in self._above(share, self._job.needs)):
                continue
            above = self._above(share, victim.needs)
            if self._settings.reclaim == "whole" and any(
                instances > above.get(unit, 0) for unit, instances in victim.needs.items()
            ):
                continue
            picked.append(victim)
            self._release(share, victim)
            if self._fits():
                return picked
        self._released, self._free = before
        return None

    def outrank(self, victims: Iterable[ServiceJob]) -> list[ServiceJob] | None:
        """Jobs of its own share, in the order of `victims`, that make room for a job; None: they do not.

        What its share's own limits allow, and lenders have not got back yet, is reclaimed from shares above theirs.
        """
        picked: list[ServiceJob] = []
        for victim in victims:
            if not any(unit in victim.needs for unit in self._job.needs):
                continue
            picked.append(victim)
            self._release(self._owner, victim)
            if self._fits():
                return picked
            usage = {unit: self._used(self._owner, unit) for unit in self._job.needs}
            reclaimed = self.reclaim() if within(self._owner, self._job.needs, usage) else None
            if reclaimed is not None:
                return picked + reclaimed
        return None

    def _used(self, share: Share, unit: str) -> int:
        return staying(share, unit) - self._released.get(share, {}).get(unit, 0)

    def _above(self, share: Share, units: Iterable[str]) -> dict[str, int]:
        limits = share.value.limits
        above = {unit: self._used(share, unit) - limits.get(unit, 0) for unit in units}
        return {unit: instances for unit, instances in above.items() if instances > 0}

    def _release(self, share: Share, victim: ServiceJob) -> None:
        released = self._released.setdefault(share, {})
        for unit, instances in victim.needs.items():
            released[unit] = released.get(unit, 0) + instances
            self._free[unit] = self._free.get(unit, 0) + instances

    def _fits(self) -> bool:
        needs = self._job.needs
        if any(instances > self._free.get(unit, 0) for unit, instances in needs.items()):
            return False
        usage = {unit: self._used(self._owner, unit) for unit in needs}
        standing = Loans(self._shares, self._environment, self._used, self._settings)
        return standing.allow(self._owner, needs, usage)


def _candidates(share: Share, place: int) -> Iterable[_Candidate]:
    for key, job in share.evictable:
        yield key, place, job, share
