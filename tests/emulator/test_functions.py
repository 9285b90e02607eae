"""Functions: their code, their environment, what happens when they fail."""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from pointsman_emulator import Emulator
from tests.emulator.worlds import Make, World


def send(w: World, body: dict[str, Any]) -> None:
    w.aws.client("sqs").send_message(QueueUrl=w.stack.outputs["JobsUrl"], MessageBody=json.dumps(body))


def event(status: str = "RUNNING") -> dict[str, Any]:
    return {"time": "t", "detail": {"jobId": status, "status": status, "jobQueue": "q"}}


def test_a_function_is_invoked_by_hand_and_answers(world: Make) -> None:
    assert world().stack.function("TickFunction").invoke({}) == {"ok": True}


def test_an_unknown_function_is_named_with_those_there_are(world: Make) -> None:
    with pytest.raises(KeyError, match=r"no function Nobody: it has HearAlarmFunction"):
        world().stack.function("Nobody")


def test_what_a_handler_raises_comes_out_of_an_invocation_by_hand(world: Make) -> None:
    w = world()
    with pytest.raises(ValueError, match="cannot hear"):
        w.stack.function("HearAlarmFunction").invoke({"detail": {"configuration": {"description": "broken"}}})
    assert [name for name, _ in w.aws.failures] == ["HearAlarmFunction"]


def test_each_function_has_its_own_copy_of_a_layer(world: Make) -> None:
    w = world()
    w.stack.function("TickFunction").invoke({})
    w.stack.function("TakeJobsFunction").invoke({"Records": []})
    assert {name: lines[0]["name"] for name, lines in w.aws.logs.items()} == {
        "TickFunction": "tick",
        "TakeJobsFunction": "take_jobs",
    }
    assert "sample_shared" not in sys.modules


def test_a_function_sees_its_own_environment_and_leaves_ours_alone(
    world: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "1")
    w = world()
    function = w.stack.function("TickFunction")
    seen: dict[str, str] = {}
    function._call = lambda *_: seen.update(os.environ)
    function.invoke({})
    assert seen["AWS_LAMBDA_FUNCTION_NAME"] == function.name
    assert seen["AWS_REGION"] == "us-east-1"
    assert seen["WAKES"] == w.stack.outputs["WakesUrl"]
    assert "ENDPOINT_URL" not in seen
    assert "OURS" not in seen
    assert os.environ["OURS"] == "1"


def test_sleeping_in_a_handler_takes_virtual_time_only(world: Make) -> None:
    w = world()
    function = w.stack.function("TickFunction")
    function.environment["SLEEP"] = "20"
    before, begun = w.aws.now, time.perf_counter()
    function.invoke({})
    assert w.aws.now == before + 20
    assert time.perf_counter() - begun < 5


def test_a_function_that_takes_longer_than_its_timeout_fails(world: Make) -> None:
    w = world()
    function = w.stack.function("TickFunction")
    function.environment["SLEEP"] = "31"
    with pytest.raises(TimeoutError, match=r"Task timed out after 30.00 seconds"):
        function.invoke({})


def test_metrics_that_a_function_prints_are_in_cloudwatch(world: Make) -> None:
    w = world()
    w.aws.run_for(600)
    answer = w.aws.client("cloudwatch").get_metric_statistics(
        Namespace="Sample",
        MetricName="Ticks",
        Dimensions=[{"Name": "service", "Value": "sample"}],
        StartTime=datetime(2026, 3, 2, tzinfo=UTC),
        EndTime=datetime(2026, 3, 3, tzinfo=UTC),
        Period=86400,
        Statistics=["Sum"],
    )
    assert answer["Datapoints"][0]["Sum"] == 10


def test_messages_come_in_batches_after_the_batching_window(world: Make) -> None:
    w = world()
    for n in range(7):
        send(w, event(f"S{n}"))
    w.aws.run_for(4)
    assert "TakeJobsFunction" not in w.aws.logs
    w.aws.run_for(1)
    assert [line["records"] for line in w.aws.logs["TakeJobsFunction"]] == [7]


def test_only_the_messages_that_were_reported_come_again(world: Make) -> None:
    w = world()
    send(w, event()), send(w, {"poison": True})
    w.aws.run_for(5)
    assert [line["records"] for line in w.aws.logs["TakeJobsFunction"]] == [2]
    w.aws.run_for(180 + 6)
    assert [line["records"] for line in w.aws.logs["TakeJobsFunction"]] == [2, 1]


