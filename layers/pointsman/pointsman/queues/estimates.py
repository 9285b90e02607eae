"""How long a job will run, learned from finished jobs alike; never from the future.

A job is alike in team, name pattern, size and class; where fewer than `ENOUGH` such jobs have finished, the
next wider circle answers. Prediction by the median of the last finished jobs of the same kind is as good as
within a few per cent of knowing the run times for ordering a queue (Alibaba PAI, NSDI'22; Helios, SC'21).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

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
class _Alike:
    """What is known of jobs of a kind: the circles `asked` for it, and the durations found, the shortest first."""

    asked: tuple[str, ...]
    seconds: tuple[float, ...]
    middle: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "middle", _middle(self.seconds) if self.seconds else UNKNOWN_SECONDS)


@dataclass(frozen=True, slots=True)
class History:
    """The last durations (seconds, the newest last) of each circle of one queue.

    `crashes` counts, for the narrowest circles, how many of the newest jobs failed soon, one after the other. `taught`
    are jobs that it has learned from and that may come once more, since they are not let go yet. `version` is that
    of what is stored. What was asked of it is kept, for as long as nothing that it depends on is learned anew.
    """

    circles: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    crashes: Mapping[str, int] = field(default_factory=dict)
    taught: tuple[str, ...] = ()
    version: int = field(default=0, compare=False)
    _alike: dict[Kind, "_Alike"] = field(default_factory=dict, repr=False, compare=False)

    def learn(self, finished: Iterable[Finished]) -> "History":
        """A history that also knows these jobs; the circles unused for longest are forgotten first."""
        finished = list(finished)
        if not finished:
            return self
        circles, crashes, changed = dict(self.circles), dict(self.crashes), set[str]()
        for job in finished:
            narrowest = job.kind.circles()[0]
            if job.crashed:
                crashes[narrowest] = crashes.pop(narrowest, 0) + 1
                continue
            crashes.pop(narrowest, None)
            for key in job.kind.circles():
                circles[key] = (*circles.pop(key, ()), job.seconds)[-KEPT:]
                changed.add(key)
        for key in list(circles)[: max(0, len(circles) - CIRCLES_KEPT)]:
            del circles[key]
            changed.add(key)
        for key in list(crashes)[: max(0, len(crashes) - CRASHES_KEPT)]:
            del crashes[key]
        alike = {k: v for k, v in self._alike.items() if changed.isdisjoint(v.asked)}
        return replace(self, circles=circles, crashes=crashes, _alike=alike)

    def alike(self, kind: Kind) -> tuple[float, ...]:
        """The durations of the narrowest circle with enough of them, the shortest first; empty when there is none."""
        return self._of(kind).seconds

    def _of(self, kind: Kind) -> "_Alike":
        known = self._alike.get(kind)
        if known is None:
            known = self._alike[kind] = self._look_up(kind)
        return known

    def _look_up(self, kind: Kind) -> "_Alike":
        asked = kind.circles()
        for n, key in enumerate(asked, start=1):
            if len(self.circles.get(key, ())) >= ENOUGH:
                return _Alike(asked[:n], tuple(sorted(self.circles[key])))
        return _Alike(asked, ())

    def predict(self, kind: Kind) -> float:
        """Expected run time in seconds: the median of those alike, one hour when none has finished."""
        return self._of(kind).middle

    def careful(self, kind: Kind) -> float:
        """The run time in seconds that nine of ten jobs alike do not exceed; one hour when none has finished.

        >>> kind = Kind("ranker", "prod-#", 1, "production")
        >>> History().learn(Finished(kind, float(s)) for s in range(1, 21)).careful(kind)
        18.0
        """
        known = self.alike(kind)
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
        return remaining_of(self._of(kind).seconds, elapsed)


def remaining_of(known: Sequence[float], elapsed: float) -> float:
    """What `History.remaining` says, of the durations of those alike, the shortest first."""
    if not known:
        known = (UNKNOWN_SECONDS,)
    longer = bisect_right(known, elapsed)
    return _middle(known, longer) - elapsed if longer < len(known) else max(elapsed, 60.0)


def _middle(ordered: Sequence[float], start: int = 0) -> float:
    """The median of what is ordered, from `start` on."""
    half, odd = divmod(len(ordered) - start, 2)
    return ordered[start + half] if odd else (ordered[start + half - 1] + ordered[start + half]) / 2
