"""What a person says of one job: it goes first, or last, until a time."""

from dataclasses import dataclass
from enum import StrEnum


class PinKind(StrEnum):
    """Where a pin puts its job: before all others, or behind them."""

    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Pin:
    """Until `until`, `job_id` ranks before all or behind all; `by` said so at `at`."""

    job_id: str
    until: float
    kind: PinKind
    by: str
    at: float = 0.0

    def active(self, now: float) -> bool:
        """Whether the pin counts at `now`."""
        return now < self.until


def foreign_until(pin: Pin | None, since: float, respect: float | None, now: float) -> float:
    """Until when a priority that someone else set (first seen at `since`) is left alone; a time that is past: no more.

    It stands for `respect` seconds (None: for ever). Of it and a pin of the same job, the newer counts.
    """
    if pin is not None and pin.active(now) and pin.at >= since:
        return 0.0
    return float("inf") if respect is None else since + respect
