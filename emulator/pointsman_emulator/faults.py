"""What goes wrong between the services, seeded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Faults:
    """How EventBridge delivers. It promises at least once, in no order (UG:eb-service-event-delivery-level).

    Faults are drawn after the match, for each target: a lost delivery is no fault of the wiring.
    """

    delay: tuple[float, float] = (1.0, 10.0)
    """Seconds until an event reaches its target, uniform; unequal delays reorder."""
    duplicate: float = 0.0
    """Chance that one delivery is made twice."""
    lose: float = 0.0
    """Chance that one delivery is never made."""
    deliver: float = 1.0
    """How often each event comes: 0 never, 1 as it comes, 3 three times each; 2.5 twice, and half of them thrice."""
    schedules: bool = False
    """Whether the ticks of schedule rules suffer too."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for name in ("duplicate", "lose"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"{name} is a chance between 0 and 1, not {value}")
        if self.delay[0] < 0 or self.delay[1] < self.delay[0]:
            raise ValueError(f"delay is (least, most) seconds, not {self.delay}")
        if self.deliver < 0:
            raise ValueError(f"deliver is how often, not {self.deliver}")
