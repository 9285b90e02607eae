"""What EC2 says of instance types; SageMaker's names are EC2's with `ml.` before them."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from pointsman.aws.faults import Translated, code_of
from pointsman.aws.unreadable import understood

_UNKNOWN = frozenset({"InvalidInstanceType", "InvalidInstanceType.NotFound", "InvalidParameterValue"})


def described(ec2: Any, instance_type: str) -> Mapping[str, Any] | None:
    """EC2's description of this SageMaker type; None when EC2 does not know it."""
    with Translated():
        try:
            answer = ec2.describe_instance_types(InstanceTypes=[instance_type.removeprefix("ml.")])
        except ClientError as error:
            if code_of(error) in _UNKNOWN:
                return None
            raise
    found: list[Mapping[str, Any]] = answer["InstanceTypes"]
    return found[0] if found else None


class Ec2InstanceTypes:
    """GPUs of instance types, asked once each for as long as the process lives."""

    def __init__(self, ec2: Any) -> None:
        """Know nothing yet."""
        self._ec2 = ec2
        self._known: dict[str, int | None] = {}

    @understood
    def gpus(self, instance_type: str) -> int | None:
        """GPUs of one instance of this SageMaker type; None when EC2 does not know it."""
        if instance_type not in self._known:
            found = described(self._ec2, instance_type)
            gpus = None if found is None else found.get("GpuInfo", {}).get("Gpus", ())
            self._known[instance_type] = None if gpus is None else sum(int(gpu.get("Count", 0)) for gpu in gpus)
        return self._known[instance_type]
