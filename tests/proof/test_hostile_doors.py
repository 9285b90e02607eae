"""Whatever comes to the address of `pointsman local`, it is answered, and the next call is answered too."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman_emulator import Emulator, EmulatorServer
from tests.proof.hostile import HOSTILE, anything, nearly, nearly_text

SIGNED = "AWS4-HMAC-SHA256 Credential=x/20260302/us-east-1/{}/aws4_request, SignedHeaders=host, Signature=0"
SUBMIT = {
    "jobName": "prod-1", "jobQueue": "q", "serviceJobType": "SAGEMAKER_TRAINING", "shareIdentifier": "all",
    "schedulingPriority": 7, "tags": {"team": "a"},
    "serviceRequestPayload": json.dumps({"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1}}),
}  # fmt: skip
QUEUE = {
    "jobQueueName": "q", "jobQueueType": "SAGEMAKER_TRAINING", "priority": 1, "state": "ENABLED",
    "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "e"}],
}  # fmt: skip
PATHS = (
    "/v1/submitservicejob",
    "/v1/createjobqueue",
    "/v1/describeservicejob",
    "/_emulator/clock",
    "/",
    "/v1/../x",
    "/%00",
)
CONTENT = "application/x-amz-json-1.0"
JSON_TARGETS = ("DynamoDB_20120810.PutItem", "SageMaker.DescribeEndpoint", "AWSStepFunctions.StartExecution", "x.y", "")


@pytest.fixture(scope="module")
def server() -> Iterator[EmulatorServer]:
    with Emulator(seed=7) as aws, EmulatorServer(aws) as running:
        yield running


def answered(server: EmulatorServer, method: str, path: str, headers: dict[str, str], body: bytes) -> int:
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    line = http.client.HTTPConnection(host, int(port), timeout=20)
    try:
        line.request(method, path, body, headers)
        return line.getresponse().status
    finally:
        line.close()


BODIES: st.SearchStrategy[Any] = nearly(SUBMIT) | nearly(QUEUE) | anything


@settings(max_examples=60, deadline=None)
@given(
    method=st.sampled_from(["POST", "GET", "PUT", "DELETE", "HEAD"]),
    path=st.sampled_from(PATHS),
    service=st.sampled_from(["batch", "dynamodb", "sagemaker", "states", "sqs", "sns", "events", "nothing", ""]),
    target=st.sampled_from(JSON_TARGETS),
    body=BODIES.map(lambda told: json.dumps(told, default=repr))
    | nearly_text(json.dumps(SUBMIT))
    | st.sampled_from(HOSTILE),
)
def test_any_request_is_answered_and_the_next_one_is_too(
    server: EmulatorServer, method: str, path: str, service: str, target: str, body: str
) -> None:
    headers = {"Authorization": SIGNED.format(service), "X-Amz-Target": target, "Content-Type": CONTENT}
    assert 200 <= answered(server, method, path, headers, body.encode("utf-8", "surrogatepass")) < 600
    assert answered(server, "GET", "/_emulator/clock", {}, b"") == 200
    assert server.well
