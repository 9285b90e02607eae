"""The CloudFormation types of SageMaker inference. CloudFormation's Ref of each is its ARN."""

# ruff: noqa: ARG003 - the signatures are moto's

from __future__ import annotations

from typing import Any, ClassVar, Self

from moto.core.common_models import CloudFormationModel

from pointsman_emulator.backends.sagemaker.models import sagemaker_backend
from pointsman_emulator.models.inference import InferenceModel
from pointsman_emulator.models.inference_views import ARN

NUMBERS = frozenset(
    {
        "CopyCount",
        "InitialInstanceCount",
        "MinInstanceCount",
        "MaxInstanceCount",
        "MinMemoryRequiredInMb",
        "MaxMemoryRequiredInMb",
        "NumberOfAcceleratorDevicesRequired",
        "NumberOfCpuCoresRequired",
        "ModelDataDownloadTimeoutInSeconds",
        "ContainerStartupHealthCheckTimeoutInSeconds",
        "Value",
        "WaitIntervalInSeconds",
        "MaximumExecutionTimeoutInSeconds",
    }
)
"""Properties that a template may spell as text, as a parameter does."""


def read(properties: Any) -> Any:
    """Properties as a request: numbers as numbers; tags and environments stay as they are."""
    if isinstance(properties, list):
        return [read(item) for item in properties]
    if not isinstance(properties, dict):
        return properties
    found: dict[str, Any] = {}
    for key, value in properties.items():
        if key in ("Tags", "Environment"):
            found[key] = value
        elif key in NUMBERS and isinstance(value, str):
            found[key] = float(value) if "." in value else int(value)
        else:
            found[key] = read(value)
    return found


class _InferenceResource(CloudFormationModel):
    """A resource that the inference model holds under its name."""

    kind: ClassVar[str] = "Resource"
    path: ClassVar[str] = "resource"

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def physical_resource_id(self) -> str:
        """What Ref gives."""
        return f"{ARN}:{self.path}/{self.name}"

    @classmethod
    def cloudformation_name_type(cls) -> str:
        """The property that names it."""
        return f"{cls.kind}Name"

    @classmethod
    def cloudformation_type(cls) -> str:
        """The type."""
        return f"AWS::SageMaker::{cls.kind}"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Whether Fn::GetAtt has this attribute."""
        return attr in (f"{cls.kind}Name", f"{cls.kind}Arn")

    def get_cfn_attribute(self, attribute_name: str) -> Any:
        """The name, or the ARN."""
        return self.name if attribute_name == f"{self.kind}Name" else self.physical_resource_id

    @classmethod
    def make(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Create it."""
        raise NotImplementedError

    @classmethod
    def change(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Change it."""
        raise NotImplementedError(f"The emulator cannot update {cls.cloudformation_type()}: give it another name")

    @classmethod
    def drop(cls, model: InferenceModel, name: str) -> None:
        """Delete it."""
        raise NotImplementedError

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str, **kwargs: Any
    ) -> Self:
        """Create it."""
        # moto takes the property that names a resource from its own class of the type, which has none
        name = cloudformation_json["Properties"].get(f"{cls.kind}Name", resource_name)
        cls.make(_model(), cls.request(name, cloudformation_json))
        return cls(name)

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
        cls.change(_model(), cls.request(original_resource.name, cloudformation_json))
        return original_resource

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
    ) -> None:
        """Delete it."""
        cls.drop(_model(), resource_name.rsplit("/", 1)[-1])

    @classmethod
    def request(cls, name: str, cloudformation_json: Any) -> dict[str, Any]:
        """The API's request; names of other resources may be given as their ARNs."""
        request = {**read(cloudformation_json["Properties"]), f"{cls.kind}Name": name}
        for other in ("EndpointName", "EndpointConfigName"):
            if other in request:
                request[other] = str(request[other]).rsplit("/", 1)[-1]
        return request


class ModelResource(_InferenceResource, CloudFormationModel):
    """AWS::SageMaker::Model."""

    kind, path = "Model", "model"

    @classmethod
    def make(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Create it."""
        model.create_model(request)

    @classmethod
    def drop(cls, model: InferenceModel, name: str) -> None:
        """Delete it."""
        model.delete_model(name)


class EndpointConfigResource(_InferenceResource, CloudFormationModel):
    """AWS::SageMaker::EndpointConfig."""

    kind, path = "EndpointConfig", "endpoint-config"

    @classmethod
    def make(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Create it."""
        model.create_config(request)

    @classmethod
    def drop(cls, model: InferenceModel, name: str) -> None:
        """Delete it."""
        model.delete_config(name)


class EndpointResource(_InferenceResource, CloudFormationModel):
    """AWS::SageMaker::Endpoint."""

    kind, path = "Endpoint", "endpoint"

    @classmethod
    def make(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Create it."""
        model.create_endpoint(request)

    @classmethod
    def change(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Give it another configuration."""
        model.update_endpoint(request)

    @classmethod
    def drop(cls, model: InferenceModel, name: str) -> None:
        """Delete it."""
        model.delete_endpoint(name)


class InferenceComponentResource(_InferenceResource, CloudFormationModel):
    """AWS::SageMaker::InferenceComponent. The stack does not wait for its copies."""

    kind, path = "InferenceComponent", "inference-component"

    @classmethod
    def make(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Create it."""
        model.create_component(request)

    @classmethod
    def change(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Update it."""
        model.update_component(request)

    @classmethod
    def drop(cls, model: InferenceModel, name: str) -> None:
        """Delete it."""
        model.delete_component(name)


TYPES = (ModelResource, EndpointConfigResource, EndpointResource, InferenceComponentResource)
"""What moto learns from us, by being subclasses of its model."""


def _model() -> InferenceModel:
    backend = sagemaker_backend()
    backend.catch_up()
    return backend.model
