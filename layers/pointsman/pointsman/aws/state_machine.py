"""Executions of the rollouts' state machine."""

import json
from contextlib import suppress
from typing import Any

from pointsman.aws.faults import Translated
from pointsman.aws.unreadable import understood
from pointsman.errors import Gone
from pointsman.rollout_wake_ports import Life

TAKEN = ("ExecutionAlreadyExists",)
OVER = ("TaskTimedOut", "TaskDoesNotExist", "InvalidToken")  # whoever waited waits no more


class StepFunctionsExecution:
    """The executions of one state machine."""

    def __init__(self, stepfunctions: Any, state_machine_arn: str) -> None:
        """Use this client."""
        self._stepfunctions = stepfunctions
        self._machine = state_machine_arn

    def start(self, rollout: str, generation: int) -> None:
        """Start it; one that was started already is left alone, whether it runs or has ended."""
        with suppress(Gone), Translated(*TAKEN):
            self._stepfunctions.start_execution(
                stateMachineArn=self._machine,
                name=f"{rollout}-{generation}",
                input=json.dumps({"rollout_id": rollout, "generation": generation}),
            )

    def answer(self, token: str) -> None:
        """End the wait that this token stands for; one that is over already is left alone."""
        with suppress(Gone), Translated(*OVER):
            self._stepfunctions.send_task_success(taskToken=token, output="{}")

    @understood
    def life(self, rollout: str, generation: int) -> Life:
        """Whether it lives."""
        arn = f"{self._machine.replace(':stateMachine:', ':execution:')}:{rollout}-{generation}"
        try:
            with Translated("ExecutionDoesNotExist"):
                status = self._stepfunctions.describe_execution(executionArn=arn)["status"]
        except Gone:
            return Life.ABSENT
        return Life.RUNNING if status == "RUNNING" else Life.ENDED
