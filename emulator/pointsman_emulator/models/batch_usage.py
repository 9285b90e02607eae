"""How much a share has used, older use counting less. That is documented; the shape of the decay is not."""

from __future__ import annotations

from collections import deque
from math import exp
from typing import Literal

MINIMUM_DECAY_SECONDS = 600.0
"""API:FairsharePolicy: the shortest window over which use counts."""


class UsageMeter:
    """Instances x seconds of one share, as they count now (UG:fair-share-scheduling).

    `linear`: use fades down to nothing at the end of the window. 2 instances for the last 10 s of a 600 s window give
    2 x 10 x (1 - 5/600) = 19.83. `flat`: it counts whole within the window, and is then gone: 20. `exponential`: it
    fades by a factor e in each window: 2 x 600 x (1 - exp(-10/600)) = 19.83. Without a window only current use counts.
    The integrals are exact, and each change costs O(1).
    """

    def __init__(self, window: float, start: float, curve: Literal["linear", "exponential", "flat"] = "linear") -> None:
        self.window = window
        self.in_use = 0
        self._curve = curve
        self._origin = start
        self._pieces: deque[tuple[float, float, int]] = deque()
        self._since = 0.0
        self._area = 0.0
        self._moment = 0.0
        self._faded = 0.0

    def change(self, now: float, instances: int) -> None:
        """`instances` more (or fewer) are in use from now on."""
        end = now - self._origin
        begin = self._since
        if self._curve == "exponential":
            if self.window > 0:
                kept = exp((begin - end) / self.window)
                self._faded = self._faded * kept + self.in_use * self.window * (1 - kept)
        elif self.in_use and end > begin:
            self._area += self.in_use * (end - begin)
            self._moment += self.in_use * (end * end - begin * begin) / 2
            if self._pieces and self._pieces[-1][1:] == (begin, self.in_use):
                begin = self._pieces.pop()[0]
            self._pieces.append((begin, end, self.in_use))
        self._since = end
        self.in_use += instances

    def usage(self, now: float) -> float:
        """The use as it counts now."""
        if self.window <= 0:
            return float(self.in_use)
        if now - self._origin > self._since and (self.in_use or self._faded):
            self.change(now, 0)
        if self._curve == "exponential":
            return self._faded
        end = now - self._origin
        self._forget(end - self.window)
        if self._curve == "flat":
            return max(0.0, self._area)
        return max(0.0, self._area * (1 - end / self.window) + self._moment / self.window)

    def _forget(self, before: float) -> None:
        while self._pieces and self._pieces[0][0] < before:
            start, stop, instances = self._pieces.popleft()
            cut = min(stop, before)
            self._area -= instances * (cut - start)
            self._moment -= instances * (cut * cut - start * start) / 2
            if stop > before:
                self._pieces.appendleft((before, stop, instances))
                break
        if not self._pieces:
            self._area = self._moment = 0.0
