"""`pointsman local` as its users see it: what it says, what boto3 and `pointsman` do with it, and how it ends."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman_cli.local.banner import where
from pointsman_cli.main import cli
from tests.local.conftest import SPEED, Local, until

QUEUE = "search-training"


def pointsman(*words: str) -> Any:
    """What a verb prints as JSON, with nothing said of where to look but in the environment."""
    result = CliRunner().invoke(cli, [*words, "--json"])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def submit(batch: Any, name: str) -> str:
    payload = {"TrainingJobName": "train", "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1}}
    answer = batch.submit_service_job(
        jobName=name,
        jobQueue=QUEUE,
        shareIdentifier="all",
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=json.dumps(payload),
    )
    return str(answer["jobId"])


def test_it_says_where_it_is_that_it_checks_nobody_and_that_it_keeps_nothing(local: Local) -> None:
    assert local.said.startswith(f"AWS on this machine: {local.url}\n")
    for words in (
        "checks no credentials",
        "the loopback interface only",
        "keeps nothing",
        f"{SPEED} seconds pass in one of this machine's",
        "pointsman ",
        f"queue {QUEUE}",
        "component llm",
    ):
        assert words in local.said


def test_another_address_than_loopback_is_shouted() -> None:
    assert where("127.0.0.1") == "the loopback interface only"
    assert "OTHER MACHINES" in where("172.17.0.1")


def test_queues_and_components_are_created_listed_described_and_updated_by_boto3(local: Local) -> None:
    batch, sagemaker = local.client("batch"), local.client("sagemaker")
    (found,) = batch.describe_job_queues(jobQueues=[QUEUE])["jobQueues"]
    created = batch.create_job_queue(
        jobQueueName="more-training",
        jobQueueType="SAGEMAKER_TRAINING",
        priority=2,
        schedulingPolicyArn=found["schedulingPolicyArn"],
        serviceEnvironmentOrder=found["serviceEnvironmentOrder"],
    )
    batch.update_job_queue(jobQueue=created["jobQueueArn"], priority=3)
    listed = {queue["jobQueueName"]: queue["priority"] for queue in batch.describe_job_queues()["jobQueues"]}
    assert listed == {QUEUE: 1, "more-training": 3}
    component = sagemaker.describe_inference_component(InferenceComponentName="llm")
    assert component["InferenceComponentStatus"] == "InService"
    sagemaker.create_inference_component(
        InferenceComponentName="embed",
        EndpointName=component["EndpointName"],
        VariantName=component["VariantName"],
        Specification={
            "ModelName": "chat-v1",
            "ComputeResourceRequirements": {"NumberOfCpuCoresRequired": 1, "MinMemoryRequiredInMb": 1024},
        },
        RuntimeConfig={"CopyCount": 1},
    )
    names = {it["InferenceComponentName"] for it in sagemaker.list_inference_components()["InferenceComponents"]}
    assert names == {"llm", "embed"}


@pytest.mark.usefixtures("shell")
def test_the_deployed_functions_put_production_first(local: Local) -> None:
    batch = local.client("batch")
    assert CliRunner().invoke(cli, ["policy", "apply", "examples/policy.yaml"]).exit_code == 0
    sweeps = [submit(batch, f"sweep-{number}") for number in range(11)]
    first = submit(batch, "prod-ranker")

    def priority(job: str) -> int:
        return int(batch.describe_service_job(jobId=job).get("schedulingPriority", 0))

    until(lambda: priority(first) > max(map(priority, sweeps)))
    moves = pointsman("queue", "history", QUEUE)["moves"]
    assert "prod-ranker" in {move["name"] for move in moves}
    (job,) = batch.list_service_jobs(jobQueue=QUEUE, filters=[{"name": "JOB_NAME", "values": ["prod-ranker"]}])[
        "jobSummaryList"
    ]
    assert job["jobId"] == first


@pytest.mark.usefixtures("shell")
def test_an_alarm_that_is_set_by_hand_takes_a_rollout_back(local: Local) -> None:
    pointsman("rollout", "start", "examples/rollout.yaml")
    sagemaker = local.client("sagemaker")

    def status() -> str:
        return str(sagemaker.describe_inference_component(InferenceComponentName="llm")["InferenceComponentStatus"])

    until(lambda: status() == "Updating")
    reason = {"StateValue": "ALARM", "StateReason": "its answers are nonsense"}
    until(
        lambda: (
            local.client("cloudwatch").set_alarm_state(AlarmName="llm-errors", **reason)
            and pointsman("rollout", "show", "chat-v2")["intent"] == "revert"
        )
    )
    until(lambda: pointsman("rollout", "show", "chat-v2")["phase"] == "ROLLED_BACK")
    component = sagemaker.describe_inference_component(InferenceComponentName="llm")
    assert (component["InferenceComponentStatus"], component["Specification"]["ModelName"]) == ("InService", "chat-v1")


def test_twenty_clients_at_once_are_all_answered_and_time_goes_on_meanwhile(local: Local) -> None:
    clients = [local.client("dynamodb") for _ in range(20)]

    def ask(number: int) -> int:
        table = clients[number]
        name = f"table-{number}"
        table.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        for item in range(5):
            table.put_item(TableName=name, Item={"pk": {"S": str(item)}})
        return int(table.scan(TableName=name)["Count"])

    before = local.client("batch").get_job_queue_snapshot(jobQueue=QUEUE)["frontOfQueue"]["lastUpdatedAt"]
    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(ask, range(20))) == [5] * 20
    after = local.client("batch").get_job_queue_snapshot(jobQueue=QUEUE)["frontOfQueue"]["lastUpdatedAt"]
    assert after > before


def test_a_port_that_is_taken_is_one_message(local: Local) -> None:
    port = local.url.rsplit(":", 1)[1]
    told = CliRunner().invoke(cli, ["local", "--port", port])
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr == (
        f"Error: --port: nobody can listen on 127.0.0.1:{port}: Address already in use "
        "(--port 0 takes one that is free)\n"
    )
