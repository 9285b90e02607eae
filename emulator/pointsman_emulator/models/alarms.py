"""Metric alarms that evaluate, in a time that the caller advances.

Each alarm is evaluated at the end of each of its periods, on the statistic of the periods that have ended.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import count

from pointsman_emulator.models.alarm_values import (
    ALARM,
    INSUFFICIENT,
    OK,
    AlarmChange,
    AlarmSpec,
    AlarmState,
    Datum,
    HistoryItem,
    Point,
    Series,
    SeriesKey,
)

__all__ = ["AlarmModel", "AlarmSpec", "AlarmState", "verdict"]

EXTRA_PERIODS = 2
"""How many more periods than EvaluationPeriods are looked at when data are missing (CW:AlarmThatSendsEmail, "How alarm
state is evaluated when data is missing": a number that CloudWatch does not state; its examples show 5 for 3)."""


def verdict(spec: AlarmSpec, found: list[Point], state: str) -> str:
    """The state that the data points call for, the newest `evaluation_periods` of those that exist.

    Where enough of them exist, missing ones do not matter; else `missing` says what stands for them.
    """
    wanted = spec.evaluation_periods
    needed = spec.datapoints_to_alarm or wanted
    breaching = sum(1 for point in found if spec.breaches(point.value))
    absent = wanted - len(found)
    if absent <= 0:
        return ALARM if breaching >= needed else OK
    match spec.missing:
        case "breaching":
            return ALARM if breaching + absent >= needed else OK
        case "notBreaching":
            return ALARM if breaching >= needed else OK
        case "ignore":
            if breaching >= needed:
                return ALARM
            return state if breaching == len(found) else OK
    if not found:
        return INSUFFICIENT
    return ALARM if breaching >= min(needed, len(found)) else OK


class AlarmModel:
    """Metrics, the alarms on them, and their history."""

    def __init__(self, listener: Callable[[AlarmChange], None] | None = None, start: float = 0.0) -> None:
        self.now = start
        self.listener = listener
        self.series: dict[SeriesKey, Series] = {}
        self.specs: dict[str, AlarmSpec] = {}
        self.states: dict[str, AlarmState] = {}
        self.history: list[HistoryItem] = []
        self._turns: dict[str, int] = {}
        self._heap: list[tuple[float, int, str, int]] = []
        self._sequence = count()

    def add(self, key: SeriesKey, datum: Datum) -> None:
        """Add data to a metric."""
        series = self.series.get(key)
        if series is None:
            series = self.series[key] = Series()
        series.add(datum)

    def put(self, spec: AlarmSpec) -> None:
        """Create an alarm, without data; or change one, which keeps its state."""
        before = self.specs.get(spec.name)
        self.specs[spec.name] = spec
        if before is None:
            self.states[spec.name] = AlarmState(INSUFFICIENT, "Unchecked: Initial alarm creation", "", self.now)
        self._turns[spec.name] = self._turns.get(spec.name, 0) + 1
        self._next_turn(spec)
        kind = "Alarm updated" if before else "Alarm created"
        self._note(spec, "ConfigurationUpdate", f'{kind} "{spec.name}"', {"version": "1.0", "type": kind[6:].title()})
        if self.listener and before != spec:
            self.listener(
                AlarmChange("update" if before else "create", self.now, spec, self.states[spec.name], None, before)
            )

    def delete(self, name: str) -> None:
        """Delete an alarm; its history stays."""
        spec = self.specs.pop(name, None)
        if spec is None:
            return
        state = self.states.pop(name)
        self._turns[name] += 1
        self._note(spec, "ConfigurationUpdate", f'Alarm "{name}" deleted', {"version": "1.0", "type": "Delete"})
        if self.listener:
            self.listener(AlarmChange("delete", self.now, spec, state, None, None))

    def set_state(self, name: str, value: str, reason: str, reason_data: str = "") -> None:
        """Take a state, until the next evaluation says otherwise."""
        spec, before = self.specs[name], self.states[name]
        state = AlarmState(value, reason, reason_data, self.now)
        if value == before.value:
            return
        self.states[name] = state
        data = {
            "version": "1.0",
            "oldState": {"stateValue": before.value, "stateReason": before.reason},
            "newState": {"stateValue": value, "stateReason": reason},
        }
        if reason_data:
            data["newState"]["stateReasonData"] = json.loads(reason_data)  # type: ignore[index]
        self._note(spec, "StateUpdate", f"Alarm updated from {before.value} to {value}", data)
        if self.listener:
            self.listener(AlarmChange("state", self.now, spec, state, before, None))

    @property
    def next_event_at(self) -> float | None:
        """When an alarm is evaluated next."""
        while self._heap and self._heap[0][3] != self._turns.get(self._heap[0][2]):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def advance(self, until: float) -> None:
        """Evaluate what is due."""
        while (at := self.next_event_at) is not None and at <= until:
            _, _, name, _ = heapq.heappop(self._heap)
            self.now = max(self.now, at)
            spec = self.specs[name]
            self._evaluate(spec, at)
            if self.specs.get(name) is spec:
                self._next_turn(spec)
        self.now = max(self.now, until)

    def _next_turn(self, spec: AlarmSpec) -> None:
        end = (self.now // spec.period + 1) * spec.period
        heapq.heappush(self._heap, (end, next(self._sequence), spec.name, self._turns[spec.name]))

    def _evaluate(self, spec: AlarmSpec, end: float) -> None:
        series = self.series.get(spec.key)
        state = self.states[spec.name].value
        found: list[Point] = []
        if series is not None:
            for back in range(1, spec.evaluation_periods + EXTRA_PERIODS + 1):
                point = series.point(end - back * spec.period, end - (back - 1) * spec.period, spec.statistic)
                if point is not None:
                    found.append(point)
                    if len(found) == spec.evaluation_periods:
                        break
        value = verdict(spec, found, state)
        if value != state:
            self.set_state(spec.name, value, _reason(spec, value, state, found), _reason_data(spec, end, found))

    def _note(self, spec: AlarmSpec, kind: str, summary: str, data: Mapping[str, object]) -> None:
        self.history.append(HistoryItem(spec.name, self.now, kind, summary, json.dumps(data)))


def stamp(at: float) -> str:
    """A time as CloudWatch writes it in an event."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "+0000"


def _reason(spec: AlarmSpec, value: str, state: str, found: list[Point]) -> str:
    if not found:
        what = "no datapoints were received" if value == INSUFFICIENT else "no datapoints were received for the period"
        treated = "" if value == INSUFFICIENT else f" and missing datapoints were treated as [{spec.missing}]"
        return f"Threshold Crossed: {what}{treated}."
    chosen = [point for point in found if spec.breaches(point.value) is (value == ALARM)] or found
    shown = ", ".join(f"{point.value} ({datetime.fromtimestamp(point.at, UTC):%d/%m/%y %H:%M:%S})" for point in chosen)
    words = spec.operator.replace("Threshold", "")
    words = {
        "GreaterThan": "greater than",
        "GreaterThanOrEqualTo": "greater than or equal to",
        "LessThan": "less than",
        "LessThanOrEqualTo": "less than or equal to",
    }[words]
    negation = "" if value == ALARM else "not "
    needed = spec.datapoints_to_alarm or spec.evaluation_periods
    minimum = f"minimum {needed} datapoint{'' if needed == 1 else 's'} for {state} -> {value} transition"
    were = "was" if len(chosen) == 1 else "were"
    return (
        f"Threshold Crossed: {len(chosen)} out of the last {spec.evaluation_periods} datapoints [{shown}] {were} "
        f"{negation}{words} the threshold ({spec.threshold}) ({minimum})."
    )


def _reason_data(spec: AlarmSpec, end: float, found: list[Point]) -> str:
    data = {
        "version": "1.0",
        "queryDate": stamp(end),
        "statistic": spec.statistic,
        "period": int(spec.period),
        "recentDatapoints": [point.value for point in reversed(found)],
        "threshold": spec.threshold,
        "evaluatedDatapoints": [
            {"timestamp": stamp(point.at), "sampleCount": point.samples, "value": point.value} for point in found
        ],
    }
    if found:
        data["startDate"] = stamp(found[-1].at)
    return json.dumps(data)
