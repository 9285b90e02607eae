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
from pointsman_emulator.models.batch_shares import Share, loans, staying, within
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
    """The choice of victims at one moment; jobs that are being preempted already count as gone.

    `free` is what the environment will have left of each unit once they are.
    """

    def __init__(
        self, shares: Iterable[Share], environment: Environment, free: Mapping[str, int], settings: BatchSettings
    ) -> None:
        self._shares = list(shares)
        self._environment = environment
        self._free = free
        self._settings = settings

    def reclaim(
        self, owner: Share, needs: Mapping[str, int], released: Mapping[str, int] | None = None
    ) -> list[ServiceJob] | None:
        """Jobs of other shares above their limits that make room for one within its owner's; None: they do not.

        `released` is what other victims give back.
        """
        short = {}
        for unit, instances in needs.items():
            lacking = instances - self._free.get(unit, 0) - (released or {}).get(unit, 0)
            if lacking > 0:
                short[unit] = lacking
        if not short:
            return []
        over: dict[Share, dict[str, int]] = {}
        for share in self._shares:
            if share is owner:
                continue
            above = {unit: staying(share, unit) - share.value.limits.get(unit, 0) for unit in short}
            if any(excess > 0 for excess in above.values()):
                over[share] = above
        picked: list[ServiceJob] = []
        for _, _, job, share in merge(*(_candidates(share, place) for place, share in enumerate(over))):
            above = over[share]
            if not any(short.get(unit, 0) > 0 and above.get(unit, 0) > 0 for unit in job.needs):
                continue
            if self._settings.reclaim == "whole" and any(job.needs[unit] > above.get(unit, 0) for unit in job.needs):
                continue
            picked.append(job)
            for unit, instances in job.needs.items():
                above[unit] = above.get(unit, 0) - instances
                short[unit] = short.get(unit, 0) - instances
            if all(lacking <= 0 for lacking in short.values()):
                return picked
        return None

    def outrank(self, share: Share, job: ServiceJob, victims: Iterable[ServiceJob]) -> list[ServiceJob] | None:
        """Jobs of its own share, in the order of `victims`, that make room for a job; None: they do not.

        What its share's own limits allow, and the environment still lacks, is reclaimed from shares above theirs.
        """
        settings = self._settings
        released: dict[str, int] = {}
        picked: list[ServiceJob] = []

        def used(one: Share, unit: str) -> int:
            return staying(one, unit) - (released.get(unit, 0) if one is share else 0)

        for victim in victims:
            if not any(unit in victim.needs for unit in job.needs):
                continue
            picked.append(victim)
            for unit, instances in victim.needs.items():
                released[unit] = released.get(unit, 0) + instances
            if within(share, job.needs, used):
                reclaimed = self.reclaim(share, job.needs, released)
                if reclaimed is not None:
                    return picked + reclaimed
            elif self._has_room(job, released):
                after = loans(self._shares, self._environment, used, settings)
                if after.allow(share, job.needs, used, settings):
                    return picked
        return None

    def _has_room(self, job: ServiceJob, released: Mapping[str, int]) -> bool:
        return all(
            instances <= self._free.get(unit, 0) + released.get(unit, 0) for unit, instances in job.needs.items()
        )


def _candidates(share: Share, place: int) -> Iterable[_Candidate]:
    for key, job in share.evictable:
        yield key, place, job, share
