"""The Step Functions backend."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from moto.core.exceptions import AWSError
from moto.core.utils import utcnow
from moto.moto_api._internal import mock_random
from moto.stepfunctions.exceptions import InvalidExecutionInput, InvalidToken
from moto.stepfunctions.models import StateMachine, stepfunctions_backends
from moto.stepfunctions.parser import api
from moto.stepfunctions.parser.api import (
    ExecutionStatus,
    HistoryEventType,
    SendTaskFailureOutput,
    SendTaskSuccessOutput,
)
from moto.stepfunctions.parser.asl.eval.callback.callback import (
    CallbackEndpoint,
    CallbackOutcome,
    CallbackOutcomeFailure,
    CallbackOutcomeSuccess,
)
from moto.stepfunctions.parser.backend.execution import Execution
from moto.stepfunctions.parser.models import StepFunctionsParserBackend

from pointsman_emulator.backends.bound import Bound
from pointsman_emulator.backends.stepfunctions.definitions import unsupported
from pointsman_emulator.state_machines import Engine


class NotImplementedHere(AWSError):
    """A state machine that the emulator cannot run."""

    TYPE = "NotImplemented"
    STATUS = 501


class InvalidDefinition(AWSError):
    """A definition that is no state machine; moto's own error of this name reaches nobody."""

    TYPE = "InvalidDefinition"


class InvalidOutput(AWSError):
    """What a task is said to have returned is no JSON."""

    TYPE = "InvalidOutput"


class TaskIsOver(AWSError):
    """The task of this token was answered, its time ran out, or its execution ended."""

    TYPE = "TaskTimedOut"


class EmulatorStepFunctionsBackend(Bound, StepFunctionsParserBackend):
    """moto's backend that carries executions out, on the emulator's clock."""

    home = stepfunctions_backends
    world: ClassVar[Engine | None] = None

    def create_state_machine(self, name: str, definition: str, *args: Any, **kwargs: Any) -> StateMachine:
        """Create a state machine, unless it has something that the emulator has not."""
        lacking = unsupported(definition)
        if lacking:
            raise NotImplementedHere(
                f"The emulator cannot run state machine {name}: it has not {'; nor '.join(lacking)}"
            )
        try:
            return super().create_state_machine(name, definition, *args, **kwargs)
        except api.InvalidDefinition as error:
            raise InvalidDefinition(f"Invalid State Machine Definition: '{error.message}'") from None

    def start_execution(  # type: ignore[override] # moto's own two backends disagree about what they return
        self,
        state_machine_arn: str,
        name: str | None = None,
        execution_input: str | None = None,
        trace_header: Any = None,
    ) -> Execution:
        """Start an execution; it begins now, but after whoever started it."""
        name = name or str(mock_random.uuid4())
        self._validate_name(name)
        try:
            json.loads(execution_input or "{}")
        except ValueError as error:
            raise InvalidExecutionInput(f"Invalid State Machine Execution Input: '{error}'") from None
        return super().start_execution(state_machine_arn, name, execution_input or "{}", trace_header)

    def stop_execution(  # type: ignore[override]
        self, execution_arn: str, error: str | None = None, cause: str | None = None
    ) -> Execution:
        """End an execution from outside; one that has ended stays as it is."""
        execution = self.execution(execution_arn)
        worker = execution.exec_worker
        if execution.status != ExecutionStatus.RUNNING.value or worker is None or worker.env is None:
            return execution
        self._engine().stop(worker)
        environment = worker.env
        environment.event_history_context.source_event_id = 0
        why = {name: value for name, value in (("error", error), ("cause", cause)) if value is not None}
        details: Any = {"executionAbortedEventDetails": why}
        environment.event_manager.add_event(
            context=environment.event_history_context,
            event_type=HistoryEventType.ExecutionAborted,
            event_details=details,
        )
        execution.exec_status, execution.stop_date = ExecutionStatus.ABORTED, utcnow()
        execution.error, execution.cause = error, cause
        return execution

    def send_task_success(self, task_token: str, outcome: str) -> SendTaskSuccessOutput:  # type: ignore[override]
        """Answer a task token (API:SendTaskSuccess)."""
        try:
            json.loads(outcome)
        except ValueError as error:
            raise InvalidOutput(f"Invalid Output: '{error}'") from None
        self._answer(task_token, CallbackOutcomeSuccess(task_token, outcome))
        return SendTaskSuccessOutput()

    def send_task_failure(  # type: ignore[override]
        self, task_token: str, error: str | None = None, cause: str | None = None
    ) -> SendTaskFailureOutput:
        """Answer a task token with a failure (API:SendTaskFailure)."""
        self._answer(task_token, CallbackOutcomeFailure(task_token, error, cause))
        return SendTaskFailureOutput()

    def execution(self, execution_arn: str) -> Execution:
        """An execution by its ARN."""
        return self.describe_execution(execution_arn)  # type: ignore[return-value] # the engine's own kind

    def _answer(self, task_token: str, outcome: CallbackOutcome) -> None:
        """Hand the answer over; the first one counts."""
        for execution in self._get_executions():
            worker = execution.exec_worker
            endpoint: CallbackEndpoint | None = worker.env.callback_pool_manager.get(task_token)
            if endpoint is None:
                continue
            over = endpoint._notify_event.is_set() or endpoint.consumer_error is not None
            if over or execution.status != ExecutionStatus.RUNNING.value:
                raise TaskIsOver("Task Timed Out: 'Provided task does not exist anymore'", self._engine().late_answer)
            endpoint.notify(outcome)
            self._engine().answered(worker, endpoint)
            return
        raise InvalidToken("Invalid token")

    def _engine(self) -> Engine:
        if self.world is None:
            raise RuntimeError("the Step Functions backend is used outside an emulator")
        return self.world