def test_a_message_that_fails_too_often_goes_to_the_dead_letters(world: Make) -> None:
    w = world()
    send(w, {"poison": True})
    w.aws.run_for(3600)
    assert w.messages("DeadUrl") == [{"poison": True}]
    assert len(w.aws.logs["TakeJobsFunction"]) == 3


def test_a_handler_that_raises_gets_the_whole_batch_again(world: Make) -> None:
    w = world()
    send(w, event()), send(w, {"crash": True})
    w.aws.run_for(3600)
    assert len(w.aws.failures) == 3
    assert {json.dumps(body) for body in w.messages("DeadUrl")} == {json.dumps(event()), json.dumps({"crash": True})}


def test_a_fifo_queue_delays_and_remembers_an_id_for_five_minutes(world: Make) -> None:
    w = world()
    sqs = w.aws.client("sqs")
    fifo = {"QueueUrl": w.stack.outputs["WakesUrl"], "MessageBody": "{}", "MessageGroupId": "g"}
    sqs.send_message(**fifo, MessageDeduplicationId="same")
    taken = lambda: sum(line["records"] for line in w.aws.logs.get("TickFunction", []))  # noqa: E731
    w.aws.run_for(9)
    assert taken() == 0
    w.aws.run_for(1)
    assert taken() == 1
    sqs.send_message(**fifo, MessageDeduplicationId="same")
    w.aws.run_for(60)
    assert taken() == 1
    w.aws.run_for(240)
    sqs.send_message(**fifo, MessageDeduplicationId="same")
    w.aws.run_for(60)
    assert taken() == 2


def test_a_group_of_a_fifo_queue_waits_for_its_failed_message(world: Make) -> None:
    w = world()
    function = w.stack.function("TickFunction")
    received: list[str] = []
    fail = [True]

    def call(event: dict[str, Any], _: object) -> None:
        bodies = [record["body"] for record in event.get("Records", [])]
        received.extend(bodies)
        if bodies and fail.pop():
            raise RuntimeError("once")

    function._call = call
    sqs = w.aws.client("sqs")
    w.aws.run_for(1)
    sqs.send_message(
        QueueUrl=w.stack.outputs["WakesUrl"], MessageBody="a1", MessageGroupId="a", MessageDeduplicationId="1"
    )
    w.aws.run_for(20)
    fail.append(False)
    sqs.send_message(
        QueueUrl=w.stack.outputs["WakesUrl"], MessageBody="a2", MessageGroupId="a", MessageDeduplicationId="2"
    )
    w.aws.run_for(60)
    assert received == ["a1"]
    w.aws.run_for(180)
    assert received == ["a1", "a1", "a2"]


def test_an_asynchronous_invocation_is_tried_three_times_and_then_goes_to_its_destination(world: Make) -> None:
    w = world()
    w.aws.client("cloudwatch").put_metric_alarm(
        AlarmName="a",
        AlarmDescription="broken",
        Namespace="n",
        MetricName="m",
        Statistic="Sum",
        Period=3600,
        EvaluationPeriods=1,
        Threshold=1,
        ComparisonOperator="GreaterThanThreshold",
    )
    w.aws.run_for(11)
    assert w.aws.failures == []
    w.aws.client("cloudwatch").set_alarm_state(AlarmName="a", StateValue="ALARM", StateReason="told")
    w.aws.run_for(11)
    assert len(w.aws.failures) == 1
    w.aws.run_for(60)
    assert len(w.aws.failures) == 2
    assert w.messages("DeadUrl") == []
    w.aws.run_for(120)
    assert len(w.aws.failures) == 3
    (record,) = w.messages("DeadUrl")
    assert record["requestContext"]["condition"] == "RetriesExhausted"
    assert record["requestContext"]["approximateInvokeCount"] == 3
    assert record["requestPayload"]["detail"]["alarmName"] == "a"
    assert record["responsePayload"]["errorType"] == "ValueError"


def test_calls_are_counted_by_who_makes_them(world: Make) -> None:
    w = world()
    send(w, event())
    w.aws.run_for(60)
    assert w.aws.count("dynamodb", "PutItem", "TakeJobsFunction") == 1
    assert w.aws.count("dynamodb", "PutItem", "outside") == 0
    assert w.aws.count("sqs", "SendMessage") == 2


