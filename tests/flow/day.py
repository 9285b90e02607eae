"""A small day on the emulated AWS: the real template and the example queue deployed, jobs submitted, time let pass."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from pointsman.ports import QueueRecord, RecordedMove
from pointsman.queues.jobs import JobRecord
from pointsman.settings import Settings
from pointsman.wiring import Wiring
from pointsman_emulator import BatchSettings, Emulator, Faults, Stack
from pointsman_emulator.emulator import START
from pointsman_emulator.models.batch import ServiceJob

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"
QUEUE = "search-training"
ALARM = "ranker-drift-search"
MINUTE, HOUR = 60.0, 3600.0
POLICY: Mapping[str, Any] = {
    "version": 1,
    "mode": "act",
    "share": "all",
    "classes": [
        {"name": "production", "match": {"job_name": "prod-*"}, "head_start": "6h"},
        {"name": "research", "match": {"tag": {"purpose": "explore"}}, "head_start": "2h"},
        {"name": "batch-inference", "match": {"job_name": "score-*"}},
    ],
    "default": {"name": "sweep"},
    "spread": "2h",
    "reservation": {"after": "3h", "at_most": 1},
    "on_alarm": [{"alarm": "ranker-drift-*", "boost": "production", "by": "12h", "for": "2h"}],
}


@dataclass
class Day:
    """What a test does to the deployment, and what it can see of it. Jobs are called by their names, which differ."""

    aws: Emulator
    stack: Stack
    wiring: Wiring
    ids: dict[str, str] = field(default_factory=dict)

    # What people do

    def apply(self, queue: str = QUEUE, **changes: Any) -> None:
        """Apply the policy with these keys changed."""
        document = {**POLICY, "queue": queue, **changes}
        self.wiring.control.put_policy(queue, json.dumps(document), self.aws.now, "test")

    def submit(self, name: str, instances: int = 1, *, minutes: float = 30.0, queue: str = QUEUE, **more: Any) -> str:
        """Submit a training job that runs for so long, and let a second pass; more as in the API."""
        request = {
            "jobName": name,
            "jobQueue": queue,
            "shareIdentifier": "all",
            "serviceJobType": "SAGEMAKER_TRAINING",
            "serviceRequestPayload": json.dumps(
                {
                    "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": instances},
                    "Environment": {"EMULATED_SECONDS": str(minutes * MINUTE)},
                }
            ),
            **more,
        }
        answer = self.aws.client("batch").submit_service_job(**{k: v for k, v in request.items() if v is not None})
        self.ids[name] = answer["jobId"]
        self.aws.run_for(1)
        return str(answer["jobId"])

    def add_queue(self, name: str, capacity: int, *, share: str | None = "all") -> None:
        """One more queue with a pool of its own; without a share it is first in, first out."""
        batch = self.aws.client("batch")
        pool = batch.create_service_environment(
            serviceEnvironmentName=name,
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=[{"maxCapacity": capacity, "capacityUnit": "NUM_INSTANCES"}],
        )
        policy = {}
        if share is not None:
            fair = {"shareDistribution": [{"shareIdentifier": share, "weightFactor": 1.0}]}
            made = batch.create_scheduling_policy(name=name, fairsharePolicy=fair)
            policy = {"schedulingPolicyArn": made["arn"]}
        batch.create_job_queue(
            jobQueueName=name,
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": pool["serviceEnvironmentArn"]}],
            **policy,
        )

    def add_quota_queue(self, name: str) -> str:
        """One more queue, with one quota share `teamA` of two instances, in-share preemption off; the share's ARN."""
        batch = self.aws.client("batch")
        limits = [{"maxCapacity": 2, "capacityUnit": "ml.g5.xlarge"}]
        batch.create_service_environment(
            serviceEnvironmentName=name, serviceEnvironmentType="SAGEMAKER_TRAINING", capacityLimits=limits
        )
        policy = batch.create_scheduling_policy(name=name, quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})
        self.pass_minutes(1)
        batch.create_job_queue(
            jobQueueName=name,
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=policy["arn"],
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": name}],
        )
        self.pass_minutes(1)
        share = batch.create_quota_share(
            quotaShareName="teamA",
            jobQueue=name,
            capacityLimits=limits,
            resourceSharingConfiguration={"strategy": "LEND_AND_BORROW", "borrowLimit": 0},
            preemptionConfiguration={"inSharePreemption": "DISABLED"},
        )
        self.pass_minutes(1)
        return str(share["quotaShareArn"])

    def terminate(self, name: str) -> None:
        self.aws.client("batch").terminate_service_job(jobId=self.ids[name], reason="the test is over")

    def drift(self, begins: float, ends: float) -> None:
        """The ranker's predictions drift from one minute to another, counted from now; its alarm tells."""
        start = self.aws.now
        for minute in range(0, int(ends) + 30, 5):
            value = 0.5 if begins <= minute < ends else 0.05
            self.aws.at(
                start + minute * MINUTE,
                partial(self.aws.put_metric, "Search/Models", "PredictionDrift", value, Model="ranker"),
            )

    def stop(self) -> None:
        """Pull the kill switch."""
        self.aws.client("dynamodb").put_item(
            TableName=self.wiring.settings.control_table, Item={"pk": {"S": "STOP"}, "sk": {"S": "stop"}}
        )

    def go_on(self) -> None:
        """Push it back."""
        self.aws.client("dynamodb").delete_item(
            TableName=self.wiring.settings.control_table, Key={"pk": {"S": "STOP"}, "sk": {"S": "stop"}}
        )

    # Time

    def pass_minutes(self, minutes: float) -> None:
        self.aws.run_for(minutes * MINUTE)

    def drain(self, hours: float = 24.0) -> None:
        """Until every job has ended, and the queue has been looked at once more; at most so long."""
        jobs = self.aws.batch_model.jobs
        done = self.aws.run_until(lambda: all(jobs[i].finished for i in self.ids.values()), self.aws.now + hours * HOUR)
        assert done, f"still there: {[n for n, i in self.ids.items() if not jobs[i].finished]}"
        self.pass_minutes(15)

    # Messages

    def put_event(self, detail_type: str, detail: Mapping[str, Any], source: str = "aws.batch") -> None:
        """Put an event on the default bus, as a service does."""
        entry = {"Source": source, "DetailType": detail_type, "Detail": json.dumps(detail)}
        assert self.aws.client("events").put_events(Entries=[entry])["FailedEntryCount"] == 0

    def send(self, output: str, *bodies: str) -> None:
        """Put texts into the queue of this output of the stack, past EventBridge."""
        fifo: Any = {"MessageGroupId": "test"} if output == "QueueWakesUrl" else {}
        for number, body in enumerate(bodies):
            if fifo:
                fifo["MessageDeduplicationId"] = f"{self.aws.now}/{number}"
            self.aws.client("sqs").send_message(QueueUrl=self.stack.outputs[output], MessageBody=body, **fifo)

    def dead_letters(self) -> list[tuple[str, str, str]]:
        """Body, reason and place of each dead letter; reading takes them away."""
        letters: list[tuple[str, str, str]] = []
        url, sqs = self.stack.outputs["DeadLettersUrl"], self.aws.client("sqs")
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]).get(
            "Messages"
        ):
            for message in messages:
                said = {k: v["StringValue"] for k, v in message.get("MessageAttributes", {}).items()}
                letters.append((message["Body"], said.get("reason", ""), said.get("place", "")))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return letters

    def left_in(self, output: str) -> int:
        """Messages that are still in a queue of the stack, seen or not."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer = self.aws.client("sqs").get_queue_attributes(QueueUrl=self.stack.outputs[output], AttributeNames=names)
        return sum(int(answer["Attributes"][name]) for name in names)

    # What one can see of Batch

    def job(self, name: str) -> ServiceJob:
        return self.aws.batch_model.jobs[self.ids[name]]

    def priority(self, name: str) -> int:
        return self.job(name).priority

    def line(self) -> dict[str, int]:
        """The waiting jobs in the order in which Batch would start them, with their priorities."""
        names = {i: n for n, i in self.ids.items()}
        front = self.aws.batch_model.snapshot(QUEUE).front
        return {names[place.job.job_id]: place.job.priority for place in front}

    def priorities_of_waiting(self) -> dict[str, int]:
        return {n: self.priority(n) for n in self.ids if self.job(n).status == "RUNNABLE"}

    def in_order_of_start(self) -> list[str]:
        started = [(job.started_at, name) for name in self.ids if (job := self.job(name)).started_at is not None]
        return [name for _, name in sorted(started)]

    def ends(self) -> dict[str, tuple[str, int]]:
        """How each job ended, and after how many attempts."""
        return {name: (self.job(name).status, len(self.job(name).attempts)) for name in self.ids}

    @property
    def writes(self) -> int:
        """How often a priority was set."""
        return self.aws.count("batch", "UpdateServiceJob")

    # What one can see of the product

    def moves(self, queue: str = QUEUE) -> list[RecordedMove]:
        """The queue's history, the oldest first."""
        return list(reversed(self.wiring.control.moves(queue, 0.0, 10_000)))

    def record(self, queue: str = QUEUE) -> QueueRecord:
        return self.wiring.jobs.queue(queue)

    def rows(self) -> dict[str, JobRecord]:
        """The job table's records, by the jobs' names."""
        found = self.wiring.jobs.load(self.ids.values())
        return {name: found[i] for name, i in self.ids.items() if i in found}

    def log(self, function: str, message: str) -> list[dict[str, Any]]:
        """What a function logged under this message."""
        return [line for line in self.aws.logs.get(function, []) if line.get("message") == message]

    def passes(self, queue: str = QUEUE) -> list[dict[str, Any]]:
        """The decisions that were logged."""
        return [line for line in self.log("PrioritizeQueueFunction", "decided") if line["queue"] == queue]

    def failed_passes(self) -> list[str]:
        return [line["why"] for line in self.log("PrioritizeQueueFunction", "pass failed")]


@contextmanager
def opened(
    *,
    capacity: int = 4,
    faults: Faults | None = None,
    batch: BatchSettings | None = None,
    template: Path = TEMPLATE,
    start: datetime = START,
) -> Iterator[Day]:
    """Deploy the template, and the example queue beside it; no policy is applied yet."""
    with Emulator(seed=1, start=start, batch=batch, faults=faults) as aws:
        stack = aws.deploy(template, "pointsman", {})
        aws.deploy(ROOT / "examples/batch.yaml", "search", {"MaxInstances": str(capacity)})
        outputs = stack.outputs
        settings = Settings(
            outputs["JobsTable"], outputs["ControlTable"], outputs["QueueWakesUrl"], outputs["DeadLettersUrl"]
        )
        yield Day(aws, stack, Wiring(settings))
