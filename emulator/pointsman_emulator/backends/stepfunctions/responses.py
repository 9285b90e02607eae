"""Step Functions on the wire: moto's, with pages of histories, and what StopExecution and SendTaskFailure say."""

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.stepfunctions.parser.api import ExecutionStatus
from moto.stepfunctions.responses import StepFunctionResponse

from pointsman_emulator.backends.stepfunctions.models import EmulatorStepFunctionsBackend

HISTORY_PAGE = 100
SUPPORTED = frozenset(
    {
        "CreateStateMachine",
        "DeleteStateMachine",
        "DescribeExecution",
        "DescribeStateMachine",
        "GetExecutionHistory",
        "ListExecutions",
        "ListStateMachines",
        "ListTagsForResource",
        "SendTaskFailure",
        "SendTaskSuccess",
        "StartExecution",
        "StopExecution",
        "TagResource",
        "UntagResource",
    }
)


class EmulatorStepFunctionsResponse(StepFunctionResponse):
    """moto's answers, and the parameters that it overlooks."""

    @property
    def stepfunction_backend(self) -> EmulatorStepFunctionsBackend:
        """The backend of this emulator."""
        return EmulatorStepFunctionsBackend.here()

    def call_action(self) -> Any:
        """Refuse by name what the emulator has not."""
        if self._get_action() not in SUPPORTED:
            raise NotImplementedError
        return super().call_action()

    def describe_execution(self) -> ActionResult:
        """DescribeExecution; one that has timed out has a stop date too."""
        answer = super().describe_execution()
        execution = self.stepfunction_backend.execution(self._get_param("executionArn"))
        result: Any = answer._result
        if execution.status != ExecutionStatus.RUNNING.value:
            result["stopDate"] = execution.stop_date
        result["inputDetails"] = {"included": True}
        return answer

    def stop_execution(self) -> ActionResult:
        """StopExecution, with its reason."""
        execution = self.stepfunction_backend.stop_execution(
            self._get_param("executionArn"), self._get_param("error"), self._get_param("cause")
        )
        return ActionResult({"stopDate": execution.stop_date})

    def get_execution_history(self) -> ActionResult:
        """GetExecutionHistory: oldest first unless asked otherwise, in pages (API:GetExecutionHistory)."""
        execution = self.stepfunction_backend.execution(self._get_param("executionArn"))
        events = list(execution.to_history_output()["events"])
        if self._get_param("reverseOrder"):
            events.reverse()
        start = int(self._get_param("nextToken", 0) or 0)
        end = start + int(self._get_param("maxResults", 0) or HISTORY_PAGE)
        result: dict[str, Any] = {"events": events[start:end]}
        if end < len(events):
            result["nextToken"] = str(end)
        return ActionResult(result)

    def send_task_success(self) -> ActionResult:
        """SendTaskSuccess."""
        self.stepfunction_backend.send_task_success(self._get_param("taskToken"), self._get_param("output"))
        return EmptyResult()

    def send_task_failure(self) -> ActionResult:
        """SendTaskFailure, with its cause."""
        self.stepfunction_backend.send_task_failure(
            self._get_param("taskToken"), self._get_param("error"), self._get_param("cause")
        )
        return EmptyResult()
