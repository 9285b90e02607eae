"""What services say of themselves when something fails: their metrics, and what goes with a dead letter."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from pointsman_emulator.backends.cloudwatch.models import EmulatorCloudWatchBackend
from tests.emulator.worlds import Make, World


def total(namespace: str, name: str, **dimensions: str) -> float:
    """Everything that was measured, added up."""
    series = EmulatorCloudWatchBackend.here().model.series.get((namespace, name, tuple(sorted(dimensions.items()))))
    point = series.point(0, 2e9, "Sum") if series else None
    return point.value if point else 0.0


def drift(w: World) -> None:
    """An alarm's event, put by hand."""
    detail = {"alarmName": "a", "configuration": {}}
    w.aws.bus.put("aws.cloudwatch", "CloudWatch Alarm State Change", detail)
    w.aws.run_for(20)


def test_each_minute_a_queue_tells_how_much_waits_in_it_and_how_old_that_is(world: Make) -> None:
    w = world()
    url = w.stack.outputs["DeadUrl"]
    w.aws.client("sqs").send_message(QueueUrl=url, MessageBody="lost")
    w.aws.run_for(150)
    name = url.rsplit("/", 1)[-1]
    asked = {
        metric: EmulatorCloudWatchBackend.here().model.series["AWS/SQS", metric, (("QueueName", name),)]
        for metric in ("ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage")
    }
    now = w.aws.now
    assert [series.point(now - 60, now, "Maximum").value for series in asked.values()] == [1.0, 119.0]  # type: ignore[union-attr]


def test_an_event_that_its_target_does_not_take_is_a_dead_letter_that_names_rule_target_and_error(world: Make) -> None:
    w = world()
    events, nobody = w.aws.client("events"), "arn:aws:sqs:us-east-1:123456789012:nobody"
    rule = events.put_rule(Name="lost", EventPattern=json.dumps({"source": ["aws.cloudwatch"]}))["RuleArn"]
    dead = {"Arn": f"arn:aws:sqs:us-east-1:123456789012:{w.stack.outputs['DeadUrl'].rsplit('/', 1)[-1]}"}
    events.put_targets(Rule="lost", Targets=[{"Id": "1", "Arn": nobody, "DeadLetterConfig": dead}])
    drift(w)
    found = w.aws.client("sqs").receive_message(QueueUrl=w.stack.outputs["DeadUrl"], MessageAttributeNames=["All"])
    said = {name: value["StringValue"] for name, value in found["Messages"][0]["MessageAttributes"].items()}
    assert (said["RULE_ARN"], said["TARGET_ARN"], said["ERROR_CODE"]) == (rule, nobody, "NO_PERMISSIONS")
    assert json.loads(found["Messages"][0]["Body"])["source"] == "aws.cloudwatch"
    assert total("AWS/Events", "FailedInvocations", RuleName="lost") > 0
    assert total("AWS/Events", "InvocationsSentToDlq", RuleName="lost") > 0


def test_a_throttled_invocation_is_no_attempt_and_is_made_later(world: Make) -> None:
    w = world()
    function = w.stack.function("HearAlarmFunction")
    w.aws.runtime.throttle(function, 3)
    drift(w)
    assert "HearAlarmFunction" not in w.aws.logs
    w.aws.run_for(600)
    assert total("AWS/Lambda", "Throttles", FunctionName=function.name) == 3
    assert total("AWS/Lambda", "Errors", FunctionName=function.name) == 0
    assert w.aws.logs["HearAlarmFunction"]


def test_an_invocation_tells_how_long_it_took(world: Make) -> None:
    w = world()
    function = w.stack.function("TickFunction")
    function._call = lambda *_: w.aws.clock.sleep(2)
    function.invoke({})
    assert total("AWS/Lambda", "Duration", FunctionName=function.name) == 2000


def test_a_metric_is_found_by_its_dimensions_and_an_absent_one_has_no_values(world: Make) -> None:
    w = world()
    for host, value in (("a", 10.0), ("a", 30.0), ("b", 90.0)):
        w.aws.put_metric("Hosts", "Use", value, Host=host)
    began = datetime.fromtimestamp(w.aws.now - 60, UTC)
    w.aws.run_for(60)
    queries = [
        {
            "Id": f"m{host}",
            "MetricStat": {
                "Metric": {"Namespace": "Hosts", "MetricName": "Use", "Dimensions": [{"Name": "Host", "Value": host}]},
                "Period": 60,
                "Stat": "Average",
            },
        }
        for host in ("a", "b", "c")
    ]
    answer = w.aws.client("cloudwatch").get_metric_data(
        MetricDataQueries=queries, StartTime=began, EndTime=datetime.fromtimestamp(w.aws.now, UTC)
    )
    assert {found["Id"]: found["Values"] for found in answer["MetricDataResults"]} == {
        "ma": [20.0],
        "mb": [90.0],
        "mc": [],
    }
