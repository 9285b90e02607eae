"""The sums of days in memory."""

from collections.abc import Sequence
from dataclasses import replace

from pointsman.errors import Conflict
from pointsman.queues.days import Day
from tests.fakes.faults import Faulty, can_fail


class FakeDayTable(Faulty):
    """The days of every queue."""

    def __init__(self) -> None:
        super().__init__()
        self._days: dict[tuple[str, str], Day] = {}

    @can_fail
    def newest(self, queue: str) -> Day | None:
        return max((day for day in self._days.values() if day.queue == queue), key=lambda day: day.day, default=None)

    @can_fail
    def save(self, days: Sequence[Day]) -> None:
        for day in days:
            there = self._days.get((day.queue, day.day))
            if (there.version if there else 0) != day.version:
                raise Conflict(f"someone else has stored {day.day}")
        self._days |= {(day.queue, day.day): replace(day, version=day.version + 1) for day in days}

    @can_fail
    def days(self, queue: str, first: str, last: str) -> tuple[Day, ...]:
        return tuple(
            replace(day, ledger=None)
            for (ruled, name), day in sorted(self._days.items())
            if ruled == queue and first <= name <= last
        )
