"""The CloudFormation types of Batch that moto lacks, and job queues on a service environment."""

# ruff: noqa: ARG003 - the signatures are moto's

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from moto.batch.exceptions import ClientException
from moto.batch.models import JobQueue
from moto.cloudformation.exceptions import ValidationError
from moto.core.common_models import CloudFormationModel

from pointsman_emulator.backends.batch.models import EmulatorBatchBackend
from pointsman_emulator.backends.resource import StackResource
from pointsman_emulator.models.batch import BatchRefusedError


def lowered(value: Any) -> Any:
    """Properties in the API's spelling: the first letter small, at every depth; tags stay as they are."""
    if isinstance(value, dict):
        return {
            key[:1].lower() + key[1:]: dict(inner) if key == "Tags" else lowered(inner) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [lowered(inner) for inner in value]
    return value


class BatchResource(StackResource):
    """A resource that Batch knows by its ARN; each operation waits until it is VALID, or gone."""

    fixed: ClassVar[tuple[str, ...]] = ()
    """Properties whose change needs another resource in its place, beside the name."""

    def __init__(self, name: str, arn: str, properties: dict[str, Any]) -> None:
        super().__init__(name, arn)
        self.properties = properties

    @classmethod
    def put(cls, backend: EmulatorBatchBackend, request: dict[str, Any]) -> str:
        """Create it; its ARN."""
        raise NotImplementedError

    @classmethod
    def patch(cls, backend: EmulatorBatchBackend, arn: str, request: dict[str, Any]) -> None:
        """Change it where it is."""
        raise NotImplementedError

    @classmethod
    def remove(cls, backend: EmulatorBatchBackend, arn: str) -> None:
        """Disable it and delete it."""
        raise NotImplementedError

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Fn::GetAtt has the ARN only."""
        return attr == f"{cls.kind}Arn"

    @classmethod
    def make(cls, name: str, properties: dict[str, Any]) -> Self:
        """Create it."""
        backend = EmulatorBatchBackend.here()
        with cls._refusals():
            arn = cls.put(backend, {**_request(properties), _first_small(cls.name_property): name})
        backend.wait()
        return cls(name, arn, dict(properties))

    def change(self, properties: dict[str, Any]) -> None:
        """Change it where it is, its tags too."""
        backend = EmulatorBatchBackend.here()
        with self._refusals():
            self.patch(backend, self.arn, _request(properties))
        backend.wait()
        backend.untag_resource(self.arn, list(backend.list_tags_for_resource(self.arn)))
        backend.tag_resource(self.arn, dict(properties.get("Tags") or {}))
        self.properties = dict(properties)

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
        properties, before = cloudformation_json["Properties"], original_resource.properties
        if all(properties.get(name) == before.get(name) for name in (cls.name_property, *cls.fixed)):
            original_resource.change(properties)
            return original_resource
        made = cls.make(new_resource_name, properties)
        cls.delete_from_cloudformation_json(original_resource.arn, {}, account_id, region_name)
        return made

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
    ) -> None:
        """Disable it and delete it, by its ARN."""
        backend = EmulatorBatchBackend.here()
        with cls._refusals():
            cls.remove(backend, resource_name)
        backend.wait()

    @classmethod
    @contextmanager
    def _refusals(cls) -> Iterator[None]:
        """What Batch refuses is an error of the stack."""
        try:
            yield
        except (ClientException, BatchRefusedError) as error:
            raise ValidationError(message=f"{cls.cloudformation_type()}: {error.message}") from None


class ServiceEnvironmentResource(BatchResource, CloudFormationModel):
    """AWS::Batch::ServiceEnvironment."""

    service, kind, name_property = "Batch", "ServiceEnvironment", "ServiceEnvironmentName"
    fixed = ("ServiceEnvironmentType",)

    @classmethod
    def put(cls, backend: EmulatorBatchBackend, request: dict[str, Any]) -> str:
        """CreateServiceEnvironment."""
        return str(backend.create_service_environment(request)["serviceEnvironmentArn"])

    @classmethod
    def patch(cls, backend: EmulatorBatchBackend, arn: str, request: dict[str, Any]) -> None:
        """UpdateServiceEnvironment."""
        backend.update_service_environment({"state": "ENABLED", **request, "serviceEnvironment": arn})

    @classmethod
    def remove(cls, backend: EmulatorBatchBackend, arn: str) -> None:
        """UpdateServiceEnvironment, DeleteServiceEnvironment."""
        backend.update_service_environment({"serviceEnvironment": arn, "state": "DISABLED"})
        backend.wait()
        backend.delete_service_environment({"serviceEnvironment": arn})


class SchedulingPolicyResource(BatchResource, CloudFormationModel):
    """AWS::Batch::SchedulingPolicy."""

    service, kind, name_property = "Batch", "SchedulingPolicy", "Name"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Fn::GetAtt has the ARN only."""
        return attr == "Arn"

    @classmethod
    def put(cls, backend: EmulatorBatchBackend, request: dict[str, Any]) -> str:
        """CreateSchedulingPolicy."""
        return str(backend.create_policy(request)["arn"])

    @classmethod
    def patch(cls, backend: EmulatorBatchBackend, arn: str, request: dict[str, Any]) -> None:
        """UpdateSchedulingPolicy."""
        backend.update_policy({**request, "arn": arn})

    @classmethod
    def remove(cls, backend: EmulatorBatchBackend, arn: str) -> None:
        """DeleteSchedulingPolicy."""
        backend.delete_policy({"arn": arn})


class JobQueueResource(BatchResource, CloudFormationModel):
    """AWS::Batch::JobQueue: on a service environment ours, on compute environments moto's."""

    service, kind, name_property = "Batch", "JobQueue", "JobQueueName"
    fixed = ("JobQueueType",)

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
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: Any,
        account_id: str,
        region_name: str,
    ) -> Any:
        """Change it."""
        if isinstance(original_resource, JobQueue):
            raise NotImplementedError("The emulator cannot update a job queue of containers: give it another name")
        return super().update_from_cloudformation_json(
            original_resource, new_resource_name, cloudformation_json, account_id, region_name
        )

    @classmethod
    def put(cls, backend: EmulatorBatchBackend, request: dict[str, Any]) -> str:
        """CreateJobQueue."""
        return str(backend.create_service_queue(request)["jobQueueArn"])

    @classmethod
    def patch(cls, backend: EmulatorBatchBackend, arn: str, request: dict[str, Any]) -> None:
        """UpdateJobQueue."""
        backend.update_service_queue({"state": "ENABLED", **request, "jobQueue": arn})

    @classmethod
    def remove(cls, backend: EmulatorBatchBackend, arn: str) -> None:
        """UpdateJobQueue, DeleteJobQueue."""
        if backend.service_queue(arn) is None:
            backend.delete_job_queue(arn)
            return
        backend.update_service_queue({"jobQueue": arn, "state": "DISABLED"})
        backend.wait()
        backend.delete_service_queue({"jobQueue": arn})


