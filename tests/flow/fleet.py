"""A small fleet on the emulated AWS: the real template, the example's endpoint beside it, and requests to it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pointsman.errors import Gone
from pointsman.rollout_ports import StoredRollout
from pointsman.settings import Settings
from pointsman.wiring import Wiring
from pointsman_emulator import Emulator, Faults, InferenceSettings, Stack

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"
MINUTE, HOUR = 60.0, 3600.0
SAMPLE: Mapping[str, Any] = json.loads((ROOT / "events/command_rollout.requested.json").read_text())
CLOCKWORK = ("Advance", "Choose by phase")


@dataclass
class Fleet:
    """What a test does to the deployment, and what it can see of it."""

    aws: Emulator
    stack: Stack
    wiring: Wiring

    # What people do

    def put_event(self, detail: Mapping[str, Any], detail_type: str = SAMPLE["detail-type"]) -> None:
        """Put an event on our bus, as a release pipeline does."""
        entry = {"Source": SAMPLE["source"], "DetailType": detail_type, "Detail": json.dumps(detail)}
        entry["EventBusName"] = self.stack.outputs["Bus"]
        assert self.aws.client("events").put_events(Entries=[entry])["FailedEntryCount"] == 0

    def ask(self, **changes: Any) -> None:
        """Ask for the sample's rollout with these keys changed, by an event."""
        self.put_event({**SAMPLE["detail"], **changes})

    def command(self, verb: str, rollout: str = SAMPLE["detail"]["rollout"], **more: Any) -> Any:
        """Command something as a person; what the function answers."""
        payload = {"verb": verb, "rollout": rollout, "caller": "arn:aws:iam::123456789012:user/maria", **more}
        return self.stack.function("CommandRolloutFunction").invoke(payload)

    # Time

    def until_ended(self, rollout: str = SAMPLE["detail"]["rollout"], hours: float = 12.0) -> StoredRollout:
        """Let time pass until the rollout has ended, and what follows from that has been done."""
        last = self.aws.now + hours * HOUR
        while not self.ended(rollout):
            assert self.aws.now < last, self.record(rollout).record
            self.aws.run_for(MINUTE)
        self.aws.run_for(MINUTE)
        return self.record(rollout)

    # What one can see

    def ended(self, rollout: str = SAMPLE["detail"]["rollout"]) -> bool:
        """Whether there is such a rollout, and it has ended."""
        try:
            return self.record(rollout).record.phase.terminal
        except Gone:
            return False

    def record(self, rollout: str = SAMPLE["detail"]["rollout"]) -> StoredRollout:
        return self.wiring.rollouts.load(rollout)

    def models(self, component: str = "llm") -> list[str]:
        """The model of each copy that serves."""
        return [str(copy.spec.model) for copy in self.aws.inference_model.components[component].serving]

    def executions(self) -> dict[str, str]:
        """The executions by name, and how each ended."""
        answer = self.aws.client("stepfunctions").list_executions(stateMachineArn=self.wiring.settings.state_machine)
        return {found["name"]: found["status"] for found in answer["executions"]}

    def events(self, execution: str) -> list[dict[str, Any]]:
        """The history of an execution, the oldest event first."""
        machine = self.wiring.settings.state_machine
        arn = f"{machine.replace(':stateMachine:', ':execution:')}:{execution}"
        pages = self.aws.client("stepfunctions").get_paginator("get_execution_history").paginate(executionArn=arn)
        return [event for page in pages for event in page["events"]]

    def phases(self, execution: str) -> list[str]:
        """The states that an execution waited in and ended in, one after the other."""
        entered = [event for event in self.events(execution) if "Entered" in event["type"]]
        names = [event["stateEnteredEventDetails"]["name"] for event in entered]
        names = [name for name in names if name not in CLOCKWORK]
        return [name for number, name in enumerate(names) if number == 0 or names[number - 1] != name]

    def log(self, function: str, message: str) -> list[dict[str, Any]]:
        """What a function logged under this message."""
        return [line for line in self.aws.logs.get(function, []) if line.get("message") == message]

    def stumbles(self) -> list[str]:
        return [line["why"] for line in self.log("AdvanceRolloutFunction", "stumbled")]

    def dead_letters(self) -> list[tuple[str, str]]:
        """Body and reason of each dead letter; reading takes them away."""
        url, sqs = self.stack.outputs["DeadLettersUrl"], self.aws.client("sqs")
        found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])
        return [(it["Body"], it["MessageAttributes"]["reason"]["StringValue"]) for it in found.get("Messages", ())]

    def notices(self) -> list[str]:
        """What was published, by key, the oldest first."""
        from moto.sns.models import sns_backends

        backend = sns_backends["123456789012"]["us-east-1"]
        topic = backend.topics[self.stack.outputs["NoticesTopic"]]
        return [attributes["notice"]["Value"] for *_, attributes, _ in topic.sent_notifications]


@contextmanager
def deployed(*, faults: Faults | None = None, inference: InferenceSettings | None = None) -> Iterator[Fleet]:
    """Deploy the template, and the example's endpoint with three copies beside it; twenty minutes of requests pass."""
    with Emulator(seed=7, faults=faults, inference=inference) as aws:
        stack = aws.deploy(TEMPLATE, "pointsman", {})
        given = {"Image": "images/chat:1", "ArtifactV1": "s3://models/1", "ArtifactV2": "s3://models/2"}
        s3 = aws.client("s3")
        s3.create_bucket(Bucket="models")
        for version in ("1", "2"):
            s3.put_object(Bucket="models", Key=version, Body=b"weights")
        aws.deploy(ROOT / "examples/inference.yaml", "chat", given)
        aws.run_for(15 * MINUTE)
        aws.inference_model.start_traffic("llm", 2.0)
        aws.run_for(20 * MINUTE)
        names = ("JobsTable", "ControlTable", "QueueWakesUrl", "DeadLettersUrl")
        settings = Settings(
            *(stack.outputs[name] for name in names),
            state_machine=stack.outputs["RolloutStateMachine"],
            notices_topic=stack.outputs["NoticesTopic"],
        )
        yield Fleet(aws, stack, Wiring(settings))
