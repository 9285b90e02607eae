"""What only CloudWatch, auto scaling and IAM can answer: pages, partial data, and what we may not ask."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from pointsman.aws.gauges import CloudWatchGauges
from pointsman.aws.permissions import IamPermissions
from pointsman.aws.scaling import ApplicationAutoScaling
from pointsman.errors import Gone
from pointsman.rollout_ports import AlarmQuery
from pointsman.rollouts.observations import UNREAD, AlarmState, Answer, Suspension
from pointsman.rollouts.request import INVOCATIONS
from tests.contract.answers import T0, Client, at, refuses


def alarm(**changes: Any) -> dict[str, Any]:
    return {
        "AlarmName": "errors",
        "StateValue": "OK",
        "StateTransitionedTimestamp": at(T0 - 9_000),
        "Namespace": "Search",
        "MetricName": "Errors",
        "Dimensions": [],
        "Statistic": "Sum",
        "Period": 60,
        "EvaluationPeriods": 3,
        "Threshold": 1.0,
        **changes,
    }


def gauges(
    told: dict[str, Any], data: Callable[..., Any], history: Callable[..., Any] | None = None
) -> CloudWatchGauges:
    return CloudWatchGauges(
        Client(
            describe_alarms=lambda **_: {"MetricAlarms": [told]},
            get_metric_data=data,
            describe_alarm_history=history or refuses("must not be asked"),
        )
    )


def test_samples_are_those_of_the_alarm_s_own_metric_page_after_page() -> None:
    def data(**request: Any) -> dict[str, Any]:
        (query,) = request["MetricDataQueries"]
        assert query["MetricStat"]["Stat"] == "Sum"
        first = "NextToken" not in request
        stamps = [at(T0), at(T0 + 60)] if first else [at(T0 + 120)]
        result = {"Id": query["Id"], "Timestamps": stamps, "Values": [0.0] * len(stamps)}
        status = "PartialData" if first else "Complete"
        return {"MetricDataResults": [{**result, "StatusCode": status}], **({"NextToken": "t"} if first else {})}

    view = gauges(alarm(), data).read([AlarmQuery("errors", T0 - 60, settled=T0 - 60, enough=9)], T0 + 180)["errors"]
    assert view.samples == (T0, T0 + 60, T0 + 120)
    assert (view.problem, view.period, view.evaluation_periods, view.reaction) == ("", 60.0, 3, 180.0)


def test_samples_that_are_there_in_part_only_are_a_problem() -> None:
    def data(**request: Any) -> dict[str, Any]:
        (query,) = request["MetricDataQueries"]
        return {
            "MetricDataResults": [{"Id": query["Id"], "Timestamps": [], "Values": [], "StatusCode": "InternalError"}]
        }

    assert (
        "InternalError"
        in gauges(alarm(), data).read([AlarmQuery("errors", T0 - 60, settled=T0 - 60, enough=9)], T0)["errors"].problem
    )


def test_what_cloudwatch_says_against_its_evaluation_is_a_problem() -> None:
    view = gauges(alarm(EvaluationState="PARTIAL_DATA"), refuses("x")).read([AlarmQuery("errors")], T0)["errors"]

    assert view.problem == "PARTIAL_DATA"


def test_samples_are_counted_on_traffic_where_that_is_asked_for() -> None:
    def data(**request: Any) -> dict[str, Any]:
        results = []
        for number, query in enumerate(request["MetricDataQueries"]):
            metric = query["MetricStat"]["Metric"]
            assert (metric["Namespace"], metric["MetricName"]) == ("AWS/SageMaker", "Invocations")
            assert query["MetricStat"]["Stat"] == "Sum"
            assert metric["Dimensions"] == [{"Name": "InferenceComponentName", "Value": ("a", "b")[number]}]
            stamps = [at(T0), at(T0 + 60 * number), at(T0 + 120)]
            values = [3.0, 4.0, 0.0]
            results.append({"Id": query["Id"], "Timestamps": stamps, "Values": values, "StatusCode": "Complete"})
        return {"MetricDataResults": results}

    traffic = tuple(INVOCATIONS.of(name, "e") for name in ("a", "b"))
    query = AlarmQuery("errors", T0 - 60, traffic, T0 - 60, 9)
    assert gauges(alarm(), data).read([query], T0 + 180)["errors"].samples == (T0, T0 + 60)


def test_an_alarm_on_a_calculated_metric_is_sampled_by_its_own_formula() -> None:
    metrics = [
        {"Id": "rate", "Expression": "e / i", "ReturnData": True},
        {"Id": "e", "MetricStat": {"Metric": {"MetricName": "E"}, "Period": 300, "Stat": "Sum"}, "ReturnData": False},
    ]

    def data(**request: Any) -> dict[str, Any]:
        assert request["MetricDataQueries"] == metrics
        return {
            "MetricDataResults": [{"Id": "rate", "Timestamps": [at(T0)], "Values": [0.1], "StatusCode": "Complete"}]
        }

    told = {k: v for k, v in alarm(Metrics=metrics).items() if k not in ("MetricName", "Period", "Statistic")}
    view = gauges(told, data).read([AlarmQuery("errors", T0 - 60, settled=T0 - 60, enough=9)], T0 + 90)["errors"]
    assert (view.samples, view.period) == ((T0,), 300.0)


def test_a_change_of_an_alarm_s_settings_changes_their_hash_and_a_change_of_state_does_not() -> None:
    def settings(**changes: Any) -> str:
        return gauges(alarm(**changes), refuses("x")).read([AlarmQuery("errors")], T0)["errors"].settings

    assert settings() == settings(StateValue="ALARM", StateTransitionedTimestamp=at(T0))
    assert settings() != settings(Threshold=2.0)
    assert settings() != settings(TreatMissingData="ignore")


def test_a_composite_alarm_has_a_state_and_no_samples() -> None:
    told = {"AlarmName": "all", "StateValue": "ALARM", "AlarmRule": "ALARM(a)", "StateTransitionedTimestamp": at(1.0)}
    cloudwatch = Client(
        describe_alarms=lambda **_: {"MetricAlarms": [], "CompositeAlarms": [told]}, get_metric_data=refuses("x")
    )

    view = CloudWatchGauges(cloudwatch).read([AlarmQuery("all", T0, settled=T0)], T0 + 60)["all"]
    assert (view.state, view.samples) == (AlarmState.ALARM, ())


def test_alarms_and_targets_are_asked_for_in_as_many_calls_as_they_need() -> None:
    names = [f"c{number:03d}" for number in range(120)]
    calls: list[int] = []

    def targets(**request: Any) -> dict[str, Any]:
        calls.append(len(request["ResourceIds"]))
        return {
            "ScalableTargets": [{"ResourceId": i, "MinCapacity": 1, "MaxCapacity": 2} for i in request["ResourceIds"]]
        }

    assert len(ApplicationAutoScaling(Client(describe_scalable_targets=targets)).describe(names)) == 120
    assert calls == [50, 50, 20]
    asked: list[int] = []

    def described_alarms(**request: Any) -> dict[str, Any]:
        asked.append(len(request["AlarmNames"]))
        return {"MetricAlarms": [alarm(AlarmName=name) for name in request["AlarmNames"]]}

    found = CloudWatchGauges(Client(describe_alarms=described_alarms)).read(map(AlarmQuery, names), T0)
    assert (len(found), asked) == (120, [100, 20])


def test_a_target_that_is_suspended_in_part_is_told_as_it_is() -> None:
    state = {"DynamicScalingInSuspended": True, "DynamicScalingOutSuspended": False, "ScheduledScalingSuspended": True}
    told = {"ResourceId": "inference-component/a", "MinCapacity": 1, "MaxCapacity": 2, "SuspendedState": state}
    client = Client(describe_scalable_targets=lambda **_: {"ScalableTargets": [told]})

    suspension = ApplicationAutoScaling(client).describe(["a"])["a"].suspension
    assert suspension == Suspension(scale_in=True, scheduled=True)
    assert not suspension.whole


def test_a_role_that_may_read_all_alarms_but_one_may_not_read_them() -> None:
    pages = iter(
        [
            {"EvaluationResults": [{"EvalDecision": "allowed"}], "IsTruncated": True, "Marker": "m"},
            {"EvaluationResults": [{"EvalDecision": "implicitDeny"}], "IsTruncated": False},
        ]
    )
    permissions = IamPermissions(Client(simulate_principal_policy=lambda **_: next(pages)), "us-east-1")

    assert permissions.reads_alarms("arn:aws:iam::123456789012:role/r", ["a", "b"]) is Answer.NO


@pytest.mark.parametrize("code", ["AccessDenied", "NoSuchEntity"])
def test_what_we_may_not_ask_of_a_role_is_unknown(code: str) -> None:
    permissions = IamPermissions(Client(simulate_principal_policy=refuses(code)), "us-east-1")

    assert permissions.reads_alarms("arn:aws:iam::123456789012:role/r", ["a"]) is Answer.UNKNOWN
    assert permissions.reads_alarms("no role", ["a"]) is Answer.UNKNOWN


def test_a_target_that_is_no_longer_there_is_gone() -> None:
    scaling = ApplicationAutoScaling(Client(register_scalable_target=refuses("ValidationException")))

    with pytest.raises(Gone):
        scaling.restore("a", Suspension())


FAULTS = ("Throttling", "AccessDenied", "ValidationError")


@pytest.mark.parametrize("code", FAULTS)
def test_a_history_that_cannot_be_read_hides_neither_its_alarm_s_state_nor_another_alarm(code: str) -> None:
    fired = alarm(AlarmName="fired", StateValue="ALARM", StateTransitionedTimestamp=at(T0))
    cloudwatch = Client(
        describe_alarms=lambda **_: {"MetricAlarms": [alarm(), fired]},
        describe_alarm_history=refuses(code),
        get_metric_data=lambda **_: {"MetricDataResults": []},
    )

    views = CloudWatchGauges(cloudwatch).read(
        [AlarmQuery(name, T0 - 60, settled=T0) for name in ("errors", "fired")], T0 + 60
    )
    assert (views["fired"].state, views["fired"].problem) == (AlarmState.ALARM, UNREAD)
    assert (views["errors"].state, views["errors"].problem) == (AlarmState.OK, "")


@pytest.mark.parametrize("code", FAULTS)
def test_samples_that_cannot_be_read_hide_no_state_and_no_move(code: str) -> None:
    def history(**_: Any) -> dict[str, Any]:
        data = json.dumps({"oldState": {"stateValue": "OK"}, "newState": {"stateValue": "ALARM"}})
        return {"AlarmHistoryItems": [{"Timestamp": at(T0), "HistoryData": data}]}

    told = alarm(StateTransitionedTimestamp=at(T0 + 30))
    view = gauges(told, refuses(code), history).read(
        [AlarmQuery("errors", T0 - 60, settled=T0 - 60, enough=9)], T0 + 60
    )["errors"]
    assert (view.state, view.entered, view.problem) == (AlarmState.OK, (T0,), UNREAD)


def test_an_alarm_in_a_state_that_nobody_knows_hides_no_other() -> None:
    odd, fired = alarm(StateValue="PONDERING"), alarm(AlarmName="fired", StateValue="ALARM")
    cloudwatch = Client(describe_alarms=lambda **_: {"MetricAlarms": [odd, fired]})

    views = CloudWatchGauges(cloudwatch).read(map(AlarmQuery, ("errors", "fired")), T0)
    assert (views["errors"].state, views["errors"].problem) == (AlarmState.INSUFFICIENT_DATA, UNREAD)
    assert views["fired"].state is AlarmState.ALARM


@pytest.mark.parametrize("enough, pages, samples", [(1, 1, (T0 + 60, T0 + 120)), (3, 2, (T0, T0 + 60, T0 + 120))])
def test_samples_are_read_from_the_newest_on_until_there_are_enough(
    enough: int, pages: int, samples: tuple[float, ...]
) -> None:
    asked: list[str] = []

    def data(**request: Any) -> dict[str, Any]:
        asked.append(request["ScanBy"])
        stamps = [at(T0 + 120), at(T0 + 60)] if len(asked) == 1 else [at(T0), at(T0 - 60)]
        result = {"Id": "m0", "Timestamps": stamps, "Values": [1.0, 1.0], "StatusCode": "Complete"}
        return {"MetricDataResults": [result], "NextToken": "more"}

    view = gauges(alarm(), data).read([AlarmQuery("errors", T0, settled=T0, enough=enough)], T0 + 150)["errors"]
    assert (asked, view.samples) == (["TimestampDescending"] * pages, samples)


def test_no_samples_are_read_that_nobody_asks_for() -> None:
    view = gauges(alarm(), refuses("must not be asked")).read([AlarmQuery("errors", T0 - 60)], T0)["errors"]
    assert (view.samples, view.problem) == ((), "")


def test_a_history_is_read_from_the_newest_on_until_it_shows_a_move() -> None:
    asked: list[str] = []

    def history(**request: Any) -> dict[str, Any]:
        asked.append(request["ScanBy"])
        data = [{"oldState": {"stateValue": old}, "newState": {"stateValue": new}} for old, new in
                (("ALARM", "OK"), ("OK", "ALARM"))]  # fmt: skip
        stamps = [at(T0 + 90 - 30 * len(asked)), at(T0 + 80 - 30 * len(asked))]
        items = [{"Timestamp": s, "HistoryData": json.dumps(d)} for s, d in zip(stamps, data, strict=True)]
        return {"AlarmHistoryItems": items[: len(asked)], "NextToken": "more"}

    told = alarm(StateTransitionedTimestamp=at(T0 + 60))
    view = gauges(told, refuses("x"), history).read([AlarmQuery("errors", T0 - 60)], T0 + 90)["errors"]
    assert (asked, view.entered) == (["TimestampDescending"] * 2, (T0 + 20,))
