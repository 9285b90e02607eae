"""What the roles allow, held against the calls of an emulated hour of a busy queue, and of some hours of rollouts."""

import json
from collections import defaultdict
from typing import Any

import pytest
from ruamel.yaml import YAML

from pointsman.aws.control_table import DynamoControl
from pointsman_emulator import Emulator
from tests.template.rollout_calls import of_rollouts
from tests.template.stack import ROOT, Stack

# A transaction is allowed by what it consists of; the loops of queues put items only.
ALLOWED_AS = {"dynamodb:TransactWriteItems": "dynamodb:PutItem"}

# What the platform does with a function's role, and the handlers do not.
BY_THE_PLATFORM = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}


def submit(aws: Emulator, name: str, instances: int, seconds: int) -> None:
    """A training job of these instances that runs for so long."""
    aws.client("batch").submit_service_job(
        jobName=name,
        jobQueue="search-training",
        serviceJobType="SAGEMAKER_TRAINING",
        shareIdentifier="all",
        serviceRequestPayload=json.dumps(
            {
                "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": instances},
                "Environment": {"EMULATED_SECONDS": str(seconds)},
            }
        ),
    )


def a_busy_hour(aws: Emulator) -> None:
    """A policy before its queue, jobs of two classes, an alarm, and messages that nobody understands."""
    stack = aws.deploy(ROOT / "template.yaml", "pointsman")
    policy = YAML(typ="safe").load(ROOT / "examples/policy.yaml")
    control = DynamoControl(aws.client("dynamodb"), stack.outputs["ControlTable"])
    control.put_policy("search-training", json.dumps(policy), aws.now, "test")
    aws.run_for(150)
    aws.deploy(ROOT / "examples/batch.yaml", "search", {"MaxInstances": "8"})
    for number in range(12):
        submit(aws, f"sweep-{number}", 1 + number % 4, 900)
        aws.run_for(2)
    submit(aws, "prod-ranker", 2, 600)
    aws.run_for(900)
    aws.put_metric("Search/Models", "PredictionDrift", 0.9, Model="ranker")
    aws.client("sqs").send_message(QueueUrl=stack.outputs["JobEventsUrl"], MessageBody="not an event")
    aws.client("sqs").send_message(
        QueueUrl=stack.outputs["QueueWakesUrl"],
        MessageBody="not a wake",
        MessageGroupId="a",
        MessageDeduplicationId="a",
    )
    aws.run_for(2700)


@pytest.fixture(scope="module")
def called() -> dict[str, set[str]]:
    """The actions of each function's calls."""
    with Emulator(seed=1) as aws:
        a_busy_hour(aws)
        assert not aws.failures
        calls: dict[str, set[str]] = defaultdict(set)
        for call in aws.calls:
            action = f"{call.service}:{call.operation}"
            calls[call.caller].add(ALLOWED_AS.get(action, action))
    for caller, actions in of_rollouts().items():
        calls[caller] |= actions
    return calls


def actions(statements: list[dict[str, Any]]) -> set[str]:
    """Every action of these statements."""
    found: set[str] = set()
    for statement in statements:
        stated: Any = statement["Action"]
        found |= {stated} if isinstance(stated, str) else set(stated)
    return found


@pytest.mark.parametrize(
    "function",
    [
        "RecordJobsFunction",
        "PrioritizeQueueFunction",
        "RelayAlarmFunction",
        "WakeDueFunction",
        "CommandRolloutFunction",
        "AdvanceRolloutFunction",
    ],
)
def test_a_role_allows_what_its_function_calls_and_nothing_beside_it(
    called: dict[str, set[str]], stack: Stack, function: str
) -> None:
    assert called[function] == actions(stack.statements(function)) - BY_THE_PLATFORM


def test_the_state_machine_s_role_allows_what_it_calls_and_to_start_its_successor(
    called: dict[str, set[str]], stack: Stack
) -> None:
    role = stack.of_type("AWS::IAM::Role")["RolloutStateMachineRole"]
    statements = [s for policy in role["Policies"] for s in policy["PolicyDocument"]["Statement"]]
    (successor,) = stack.of_type("AWS::IAM::Policy").values()
    assert successor["Roles"] == [{"Ref": "RolloutStateMachineRole"}]
    assert called["RolloutStateMachine"] == actions(statements)
    assert actions(successor["PolicyDocument"]["Statement"]) == {"states:StartExecution"}
