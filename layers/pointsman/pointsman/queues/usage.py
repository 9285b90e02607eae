"""How much of the pool each class has held of late: what an entitlement is measured against.

An entitlement bounds what a class takes for itself over days, not for an hour: a burst is let through, and a class that
is most of the work all the time is not. So use is averaged, the older the less it counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp

LONG = 345_600.0  # seconds; what was that long ago counts a third (1/e) of what is now


@dataclass(frozen=True, slots=True)
class Usage:
    """By class, the part of the pool that its jobs held: at a time, and on average up to then.

    Between two looks a class is taken to have held what it held at the first. Before the first, nothing is known: what
    a class holds then stands for its average.
    """

    at: float | None = None
    held: tuple[tuple[str, float], ...] = ()
    average: tuple[tuple[str, float], ...] = ()

    def seen(self, held: Mapping[str, float], now: float) -> "Usage":
        """What is known once these parts of the pool are seen in use; a clock that went back counts no time.

        >>> Usage().seen({"production": 0.5}, 0.0).seen({}, LONG).average
        (('production', 0.5),)
        >>> [round(part, 3) for _, part in Usage().seen({"a": 1.0}, 0.0).seen({}, 0.0).seen({}, LONG).average]
        [0.368]
        """
        average = dict(held)
        if self.at is not None:
            before, lasted, kept = dict(self.average), dict(self.held), exp(-max(0.0, now - self.at) / LONG)
            average = {
                name: before.get(name, 0.0) * kept + lasted.get(name, 0.0) * (1 - kept)
                for name in sorted({*before, *lasted, *held})
            }
        return Usage(now, tuple(sorted(held.items())), tuple(sorted(average.items())))
