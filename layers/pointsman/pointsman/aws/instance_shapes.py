"""What instances hold, by EC2's data; SageMaker's names are EC2's with `ml.` before them."""

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from pointsman.aws.faults import Translated, code_of
from pointsman.aws.instance_types import UNKNOWN
from pointsman.rollouts.specs import Compute


class Ec2Shapes:
    """Shapes of instance types, asked once each for as long as the process lives."""

    def __init__(self, ec2: Any) -> None:
        """Know nothing yet."""
        self._ec2 = ec2
        self._known: dict[str, Compute | None] = {}

    def shape(self, instance_type: str) -> Compute | None:
        """What one instance of this SageMaker type holds; None when EC2 does not know it."""
        if instance_type not in self._known:
            self._known[instance_type] = self._ask(instance_type.removeprefix("ml."))
        return self._known[instance_type]

    def _ask(self, name: str) -> Compute | None:
        with Translated():
            try:
                answer = self._ec2.describe_instance_types(InstanceTypes=[name])
            except ClientError as error:
                if code_of(error) in UNKNOWN:
                    return None
                raise
        if not answer["InstanceTypes"]:
            return None
        found = answer["InstanceTypes"][0]
        return Compute(
            accelerators=float(sum(int(device.get("Count", 0)) for device in _devices(found))),
            cores=float(found["VCpuInfo"]["DefaultVCpus"]),
            memory_mb=float(found["MemoryInfo"]["SizeInMiB"]),
        )


def _devices(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from found.get("GpuInfo", {}).get("Gpus", ())
    yield from found.get("InferenceAcceleratorInfo", {}).get("Accelerators", ())
    yield from found.get("NeuronInfo", {}).get("NeuronDevices", ())
