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
ALLOWED_AS = {"dynamodb:TransactWriteItems": "dynamodb:PutItem", "s3:ListObjectsV2": "s3:ListBucket"}

# What the platform does with a function's role, and the handlers do not.
BY_THE_PLATFORM = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}


def submit(
    aws: Emulator, name: str, instances: int, seconds: int, queue: str = "search-training", **payload: Any
) -> None:
    """A training job of these instances that runs for so long."""
    share = {"shareIdentifier": "all"} if queue == "search-training" else {"quotaShareName": "teamA"}
    aws.client("batch").submit_service_job(
        jobName=name,
        jobQueue=queue,
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=json.dumps(
            {
                "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": instances},
                "Environment": {"EMULATED_SECONDS": str(seconds)},
                **payload,
            }
        ),
        **share,
    )


def a_busy_hour(aws: Emulator) -> DynamoControl:
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
    submit(aws, "sweep-too-big", 9, 600)  # people are told of it
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
    return control


def an_hour_of_shares(aws: Emulator, control: DynamoControl) -> None:
    """A job evicts another in a quota share, an alarm lets a share borrow more, and a policy states weights."""
    quota_queue(aws)
    aws.client("s3").create_bucket(Bucket="checkpoints")
    saved = {"CheckpointConfig": {"S3Uri": "s3://checkpoints/sweep/"}}
    control.put_policy("quota", json.dumps(QUOTA_POLICY), aws.now, "test")
    submit(aws, "sweep", 2, 20_000, queue="quota", **saved)
    aws.run_for(600)
    submit(aws, "prod-ranker", 2, 600, queue="quota")
    classes = [{"name": "all", "match": {"share": "all", "job_name": "sweep-*"}, "weight": 2}]
    policy = YAML(typ="safe").load(ROOT / "examples/policy.yaml")
    policy |= {"across_shares": "weights", "on_alarm": [], "classes": classes}
    control.put_policy("search-training", json.dumps(policy), aws.now, "test")
    for drift in (0.9, 0.9, 0.9, 0.05, 0.05, 0.05):
        aws.put_metric("Search/Models", "PredictionDrift", drift, Model="ranker")
        aws.run_for(300)
    aws.run_for(600)


QUOTA_POLICY = {
    "version": 1,
    "queue": "quota",
    "mode": "act",
    "share": "team*",
    "classes": [{"name": "production", "match": {"job_name": "prod-*"}}],
    "default": {"name": "sweep", "preemptible": True},
    "preemption": {"patience": "5m", "protect": "1m"},
    "on_alarm": [{"alarm": "ranker-drift-*", "share": "teamA", "borrow_limit": 100}],
}


def quota_queue(aws: Emulator) -> None:
    """A queue with one quota share of two instances."""
    batch = aws.client("batch")
    limits = [{"maxCapacity": 2, "capacityUnit": "ml.p4d.24xlarge"}]
    batch.create_service_environment(
        serviceEnvironmentName="quota", serviceEnvironmentType="SAGEMAKER_TRAINING", capacityLimits=limits
    )
    policy = batch.create_scheduling_policy(name="quota", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})
    aws.run_for(30)
    batch.create_job_queue(
        jobQueueName="quota",
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy["arn"],
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "quota"}],
    )
    aws.run_for(30)
    batch.create_quota_share(
        quotaShareName="teamA",
        jobQueue="quota",
        capacityLimits=limits,
        resourceSharingConfiguration={"strategy": "LEND_AND_BORROW", "borrowLimit": 0},
        preemptionConfiguration={"inSharePreemption": "ENABLED"},
    )
    aws.run_for(30)


@pytest.fixture(scope="module")
def called() -> dict[str, set[str]]:
    """The actions of each function's calls."""
    with Emulator(seed=1) as aws:
        an_hour_of_shares(aws, a_busy_hour(aws))
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
    successor = stack.of_type("AWS::IAM::Policy")["RolloutSuccessorPolicy"]
    assert successor["Roles"] == [{"Ref": "RolloutStateMachineRole"}]
    logging = {action for action in actions(statements) if action.startswith("logs:")}  # by the platform
    assert called["RolloutStateMachine"] == actions(statements) - logging
    assert actions(successor["PolicyDocument"]["Statement"]) == {"states:StartExecution"}
