"""Each port's suite runs over its fake and over the adapter on a stand-in for AWS.

The tables and queues are the template's own, so that a key or an index that the template lacks fails here.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws
from samtranslator.yaml_helper import yaml_parse

from pointsman.aws.clients import Clients
from pointsman.aws.rollout_table import DynamoRolloutTable
from pointsman.rollout_ports import RolloutTable
from tests.contract.tables import create_table
from tests.fakes.rollout_table import FakeRolloutTable

TEMPLATE = Path(__file__).parents[2] / "template.yaml"


@pytest.fixture(scope="session", autouse=True)
def _environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        # botocore would call an address of the account's own, which the stand-in does not answer
        patch.setenv("AWS_ACCOUNT_ID_ENDPOINT_MODE", "disabled")
        patch.delenv("AWS_PROFILE", raising=False)
        yield


@pytest.fixture(scope="session")
def clients(_environment: None) -> Clients:
    """The product's own clients, made once: making one takes longer than a test.

    They name their region: the environment's is another once the template's tests have run in this process.
    """
    return Clients(region="us-east-1")


@pytest.fixture
def aws(clients: Clients) -> Iterator[Clients]:
    """An empty account."""
    with mock_aws():
        yield clients


@pytest.fixture(scope="session")
def written() -> dict[str, Any]:
    """The resources of the template, as written."""
    resources: dict[str, Any] = yaml_parse(TEMPLATE.read_text())["Resources"]
    return resources


@pytest.fixture
def make_table(aws: Clients, written: dict[str, Any]) -> Callable[[str], str]:
    """Create a table of the template; gives its name."""

    def make(logical_id: str) -> str:
        return create_table(aws, written, logical_id)

    return make


@pytest.fixture
def table_name(make_table: Callable[[str], str]) -> str:
    """The table of what must not be lost, empty."""
    return make_table("ControlTable")


@pytest.fixture(params=["fake", "DynamoDB"])
def table(request: pytest.FixtureRequest) -> RolloutTable:
    """A table of rollouts, empty."""
    if request.param == "fake":
        return FakeRolloutTable()
    aws: Clients = request.getfixturevalue("aws")
    return DynamoRolloutTable(aws.dynamodb, request.getfixturevalue("table_name"))


@pytest.fixture
def make_queue(aws: Clients, written: dict[str, Any]) -> Callable[[str], str]:
    """Create a queue of the template, without its delay; gives its address."""

    def make(logical_id: str) -> str:
        properties = written[logical_id]["Properties"]
        fifo = {"FifoQueue": "true"} if properties.get("FifoQueue") else {}
        name = f"{logical_id}.fifo" if fifo else logical_id
        url: str = aws.sqs.create_queue(QueueName=name, Attributes=fifo)["QueueUrl"]
        return url

    return make