class QuotaShareResource(BatchResource, CloudFormationModel):
    """AWS::Batch::QuotaShare."""

    service, kind, name_property = "Batch", "QuotaShare", "QuotaShareName"
    fixed = ("JobQueue",)

    @classmethod
    def put(cls, backend: EmulatorBatchBackend, request: dict[str, Any]) -> str:
        """CreateQuotaShare."""
        return str(backend.create_quota_share(request)["quotaShareArn"])

    @classmethod
    def patch(cls, backend: EmulatorBatchBackend, arn: str, request: dict[str, Any]) -> None:
        """UpdateQuotaShare."""
        backend.update_quota_share({"state": "ENABLED", **request, "quotaShareArn": arn})

    @classmethod
    def remove(cls, backend: EmulatorBatchBackend, arn: str) -> None:
        """UpdateQuotaShare, DeleteQuotaShare."""
        backend.update_quota_share({"quotaShareArn": arn, "state": "DISABLED"})
        backend.wait()
        backend.delete_quota_share({"quotaShareArn": arn})


def _request(properties: dict[str, Any]) -> dict[str, Any]:
    """A request of these properties; a parameter may have given numbers as text."""
    request: dict[str, Any] = lowered(properties)
    for limit in request.get("capacityLimits") or ():
        limit["maxCapacity"] = int(limit["maxCapacity"])
    if "priority" in request:
        request["priority"] = int(request["priority"])
    return request


def _first_small(name: str) -> str:
    return name[:1].lower() + name[1:]


TYPES = (ServiceEnvironmentResource, SchedulingPolicyResource, JobQueueResource, QuotaShareResource)
"""The CloudFormation types that moto learns from us, by being subclasses of its model."""
