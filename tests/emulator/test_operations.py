"""The operations that the documentation lists are those that are registered."""

from __future__ import annotations

import re
from pathlib import Path

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

PAGE = (Path(__file__).parents[2] / "docs" / "emulator.md").read_text()
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


@pytest.mark.parametrize("service", OURS)
def test_a_services_operations_are_those_that_the_page_lists(service: str) -> None:
    assert set(LISTED[service]) == registered(service)
    assert LISTED[service] == sorted(LISTED[service])


def test_every_service_with_answers_of_ours_is_listed() -> None:
    answering = {path.parent.name for path in Path(backends.__path__[0]).glob("*/responses.py")}
    assert {responses.__module__.split(".")[-2] for _, responses in OURS.values()} == answering
    assert set(LISTED) == set(OURS)


def test_every_other_operation_of_batch_is_refused_by_its_name() -> None:
    with Emulator(seed=7) as aws:
        batch = boto3.client("batch", region_name="us-east-1", config=Config(parameter_validation=False))
        names = batch.meta.service_model.operation_names
        for operation in sorted(set(names) - set(LISTED["Batch"])):
            with pytest.raises(ClientError, match=operation) as error:
                getattr(batch, xform_name(operation))()
            assert error.value.response["Error"]["Code"] == "NotImplemented"
        assert aws.count("batch", "SubmitJob") == 1
