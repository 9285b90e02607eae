"""What instances hold, by EC2's data; SageMaker's names are EC2's with `ml.` before them."""

from collections.abc import Iterator, Mapping
from typing import Any

from pointsman.aws.instance_types import described
from pointsman.aws.unreadable import understood
from pointsman.rollouts.specs import Compute


class Ec2Shapes:
    """Shapes of instance types, asked once each for as long as the process lives."""

    def __init__(self, ec2: Any) -> None:
        """Know nothing yet."""
        self._ec2 = ec2
        self._known: dict[str, Compute | None] = {}

    @understood
    def shape(self, instance_type: str) -> Compute | None:
        """What one instance of this SageMaker type holds; None when EC2 does not know it."""
        if instance_type not in self._known:
            found = described(self._ec2, instance_type)
            self._known[instance_type] = None if found is None else _shape(found)
        return self._known[instance_type]


def _shape(found: Mapping[str, Any]) -> Compute:
    return Compute(
        accelerators=float(sum(int(device.get("Count", 0)) for device in _devices(found))),
        cores=float(found["VCpuInfo"]["DefaultVCpus"]),
        memory_mb=float(found["MemoryInfo"]["SizeInMiB"]),
    )


def _devices(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from found.get("GpuInfo", {}).get("Gpus", ())
    yield from found.get("InferenceAcceleratorInfo", {}).get("Accelerators", ())
    yield from found.get("NeuronInfo", {}).get("NeuronDevices", ())
