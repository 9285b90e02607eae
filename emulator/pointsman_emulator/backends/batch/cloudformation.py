"""The CloudFormation types of Batch that moto lacks, and job queues on a service environment."""

# ruff: noqa: ARG003 - the signatures are moto's

from __future__ import annotations

from typing import Any, Self

from moto.batch.models import JobQueue
from moto.core.common_models import CloudFormationModel

from pointsman_emulator.backends.batch.models import batch_backend


def lowered(value: Any) -> Any:
    """Properties in the API's spelling: the first letter small, at every depth; tags stay as they are."""
    if isinstance(value, dict):
        return {
            key[:1].lower() + key[1:]: dict(inner) if key == "Tags" else lowered(inner) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [lowered(inner) for inner in value]
    return value


class _BatchResource(CloudFormationModel):
    """A resource that Batch knows by its ARN. CloudFormation's Ref of each is the ARN."""

    def __init__(self, arn: str) -> None:
        self.arn = arn

    @property
    def physical_resource_id(self) -> str:
        """What Ref gives."""
        return self.arn

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Whether Fn::GetAtt has this attribute."""
        return attr in ("Arn", "ServiceEnvironmentArn", "JobQueueArn")

    def get_cfn_attribute(self, attribute_name: str) -> Any:
        """Every attribute is the ARN."""
        return self.arn

    @staticmethod
    def cloudformation_type() -> str:
        """No type of its own."""
        return "Emulator::Batch::Resource"


class ServiceEnvironmentResource(_BatchResource, CloudFormationModel):
    """AWS::Batch::ServiceEnvironment."""

    @staticmethod
    def cloudformation_name_type() -> str:
        """The property that names it."""
        return "ServiceEnvironmentName"

    @staticmethod
    def cloudformation_type() -> str:
        """The type."""
        return "AWS::Batch::ServiceEnvironment"

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str, **kwargs: Any
    ) -> Self:
        """Create it."""
        request = lowered(cloudformation_json["Properties"])
        made = batch_backend().create_service_environment({**request, "serviceEnvironmentName": resource_name})
        return cls(made["serviceEnvironmentArn"])

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: Any,
        account_id: str,
        region_name: str,
    ) -> Any:
        """Change its state and limits."""
        request = lowered(cloudformation_json["Properties"])
        batch_backend().update_service_environment({**request, "serviceEnvironment": original_resource.arn})
        return original_resource

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
    ) -> None:
        """Disable it and delete it."""
        batch_backend().update_service_environment({"serviceEnvironment": resource_name, "state": "DISABLED"})
        batch_backend().delete_service_environment({"serviceEnvironment": resource_name})


class SchedulingPolicyResource(_BatchResource, CloudFormationModel):
    """AWS::Batch::SchedulingPolicy."""

    @staticmethod
    def cloudformation_name_type() -> str:
        """The property that names it."""
        return "Name"

    @staticmethod
    def cloudformation_type() -> str:
        """The type."""
        return "AWS::Batch::SchedulingPolicy"

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str, **kwargs: Any
    ) -> Self:
        """Create it."""
        request = lowered(cloudformation_json["Properties"])
        return cls(batch_backend().create_policy({**request, "name": resource_name})["arn"])

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: Any,
        account_id: str,
        region_name: str,
    ) -> Any:
        """Replace its content."""
        batch_backend().update_policy({**lowered(cloudformation_json["Properties"]), "arn": original_resource.arn})
        return original_resource

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
    ) -> None:
        """Delete it."""
        batch_backend().delete_policy({"arn": resource_name})


class JobQueueResource(_BatchResource, CloudFormationModel):
    """AWS::Batch::JobQueue: on a service environment ours, on compute environments moto's."""

    @staticmethod
    def cloudformation_name_type() -> str:
        """The property that names it."""
        return "JobQueueName"

    @staticmethod
    def cloudformation_type() -> str:
        """The type."""
        return "AWS::Batch::JobQueue"

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str, **kwargs: Any
    ) -> Any:
        """Create it."""
        properties = cloudformation_json["Properties"]
        if not properties.get("ServiceEnvironmentOrder"):
            return JobQueue.create_from_cloudformation_json(
                resource_name, cloudformation_json, account_id, region_name, **kwargs
            )
        request = {**lowered(properties), "jobQueueName": resource_name, "priority": int(properties["Priority"])}
        return cls(batch_backend().create_service_queue(request)["jobQueueArn"])

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: Any,
        account_id: str,
        region_name: str,
    ) -> Any:
        """Change what can change."""
        request = lowered(cloudformation_json["Properties"])
        batch_backend().update_service_queue({**request, "jobQueue": original_resource.arn})
        return original_resource

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
    ) -> None:
        """Disable it and delete it."""
        batch_backend().update_service_queue({"jobQueue": resource_name, "state": "DISABLED"})
        batch_backend().delete_service_queue({"jobQueue": resource_name})
