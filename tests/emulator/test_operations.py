"""The operations that the documentation lists are those that are registered."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import boto3
import botocore.session
import pytest
from botocore import xform_name
from botocore.config import Config
from botocore.exceptions import ClientError
from moto.core.responses import BaseResponse

from pointsman_emulator import Emulator, backends
from pointsman_emulator.backends.applicationautoscaling.responses import EmulatorAutoScalingResponse
from pointsman_emulator.backends.batch.responses import EmulatorBatchResponse
from pointsman_emulator.backends.cloudwatch.responses import EmulatorCloudWatchResponse
from pointsman_emulator.backends.iam.responses import EmulatorIAMResponse
from pointsman_emulator.backends.sagemaker.responses import EmulatorSageMakerResponse
from pointsman_emulator.backends.stepfunctions.responses import EmulatorStepFunctionsResponse
from pointsman_emulator.listed import OPERATIONS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "emulator.md").read_text()
ROW = re.compile(r"^\| ([\w ]+) \| (\w+(?:, \w+)*) \|$", re.MULTILINE)
LISTED = {
    service: operations.split(", ")
    for service, operations in ROW.findall(PAGE.split("### Operations")[1].split("\n## ")[0])
    if service != "service"
}
OURS: dict[str, tuple[str, type[BaseResponse]]] = {
    "Application Auto Scaling": ("application-autoscaling", EmulatorAutoScalingResponse),
    "Batch": ("batch", EmulatorBatchResponse),
    "CloudWatch": ("cloudwatch", EmulatorCloudWatchResponse),
    "IAM": ("iam", EmulatorIAMResponse),
    "SageMaker": ("sagemaker", EmulatorSageMakerResponse),
    "Step Functions": ("stepfunctions", EmulatorStepFunctionsResponse),
}
NAMES = {
    **{page: name for page, (name, _) in OURS.items()},
    **{
        name: name.lower() for name in ("CloudFormation", "DynamoDB", "EC2", "ECR", "Lambda", "S3", "SNS", "SQS", "STS")
    },
    "EventBridge": "events",
}
"""A service as the page calls it, and as boto3 does."""
REFUSED = {"PutScheduledAction"}
SIGNED = {"states": "stepfunctions"}
GRANTS = {
    "ConditionCheckItem": "TransactWriteItems",
    "InvokeFunction": "Invoke",
    "ListBucket": "ListObjectsV2",
    "ResourceAccount": "ListObjectsV2",
}
"""Rights and keys of conditions that have another name than the operation."""
TAGGING = {"ListTagsForResource", "TagResource", "UntagResource"}
"""Batch's, which moto answers in one method."""


def registered(service: str) -> set[str]:
    """The operations that a class of ours has methods for; of Batch with what moto has, less what is refused."""
    name, responses = OURS[service]
    by_method = {
        operation.lower(): operation
        for operation in botocore.session.get_session().get_service_model(name).operation_names
    }
    methods = vars(responses)
    if service == "Batch":
        methods = {method: getattr(responses, method) for method in dir(responses)}
    found = {
        by_method[method.replace("_", "")]
        for method, does in methods.items()
        if method.replace("_", "") in by_method and getattr(does, "__name__", "") != "_refused"
    }
    return found | TAGGING if service == "Batch" else found


def test_the_page_lists_what_is_answered_at_an_address() -> None:
    assert {NAMES.get(service, service): set(names) for service, names in LISTED.items()} == OPERATIONS
    assert all(names == sorted(names) for names in LISTED.values())


@pytest.mark.parametrize("service", OURS)
def test_what_we_answer_ourselves_is_listed(service: str) -> None:
    answered = registered(service) - REFUSED
    assert answered <= OPERATIONS[OURS[service][0]]
    assert service != "Batch" or answered == OPERATIONS["batch"]


def test_whatever_our_functions_may_call_is_listed() -> None:
    allowed = re.findall(r"\b([a-z0-9-]+):([A-Z]\w+)\b", (ROOT / "template.yaml").read_text())
    named = [(SIGNED.get(service, service), GRANTS.get(action, action)) for service, action in allowed]
    known = [(service, action) for service, action in named if service in OPERATIONS]
    assert known
    assert {f"{service} {action}" for service, action in known if action not in OPERATIONS[service]} == set()


@pytest.mark.parametrize("service", sorted(set(OPERATIONS) - {"ec2"}))  # moto reads for seconds what EC2 has
def test_whatever_is_listed_is_answered(service: str) -> None:
    """With an error, as it is asked for nothing that is there; but not by saying that it cannot be asked."""
    with Emulator(seed=7):
        client = boto3.client(service, region_name="us-east-1", config=Config(parameter_validation=False))
        missing = []
        for operation in sorted(OPERATIONS[service]):
            request = _least(client.meta.service_model.operation_model(operation))
            try:
                getattr(client, xform_name(operation))(**request)
            except ClientError as error:
                if str(error).endswith(f"has no {client.meta.service_model.service_id.hyphenize()} {operation}"):
                    missing.append(operation)
            except Exception:  # noqa: BLE001, S110 - moto stumbles over a request like this one
                pass
        assert missing == []


def _least(operation: Any) -> dict[str, Any]:
    """A request with all that is required, and nothing that is meant."""
    shape = operation.input_shape
    kinds = {"string": "nothing-here", "integer": 1, "list": [], "map": {}, "structure": {}, "blob": b"{}"}
    return {name: kinds.get(shape.members[name].type_name) for name in shape.required_members} if shape else {}


def test_every_service_with_answers_of_ours_is_listed() -> None:
    answering = {path.parent.name for path in Path(backends.__path__[0]).glob("*/responses.py")}
    assert {responses.__module__.split(".")[-2] for _, responses in OURS.values()} == answering


def test_every_other_operation_of_batch_is_refused_by_its_name() -> None:
    with Emulator(seed=7) as aws:
        batch = boto3.client("batch", region_name="us-east-1", config=Config(parameter_validation=False))
        names = batch.meta.service_model.operation_names
        for operation in sorted(set(names) - set(LISTED["Batch"])):
            with pytest.raises(ClientError, match=operation) as error:
                getattr(batch, xform_name(operation))()
            assert error.value.response["Error"]["Code"] == "NotImplemented"
        assert aws.count("batch", "SubmitJob") == 1
