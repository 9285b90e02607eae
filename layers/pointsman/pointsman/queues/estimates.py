"""How long a job will run, learned from finished jobs alike; never from the future.

A job is alike in team, name pattern, size and class; where fewer than `ENOUGH` such jobs have finished, the
next wider circle answers. Prediction by the median of the last finished jobs of the same kind is as good as
within a few per cent of knowing the run times for ordering a queue (Alibaba PAI, NSDI'22; Helios, SC'21).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil
from statistics import median

KEPT = 20  # durations remembered for each circle
ENOUGH = 3  # finished jobs before a circle is trusted
UNKNOWN_SECONDS = 3600.0  # assumed when nothing has finished yet
CIRCLES_KEPT = 10_000  # bounds the stored history of one queue
CRASHES_KEPT = 500  # kinds whose last jobs failed soon
CAREFUL = 0.9  # the part of the jobs alike that take no longer than a careful estimate says

_VARYING = re.compile(r"[0-9a-f]{8,}|[0-9]+")


def name_pattern(name: str) -> str:
    """The name with its counters, dates and hashes taken out.

    >>> name_pattern("sweep-lr-0.001-trial-17")
    'sweep-lr-#.#-trial-#'
    """
    return _VARYING.sub("#", name)


@dataclass(frozen=True, slots=True)
class Kind:
    """What makes two jobs alike; `size` is in instances.

    `types` says how many of each instance type it is, where the queue counts instances by type.
    """

    team: str
    pattern: str
    size: int
    job_class: str
    types: tuple[tuple[str, int], ...] = ()

    def circles(self) -> tuple[str, ...]:
        """Keys of the circles that this kind belongs to, the narrowest first."""
        return (
            f"{self.team}|{self.pattern}|{self.size}|{self.job_class}",
            f"{self.team}||{self.size}|{self.job_class}",
            f"||{self.size}|{self.job_class}",
            f"|||{self.job_class}",
        )


@dataclass(frozen=True, slots=True)
class Finished:
    """A job that has ended: what kind it was, how many seconds it ran, and whether it failed soon (`crashed`)."""

    kind: Kind
    seconds: float
    crashed: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """The last durations (seconds, the newest last) of each circle of one queue.

    `crashes` counts, for the narrowest circles, how many of the newest jobs failed soon, one after the other.
    """

    circles: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    crashes: Mapping[str, int] = field(default_factory=dict)

    def learn(self, finished: Iterable[Finished]) -> "History":
        """A history that also knows these jobs; the circles unused for longest are forgotten first."""
        circles, crashes = dict(self.circles), dict(self.crashes)
        for job in finished:
            narrowest = job.kind.circles()[0]
            if job.crashed:
                crashes[narrowest] = crashes.pop(narrowest, 0) + 1
                continue
            crashes.pop(narrowest, None)
            for key in job.kind.circles():
                circles[key] = (*circles.pop(key, ()), job.seconds)[-KEPT:]
        for key in list(circles)[: max(0, len(circles) - CIRCLES_KEPT)]:
            del circles[key]
        for key in list(crashes)[: max(0, len(crashes) - CRASHES_KEPT)]:
            del crashes[key]
        return History(circles, crashes)

    def alike(self, kind: Kind) -> tuple[float, ...]:
        """The durations of the narrowest circle with enough of them; empty when there is none."""
        for key in kind.circles():
            known = self.circles.get(key, ())
            if len(known) >= ENOUGH:
                return known
        return ()

    def predict(self, kind: Kind) -> float:
        """Expected run time in seconds: the median of those alike, one hour when none has finished."""
        known = self.alike(kind)
        return median(known) if known else UNKNOWN_SECONDS

    def careful(self, kind: Kind) -> float:
        """The run time in seconds that nine of ten jobs alike do not exceed; one hour when none has finished.

        >>> kind = Kind("ranker", "prod-#", 1, "production")
        >>> History().learn(Finished(kind, float(s)) for s in range(1, 21)).careful(kind)
        18.0
        """
        known = sorted(self.alike(kind))
        return known[ceil(CAREFUL * len(known)) - 1] if known else UNKNOWN_SECONDS

    def crashed(self, kind: Kind) -> int:
        """How many of the newest jobs of exactly this kind failed soon, one after the other."""
        return self.crashes.get(kind.circles()[0], 0) if self.crashes else 0

    def remaining(self, kind: Kind, elapsed: float) -> float:
        """Expected seconds until a job that has run `elapsed` seconds ends.

        The median of those alike that ran longer than `elapsed`; a job that outlives them all is expected to
        run as long again, as heavy-tailed run times do.

        >>> kind = Kind("ranker", "prod-#", 1, "production")
        >>> History().learn(Finished(kind, s) for s in (60.0, 600.0, 900.0)).remaining(kind, 500.0)
        250.0
        """
        known = sorted(self.alike(kind)) or [UNKNOWN_SECONDS]
        longer = known[bisect_right(known, elapsed) :]
        return (median(longer) - elapsed) if longer else max(elapsed, 60.0)
