"""The contracts of executions and notices, over the fakes and over moto."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.notices import SnsNotices
from pointsman.aws.state_machine import StepFunctionsExecution
from pointsman.rollout_wake_ports import Execution, Life
from pointsman.rollouts.reasons import Notice
from tests.fakes.rollout_signals import FakeExecution

ROLE = "arn:aws:iam::123456789012:role/states"


@pytest.fixture
def machine(aws: Clients) -> str:
    states = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 3600, "End": True}}}
    arn: str = aws.stepfunctions.create_state_machine(name="rollout", definition=json.dumps(states), roleArn=ROLE)[
        "stateMachineArn"
    ]
    return arn


@pytest.fixture(params=["fake", "Step Functions"])
def executions(request: pytest.FixtureRequest) -> Execution:
    if request.param == "fake":
        return FakeExecution()
    aws: Clients = request.getfixturevalue("aws")
    return StepFunctionsExecution(aws.stepfunctions, request.getfixturevalue("machine"))


def test_an_execution_lives_once_it_was_started(executions: Execution) -> None:
    assert executions.life("r1", 1) is Life.ABSENT
    executions.start("r1", 1)

    assert executions.life("r1", 1) is Life.RUNNING
    assert executions.life("r1", 2) is Life.ABSENT


def test_the_same_execution_twice_is_one(executions: Execution) -> None:
    executions.start("r1", 1)
    executions.start("r1", 1)

    assert executions.life("r1", 1) is Life.RUNNING


def test_an_execution_that_has_ended_is_not_started_again(aws: Clients, machine: str) -> None:
    executions = StepFunctionsExecution(aws.stepfunctions, machine)
    executions.start("r1", 1)
    (line,) = aws.stepfunctions.list_executions(stateMachineArn=machine)["executions"]
    aws.stepfunctions.stop_execution(executionArn=line["executionArn"])
    assert executions.life("r1", 1) is Life.ENDED
    executions.start("r1", 1)

    assert executions.life("r1", 1) is Life.ENDED


def test_an_execution_s_name_and_input_are_the_rollout_and_its_generation(aws: Clients, machine: str) -> None:
    StepFunctionsExecution(aws.stepfunctions, machine).start("r1", 3)

    (line,) = aws.stepfunctions.list_executions(stateMachineArn=machine)["executions"]
    told = aws.stepfunctions.describe_execution(executionArn=line["executionArn"])
    assert (told["name"], json.loads(told["input"])) == ("r1-3", {"rollout_id": "r1", "generation": 3})


@pytest.mark.parametrize("code", ["TaskTimedOut", "TaskDoesNotExist", "InvalidToken"])
def test_a_token_that_nobody_waits_for_is_left_alone(code: str) -> None:
    from botocore.exceptions import ClientError

    class Over:
        def send_task_success(self, **_: Any) -> None:
            raise ClientError({"Error": {"Code": code, "Message": "over"}}, "SendTaskSuccess")

    StepFunctionsExecution(Over(), "arn").answer("token")


def test_a_notice_goes_out_with_its_key(aws: Clients, make_queue: Callable[[str], str]) -> None:
    topic = aws.sns.create_topic(Name="notices")["TopicArn"]
    queue = make_queue("DeadLettersQueue")
    arn = aws.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    aws.sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    SnsNotices(aws.sns, topic).send(Notice("r1/ended", "Rollout r1: All is well."))

    (message,) = aws.sqs.receive_message(QueueUrl=queue)["Messages"]
    body = json.loads(message["Body"])
    assert (body["Subject"], body["Message"]) == ("Pointsman: rollout r1", "Rollout r1: All is well.")
    assert body["MessageAttributes"]["notice"]["Value"] == "r1/ended"
