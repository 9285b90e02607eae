"""Endpoints and inference components for tests, through the API and on the bare model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pointsman_emulator import Emulator
from pointsman_emulator.models.inference import InferenceModel, InferenceSettings, Room

ROLE = "arn:aws:iam::123456789012:role/endpoints"
SIZES = {
    "ml.g5.2xlarge": Room(1, 8, 32 * 1024),
    "ml.g5.12xlarge": Room(4, 48, 192 * 1024),
}
BEHAVIOURS = {
    "old": {},
    "new": {},
    "crashing": {"EMULATED_BEHAVIOUR": "does-not-start"},
    "lost-artifact": {"EMULATED_BEHAVIOUR": "no-artifact"},
    "bad-api": {"EMULATED_BEHAVIOUR": "4xx"},
    "broken": {"EMULATED_BEHAVIOUR": "5xx"},
    "slow": {"EMULATED_BEHAVIOUR": "slow"},
    "tiring": {"EMULATED_BEHAVIOUR": "fails-after:300"},
}


def model_request(name: str) -> dict[str, Any]:
    """CreateModel of one of the behaviours."""
    container = {"Image": f"images/{name}:1", "Environment": dict(BEHAVIOURS.get(name, {}))}
    return {"ModelName": name, "ExecutionRoleArn": ROLE, "PrimaryContainer": container}


def config_request(
    initial: int = 3, most: int | None = 4, least: int | None = None, kind: str = "ml.g5.2xlarge", name: str = "config"
) -> dict[str, Any]:
    """CreateEndpointConfig; without a maximum there is no managed scaling."""
    variant: dict[str, Any] = {"VariantName": "all", "InstanceType": kind, "InitialInstanceCount": initial}
    if most is not None:
        scaling = {"Status": "ENABLED", "MinInstanceCount": initial if least is None else least}
        variant["ManagedInstanceScaling"] = {**scaling, "MaxInstanceCount": most}
    return {"EndpointConfigName": name, "ExecutionRoleArn": ROLE, "ProductionVariants": [variant]}


def component_request(
    name: str = "llm", copies: int = 3, model: str = "old", endpoint: str = "chat", accelerators: int = 1, **more: Any
) -> dict[str, Any]:
    """CreateInferenceComponent."""
    needs = {"NumberOfAcceleratorDevicesRequired": accelerators, "MinMemoryRequiredInMb": 1024}
    return {
        "InferenceComponentName": name,
        "EndpointName": endpoint,
        "VariantName": "all",
        "Specification": {"ModelName": model, "ComputeResourceRequirements": needs},
        "RuntimeConfig": {"CopyCount": copies},
        **more,
    }


def rolling(
    batch: int = 1,
    wait: int = 120,
    *alarms: str,
    kind: str = "COPY_COUNT",
    back: int | None = None,
    timeout: int | None = None,
) -> dict[str, Any]:
    """A DeploymentConfig."""
    policy: dict[str, Any] = {"MaximumBatchSize": {"Type": kind, "Value": batch}, "WaitIntervalInSeconds": wait}
    if back is not None:
        policy["RollbackMaximumBatchSize"] = {"Type": "COPY_COUNT", "Value": back}
    if timeout is not None:
        policy["MaximumExecutionTimeoutInSeconds"] = timeout
    config: dict[str, Any] = {"RollingUpdatePolicy": policy}
    if alarms:
        config["AutoRollbackConfiguration"] = {"Alarms": [{"AlarmName": name} for name in alarms]}
    return config


def update_request(model: str = "new", config: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """UpdateInferenceComponent to another model."""
    needs = {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 1024}
    request = {
        "InferenceComponentName": "llm",
        "Specification": {"ModelName": model, "ComputeResourceRequirements": needs},
        **more,
    }
    if config is not None:
        request["DeploymentConfig"] = config
    return request


class Fleet:
    """The bare model with one endpoint, an hour after its component `llm` was created."""

    def __init__(  # what a fleet is
        self,
        copies: int = 3,
        initial: int = 3,
        most: int | None = 4,
        kind: str = "ml.g5.2xlarge",
        **settings: Any,
    ) -> None:
        self.alarms: dict[str, str] = {}
        self.model = InferenceModel(
            InferenceSettings(**settings), 7, sizes=SIZES.__getitem__, alarm_state=lambda name, _: self.alarms.get(name)
        )
        for name in BEHAVIOURS:
            self.model.create_model(model_request(name))
        self.model.create_config(config_request(initial, most, kind=kind))
        self.model.create_endpoint({"EndpointName": "chat", "EndpointConfigName": "config"})
        self.model.advance(400)
        if copies:
            self.model.create_component(component_request(copies=copies))
        self.model.advance(3600)

    @property
    def llm(self) -> Any:
        """The component."""
        return self.model.components["llm"]

    def update(self, model: str = "new", config: Mapping[str, Any] | None = None, **more: Any) -> None:
        """Begin an update."""
        self.model.update_component(update_request(model, config, **more))

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.model.advance(self.model.now + seconds)

    def described(self) -> dict[str, Any]:
        """The component as the API describes it."""
        return dict(self.model.describe_component("llm"))

    def outcome(self) -> tuple[str, str, int]:
        """Status, model and copies that serve."""
        return (self.llm.status, self.llm.spec.model, self.llm.current)

    def models(self) -> list[str]:
        """The model of each copy that serves, the oldest first."""
        return [str(copy.spec.model) for copy in self.llm.serving]

    def said(self) -> list[str]:
        """What happened to it."""
        return [what for _, what in self.llm.log]


def deployed(aws: Emulator, copies: int = 3, initial: int = 3, most: int | None = 4) -> Any:
    """The same by the API; the SageMaker client."""
    sagemaker = aws.client("sagemaker")
    for name in BEHAVIOURS:
        sagemaker.create_model(**model_request(name))
    sagemaker.create_endpoint_config(**config_request(initial, most))
    sagemaker.create_endpoint(EndpointName="chat", EndpointConfigName="config")
    aws.run_for(600)
    sagemaker.create_inference_component(**component_request(copies=copies))
    aws.run_for(600)
    return sagemaker
