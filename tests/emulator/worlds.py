"""A small stack in an emulator, and short ways to say what a test does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pointsman_emulator import Emulator, Stack

HERE = Path(__file__).parent / "stack"


class World:
    """An emulator with the small stack and a queue of GPUs."""

    def __init__(self, aws: Emulator, instances: int, template: Path) -> None:
        self.aws = aws
        self.stack: Stack = aws.deploy(template, "sample", {"EndpointUrl": ""})
        aws.deploy(HERE / "batch.yaml", "gpus", {"MaxInstances": str(instances)})
        self.batch = aws.client("batch")

    def submit(self, name: str = "job", seconds: float = 600, instances: int = 1, **more: Any) -> str:
        """Submit a service job; its id."""
        payload = {
            "ResourceConfig": {"InstanceCount": instances, "InstanceType": "ml.g5.xlarge"},
            "Environment": {"EMULATED_SECONDS": str(seconds), **more.pop("environment", {})},
        }
        request = {"shareIdentifier": "all", "serviceRequestPayload": json.dumps(payload), **more}
        answer = self.batch.submit_service_job(
            jobName=name, jobQueue="training", serviceJobType="SAGEMAKER_TRAINING", **request
        )
        return str(answer["jobId"])

    def describe(self, job_id: str) -> dict[str, Any]:
        """A job as Batch describes it."""
        return dict(self.batch.describe_service_job(jobId=job_id))

    def messages(self, output: str) -> list[dict[str, Any]]:
        """What is in a queue now, by the name of the stack's output."""
        sqs = self.aws.client("sqs")
        found = sqs.receive_message(QueueUrl=self.stack.outputs[output], MaxNumberOfMessages=10, WaitTimeSeconds=0)
        return [json.loads(message["Body"]) for message in found.get("Messages", [])]

    def records(self) -> dict[str, str]:
        """The jobs that the small stack wrote down, and their states."""
        items = self.aws.client("dynamodb").scan(TableName=self.stack.outputs["Table"])["Items"]
        return {item["pk"]["S"]: item["status"]["S"] for item in items}


Make = Callable[..., World]
"""Makes a world: `world(seed=.., batch=.., faults=.., instances=.., template=..)`."""
