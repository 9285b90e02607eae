"""What the operations on every kind of Batch resource share: the records, the model, and the time that changes take."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from pointsman_emulator.backends.batch.records import VALID, Record
from pointsman_emulator.clock import Clock
from pointsman_emulator.models.batch import BatchModel, BatchSettings


class Resources:
    """Records by ARN, and the changes that are under way.

    A change is in effect at once; for `resource_delay` seconds more its resource is CREATING, UPDATING or DELETING, and
    takes no other change (AWS's own samples wait for VALID after each).
    """

    settings: BatchSettings
    model: BatchModel
    clock: Clock | None
    environments: dict[str, Record]
    policies: dict[str, Record]
    queues: dict[str, Record]
    shares: dict[str, Record]

    def __init__(self) -> None:
        self.environments, self.policies, self.queues, self.shares = {}, {}, {}, {}
        self._under_way: list[tuple[float, int, Callable[[], object]]] = []
        self._sequence = count()

    def begin(self, record: Record, status: str, end: Callable[[], object] | None = None) -> None:
        """Put a resource into a passing status; at its end it is VALID, or `end` is called."""
        record.status = status

        def finish() -> None:
            record.status = VALID
            if end is not None:
                end()

        if not self.settings.resource_delay or self.clock is None:
            finish()
            return
        due = self.clock.now + self.settings.resource_delay
        self._under_way.append((due, next(self._sequence), finish))
        self.clock.at(due, self.finish_changes)

    def finish_changes(self) -> None:
        """End the changes whose time has come."""
        if self.clock is None:
            return
        while self._under_way and self._under_way[0][0] <= self.clock.now:
            self._under_way.pop(0)[2]()

    def wait(self) -> None:
        """Let the time pass that the changes under way need, as CloudFormation does after each."""
        if self._under_way and self.clock is not None:
            self.clock.sleep(self._under_way[-1][0] - self.clock.now)
            self.finish_changes()
