"""The contract of what is known of instance types."""

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.instance_types import Ec2InstanceTypes
from pointsman.ports import InstanceTypes
from tests.contract.interference import Interfered
from tests.fakes.instance_types import FakeInstanceTypes


@pytest.fixture(params=["fake", "EC2"])
def instance_types(request: pytest.FixtureRequest) -> InstanceTypes:
    if request.param == "fake":
        return FakeInstanceTypes()
    aws: Clients = request.getfixturevalue("aws")
    return Ec2InstanceTypes(aws.ec2)


@pytest.mark.parametrize("name, gpus", [("ml.g5.xlarge", 1), ("ml.p4d.24xlarge", 8), ("ml.m5.large", 0)])
def test_a_known_type_has_its_gpus(instance_types: InstanceTypes, name: str, gpus: int) -> None:
    assert instance_types.gpus(name) == gpus


def test_a_type_that_ec2_lacks_has_no_known_gpus(instance_types: InstanceTypes) -> None:
    assert instance_types.gpus("ml.invented.48xlarge") is None


def test_a_type_is_asked_for_once_known_or_not(aws: Clients) -> None:
    asked: list[str] = []

    def describe(real: object, **request: list[str]) -> object:
        asked.extend(request["InstanceTypes"])
        return real(**request)  # type: ignore[operator]

    types = Ec2InstanceTypes(Interfered(aws.ec2, describe_instance_types=describe))
    for _ in range(3):
        types.gpus("ml.g5.xlarge")
        types.gpus("ml.invented.48xlarge")

    assert asked == ["g5.xlarge", "invented.48xlarge"]
