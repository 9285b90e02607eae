"""The values of metric alarms: what an alarm watches, its data, and what an observer is told.

`CW:page` names a page of the Amazon CloudWatch User Guide.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import Literal, NamedTuple

OK, ALARM, INSUFFICIENT = "OK", "ALARM", "INSUFFICIENT_DATA"

Dimensions = tuple[tuple[str, str], ...]
SeriesKey = tuple[str, str, Dimensions]


@dataclass(frozen=True, slots=True)
class AlarmSpec:
    """A metric alarm as it was put."""

    name: str
    arn: str
    namespace: str
    metric: str
    dimensions: Dimensions
    statistic: str
    """Average, Sum, Minimum, Maximum, SampleCount, or a percentile such as p90."""
    period: float
    evaluation_periods: int
    threshold: float
    operator: str
    datapoints_to_alarm: int | None = None
    missing: str = "missing"
    """missing, ignore, breaching or notBreaching."""
    unit: str | None = None
    description: str = ""
    actions_enabled: bool = True
    alarm_actions: tuple[str, ...] = ()
    ok_actions: tuple[str, ...] = ()
    insufficient_actions: tuple[str, ...] = ()

    @property
    def key(self) -> SeriesKey:
        """The series it watches."""
        return (self.namespace, self.metric, self.dimensions)

    def breaches(self, value: float) -> bool:
        """Whether one data point is over the line."""
        match self.operator:
            case "GreaterThanThreshold":
                return value > self.threshold
            case "GreaterThanOrEqualToThreshold":
                return value >= self.threshold
            case "LessThanThreshold":
                return value < self.threshold
            case "LessThanOrEqualToThreshold":
                return value <= self.threshold
        raise NotImplementedError(f"alarm {self.name}: the emulator does not compare by {self.operator}")


class Datum(NamedTuple):
    """One value, or a set of values as their statistics."""

    at: float
    total: float
    samples: float
    low: float
    high: float


class Point(NamedTuple):
    """A statistic over one period."""

    at: float
    value: float
    samples: float


class Series:
    """The data of one metric with its dimensions, in order of time."""

    def __init__(self) -> None:
        self._data: list[Datum] = []

    def add(self, datum: Datum) -> None:
        """Add a datum; late ones find their place."""
        if not self._data or datum.at >= self._data[-1].at:
            self._data.append(datum)
        else:
            insort(self._data, datum)

    def point(self, start: float, end: float, statistic: str) -> Point | None:
        """The statistic over [start, end); None without data."""
        lower, upper = bisect_left(self._data, (start,)), bisect_left(self._data, (end,))
        data = self._data[lower:upper]
        if not data:
            return None
        count = sum(datum.samples for datum in data)
        total = sum(datum.total for datum in data)
        values = {
            "Average": total / count if count else 0.0,
            "Sum": total,
            "SampleCount": count,
            "Minimum": min(datum.low for datum in data),
            "Maximum": max(datum.high for datum in data),
        }
        if statistic in values:
            return Point(start, values[statistic], count)
        if not statistic.startswith("p"):
            raise NotImplementedError(f"the emulator has no statistic {statistic}")
        ranked = sorted(datum.total / datum.samples for datum in data if datum.samples)
        place = min(len(ranked) - 1, int(len(ranked) * float(statistic[1:]) / 100))
        return Point(start, ranked[place], count)


@dataclass(frozen=True, slots=True)
class AlarmState:
    """A state, why, and since when."""

    value: str
    reason: str
    reason_data: str
    at: float


class AlarmChange(NamedTuple):
    """What the model tells its listener."""

    kind: Literal["state", "create", "update", "delete"]
    at: float
    spec: AlarmSpec
    state: AlarmState
    previous: AlarmState | None
    previous_spec: AlarmSpec | None


class HistoryItem(NamedTuple):
    """One item of an alarm's history."""

    alarm: str
    at: float
    kind: str
    """StateUpdate or ConfigurationUpdate."""
    summary: str
    data: str
