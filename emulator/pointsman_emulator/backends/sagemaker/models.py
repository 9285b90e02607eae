"""The SageMaker backend: the pure model bound to the clock, to CloudWatch's alarms and metrics, and to EventBridge."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.sagemaker.models import SageMakerModelBackend, sagemaker_backends

from pointsman_emulator.backends.bound import Ticking
from pointsman_emulator.backends.cloudwatch.models import EmulatorCloudWatchBackend
from pointsman_emulator.backends.iam.models import allowed
from pointsman_emulator.backends.sagemaker import events
from pointsman_emulator.bus import Bus
from pointsman_emulator.clock import Clock
from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_emulator.models.inference import (
    Component,
    InferenceChange,
    InferenceModel,
    InferenceRefusedError,
    InferenceSettings,
    MetricValue,
    Room,
)
from pointsman_emulator.models.inference_views import ARN


@dataclass(slots=True)
class Inference:
    """What inference is like, its seed and its clock, and who is told of it."""

    settings: InferenceSettings
    seed: int
    clock: Clock
    bus: Bus


class EmulatorSageMakerBackend(Ticking, SageMakerModelBackend):
    """moto's backend, with inference in a model of its own."""

    home = sagemaker_backends
    world: ClassVar[Inference | None] = None
    model: InferenceModel

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        world = self.world
        self.settings = world.settings if world else InferenceSettings()
        self.model = InferenceModel(
            self.settings,
            world.seed if world else 0,
            start=world.clock.now if world else 0.0,
            sizes=size_of,
            listener=self._announce if world else None,
            alarm_state=self._alarm_state if world else None,
            publish=_publish if world else None,
        )

    def _announce(self, change: InferenceChange) -> None:
        endpoint = self.model.endpoints.get(change.name) if change.kind == "endpoint" else None
        if self.world is not None and endpoint is not None:
            detail = events.state_detail(endpoint, change.status, ARN)
            self.world.bus.put(
                "aws.sagemaker", events.STATE_CHANGE, detail, at=change.at, resources=[detail["EndpointArn"]]
            )

    def _alarm_state(self, name: str, component: Component) -> str | None:
        """An alarm, as the endpoint's execution role may see it."""
        state = EmulatorCloudWatchBackend.here().model.states.get(name)
        if state is None:
            return None
        alarm = f"arn:aws:cloudwatch:{REGION}:{ACCOUNT}:alarm:{name}"
        return state.value if allowed(component.endpoint.role, "cloudwatch:DescribeAlarms", alarm) else ""

    def tags_of(self, arn: str) -> list[dict[str, str]] | None:
        """The tags of one of our resources, to read and to change; None if it is none of ours."""
        kind, _, name = arn.rsplit(":", 1)[-1].partition("/")
        model = self.model
        documents = {"model": model.models, "endpoint-config": model.configs}.get(kind)
        if documents is not None and name in documents:
            tags: list[dict[str, str]] = documents[name].setdefault("Tags", [])
            return tags
        holder: Any = {"endpoint": model.endpoints, "inference-component": model.components}.get(kind, {})
        return holder[name].tags if name in holder else None


def size_of(instance_type: str) -> Room:
    """What an instance of an ML type has, by the EC2 type that it is."""
    known = INSTANCE_TYPES.get(instance_type.removeprefix("ml."))
    if known is None:
        raise InferenceRefusedError(f"The instance type {instance_type} is not known.")
    devices = [
        *(known.get("GpuInfo") or {}).get("Gpus", ()),
        *(known.get("InferenceAcceleratorInfo") or {}).get("Accelerators", ()),
        *(known.get("NeuronInfo") or {}).get("NeuronDevices", ()),
    ]
    return Room(
        float(sum(int(device.get("Count", 0)) for device in devices)),
        float(known["VCpuInfo"]["DefaultVCpus"]),
        float(known["MemoryInfo"]["SizeInMiB"]),
    )


def _publish(values: list[MetricValue]) -> None:
    backend = EmulatorCloudWatchBackend.here()
    by_namespace: dict[str, list[dict[str, Any]]] = {}
    for value in values:
        datum = {
            "MetricName": value.name,
            "Dimensions": [{"Name": name, "Value": text} for name, text in value.dimensions],
            "Timestamp": datetime.fromtimestamp(value.at, UTC).replace(tzinfo=None),
            "StatisticValues": {
                "Sum": value.total,
                "SampleCount": value.samples,
                "Minimum": value.low,
                "Maximum": value.high,
            },
            "Unit": value.unit,
        }
        by_namespace.setdefault(value.namespace, []).append(datum)
    for namespace, data in by_namespace.items():
        backend.put_metric_data(namespace, data)
