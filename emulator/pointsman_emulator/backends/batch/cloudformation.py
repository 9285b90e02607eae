"""The CloudFormation types of Batch that moto lacks, and job queues on a service environment."""

# ruff: noqa: ARG003 - the signatures are moto's

from __future__ import annotations

from typing import Any, ClassVar, Self

from moto.batch.models import JobQueue
from moto.core.common_models import CloudFormationModel

from pointsman_emulator.backends.batch.models import EmulatorBatchBackend, batch_backend


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
    """A resource that Batch knows by its ARN, which is what its Ref gives.

    Like CloudFormation, each operation waits until the resource is VALID, or gone.
    """

    type_name: ClassVar[str] = "Emulator::Batch::Resource"
    naming: ClassVar[str] = "Name"
    """The property that names it."""
    arn_attribute: ClassVar[str] = "Arn"
    fixed: ClassVar[tuple[str, ...]] = ()
    """Properties whose change needs another resource in its place, beside its name."""
    numbers: ClassVar[tuple[str, ...]] = ()
    """Properties that a parameter may give as text."""

    def __init__(self, arn: str, properties: dict[str, Any]) -> None:
        self.arn = arn
        self.properties = properties

    @classmethod
    def make(cls, backend: EmulatorBatchBackend, request: dict[str, Any]) -> str:
        """Create it; its ARN."""
        raise NotImplementedError

    @classmethod
    def change(cls, backend: EmulatorBatchBackend, arn: str, request: dict[str, Any]) -> None:
        """Change it where it is."""
        raise NotImplementedError

    @classmethod
    def remove(cls, backend: EmulatorBatchBackend, arn: str) -> None:
        """Disable it and delete it."""
        raise NotImplementedError

    @property
    def physical_resource_id(self) -> str:
        """What Ref gives."""
        return self.arn

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Whether Fn::GetAtt has this attribute."""
        return attr == cls.arn_attribute

    def get_cfn_attribute(self, attribute_name: str) -> Any:
        """Every attribute is the ARN."""
        return self.arn

    @classmethod
    def cloudformation_name_type(cls) -> str:
        """The property that names it."""
        return cls.naming

    @classmethod
    def cloudformation_type(cls) -> str:
        """The type."""
        return cls.type_name

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str, **kwargs: Any
    ) -> Any:
        """Create it."""
        properties = dict(cloudformation_json.get("Properties") or {})
        return cls._made(properties, {**cls._request(properties), _first_small(cls.naming): resource_name})

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: Any,
        account_id: str,
        region_name: str,
    ) -> Any:
        """Change it where it is; or put another one in its place, where it has to be another."""
        properties = dict(cloudformation_json.get("Properties") or {})
        backend, before = batch_backend(), original_resource.properties
        if all(properties.get(name) == before.get(name) for name in (cls.naming, *cls.fixed)):
            cls.change(backend, original_resource.arn, cls._request(properties))
            backend.wait()
            held = backend.list_tags_for_resource(original_resource.arn)
            backend.untag_resource(original_resource.arn, list(held))
            backend.tag_resource(original_resource.arn, dict(properties.get("Tags") or {}))
            original_resource.properties = properties
            return original_resource
        made = cls._made(properties, {**cls._request(properties), _first_small(cls.naming): new_resource_name})
        cls._removed(original_resource.arn)
        return made

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
    ) -> None:
        """Disable it and delete it."""
        cls._removed(resource_name)

    @classmethod
    def _made(cls, properties: dict[str, Any], request: dict[str, Any]) -> Self:
        backend = batch_backend()
        arn = cls.make(backend, request)
        backend.wait()
        return cls(arn, properties)

    @classmethod
    def _removed(cls, arn: str) -> None:
        backend = batch_backend()
        cls.remove(backend, arn)
        backend.wait()

    @classmethod
    def _request(cls, properties: dict[str, Any]) -> dict[str, Any]:
        numbers = {name: int(properties[name]) for name in cls.numbers if name in properties}
        request: dict[str, Any] = lowered({**properties, **numbers})
        for limit in request.get("capacityLimits") or ():
            limit["maxCapacity"] = int(limit["maxCapacity"])
        return request


class ServiceEnvironmentResource(_BatchResource, CloudFormationModel):
    """AWS::Batch::ServiceEnvironment."""

    type_name = "AWS::Batch::ServiceEnvironment"
    naming, arn_attribute = "ServiceEnvironmentName", "ServiceEnvironmentArn"
    fixed = ("ServiceEnvironmentType",)

    @classmethod
    def make(cls, backend: EmulatorBatchBackend, request: dict[str, Any]) -> str:
        """CreateServiceEnvironment."""
        return str(backend.create_service_environment(request)["serviceEnvironmentArn"])

    @classmethod
    def change(cls, backend: EmulatorBatchBackend, arn: str, request: dict[str, Any]) -> None:
        """UpdateServiceEnvironment."""
        backend.update_service_environment({"state": "ENABLED", **request, "serviceEnvironment": arn})

    @classmethod
    def remove(cls, backend: EmulatorBatchBackend, arn: str) -> None:
        """UpdateServiceEnvironment, DeleteServiceEnvironment."""
        backend.update_service_environment({"serviceEnvironment": arn, "state": "DISABLED"})
        backend.wait()
        backend.delete_service_environment({"serviceEnvironment": arn})


class SchedulingPolicyResource(_BatchResource, CloudFormationModel):
    """AWS::Batch::SchedulingPolicy."""

    type_name = "AWS::Batch::SchedulingPolicy"
    naming, arn_attribute = "Name", "Arn"

    @classmethod
    def make(cls, backend: EmulatorBatchBackend, request: dict[str, Any]) -> str:
        """CreateSchedulingPolicy."""
        return str(backend.create_policy(request)["arn"])

    @classmethod
    def change(cls, backend: EmulatorBatchBackend, arn: str, request: dict[str, Any]) -> None:
        """UpdateSchedulingPolicy."""
        backend.update_policy({**request, "arn": arn})

    @classmethod
    def remove(cls, backend: EmulatorBatchBackend, arn: str) -> None:
        """DeleteSchedulingPolicy."""
        backend.delete_policy({"arn": arn})


class JobQueueResource(_BatchResource, CloudFormationModel):
    """AWS::Batch::JobQueue: on a service environment ours, on compute environments moto's."""

    type_name = "AWS::Batch::JobQueue"
    naming, arn_attribute = "JobQueueName", "JobQueueArn"
    fixed = ("JobQueueType",)
    numbers = ("Priority",)

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str, **kwargs: Any
    ) -> Any:
        """Create it."""
        if cloudformation_json["Properties"].get("ServiceEnvironmentOrder"):
            return super().create_from_cloudformation_json(
                resource_name, cloudformation_json, account_id, region_name, **kwargs
            )
        return JobQueue.create_from_cloudformation_json(
            resource_name, cloudformation_json, account_id, region_name, **kwargs
        )

    @classmethod
    def make(cls, backend: EmulatorBatchBackend, request: dict[str, Any]) -> str:
        """CreateJobQueue."""
        return str(backend.create_service_queue(request)["jobQueueArn"])

    @classmethod
    def change(cls, backend: EmulatorBatchBackend, arn: str, request: dict[str, Any]) -> None:
        """UpdateJobQueue."""
        backend.update_service_queue({"state": "ENABLED", **request, "jobQueue": arn})

    @classmethod
    def remove(cls, backend: EmulatorBatchBackend, arn: str) -> None:
        """UpdateJobQueue, DeleteJobQueue."""
        backend.update_service_queue({"jobQueue": arn, "state": "DISABLED"})
        backend.wait()
        backend.delete_service_queue({"jobQueue": arn})


