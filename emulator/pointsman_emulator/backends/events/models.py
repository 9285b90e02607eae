"""The EventBridge backend."""

from __future__ import annotations

from typing import Any, ClassVar

from moto.events.models import EventsBackend, Rule, events_backends

from pointsman_emulator.backends.bound import Bound
from pointsman_emulator.bus import Bus


class EmulatorEventsBackend(Bound, EventsBackend):
    """moto's backend, whose events go by the emulator's bus, and whose schedules tick."""

    home = events_backends
    world: ClassVar[Bus | None] = None

    def put_events(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Put up to ten events (API:PutEvents)."""
        if self.world is None or len(events) > 10:
            return super().put_events(events)  # which refuses them in AWS's words
        return self.world.put_entries(self, events)

    def put_rule(self, *args: Any, **kwargs: Any) -> Rule:
        """Put a rule; a schedule begins to tick."""
        rule = super().put_rule(*args, **kwargs)
        if self.world is not None:
            self.world.schedule(self)
        return rule
