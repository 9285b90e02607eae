"""What a queue did, week beside week: the days as they were summed up, and the rollouts that ended on them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from pointsman.queues.day_sums import ClassSums, DaySums
from pointsman.queues.days import DAY, Day, day_of
from pointsman.rollout_ports import RolloutTable

WEEK = 7  # days
LAST_ROLLOUTS = 200  # that are looked at


@dataclass(frozen=True, slots=True)
class Ended:
    """A rollout that has ended: how, on which day, and after how many seconds."""

    rollout: str
    outcome: str
    day: str
    seconds: float


@dataclass(frozen=True, slots=True)
class OneDay:
    """One UTC day; `sums` are None where nothing was counted on it."""

    day: str
    sums: DaySums | None
    rollouts: tuple[Ended, ...] = ()


@dataclass(frozen=True, slots=True)
class Week:
    """Seven days, the oldest first; `ago` 0 ends today."""

    ago: int
    days: tuple[OneDay, ...]

    @property
    def name(self) -> str:
        """What people call it."""
        return ("this week", "the week before")[self.ago] if self.ago < 2 else f"{self.ago} weeks before"

    @property
    def total(self) -> DaySums:
        """All of it."""
        return reduce(add, (one.sums for one in self.days if one.sums), DaySums())

    @property
    def rollouts(self) -> tuple[Ended, ...]:
        """All that ended in it."""
        return tuple(ended for one in self.days for ended in one.rollouts)


@dataclass(frozen=True, slots=True)
class Weeks:
    """A report: the queue as of `at`, its classes in the policy's order, and its weeks, this one first."""

    queue: str
    at: float
    classes: tuple[str, ...]
    weeks: tuple[Week, ...]

    @property
    def counted(self) -> bool:
        """Whether there is anything to report."""
        return any(one.sums for week in self.weeks for one in week.days)


def weeks_of(
    queue: str, now: float, count: int, named: Sequence[str], days: Iterable[Day], ended: Iterable[Ended]
) -> Weeks:
    """The days and rollouts in weeks that end today; classes that the policy no longer names come last."""
    sums = {day.day: day.sums for day in days}
    by_day: dict[str, list[Ended]] = {}
    for one in ended:
        by_day.setdefault(one.day, []).append(one)
    weeks = tuple(
        Week(ago, tuple(OneDay(day, sums.get(day), tuple(by_day.get(day, ()))) for day in _names(now, ago)))
        for ago in range(count)
    )
    had = {name for each in sums.values() for name in each.classes}
    return Weeks(queue, now, (*named, *sorted(had - set(named))), weeks)


def first_day(now: float, count: int) -> str:
    """The first day of so many weeks that end today."""
    return day_of(now - (WEEK * count - 1) * DAY)


def _names(now: float, ago: int) -> Iterator[str]:
    return (day_of(now - (WEEK * ago + back) * DAY) for back in range(WEEK - 1, -1, -1))


def ended_since(table: RolloutTable, first: str) -> Iterator[Ended]:
    """The rollouts that ended on this day or later, from their own records."""
    for rollout in table.rollouts(LAST_ROLLOUTS):
        record = table.load(rollout).record
        if record.ended_at is not None and day_of(record.ended_at) >= first:
            yield Ended(
                rollout, record.phase.value, day_of(record.ended_at), max(0.0, record.ended_at - record.started_at)
            )


def shape(report: Weeks, at: str | None) -> Mapping[str, object]:
    """The report for scripts."""
    return {
        "queue": report.queue,
        "at": at,
        "weeks": [
            {
                "ago": week.ago,
                "total": _sums(week.total, week.rollouts),
                "days": [
                    {"day": one.day, **(_sums(one.sums, one.rollouts) if one.sums else {"counted_hours": 0.0})}
                    for one in week.days
                ],
            }
            for week in report.weeks
        ],
    }


def _sums(sums: DaySums, rollouts: Sequence[Ended]) -> dict[str, object]:
    return {
        "counted_hours": sums.seen / 3600,
        "utilisation": sums.utilisation,
        "capacity_hours": sums.capacity / 3600,
        "used_hours": sums.held / 3600,
        "gpu_hours": sums.gpus / 3600,
        "mean_depth": sums.depth,
        "deepest": sums.deepest,
        "evictions": dict(sums.evictions),
        **_class(sums.all_classes),
        "classes": {name: _class(each) for name, each in sorted(sums.classes.items())},
        "rollouts": [{"rollout": one.rollout, "outcome": one.outcome, "seconds": one.seconds} for one in rollouts],
    }


def _class(sums: ClassSums) -> dict[str, object]:
    return {
        "started": sums.started,
        "mean_wait_seconds": sums.mean,
        "p50_wait_seconds": sums.quantile(0.5),
        "p90_wait_seconds": sums.quantile(0.9),
        "evicted": sums.evictions,
        "lost_gpu_hours": sums.lost / 3600,
        "moves": sums.moves,
    }
