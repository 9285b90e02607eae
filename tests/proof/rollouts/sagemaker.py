"""SageMaker and its auto scaling as the emulator's behaviour model has them, behind the product's own adapter."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from pointsman.aws.sagemaker import SageMakerFleet
from pointsman.errors import Gone
from pointsman.rollouts.observations import WHOLE, ScalingView, Suspension
from pointsman.rollouts.specs import Compute
from pointsman_emulator.models.inference import InferenceModel, InferenceRefusedError, Room, ScalingTarget

SIZES = {"one": Room(1, 8, 32_768), "eight": Room(8, 96, 700_000)}


class Shapes:
    """What the instances of these worlds hold."""

    @staticmethod
    def shape(instance_type: str) -> Compute:
        size = SIZES[instance_type]
        return Compute(size.accelerators, size.cores, size.memory)


class ModelClient:
    """The calls that the adapter makes of SageMaker, answered by the model; `silent` are Updating for ever.

    `refuses` says whether an update is refused for a reason that the model knows nothing of.
    """

    def __init__(self, model: InferenceModel, refuses: Callable[[], bool]) -> None:
        self.model, self.refuses = model, refuses
        self.silent: set[str] = set()

    def describe_inference_component(self, *, InferenceComponentName: str) -> dict[str, Any]:  # noqa: N803
        shown = _asked(self.model.describe_component, InferenceComponentName)
        found = dict(shown)
        found["LastModifiedTime"] = datetime.fromtimestamp(shown["LastModifiedTime"], UTC)
        if InferenceComponentName in self.silent:
            found["InferenceComponentStatus"] = "Updating"
        return found

    def describe_endpoint(self, *, EndpointName: str) -> Mapping[str, Any]:  # noqa: N803
        return _asked(self.model.describe_endpoint, EndpointName)

    def describe_endpoint_config(self, *, EndpointConfigName: str) -> Mapping[str, Any]:  # noqa: N803
        return _asked(self.model.find_config, EndpointConfigName)

    def describe_model(self, *, ModelName: str) -> Mapping[str, Any]:  # noqa: N803
        return _asked(self.model.find_model, ModelName)

    def list_inference_components(self, **request: Any) -> dict[str, Any]:
        part, endpoint = request.get("NameContains", ""), request.get("EndpointNameEquals")
        names = [
            name
            for name, component in self.model.components.items()
            if part in name and (endpoint is None or component.endpoint.name == endpoint)
        ]
        return {"InferenceComponents": [{"InferenceComponentName": name} for name in sorted(names)]}

    def update_inference_component(self, **request: Any) -> None:
        if self.refuses():
            answer = {"Error": {"Code": "ResourceLimitExceeded", "Message": "not today"}}
            raise ClientError(answer, "UpdateInferenceComponent")
        _asked(self.model.update_component, request)

    def update_inference_component_runtime_config(
        self,
        *,
        InferenceComponentName: str,  # noqa: N803
        DesiredRuntimeConfig: Mapping[str, int],  # noqa: N803
    ) -> None:
        _asked(self.model.update_runtime, InferenceComponentName, DesiredRuntimeConfig["CopyCount"])


def _asked(operation: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return operation(*arguments)
    except InferenceRefusedError as refused:
        answer = {"Error": {"Code": refused.code, "Message": refused.message}}
        raise ClientError(answer, operation.__name__) from refused


def fleet_on(client: ModelClient) -> SageMakerFleet:
    """The product's own adapter on the model."""
    return SageMakerFleet(client, client, Shapes())


class ModelScaling:
    """The auto-scaling targets of the model; of what they are kept from, the model lacks what is scheduled."""

    def __init__(self, model: InferenceModel) -> None:
        self.model = model
        self.kept: dict[str, Suspension] = {}

    def add(self, component: str, least: int, most: int, kept: Suspension) -> None:
        """Register a target that is kept from this much."""
        self.model.put_target(component, ScalingTarget(least, most))
        self._keep(component, kept)

    def describe(self, components: list[str]) -> Mapping[str, ScalingView]:
        found = {name: self.model.targets[name] for name in components if name in self.model.targets}
        return {name: ScalingView(it.minimum, it.maximum, self.kept[name]) for name, it in found.items()}

    def suspend(self, component: str) -> None:
        self._keep(component, WHOLE)

    def restore(self, component: str, suspension: Suspension) -> None:
        self._keep(component, suspension)

    def _keep(self, component: str, kept: Suspension) -> None:
        if component not in self.model.targets:
            raise Gone(component)
        there = self.model.targets[component]
        self.kept[component] = kept
        self.model.targets[component] = ScalingTarget(
            there.minimum, there.maximum, kept.scale_in, kept.scale_out, there.per_copy, there.wish
        )
