"""How long a job will run, learned from finished jobs alike; never from the future.

A job is alike in team, name pattern, size and class; where fewer than `ENOUGH` such jobs have finished, the
next wider circle answers. Prediction by the median of the last finished jobs of the same kind is as good as
within a few per cent of knowing the run times for ordering a queue (Alibaba PAI, NSDI'22; Helios, SC'21).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

KEPT = 20  # durations remembered for each circle
ENOUGH = 3  # finished jobs before a circle is trusted
UNKNOWN_SECONDS = 3600.0  # assumed when nothing has finished yet
CIRCLES_KEPT = 10_000  # bounds the stored history of one queue

_VARYING = re.compile(r"[0-9a-f]{8,}|[0-9]+")


def name_pattern(name: str) -> str:
    """The name with its counters, dates and hashes taken out.

    >>> name_pattern("sweep-lr-0.001-trial-17")
    'sweep-lr-#.#-trial-#'
    """
    return _VARYING.sub("#", name)


@dataclass(frozen=True, slots=True)
class Kind:
    """What makes two jobs alike; `size` is in instances."""

    team: str
    pattern: str
    size: int
    job_class: str

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
    """A job that ran to its end: what kind it was and how many seconds it ran."""

    kind: Kind
    seconds: float


@dataclass(frozen=True, slots=True)
class History:
    """The last durations (seconds, the newest last) of each circle of one queue."""

    circles: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def learn(self, finished: Iterable[Finished]) -> "History":
        """A history that also knows these jobs; the circles unused for longest are forgotten first."""
        circles = dict(self.circles)
        for job in finished:
            for key in job.kind.circles():
                circles[key] = (*circles.pop(key, ()), job.seconds)[-KEPT:]
        for key in list(circles)[: max(0, len(circles) - CIRCLES_KEPT)]:
            del circles[key]
        return History(circles)

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
