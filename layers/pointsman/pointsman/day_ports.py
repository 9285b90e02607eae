"""Where the sums of days are kept; every method may raise `Transient`."""

from collections.abc import Sequence
from typing import Protocol

from pointsman.queues.days import Day


class DayTable(Protocol):
    """The days of every queue, for a year and a month."""

    def newest(self, queue: str) -> Day | None:
        """The newest day of the queue, with its ledger, read consistently."""
        ...

    def save(self, days: Sequence[Day]) -> None:
        """Store these days of one queue, all or none, if each still has its version. Raises `Conflict`."""
        ...

    def days(self, queue: str, first: str, last: str) -> tuple[Day, ...]:
        """The days of the queue from the first to the last, the oldest first; without ledgers."""
        ...
