"""The figures of a day or a week, one by one: what they are called, and how they are written."""

from collections.abc import Callable
from dataclasses import dataclass

from pointsman.queues.day_sums import DaySums
from pointsman_cli.report.weeks import OneDay, Week

Value = Callable[[DaySums], float | None]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: `of` gives it for the sums of a day or a week, `form` is how it is written.

    A part of a whole changes by points, anything else by per cent.
    """

    key: str
    title: str
    about: str
    of: Value
    form: str = ",.2f"
    points: bool = False

    def written(self, sums: DaySums | None) -> str:
        """The figure for people; a dash where there is none."""
        value = None if sums is None else self.of(sums)
        return "-" if value is None else format(value, self.form)

    def change(self, now: DaySums, before: DaySums) -> str:
        """How it has changed."""
        here, there = self.of(now), self.of(before)
        if here is None or there is None:
            return "-"
        if self.points:
            return f"{(here - there) * 100:+.1f} points"
        return f"{here / there - 1:+.0%}" if there else "-" if not here else "new"


UTILISATION = Figure(
    "utilisation", "In use", "the part of the capacity whose jobs ran", lambda s: s.utilisation, ".1%", points=True
)
DEPTH = Figure("depth", "Jobs waiting", "on average over the day", lambda s: s.depth, ",.1f")
STARTED = Figure("started", "Jobs started", "each at its first start", lambda s: s.all_classes.started, ",.0f")
EVICTIONS = Figure("evictions", "Evictions", "of any kind", lambda s: s.all_classes.evictions, ",.0f")
LOST = Figure(
    "lost", "GPU-hours lost", "work that evicted jobs had not saved", lambda s: s.all_classes.lost / 3600, ",.1f"
)
MOVES = Figure("moves", "Moves", "priorities that were set", lambda s: s.all_classes.moves, ",.0f")
WHOLE = (UTILISATION, DEPTH, STARTED, EVICTIONS, LOST, MOVES)


def waits(name: str | None) -> tuple[Figure, Figure]:
    """The mean wait of a class, and what nine of ten of its jobs did not exceed; in hours, None for all classes."""

    def hours(sums: DaySums, part: float | None) -> float | None:
        one = sums.all_classes if name is None else sums.classes.get(name)
        seconds = None if one is None else one.mean if part is None else one.quantile(part)
        return None if seconds is None else seconds / 3600

    called = name or "all"
    return (
        Figure(f"mean-{called}", f"{called}, mean", "hours", lambda s: hours(s, None)),
        Figure(f"p90-{called}", f"{called}, p90", "hours", lambda s: hours(s, 0.9)),
    )


def outcomes(of: OneDay | Week) -> str:
    """How many rollouts ended, and how many of them not as they should."""
    good = sum(ended.outcome == "SUCCEEDED" for ended in of.rollouts)
    bad = len(of.rollouts) - good
    return "-" if not of.rollouts else f"{good}" + (f" + {bad} not" if bad else "")
