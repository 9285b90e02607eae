"""A service environment: caps on instances, and what is in use of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pointsman_emulator.models.batch_values import ANY_TYPE

if TYPE_CHECKING:
    from pointsman_emulator.models.batch_queue import JobQueue


class Environment:
    """A service environment: one cap on instances of any type, or one cap for each of some types (API:CapacityLimit).

    It is a cap, no reservation: use may exceed it after it was lowered (UG:updating-service-environments).
    """

    def __init__(self, name: str, limits: dict[str, int]) -> None:
        self.name = name
        self.limits = limits
        self.enabled = True
        self.usage: dict[str, int] = {}
        """Instances that SCHEDULED, STARTING and RUNNING jobs hold, by capacity unit."""
        self.stopping: dict[str, int] = {}
        """Those of them whose jobs are being preempted."""
        self.queues: list[JobQueue] = []
        self.dirty = False

    @property
    def by_type(self) -> bool:
        """Whether it counts by instance type, as quota management needs."""
        return ANY_TYPE not in self.limits

    def free(self, unit: str) -> int:
        """Instances of a unit that nobody holds; negative while use exceeds the cap, 0 for a unit without cap."""
        return self.limits.get(unit, 0) - self.usage.get(unit, 0)

    def charge(self, needs: Mapping[str, int], sign: int) -> None:
        """Instances are taken (1) or given back (-1)."""
        for unit, instances in needs.items():
            self.usage[unit] = self.usage.get(unit, 0) + sign * instances

    def exceeded_by(self, needs: Mapping[str, int]) -> bool:
        """Whether it could not hold this even when it is empty; a unit without cap does not count."""
        return any(unit in self.limits and instances > self.limits[unit] for unit, instances in needs.items())
