"""AWS::CloudWatch::Alarm, for alarms on one metric."""

# ruff: noqa: ARG003 - the signatures are moto's

from __future__ import annotations

from typing import Any, Self

from moto.core.common_models import CloudFormationModel

from pointsman_emulator.backends.cloudwatch.models import cloudwatch_backend


class AlarmResource(CloudFormationModel):
    """A metric alarm of a template. CloudFormation's Ref of it is its name."""

    def __init__(self, name: str, arn: str) -> None:
        self.name = name
        self.arn = arn

    @property
    def physical_resource_id(self) -> str:
        """What Ref gives."""
        return self.name

    @staticmethod
    def cloudformation_name_type() -> str:
        """The property that names it."""
        return "AlarmName"

    @staticmethod
    def cloudformation_type() -> str:
        """The type."""
        return "AWS::CloudWatch::Alarm"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Whether Fn::GetAtt has this attribute."""
        return attr == "Arn"

    def get_cfn_attribute(self, attribute_name: str) -> Any:
        """The one attribute."""
        return self.arn

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str, **kwargs: Any
    ) -> Self:
        """Put it."""
        given = cloudformation_json["Properties"]
        if given.get("Metrics"):
            raise NotImplementedError(f"alarm {resource_name}: the emulator has alarms on one metric only")
        points = given.get("DatapointsToAlarm")
        alarm = cloudwatch_backend().put_metric_alarm(
            name=resource_name,
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
        return cls(alarm.name, alarm.alarm_arn)

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: Any,
        account_id: str,
        region_name: str,
    ) -> Any:
        """Put it again, under the name that it has."""
        return cls.create_from_cloudformation_json(original_resource.name, cloudformation_json, account_id, region_name)

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
    ) -> None:
        """Delete it."""
        cloudwatch_backend().delete_alarms([resource_name])