class QuotaShareResource(_BatchResource, CloudFormationModel):
    """AWS::Batch::QuotaShare."""

    type_name = "AWS::Batch::QuotaShare"
    naming, arn_attribute = "QuotaShareName", "QuotaShareArn"
    fixed = ("JobQueue",)

    @classmethod
    def make(cls, backend: EmulatorBatchBackend, request: dict[str, Any]) -> str:
        """CreateQuotaShare."""
        return str(backend.create_quota_share(request)["quotaShareArn"])

    @classmethod
    def change(cls, backend: EmulatorBatchBackend, arn: str, request: dict[str, Any]) -> None:
        """UpdateQuotaShare."""
        backend.update_quota_share({"state": "ENABLED", **request, "quotaShareArn": arn})

    @classmethod
    def remove(cls, backend: EmulatorBatchBackend, arn: str) -> None:
        """UpdateQuotaShare, DeleteQuotaShare."""
        backend.update_quota_share({"quotaShareArn": arn, "state": "DISABLED"})
        backend.wait()
        backend.delete_quota_share({"quotaShareArn": arn})


def _first_small(name: str) -> str:
    return name[:1].lower() + name[1:]


TYPES = (ServiceEnvironmentResource, SchedulingPolicyResource, JobQueueResource, QuotaShareResource)
"""The CloudFormation types that moto learns from us, by being subclasses of its model."""
