"""CloudWatch on the wire: moto's, and the history of alarms."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.responses import ActionResult

from pointsman_emulator.backends.cloudwatch.models import EmulatorCloudWatchBackend

HISTORY_PAGE = 100


class EmulatorCloudWatchResponse(CloudWatchResponse):
    """moto's answers, and DescribeAlarmHistory."""

    @property
    def cloudwatch_backend(self) -> EmulatorCloudWatchBackend:
        """The backend of this emulator."""
        return EmulatorCloudWatchBackend.here()

    def describe_alarms(self) -> ActionResult:
        """DescribeAlarms; where a prefix, names and a state are given, all of them hold (API:DescribeAlarms)."""
        alarms = list(self.cloudwatch_backend.describe_alarms())
        prefix, names = self._get_param("AlarmNamePrefix"), self._get_param("AlarmNames", [])
        state, action = self._get_param("StateValue"), self._get_param("ActionPrefix")
        found = sorted(
            (
                alarm
                for alarm in alarms
                if (not prefix or alarm.name.startswith(prefix))
                and (not names or alarm.name in names)
                and (not state or alarm.state_value == state)
                and (not action or any(arn.startswith(action) for arn in alarm.alarm_actions))
            ),
            key=lambda alarm: alarm.name,
        )
        size = self._get_param("MaxRecords", HISTORY_PAGE)
        start = int(self._get_param("NextToken", 0) or 0)
        result: dict[str, Any] = {"MetricAlarms": found[start : start + size], "CompositeAlarms": []}
        if start + size < len(found):
            result["NextToken"] = str(start + size)
        return ActionResult(result)

    def describe_alarm_history(self) -> ActionResult:
        """DescribeAlarmHistory: newest first unless asked otherwise, in pages of at most 100."""
        name, kind = self._get_param("AlarmName"), self._get_param("HistoryItemType")
        start, end = self._get_param("StartDate"), self._get_param("EndDate")
        items = [
            item
            for item in self.cloudwatch_backend.model.history
            if (not name or item.alarm == name)
            and (not kind or item.kind == kind)
            and (not start or item.at >= _seconds(start))
            and (not end or item.at <= _seconds(end))
        ]
        if self._get_param("ScanBy", "TimestampDescending") == "TimestampDescending":
            items.reverse()
        size = min(self._get_param("MaxRecords", HISTORY_PAGE), HISTORY_PAGE)
        first = int(self._get_param("NextToken", 0) or 0)
        result: dict[str, Any] = {
            "AlarmHistoryItems": [
                {
                    "AlarmName": item.alarm,
                    "AlarmType": "MetricAlarm",
                    "Timestamp": datetime.fromtimestamp(item.at, UTC),
                    "HistoryItemType": item.kind,
                    "HistorySummary": item.summary,
                    "HistoryData": item.data,
                }
                for item in items[first : first + size]
            ]
        }
        if first + size < len(items):
            result["NextToken"] = str(first + size)
        return ActionResult(result)


def _seconds(when: Any) -> float:
    if isinstance(when, datetime):
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    return float(when)