def test_an_injected_error_is_met_by_botocores_own_retries(world: Make) -> None:
    w = world()
    w.aws.fail_next("dynamodb", "PutItem", "ThrottlingException", times=2)
    send(w, event())
    w.aws.run_for(60)
    assert w.records() == {"RUNNING": "RUNNING"}
    assert w.aws.count("dynamodb", "PutItem") == 3


def test_an_answer_can_be_lost_after_the_call_was_carried_out(world: Make) -> None:
    w = world()
    job = w.submit()
    w.aws.fail_next("batch", "UpdateServiceJob", "ClientException", after=True)
    with pytest.raises(w.batch.exceptions.ClientException):
        w.batch.update_service_job(jobId=job, schedulingPriority=9)
    assert w.describe(job)["schedulingPriority"] == 9


def test_something_can_happen_just_before_or_after_a_call(world: Make) -> None:
    w = world()
    job = w.submit()
    w.aws.before("batch", "DescribeServiceJob", lambda _: w.batch.terminate_service_job(jobId=job, reason="gone"))
    assert w.describe(job)["status"] == "FAILED"
    said: list[str] = []
    w.aws.after("batch", "DescribeServiceJob", lambda call: said.append(call.operation))
    w.describe(job), w.describe(job)
    assert said == ["DescribeServiceJob"]


def test_time_is_virtual_inside_and_ours_outside() -> None:
    before = time.time()
    with Emulator(start=datetime(2030, 1, 1, tzinfo=UTC)) as aws:
        assert datetime.now(UTC) == datetime(2030, 1, 1, tzinfo=UTC)
        aws.run_for(86400)
        assert time.time() == datetime(2030, 1, 2, tzinfo=UTC).timestamp()
    assert before <= time.time() < before + 60


def test_a_naive_start_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        Emulator(start=datetime(2030, 1, 1))  # noqa: DTZ001


def test_running_until_something_is_true_stops_there(world: Make) -> None:
    w = world()
    job = w.submit(seconds=600)
    ended = lambda: w.aws.batch_model.jobs[job].finished  # noqa: E731
    assert w.aws.run_until(ended, limit=w.aws.now + 3600)
    assert w.aws.now < w.aws.batch_model.jobs[job].created_at + 610
    assert not w.aws.run_until(lambda: False, limit=w.aws.now + 60)


def test_what_a_service_of_moto_lacks_is_refused_by_name(world: Make) -> None:
    from botocore.exceptions import ClientError

    with pytest.raises(ClientError, match="PutCompositeAlarm"):
        world().aws.client("cloudwatch").put_composite_alarm(AlarmName="a", AlarmRule="ALARM(b)")


def test_a_function_is_invoked_by_the_lambda_api_with_and_without_waiting(world: Make) -> None:
    w = world()
    client = w.aws.client("lambda")
    name = w.stack.function("TickFunction").name
    assert json.load(client.invoke(FunctionName=name, Payload=b"{}")["Payload"]) == {"ok": True}
    assert client.invoke(FunctionName=name, InvocationType="Event", Payload=b"{}")["StatusCode"] == 202
    assert len(w.aws.logs["TickFunction"]) == 1
    w.aws.run_for(0)
    assert len(w.aws.logs["TickFunction"]) == 2


def test_an_error_of_an_invocation_by_the_api_is_marked(world: Make) -> None:
    w = world()
    broken = {"detail": {"configuration": {"description": "broken"}}}
    name = w.stack.function("HearAlarmFunction").name
    answer = w.aws.client("lambda").invoke(FunctionName=name, Payload=json.dumps(broken).encode())
    assert answer["FunctionError"] == "Unhandled"
    assert json.load(answer["Payload"])["errorType"] == "ValueError"


def test_a_long_poll_of_an_empty_queue_ends_in_virtual_time(world: Make) -> None:
    w = world()
    before, begun = w.aws.now, time.perf_counter()
    answer = w.aws.client("sqs").receive_message(QueueUrl=w.stack.outputs["DeadUrl"], WaitTimeSeconds=20)
    assert "Messages" not in answer
    assert w.aws.now >= before + 20
    assert time.perf_counter() - begun < 5
