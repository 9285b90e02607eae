"""The events of alarms, as documented (Amazon CloudWatch User Guide, "Alarm events and EventBridge")."""

from __future__ import annotations

import uuid
from typing import Any

from pointsman_emulator.models.alarm_values import AlarmChange, AlarmSpec, AlarmState
from pointsman_emulator.models.alarms import stamp

STATE_CHANGE = "CloudWatch Alarm State Change"
CONFIGURATION_CHANGE = "CloudWatch Alarm Configuration Change"


def described(change: AlarmChange) -> tuple[str, dict[str, Any]]:
    """The detail-type and detail of a change."""
    spec = change.spec
    if change.kind == "state":
        detail: dict[str, Any] = {
            "alarmName": spec.name,
            "state": _state(change.state),
            "previousState": _state(change.previous) if change.previous else {},
            "configuration": {"description": spec.description, "metrics": _metrics(spec)},
        }
        return STATE_CHANGE, detail
    detail = {
        "alarmName": spec.name,
        "operation": change.kind,
        "state": _state(change.state),
        "configuration": _configuration(spec, change.at),
    }
    if change.previous_spec is not None:
        detail["previousConfiguration"] = _configuration(change.previous_spec, change.at)
    return CONFIGURATION_CHANGE, detail


def _state(state: AlarmState) -> dict[str, Any]:
    shown = {"value": state.value, "reason": state.reason, "timestamp": stamp(state.at)}
    if state.reason_data:
        shown["reasonData"] = state.reason_data
    return shown


def _metrics(spec: AlarmSpec) -> list[dict[str, Any]]:
    metric = {"namespace": spec.namespace, "name": spec.metric, "dimensions": dict(spec.dimensions)}
    stat: dict[str, Any] = {"metric": metric, "period": int(spec.period), "stat": spec.statistic}
    if spec.unit:
        stat["unit"] = spec.unit
    return [{"id": str(uuid.uuid5(uuid.NAMESPACE_URL, spec.arn)), "metricStat": stat, "returnData": True}]


def _configuration(spec: AlarmSpec, at: float) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "alarmName": spec.name,
        "description": spec.description,
        "actionsEnabled": spec.actions_enabled,
        "timestamp": stamp(at),
        "okActions": list(spec.ok_actions),
        "alarmActions": list(spec.alarm_actions),
        "insufficientDataActions": list(spec.insufficient_actions),
        "evaluationPeriods": spec.evaluation_periods,
        "threshold": spec.threshold,
        "comparisonOperator": spec.operator,
        "treatMissingData": spec.missing,
        "metrics": _metrics(spec),
    }
    if spec.datapoints_to_alarm is not None:
        shown["datapointsToAlarm"] = spec.datapoints_to_alarm
    return shown
