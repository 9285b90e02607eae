"""`pointsman local` as its users see it: what it says, what boto3 and `pointsman` do with it, and how it ends."""

from __future__ import annotations

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman_cli.local.banner import where
from pointsman_cli.main import cli
from tests.local.conftest import SPEED, Local, until

QUEUE = "search-training"
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "local.md"
TYPED = re.compile(r"^\$ (.+)$", re.MULTILINE)
SDK = ROOT / ".venv-sagemaker" / "bin" / "python"


def pointsman(*words: str) -> Any:
    """What a verb prints as JSON, with nothing said of where to look but in the environment."""
    result = CliRunner().invoke(cli, [*words, "--json"])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


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


@pytest.mark.outside
@pytest.mark.usefixtures("shell")
def test_the_page_is_typed_to_a_queue_in_another_order_and_a_rollout_that_went_back(local: Local) -> None:
    """Each line in turn: those of `pointsman` in this process, for speed, all others by a shell."""
    typed = [line for line in TYPED.findall(PAGE.read_text()) if not line.startswith(("make", ".venv"))]
    for line in typed:
        if line.startswith("pointsman queue show"):
            until(production_is_first)
        if line.startswith("pointsman"):
            result = CliRunner().invoke(cli, line.split()[1:])
            went_back = line.startswith("pointsman rollout watch")
            assert result.exit_code == went_back, f"{line}: {result.stderr}"
        else:
            done = subprocess.run(["bash", "-euc", line], capture_output=True, text=True, check=False)  # noqa: S603, S607
            assert done.returncode == 0, f"{line}: {done.stderr}"
    rollout = pointsman("rollout", "show", "chat-v2")
    assert rollout["phase"] == "ROLLED_BACK"
    assert rollout["cause"].startswith(("Alarm llm-errors is in ALARM", "Alarm llm-errors was in ALARM"))
    component = local.client("sagemaker").describe_inference_component(InferenceComponentName="llm")
    assert (component["InferenceComponentStatus"], component["Specification"]["ModelName"]) == ("InService", "chat-v1")


def test_what_the_readme_types_is_what_the_page_types() -> None:
    section = (ROOT / "README.md").read_text().split("## Try it on your machine")[1].split("\n## ")[0]
    typed = [line for line in TYPED.findall(section) if not line.startswith(("make", "export"))]
    assert typed
    assert [line for line in typed if line not in PAGE.read_text()] == []


def production_is_first() -> bool:
    return any(move["name"] == "prod-ranker" for move in pointsman("queue", "history", QUEUE)["moves"])


@pytest.mark.outside
@pytest.mark.usefixtures("shell")
def test_a_training_queue_and_components_are_used_by_sagemakers_sdk_as_at_aws(local: Local, tmp_path: Path) -> None:
    role = next(word.strip(",") for word in local.said.split() if word.startswith("arn:aws:iam:"))
    told = subprocess.run(  # noqa: S603 - our own
        [SDK, Path(__file__).with_name("sagemaker_sdk.py"), QUEUE, role, "chat-v1", "chat-v2"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr[-2000:]
    seen = json.loads(told.stdout.splitlines()[-1])
    assert seen["queue"] == {
        "submitted": ["prod-by-sdk", "all", 3],
        "channels": ["code", "sm_drivers"],
        "found": ["prod-by-sdk"],
        "got": True,
        "raised": 7,
        "ended": "FAILED",
    }
    assert seen["components"] == {"endpoint": "InService", "created": True, "copies": 2, "rolled": "chat-v2"}


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
