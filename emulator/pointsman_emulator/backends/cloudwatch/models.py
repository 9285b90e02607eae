"""The CloudWatch backend: moto keeps metrics and alarms, the model evaluates, EventBridge is told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from moto.cloudwatch.models import Alarm, CloudWatchBackend, cloudwatch_backends

from pointsman_emulator.backends.bound import Ticking
from pointsman_emulator.backends.cloudwatch import events
from pointsman_emulator.bus import Bus
from pointsman_emulator.clock import Clock
from pointsman_emulator.models.alarm_values import AlarmChange, AlarmSpec, Datum, SeriesKey
from pointsman_emulator.models.alarms import AlarmModel


@dataclass(slots=True)
class Alarms:
    """When alarms are evaluated, and who is told."""

    clock: Clock
    bus: Bus


class EmulatorCloudWatchBackend(Ticking, CloudWatchBackend):
    """moto's backend, whose alarms evaluate in virtual time."""

    home = cloudwatch_backends
    world: ClassVar[Alarms | None] = None
    model: AlarmModel

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        world = self.world
        self.model = AlarmModel(self._announce if world else None, start=world.clock.now if world else 0.0)

    def put_metric_data(self, namespace: str, metric_data: list[dict[str, Any]]) -> None:
        """Keep the data for moto's own queries, and for the alarms."""
        super().put_metric_data(namespace, metric_data)
        now = self._now()
        for entry in metric_data:
            key = series_key(namespace, entry["MetricName"], entry.get("Dimensions") or [])
            when = entry.get("Timestamp")
            for datum in _data(entry, now if when is None else _epoch(when)):
                self.model.add(key, datum)

    def measure(self, namespace: str, name: str, value: float, dimensions: dict[str, str]) -> None:
        """One datum of a service's own metric, now."""
        key = (namespace, name, tuple(sorted(dimensions.items())))
        self.model.add(key, Datum(self._now(), value, 1.0, value, value))

    def get_metric_data(
        self,
        queries: list[dict[str, Any]],
        start_time: datetime,
        end_time: datetime,
        scan_by: str = "TimestampAscending",
    ) -> list[dict[str, Any]]:
        """Statistics of metrics, each found by its name and its dimensions; what is calculated is moto's."""
        start, end = start_time.replace(microsecond=0), end_time.replace(microsecond=0)
        if start >= end or any("MetricStat" not in query for query in queries):
            return super().get_metric_data(queries, start_time, end_time, scan_by)
        answers = [self._statistics(query, start, end) for query in queries if query.get("ReturnData", True)]
        if scan_by == "TimestampDescending":
            for answer in answers:
                answer["values"].reverse()
                answer["timestamps"].reverse()
        return answers

    def _statistics(self, query: dict[str, Any], start: datetime, end: datetime) -> dict[str, Any]:
        asked, metric = query["MetricStat"], query["MetricStat"]["Metric"]
        series = self.model.series.get(
            series_key(metric["Namespace"], metric["MetricName"], metric.get("Dimensions") or [])
        )
        period, at = timedelta(seconds=int(asked["Period"])), start
        values, timestamps = [], []
        while series is not None and at < end:
            point = series.point(_epoch(at), min(_epoch(at + period), _epoch(end)), asked["Stat"])
            if point is not None:
                values.append(point.value)
                timestamps.append(at)
            at += period
        label = query.get("Label") or f"{metric['MetricName']} {asked['Stat']}"
        return {
            "id": query["Id"],
            "label": label,
            "values": values,
            "timestamps": timestamps,
            "status_code": "Complete",
        }

    def put_metric_alarm(self, *args: Any, **kwargs: Any) -> Alarm:
        """Put an alarm: a new one has no data yet, a changed one keeps its state (API:PutMetricAlarm)."""
        if kwargs.get("metric_data_queries") or kwargs.get("rule"):
            raise NotImplementedError("The emulator has alarms on one metric only")
        self.model.now = max(self.model.now, self._now())
        alarm = super().put_metric_alarm(*args, **kwargs)
        self.model.put(_spec(alarm))
        self._show(alarm.name)
        return alarm

    def delete_alarms(self, alarm_names: list[str]) -> None:
        """Delete alarms; their history stays."""
        self.model.now = max(self.model.now, self._now())
        super().delete_alarms(alarm_names)
        for name in alarm_names:
            self.model.delete(name)

    def set_alarm_state(self, alarm_name: str, reason: str, reason_data: str, state_value: str) -> None:
        """Take a state until the next evaluation."""
        super().set_alarm_state(alarm_name, reason, reason_data, state_value)
        self.model.now = max(self.model.now, self._now())
        self.model.set_state(alarm_name, state_value, reason, reason_data or "")

    def _now(self) -> float:
        return self.world.clock.now if self.world else self.model.now

    def _show(self, name: str) -> None:
        """Let DescribeAlarms show the state of the model."""
        alarm, state = self.alarms[name], self.model.states[name]
        alarm.state_value, alarm.state_reason, alarm.state_reason_data = state.value, state.reason, state.reason_data
        alarm.state_updated_timestamp = datetime.fromtimestamp(state.at, UTC).replace(tzinfo=None)

    def _announce(self, change: AlarmChange) -> None:
        if change.kind == "state":
            self._show(change.spec.name)
        if self.world is not None:
            kind, detail = events.described(change)
            self.world.bus.put("aws.cloudwatch", kind, detail, at=change.at, resources=[change.spec.arn])


def series_key(namespace: str, metric: str, dimensions: list[dict[str, str]]) -> SeriesKey:
    """The series of a metric: its dimensions belong to its name, in any order."""
    return (namespace, metric, tuple(sorted((item["Name"], item["Value"]) for item in dimensions)))


def _spec(alarm: Alarm) -> AlarmSpec:
    return AlarmSpec(
        name=alarm.name,
        arn=alarm.alarm_arn,
        namespace=alarm.namespace,
        metric=alarm.metric_name,
        dimensions=tuple(sorted((str(item.name), str(item.value)) for item in alarm.dimensions)),
        statistic=alarm.extended_statistic or alarm.statistic,
        period=float(alarm.period),
        evaluation_periods=int(alarm.evaluation_periods),
        threshold=float(alarm.threshold),
        operator=alarm.comparison_operator,
        datapoints_to_alarm=int(alarm.datapoints_to_alarm) if alarm.datapoints_to_alarm else None,
        missing=alarm.treat_missing_data or "missing",
        unit=alarm.unit,
        description=alarm.description or "",
        actions_enabled=bool(alarm.actions_enabled),
        alarm_actions=tuple(alarm.alarm_actions or ()),
        ok_actions=tuple(alarm.ok_actions),
        insufficient_actions=tuple(alarm.insufficient_data_actions),
    )


def _epoch(when: Any) -> float:
    if isinstance(when, datetime):
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    return float(when)


def _data(entry: dict[str, Any], at: float) -> list[Datum]:
    if entry.get("StatisticValues"):
        stats = {name: float(value) for name, value in entry["StatisticValues"].items()}
        return [Datum(at, stats["Sum"], stats["SampleCount"], stats["Minimum"], stats["Maximum"])]
    if entry.get("Values"):
        counts = entry.get("Counts") or [1.0] * len(entry["Values"])
        return [
            Datum(at, float(value) * float(number), float(number), float(value), float(value))
            for value, number in zip(entry["Values"], counts, strict=True)
        ]
    value = float(entry.get("Value", 0.0))
    return [Datum(at, value, 1.0, value, value)]
