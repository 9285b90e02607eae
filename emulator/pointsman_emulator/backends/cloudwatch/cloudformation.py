"""AWS::CloudWatch::Alarm, for alarms on one metric."""

from __future__ import annotations

from typing import Any, Self

from moto.core.common_models import CloudFormationModel

from pointsman_emulator.backends.cloudwatch.models import EmulatorCloudWatchBackend
from pointsman_emulator.backends.resource import StackResource


class AlarmResource(StackResource, CloudFormationModel):
    """A metric alarm of a template. CloudFormation's Ref of it is its name."""

    service, kind, name_property = "CloudWatch", "Alarm", "AlarmName"

    @property
    def physical_resource_id(self) -> str:
        """What Ref gives."""
        return self.name

    @classmethod
    def make(cls, name: str, properties: dict[str, Any]) -> Self:
        """Put it."""
        return cls(name, _put(name, properties))

    def change(self, properties: dict[str, Any]) -> None:
        """Put it again, under the name that it has."""
        _put(self.name, properties)

    @classmethod
    def drop(cls, name: str) -> None:
        """Delete it."""
        EmulatorCloudWatchBackend.here().delete_alarms([name])


def _put(name: str, given: dict[str, Any]) -> str:
    """Put the alarm; its ARN."""
    if given.get("Metrics"):
        raise NotImplementedError(f"alarm {name}: the emulator has alarms on one metric only")
    points = given.get("DatapointsToAlarm")
    alarm = EmulatorCloudWatchBackend.here().put_metric_alarm(
        name=name,
        namespace=given["Namespace"],
        metric_name=given["MetricName"],
        comparison_operator=given["ComparisonOperator"],
        evaluation_periods=int(given["EvaluationPeriods"]),
        period=int(given["Period"]),
        threshold=float(given["Threshold"]),
        statistic=given.get("Statistic"),
        extended_statistic=given.get("ExtendedStatistic"),
        description=given.get("AlarmDescription"),
        dimensions=given.get("Dimensions") or [],
        alarm_actions=given.get("AlarmActions") or [],
        ok_actions=given.get("OKActions") or [],
        insufficient_data_actions=given.get("InsufficientDataActions") or [],
        datapoints_to_alarm=int(points) if points else None,
        unit=given.get("Unit"),
        actions_enabled=str(given.get("ActionsEnabled", True)).lower() == "true",
        treat_missing_data=given.get("TreatMissingData"),
        tags=given.get("Tags") or [],
    )
    arn: str = alarm.alarm_arn
    return arn
