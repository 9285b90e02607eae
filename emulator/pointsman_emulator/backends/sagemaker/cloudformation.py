"""The CloudFormation types of SageMaker inference. CloudFormation's Ref of each is its ARN."""

from __future__ import annotations

from typing import Any, Self

from moto.core.common_models import CloudFormationModel

from pointsman_emulator.backends.resource import StackResource
from pointsman_emulator.backends.sagemaker.models import EmulatorSageMakerBackend
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


class _InferenceResource(StackResource):
    """A resource that the inference model holds under its name; `path` is its ARN's."""

    service, path = "SageMaker", "resource"

    @classmethod
    def make(cls, name: str, properties: dict[str, Any]) -> Self:
        """Create it."""
        cls.create(_model(), cls.request(name, properties))
        return cls(name, f"{ARN}:{cls.path}/{name}")

    @classmethod
    def create(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Create it by the API's request."""
        raise NotImplementedError

    @classmethod
    def request(cls, name: str, properties: dict[str, Any]) -> dict[str, Any]:
        """The API's request; names of other resources may be given as their ARNs."""
        request = {**read(properties), cls.name_property: name}
        for other in ("EndpointName", "EndpointConfigName"):
            if other in request:
                request[other] = str(request[other]).rsplit("/", 1)[-1]
        return request


class ModelResource(_InferenceResource, CloudFormationModel):
    """AWS::SageMaker::Model."""

    kind, name_property, path = "Model", "ModelName", "model"

    @classmethod
    def create(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Create it."""
        model.create_model(request)

    @classmethod
    def drop(cls, name: str) -> None:
        """Delete it."""
        _model().delete_model(name)


class EndpointConfigResource(_InferenceResource, CloudFormationModel):
    """AWS::SageMaker::EndpointConfig."""

    kind, name_property, path = "EndpointConfig", "EndpointConfigName", "endpoint-config"

    @classmethod
    def create(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Create it."""
        model.create_config(request)

    @classmethod
    def drop(cls, name: str) -> None:
        """Delete it."""
        _model().delete_config(name)


class EndpointResource(_InferenceResource, CloudFormationModel):
    """AWS::SageMaker::Endpoint."""

    kind, name_property, path = "Endpoint", "EndpointName", "endpoint"

    @classmethod
    def create(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Create it."""
        model.create_endpoint(request)

    def change(self, properties: dict[str, Any]) -> None:
        """Give it another configuration."""
        _model().update_endpoint(self.request(self.name, properties))

    @classmethod
    def drop(cls, name: str) -> None:
        """Delete it."""
        _model().delete_endpoint(name)


class InferenceComponentResource(_InferenceResource, CloudFormationModel):
    """AWS::SageMaker::InferenceComponent. The stack does not wait for its copies."""

    kind, name_property, path = "InferenceComponent", "InferenceComponentName", "inference-component"

    @classmethod
    def create(cls, model: InferenceModel, request: dict[str, Any]) -> None:
        """Create it."""
        model.create_component(request)

    def change(self, properties: dict[str, Any]) -> None:
        """Update it."""
        _model().update_component(self.request(self.name, properties))

    @classmethod
    def drop(cls, name: str) -> None:
        """Delete it."""
        _model().delete_component(name)


TYPES = (ModelResource, EndpointConfigResource, EndpointResource, InferenceComponentResource)
"""What moto learns from us, by being subclasses of its model."""


def _model() -> InferenceModel:
    backend = EmulatorSageMakerBackend.here()
    backend.catch_up()
    return backend.model
