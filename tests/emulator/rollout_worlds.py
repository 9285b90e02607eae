"""A rollout whose passes are played from a list, and short ways to say what a test does with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from pointsman_emulator import Emulator, Stack

TEMPLATE = Path(__file__).parent / "rollout_stack/template.yaml"


class Rollouts:
    """An emulator with the rollout's state machine, and a stand-in for `advance_rollout`."""

    def __init__(self, aws: Emulator) -> None:
        self.aws = aws
        self.stack: Stack = aws.deploy(TEMPLATE, "rollouts", {})
        self.machine = self.stack.outputs["StateMachine"]
        self.table = {"TableName": self.stack.outputs["ControlTable"]}
        self.sfn, self.dynamodb = aws.client("stepfunctions"), aws.client("dynamodb")

    def start(self, *steps: dict[str, Any], name: str = "r", generation: int = 1) -> str:
        """Write a rollout's record, whose passes will say these steps, and start its execution; the execution's ARN."""
        numbers = {"rev": 0, "wake_seq": 0, "generation": generation}
        item = {**_key(name), **{key: {"N": str(value)} for key, value in numbers.items()}}
        self.dynamodb.put_item(**self.table, Item={**item, "steps": {"S": json.dumps(steps)}})
        return self.execute(name, generation)

    def execute(self, name: str, generation: int) -> str:
        """Start an execution as `command_rollout` and `wake_due` do."""
        rollout = json.dumps({"rollout_id": name, "generation": generation})
        started = self.sfn.start_execution(stateMachineArn=self.machine, name=f"{name}-{generation}", input=rollout)
        return str(started["executionArn"])

    def wake(self, name: str = "r") -> str:
        """Wake a rollout as a waker does; what came of it."""
        record = self.dynamodb.update_item(
            **self.table,
            Key=_key(name),
            UpdateExpression="ADD wake_seq :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
            ReturnValues="ALL_NEW",
        )["Attributes"]
        return self.answer(record["task_token"]["S"]) if "task_token" in record else "no token yet"

    def answer(self, token: str, output: str = "{}") -> str:
        """Send success with a token; what came of it."""
        try:
            self.sfn.send_task_success(taskToken=token, output=output)
        except ClientError as error:
            return str(error.response["Error"]["Code"])
        return "taken"

    def record(self, name: str = "r") -> dict[str, Any]:
        """The rollout's record, in plain values."""
        item = self.dynamodb.get_item(**self.table, Key=_key(name))["Item"]
        return {key: next(iter(value.values())) for key, value in item.items()}

    def passes(self, name: str = "r") -> int:
        """How many passes there were."""
        return int(self.record(name)["rev"])

    def describe(self, execution: str) -> dict[str, Any]:
        """An execution as Step Functions describes it."""
        return dict(self.sfn.describe_execution(executionArn=execution))

    def events(self, execution: str) -> Iterator[dict[str, Any]]:
        """The events of an execution, all pages of them."""
        for page in self.sfn.get_paginator("get_execution_history").paginate(executionArn=execution):
            yield from page["events"]

    def visited(self, execution: str) -> list[str]:
        """The states that an execution entered, but for the pass and the choice that follows it."""
        names = [
            event["stateEnteredEventDetails"]["name"] for event in self.events(execution) if "Entered" in event["type"]
        ]
        return [name for name in names if name not in ("Advance", "Choose by phase")]

    def where(self, execution: str) -> str:
        """The state that an execution is in."""
        return self.visited(execution)[-1]


def step(phase: str, wait: float = 600, **more: Any) -> dict[str, Any]:
    """What one pass says."""
    return {"phase": phase, "wait": wait, **more}


def _key(name: str) -> dict[str, Any]:
    return {"pk": {"S": f"ROLLOUT#{name}"}, "sk": {"S": "ROLLOUT"}}


MakeRollouts = Callable[..., Rollouts]
