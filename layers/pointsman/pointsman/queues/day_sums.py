"""Sums over one UTC day of a queue, or over several: waits by class, evictions and what they lost, use and depth.

Times are epoch seconds; sums of capacity are instance-seconds, lost work is GPU-seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil, log2

FINEST = 15.0  # seconds: shorter waits are told as this long
STEPS = 4  # buckets of waits to a doubling, so that a quantile is within a fifth of what it tells


def bucket_of(wait: float) -> int:
    """The bucket of a wait; bucket n ends at `FINEST` x 2^(n / `STEPS`).

    >>> [bucket_of(wait) for wait in (0.0, 15.0, 16.0, 30.0, 3600.0)]
    [0, 0, 1, 4, 32]
    """
    return max(0, ceil(STEPS * log2(max(wait, FINEST) / FINEST) - 1e-9))


@dataclass(frozen=True, slots=True)
class ClassSums:
    """One class of one day: waits of the jobs that started, evictions and the GPU-seconds they lost, moves made."""

    started: int = 0
    waited: float = 0.0
    buckets: Mapping[int, int] = field(default_factory=dict)
    evictions: int = 0
    lost: float = 0.0
    moves: int = 0

    @property
    def mean(self) -> float | None:
        """The mean wait in seconds; None when none started."""
        return self.waited / self.started if self.started else None

    def quantile(self, part: float) -> float | None:
        """The wait that this part of the jobs did not exceed, as the end of its bucket; None when none started.

        >>> sums = ClassSums()
        >>> for minutes in (1, 2, 3, 60):
        ...     sums = sums.with_start(minutes * 60.0)
        >>> sums.quantile(0.5), sums.quantile(0.9)
        (120.0, 3840.0)
        """
        left = ceil(part * self.started)
        for number, count in sorted(self.buckets.items()):
            left -= count
            if left <= 0:
                return FINEST * float(2 ** (number / STEPS))
        return None

    def with_start(self, wait: float) -> "ClassSums":
        """The same and one job that started after this wait."""
        wait = max(0.0, wait)
        number = bucket_of(wait)
        counts = {**self.buckets, number: self.buckets.get(number, 0) + 1}
        return replace(self, started=self.started + 1, waited=self.waited + wait, buckets=counts)

    def __add__(self, other: "ClassSums") -> "ClassSums":
        """Both together."""
        numbers = {*self.buckets, *other.buckets}
        return ClassSums(
            self.started + other.started,
            self.waited + other.waited,
            {n: self.buckets.get(n, 0) + other.buckets.get(n, 0) for n in numbers},
            self.evictions + other.evictions,
            self.lost + other.lost,
            self.moves + other.moves,
        )


@dataclass(frozen=True, slots=True)
class Use:
    """A queue at a moment: instances of its environment, those held, those whose jobs run, their GPUs; jobs waiting."""

    capacity: int = 0
    held: int = 0
    working: int = 0
    gpus: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class DaySums:
    """One day, or several: `seen` seconds of it were looked at, and over them the integrals of `Use`.

    `evictions` are counted by reason beside their classes.
    """

    seen: float = 0.0
    capacity: float = 0.0
    held: float = 0.0
    working: float = 0.0
    gpus: float = 0.0
    waiting: float = 0.0
    deepest: int = 0
    evictions: Mapping[str, int] = field(default_factory=dict)
    classes: Mapping[str, ClassSums] = field(default_factory=dict)

    @property
    def utilisation(self) -> float | None:
        """The part of the capacity whose jobs ran; None when nobody looked, or there was none."""
        return self.working / self.capacity if self.capacity else None

    @property
    def depth(self) -> float | None:
        """Jobs that waited, on average; None when nobody looked."""
        return self.waiting / self.seen if self.seen else None

    @property
    def all_classes(self) -> ClassSums:
        """The classes together."""
        return sum(self.classes.values(), ClassSums())

    def over(self, use: Use, seconds: float) -> "DaySums":
        """The same and so many seconds of this use."""
        return replace(
            self,
            seen=self.seen + seconds,
            capacity=self.capacity + use.capacity * seconds,
            held=self.held + use.held * seconds,
            working=self.working + use.working * seconds,
            gpus=self.gpus + use.gpus * seconds,
            waiting=self.waiting + use.waiting * seconds,
        )

    def of_class(self, name: str, added: ClassSums) -> "DaySums":
        """The same and this of a class."""
        return replace(self, classes={**self.classes, name: self.classes.get(name, ClassSums()) + added})

    def __add__(self, other: "DaySums") -> "DaySums":
        """Both together."""
        total = replace(
            self,
            seen=self.seen + other.seen,
            capacity=self.capacity + other.capacity,
            held=self.held + other.held,
            working=self.working + other.working,
            gpus=self.gpus + other.gpus,
            waiting=self.waiting + other.waiting,
            deepest=max(self.deepest, other.deepest),
            evictions={
                reason: self.evictions.get(reason, 0) + other.evictions.get(reason, 0)
                for reason in sorted({*self.evictions, *other.evictions})
            },
        )
        for name, sums in other.classes.items():
            total = total.of_class(name, sums)
        return total
