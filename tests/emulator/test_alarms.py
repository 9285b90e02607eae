"""Alarms: when they change, what they say, what is kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from pointsman_emulator.models.alarm_values import AlarmSpec, Point
from pointsman_emulator.models.alarms import verdict
from tests.emulator.worlds import Make, World


def spec(missing: str, wanted: int = 3, needed: int = 3, operator: str = "GreaterThanThreshold") -> AlarmSpec:
    return AlarmSpec("a", "arn", "n", "m", (), "Average", 60, wanted, 0.5, operator, needed, missing)


def points(row: str, wanted: int) -> list[Point]:
    """The newest `wanted` data points of a row of the documentation: `0` not breaching, `X` breaching, `-` missing."""
    found = [Point(0, 1.0 if mark == "X" else 0.0, 1) for mark in reversed(row) if mark != "-"]
    return found[:wanted]


@pytest.mark.parametrize(
    "row,missing,ignore,breaching,not_breaching",
    [
        ("0-X-X", "OK", "OK", "OK", "OK"),
        ("0----", "OK", "OK", "OK", "OK"),
        ("-----", "INSUFFICIENT_DATA", "kept", "ALARM", "OK"),
        ("0XX-X", "ALARM", "ALARM", "ALARM", "ALARM"),
        ("--X--", "ALARM", "kept", "ALARM", "OK"),
    ],
)
def test_three_of_three_with_missing_data_is_as_documented(
    row: str, missing: str, ignore: str, breaching: str, not_breaching: str
) -> None:
    for treatment, state in (
        ("missing", missing),
        ("ignore", ignore),
        ("breaching", breaching),
        ("notBreaching", not_breaching),
    ):
        assert verdict(spec(treatment), points(row, 3), "kept") == state, treatment


@pytest.mark.parametrize(
    "row,missing,ignore,breaching,not_breaching",
    [
        ("0-X-X", "ALARM", "ALARM", "ALARM", "ALARM"),
        ("00X0X", "ALARM", "ALARM", "ALARM", "ALARM"),
        ("0-X--", "OK", "OK", "ALARM", "OK"),
        ("----0", "OK", "OK", "ALARM", "OK"),
        ("---X-", "ALARM", "kept", "ALARM", "OK"),
    ],
)
def test_two_of_three_with_missing_data_is_as_documented(
    row: str, missing: str, ignore: str, breaching: str, not_breaching: str
) -> None:
    for treatment, state in (
        ("missing", missing),
        ("ignore", ignore),
        ("breaching", breaching),
        ("notBreaching", not_breaching),
    ):
        assert verdict(spec(treatment, needed=2), points(row, 3), "kept") == state, treatment


@pytest.mark.parametrize(
    "operator,low,same,high",
    [
        ("GreaterThanThreshold", False, False, True),
        ("GreaterThanOrEqualToThreshold", False, True, True),
        ("LessThanThreshold", True, False, False),
        ("LessThanOrEqualToThreshold", True, True, False),
    ],
)
def test_each_operator_compares(operator: str, *, low: bool, same: bool, high: bool) -> None:
    alarm = spec("missing", operator=operator)
    assert (alarm.breaches(0.4), alarm.breaches(0.5), alarm.breaches(0.6)) == (low, same, high)


def test_an_operator_that_is_not_built_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match="LessThanLowerThreshold"):
        spec("missing", operator="LessThanLowerThreshold").breaches(1)


def put(w: World, **more: Any) -> None:
    request = {
        "AlarmName": "mine",
        "Namespace": "N",
        "MetricName": "M",
        "Dimensions": [{"Name": "k", "Value": "v"}],
        "Statistic": "Average",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 1.0,
        "ComparisonOperator": "GreaterThanThreshold",
    }
    w.aws.client("cloudwatch").put_metric_alarm(**{**request, **more})


def state(w: World, name: str = "mine") -> str:
    (alarm,) = w.aws.client("cloudwatch").describe_alarms(AlarmNames=[name])["MetricAlarms"]
    return str(alarm["StateValue"])


def test_an_alarm_of_a_template_goes_on_and_off_with_its_metric(world: Make) -> None:
    w = world()
    w.aws.run_for(60)
    assert state(w, "drift") == "INSUFFICIENT_DATA"
    w.aws.run_for(300)
    assert state(w, "drift") == "OK"
    w.aws.put_metric("Search/Models", "PredictionDrift", 0.5, Model="ranker")
    w.aws.run_for(300)
    assert state(w, "drift") == "ALARM"
    w.aws.put_metric("Search/Models", "PredictionDrift", 0.1, Model="ranker")
    w.aws.run_for(300)
    assert state(w, "drift") == "OK"


def test_a_metric_with_other_dimensions_is_another_metric(world: Make) -> None:
    w = world()
    put(w)
    w.aws.put_metric("N", "M", 9, k="other")
    w.aws.put_metric("N", "M", 9)
    w.aws.run_for(120)
    assert state(w) == "INSUFFICIENT_DATA"


@pytest.mark.parametrize(
    "statistic,value,alarming",
    [
        ("Average", 2.0, True),
        ("Sum", 7.9, True),
        ("Minimum", 0.9, True),
        ("Maximum", 6.0, False),
        ("SampleCount", 3.9, True),
    ],
)
def test_each_statistic_is_that_of_the_period(world: Make, statistic: str, value: float, *, alarming: bool) -> None:
    w = world()
    put(w, Statistic=statistic, Threshold=value - 0.01 if alarming else value + 0.01)
    for number in (1.0, 1.0, 1.0, 5.0):
        w.aws.put_metric("N", "M", number, k="v")
    w.aws.run_for(60)
    assert state(w) == ("ALARM" if alarming else "OK")


def test_the_event_of_a_change_says_what_aws_says(world: Make) -> None:
    w = world()
    seen: list[dict[str, Any]] = []
    put(w, AlarmDescription="what it means")
    w.aws.watch(lambda event: seen.append(dict(event)))
    w.aws.put_metric("N", "M", 9, k="v")
    w.aws.run_for(60)
    (event,) = [it for it in seen if it["detail"].get("alarmName") == "mine"]
    detail = event["detail"]
    assert event["detail-type"] == "CloudWatch Alarm State Change"
    assert event["resources"] == ["arn:aws:cloudwatch:us-east-1:123456789012:alarm:mine"]
    assert detail["state"]["value"] == "ALARM"
    assert detail["state"]["timestamp"] == "2026-03-02T00:01:00.000+0000"
    assert detail["state"]["reason"].startswith(
        "Threshold Crossed: 1 out of the last 1 datapoints [9.0 (02/03/26 00:00:00)] was greater than the threshold"
    )
    assert json.loads(detail["state"]["reasonData"])["recentDatapoints"] == [9.0]
    assert detail["previousState"]["value"] == "INSUFFICIENT_DATA"
    assert detail["configuration"]["description"] == "what it means"
    metric = detail["configuration"]["metrics"][0]["metricStat"]
    assert metric["metric"] == {"namespace": "N", "name": "M", "dimensions": {"k": "v"}}
    assert (metric["period"], metric["stat"]) == (60, "Average")


def test_changes_of_configuration_are_told_and_keep_the_state(world: Make) -> None:
    w = world()
    seen: list[dict[str, Any]] = []
    w.aws.watch(lambda event: seen.append(dict(event)))
    put(w)
    w.aws.put_metric("N", "M", 9, k="v")
    w.aws.run_for(60)
    put(w, Threshold=2.0)
    assert state(w) == "ALARM"
    w.aws.client("cloudwatch").delete_alarms(AlarmNames=["mine"])
    changes = [it["detail"] for it in seen if it["detail-type"] == "CloudWatch Alarm Configuration Change"]
    assert [detail["operation"] for detail in changes] == ["create", "update", "delete"]
    assert changes[1]["previousConfiguration"]["threshold"] == 1.0


def test_the_history_has_each_change_newest_first(world: Make) -> None:
    w = world()
    put(w)
    w.aws.put_metric("N", "M", 9, k="v")
    w.aws.run_for(60)
    client = w.aws.client("cloudwatch")
    items = client.describe_alarm_history(AlarmName="mine")["AlarmHistoryItems"]
    assert [item["HistoryItemType"] for item in items] == ["StateUpdate", "ConfigurationUpdate"]
    assert items[0]["HistorySummary"] == "Alarm updated from INSUFFICIENT_DATA to ALARM"
    assert items[0]["Timestamp"] == datetime(2026, 3, 2, 0, 1, tzinfo=UTC)
    assert json.loads(items[0]["HistoryData"])["newState"]["stateValue"] == "ALARM"
    updates = client.describe_alarm_history(
        AlarmName="mine", HistoryItemType="StateUpdate", StartDate=datetime(2026, 3, 2, 0, 2, tzinfo=UTC)
    )
    assert updates["AlarmHistoryItems"] == []
    page = client.describe_alarm_history(MaxRecords=1, ScanBy="TimestampAscending")
    assert len(page["AlarmHistoryItems"]) == 1
    assert page["NextToken"]


def test_a_state_that_was_set_by_hand_lasts_until_the_next_evaluation(world: Make) -> None:
    w = world()
    put(w, TreatMissingData="notBreaching")
    w.aws.run_for(90)
    w.aws.client("cloudwatch").set_alarm_state(AlarmName="mine", StateValue="ALARM", StateReason="drill")
    assert state(w) == "ALARM"
    w.aws.run_for(60)
    assert state(w) == "OK"


def test_alarms_are_found_by_prefix_and_state_together(world: Make) -> None:
    w = world()
    put(w, AlarmName="one-a", TreatMissingData="breaching")
    put(w, AlarmName="one-b", TreatMissingData="notBreaching")
    put(w, AlarmName="two", TreatMissingData="breaching")
    w.aws.run_for(60)
    found = w.aws.client("cloudwatch").describe_alarms(AlarmNamePrefix="one-", StateValue="ALARM")["MetricAlarms"]
    assert [alarm["AlarmName"] for alarm in found] == ["one-a"]


def test_an_alarm_on_a_formula_is_refused_by_name(world: Make) -> None:
    from botocore.exceptions import ClientError

    w = world()
    stat = {"Metric": {"Namespace": "N", "MetricName": "M"}, "Period": 60, "Stat": "Sum"}
    metrics = [{"Id": "a", "MetricStat": stat, "ReturnData": False}, {"Id": "b", "Expression": "a * 2"}]
    with pytest.raises(ClientError, match="NotImplemented"):
        w.aws.client("cloudwatch").put_metric_alarm(
            AlarmName="f", EvaluationPeriods=1, Threshold=1, ComparisonOperator="GreaterThanThreshold", Metrics=metrics
        )
