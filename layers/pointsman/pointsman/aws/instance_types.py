"""What EC2 says of instance types; SageMaker's names are EC2's with `ml.` before them."""

from typing import Any

from botocore.exceptions import ClientError

from pointsman.aws.faults import Translated, code_of

UNKNOWN = frozenset({"InvalidInstanceType", "InvalidInstanceType.NotFound", "InvalidParameterValue"})


class Ec2InstanceTypes:
    """GPUs of instance types, asked once each for as long as the process lives."""

    def __init__(self, ec2: Any) -> None:
        """Know nothing yet."""
        self._ec2 = ec2
        self._known: dict[str, int | None] = {}

    def gpus(self, instance_type: str) -> int | None:
        """GPUs of one instance of this SageMaker type; None when EC2 does not know it."""
        if instance_type not in self._known:
            self._known[instance_type] = self._ask(instance_type.removeprefix("ml."))
        return self._known[instance_type]

    def _ask(self, name: str) -> int | None:
        with Translated():
            try:
                answer = self._ec2.describe_instance_types(InstanceTypes=[name])
            except ClientError as error:
                if code_of(error) in UNKNOWN:
                    return None
                raise
        if not answer["InstanceTypes"]:
            return None
        gpus = answer["InstanceTypes"][0].get("GpuInfo", {}).get("Gpus", ())
        return sum(int(gpu.get("Count", 0)) for gpu in gpus)
