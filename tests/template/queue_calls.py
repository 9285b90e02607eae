"""Two emulated hours of queues in which every call that the functions of queues make is made once."""

import json
from typing import Any

from ruamel.yaml import YAML

from pointsman.aws.control_table import DynamoControl
from pointsman_emulator import Emulator, Stack
from pointsman_emulator.gateway import Call
from tests.template.calls import Recorder
from tests.template.stack import ROOT

NO_ALARM = ROOT / "events/relay_alarm.not-an-alarm.json"


def play(aws: Emulator, recorder: Recorder) -> Stack:
    """Everything that a role must allow happens once."""
    recorder.scenario = "busy"
    stack = aws.deploy(ROOT / "template.yaml", "pointsman")
    control = DynamoControl(aws.client("dynamodb"), stack.outputs["ControlTable"])
    a_busy_hour(aws, stack, control)
    recorder.scenario = "shares"
    an_hour_of_shares(aws, control)
    return stack


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


def a_busy_hour(aws: Emulator, stack: Stack, control: DynamoControl) -> None:
    """A policy before its queue, jobs of two classes, an alarm, and messages that nobody understands."""
    policy = YAML(typ="safe").load(ROOT / "examples/policy.yaml")
    control.put_policy("search-training", json.dumps(policy), aws.now, "test")
    aws.run_for(150)
    aws.deploy(ROOT / "examples/batch.yaml", "search", {"MaxInstances": "8"})
    for number in range(12):
        submit(aws, f"sweep-{number}", 1 + number % 4, 900)
        aws.run_for(2)
    submit(aws, "prod-ranker", 2, 600)
    submit(aws, "sweep-too-big", 9, 600)  # people are told of it, by the clock
    aws.before("sns", "Publish", lambda call: refuse_passes(aws, call), times=None)
    aws.run_for(900)
    aws.put_metric("Search/Models", "PredictionDrift", 0.9, Model="ranker")
    aws.client("sqs").send_message(QueueUrl=stack.outputs["JobEventsUrl"], MessageBody="not an event")
    aws.client("sqs").send_message(
        QueueUrl=stack.outputs["QueueWakesUrl"],
        MessageBody="not a wake",
        MessageGroupId="a",
        MessageDeduplicationId="a",
    )
    stack.function("RelayAlarmFunction").invoke(json.loads(NO_ALARM.read_text()))
    aws.run_for(2700)


def refuse_passes(aws: Emulator, call: Call) -> None:
    """What passes want to tell does not get out, so that the clock must send it."""
    if call.caller == "PrioritizeQueueFunction":
        aws.fail_next("sns", "Publish", "Throttling")


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
    "preemption": {"how": "switch", "patience": "5m", "protect": "1m"},
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
        preemptionConfiguration={"inSharePreemption": "DISABLED"},
    )
    aws.run_for(30)
