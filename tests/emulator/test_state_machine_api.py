"""The Step Functions API of the emulator: what it answers, and what it refuses."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.validate import ParamValidator

from pointsman_emulator import Emulator
from tests.emulator.rollout_worlds import Rollouts, step

ROLE = "arn:aws:iam::123456789012:role/states"
PLAIN = {"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}


@pytest.fixture
def rollouts() -> Iterator[Rollouts]:
    with Emulator(seed=7) as aws:
        yield Rollouts(aws)


def code(call: Any, **request: Any) -> str:
    """The error that a call ends in."""
    with pytest.raises(ClientError) as error:
        call(**request)
    return str(error.value.response["Error"]["Code"])


def test_every_answer_is_valid_against_the_service_model(rollouts: Rollouts) -> None:
    over = rollouts.start(step("Bake", wait=60), step("ROLLED_BACK"), name="over")
    rollouts.aws.run_for(60)
    waiting = rollouts.start(step("Bake"), name="waiting")
    rollouts.aws.run_for(1)
    sfn, machine = rollouts.sfn, rollouts.machine
    for operation, request in (
        ("start_execution", {"stateMachineArn": machine}),
        ("describe_execution", {"executionArn": over}),
        ("describe_execution", {"executionArn": waiting}),
        ("get_execution_history", {"executionArn": over}),
        ("list_executions", {"stateMachineArn": machine}),
        ("describe_state_machine", {"stateMachineArn": machine}),
        ("list_state_machines", {}),
        ("send_task_success", {"taskToken": rollouts.record("waiting")["task_token"], "output": "{}"}),
        ("stop_execution", {"executionArn": waiting}),
    ):
        answer = getattr(sfn, operation)(**request)
        shape = sfn.meta.service_model.operation_model(sfn.meta.method_to_api_mapping[operation]).output_shape
        body = {key: value for key, value in answer.items() if key != "ResponseMetadata"}
        report = ParamValidator().validate(body, shape)
        assert not report.has_errors(), f"{operation}: {report.generate_report()}"


def test_the_template_names_the_state_machine_by_ref_and_by_attribute(rollouts: Rollouts) -> None:
    assert rollouts.stack.outputs["StateMachineArn"] == rollouts.machine
    definition = rollouts.sfn.describe_state_machine(stateMachineArn=rollouts.machine)["definition"]
    assert "${" not in definition
    assert rollouts.stack.function("AdvanceRolloutFunction").arn in definition


def test_executions_are_listed_by_their_status(rollouts: Rollouts) -> None:
    rollouts.start(step("Bake"), name="waits")
    rollouts.start(step("STOPPED"), name="ended")
    rollouts.aws.run_for(1)
    listed = {
        status: [
            execution["name"]
            for execution in rollouts.sfn.list_executions(stateMachineArn=rollouts.machine, statusFilter=status)[
                "executions"
            ]
        ]
        for status in ("RUNNING", "FAILED", "SUCCEEDED")
    }
    assert listed == {"RUNNING": ["waits-1"], "FAILED": ["ended-1"], "SUCCEEDED": []}


def test_starting_a_running_execution_again_is_the_same_execution(rollouts: Rollouts) -> None:
    first = rollouts.start(step("Bake"))
    assert rollouts.execute("r", 1) == first
    rollouts.aws.run_for(1)
    assert rollouts.execute("r", 1) == first
    assert rollouts.passes() == 1


def test_a_name_is_taken_for_good_once_its_execution_ended(rollouts: Rollouts) -> None:
    rollouts.start(step("REJECTED"))
    rollouts.aws.run_for(1)
    request = {"stateMachineArn": rollouts.machine, "name": "r-1"}
    assert (
        code(rollouts.sfn.start_execution, **request, input='{"rollout_id": "r", "generation": 1}')
        == "ExecutionAlreadyExists"
    )


def test_a_name_of_more_than_eighty_characters_is_refused(rollouts: Rollouts) -> None:
    assert code(rollouts.sfn.start_execution, stateMachineArn=rollouts.machine, name=81 * "x") == "ValidationException"


def test_an_input_that_is_no_json_is_refused(rollouts: Rollouts) -> None:
    assert code(rollouts.sfn.start_execution, stateMachineArn=rollouts.machine, input="{") == "InvalidExecutionInput"


def test_an_execution_that_nobody_started_is_unknown(rollouts: Rollouts) -> None:
    arn = rollouts.machine.replace(":stateMachine:", ":execution:") + ":r-1"
    assert code(rollouts.sfn.describe_execution, executionArn=arn) == "ExecutionDoesNotExist"
    assert code(rollouts.sfn.stop_execution, executionArn=arn) == "ExecutionDoesNotExist"
    assert code(rollouts.sfn.get_execution_history, executionArn=arn) == "ExecutionDoesNotExist"


def test_stopping_what_has_ended_changes_nothing(rollouts: Rollouts) -> None:
    execution = rollouts.start(step("SUCCEEDED"))
    rollouts.aws.run_for(1)
    before = rollouts.describe(execution)
    rollouts.aws.run_for(1)
    assert rollouts.sfn.stop_execution(executionArn=execution)["stopDate"] == before["stopDate"]
    after = rollouts.describe(execution)
    assert (after["status"], after["stopDate"]) == ("SUCCEEDED", before["stopDate"])


def test_a_task_that_was_answered_with_a_failure_fails_its_execution(rollouts: Rollouts) -> None:
    execution = rollouts.start(step("Bake"))
    rollouts.aws.run_for(1)
    rollouts.sfn.send_task_failure(taskToken=rollouts.record()["task_token"], error="Told", cause="to fail")
    rollouts.aws.run_for(1)
    described = rollouts.describe(execution)
    assert (described["status"], described["error"], described["cause"]) == ("FAILED", "Told", "to fail")


@pytest.mark.parametrize(
    "change, lacking",
    [
        ({"States": {"End": {"Type": "Wait", "Seconds": 1, "End": True}}}, "the type Wait of state 'End'"),
        ({"States": {"End": {"Type": "Map", "End": True}}}, "the type Map of state 'End'"),
        (
            {"States": {"End": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "End": True}}},
            "the resource arn:aws:states:::sqs:sendMessage of state 'End'",
        ),
        ({"QueryLanguage": "JSONata"}, "the query language JSONata"),
        ({"TimeoutSeconds": 5}, "a time-out of the whole execution"),
    ],
    ids=["a wait", "a map", "another service", "another language", "a time-out"],
)
def test_what_a_state_machine_may_not_have_is_named(rollouts: Rollouts, change: dict[str, Any], lacking: str) -> None:
    with pytest.raises(ClientError, match=lacking) as error:
        rollouts.sfn.create_state_machine(name="other", definition=json.dumps({**PLAIN, **change}), roleArn=ROLE)
    assert error.value.response["Error"]["Code"] == "NotImplemented"


def test_a_definition_that_is_not_valid_is_refused(rollouts: Rollouts) -> None:
    create = rollouts.sfn.create_state_machine
    assert code(create, name="broken", definition='{"StartAt": "End"}', roleArn=ROLE) == "InvalidDefinition"


@pytest.mark.parametrize(
    "operation, request_", [("create_activity", {"name": "a"}), ("start_sync_execution", {"stateMachineArn": "a"})]
)
def test_an_operation_that_is_not_there_is_refused_by_name(
    rollouts: Rollouts, operation: str, request_: dict[str, Any]
) -> None:
    name = rollouts.sfn.meta.method_to_api_mapping[operation]
    with pytest.raises(ClientError, match=f"The emulator has no sfn {name}"):
        getattr(rollouts.sfn, operation)(**request_)


def test_the_state_machine_calls_under_its_own_name(rollouts: Rollouts) -> None:
    rollouts.start(step("Bake", wait=60), step("Bake", successor=2), step("SUCCEEDED"))
    rollouts.aws.run_for(60)
    called = {(call.service, call.operation) for call in rollouts.aws.calls if call.caller == "RolloutStateMachine"}
    assert called == {("lambda", "Invoke"), ("dynamodb", "UpdateItem"), ("sfn", "StartExecution")}


def test_the_same_seed_gives_the_same_history() -> None:
    def history() -> list[dict[str, Any]]:
        with Emulator(seed=3) as aws:
            rollouts = Rollouts(aws)
            execution = rollouts.start(step("Bake", raises="Transient"), step("Bake", wait=60), step("SUCCEEDED"))
            aws.run_for(3600)
            return list(rollouts.events(execution))

    assert history() == history()


def test_nothing_goes_on_when_the_emulator_is_gone() -> None:
    before = threading.active_count()
    with Emulator() as aws:
        rollouts = Rollouts(aws)
        for number in range(5):
            rollouts.start(step("Bake", wait=3600), name=f"r{number}")
        rollouts.aws.run_for(1)
        rollouts.start(step("Bake"), name="unbegun")
        assert threading.active_count() == before + 5
    assert threading.active_count() == before
