"""CloudWatch alarms as the gate reads them: state, moves into ALARM, samples, settings."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from botocore.exceptions import ClientError

from pointsman.aws.alarms import TYPES, pages, states
from pointsman.aws.unreadable import BROKEN, understood
from pointsman.errors import PointsmanError
from pointsman.rollout_ports import AlarmQuery
from pointsman.rollouts.observations import UNREAD, AlarmState, AlarmView
from pointsman.rollouts.request import Metric

PAGE = 100  # alarms that one call names, and items of one page
QUERIES = 500  # that one GetMetricData takes
MINUTE = 60
FAULTS = (PointsmanError, ClientError, *BROKEN)  # of what is read of single alarms: it hides nothing of the others
SETTINGS = (
    "MetricName",
    "Namespace",
    "Statistic",
    "ExtendedStatistic",
    "Dimensions",
    "Period",
    "Unit",
    "EvaluationPeriods",
    "DatapointsToAlarm",
    "Threshold",
    "ComparisonOperator",
    "TreatMissingData",
    "EvaluateLowSampleCountPercentile",
    "Metrics",
    "ThresholdMetricId",
    "AlarmRule",
)


class CloudWatchGauges:
    """The alarms of one account and region."""

    def __init__(self, cloudwatch: Any) -> None:
        """Use this client."""
        self._cloudwatch = cloudwatch

    @understood
    def read(self, queries: Iterable[AlarmQuery], now: float) -> Mapping[str, AlarmView]:
        """The alarms asked for that exist; `problem` of one says what could not be read of it.

        Raises what keeps their states from being read. A move or a sample that cannot be read hides no state.
        """
        asked = {query.alarm: query for query in queries}
        found = {alarm["AlarmName"]: alarm for alarm in self._described(list(asked))}
        views = {name: _view(alarm) for name, alarm in found.items()}
        for name, alarm in found.items():
            since = asked[name].since
            try:
                if since is not None and _changed(alarm) >= since:
                    views[name] = replace(views[name], entered=tuple(self._entered(name, since)))
            except FAULTS:
                views[name] = replace(views[name], problem=UNREAD)
        self._count(asked, found, views, now)
        return views

    def _described(self, names: list[str]) -> Iterator[dict[str, Any]]:
        for start in range(0, len(names), PAGE):
            request = {"AlarmNames": names[start : start + PAGE], "AlarmTypes": TYPES, "MaxRecords": PAGE}
            for page in pages(self._cloudwatch.describe_alarms, request):
                yield from (*page.get("MetricAlarms", ()), *page.get("CompositeAlarms", ()))

    def _entered(self, alarm: str, since: float) -> Iterable[float]:
        """When it last went into ALARM, to the fraction of a second: a window may begin in the middle of one."""
        request = {
            "AlarmName": alarm,
            "AlarmTypes": TYPES,
            "HistoryItemType": "StateUpdate",
            "StartDate": datetime.fromtimestamp(int(since), UTC),
            "ScanBy": "TimestampDescending",
            "MaxRecords": PAGE,
        }
        for page in pages(self._cloudwatch.describe_alarm_history, request):
            found = []
            for item in page["AlarmHistoryItems"]:
                before, after = states(item.get("HistoryData", ""))
                at = item["Timestamp"].timestamp()
                if after == "ALARM" and before != "ALARM" and at >= since:
                    found.append(at)
            if found:
                return sorted(found)
        return ()

    def _count(
        self,
        asked: Mapping[str, AlarmQuery],
        found: Mapping[str, dict[str, Any]],
        views: dict[str, AlarmView],
        now: float,
    ) -> None:
        """Give each alarm the times of its samples."""
        by_begin: dict[float, list[tuple[AlarmQuery, dict[str, Any]]]] = {}
        for name, alarm in found.items():
            query = asked[name]
            if query.settled is None:
                continue
            try:
                calculated = not query.traffic and alarm.get("Metrics")
                lines = [_traffic(metric) for metric in query.traffic] or list(_own(alarm))
            except BROKEN:
                views[name] = replace(views[name], problem=UNREAD)
                continue
            if calculated:
                formula = [{k: v for k, v in line.items() if v is not None} for line in alarm["Metrics"]]
                returned = [line.get("Id", "") for line in formula if line.get("ReturnData", True)]
                self._add(views, dict.fromkeys(returned, query), formula, query.settled, now)
            else:
                by_begin.setdefault(query.settled, []).extend((query, line) for line in lines)
        for begin, wanted in by_begin.items():
            for start in range(0, len(wanted), QUERIES):
                some = wanted[start : start + QUERIES]
                metrics = [{"Id": f"m{n}", "MetricStat": line} for n, (_, line) in enumerate(some)]
                self._add(views, {f"m{n}": query for n, (query, _) in enumerate(some)}, metrics, begin, now)

    def _add(
        self,
        views: dict[str, AlarmView],
        queries: Mapping[str, AlarmQuery],
        metrics: list[Any],
        begin: float,
        now: float,
    ) -> None:
        """The samples that one call tells of, or that they could not be read."""
        if int(begin) >= int(now):  # the window has just begun; in whole seconds it has no length, which is refused
            return
        request = {
            "MetricDataQueries": metrics,
            "StartTime": datetime.fromtimestamp(begin, UTC),
            "EndTime": datetime.fromtimestamp(now, UTC),
            "ScanBy": "TimestampDescending",
        }
        try:
            for page in pages(self._cloudwatch.get_metric_data, request):
                _take(views, queries, page, begin)
                if all(len(views[query.alarm].samples) >= query.enough for query in queries.values()):
                    return
        except FAULTS:
            for query in queries.values():
                views[query.alarm] = replace(views[query.alarm], problem=UNREAD)


def _take(
    views: dict[str, AlarmView], queries: Mapping[str, AlarmQuery], page: Mapping[str, Any], begin: float
) -> None:
    for result in page["MetricDataResults"]:
        query = queries.get(result["Id"])
        if query is None:
            continue
        points = zip(result["Timestamps"], result["Values"], strict=True)
        counted = {at.timestamp() for at, value in points if value > 0 or not query.traffic}
        counted = {at for at in counted if at >= begin}
        view = views[query.alarm]
        problem = view.problem
        if result.get("StatusCode") not in (None, "Complete") and not page.get("NextToken"):
            problem = problem or f"its samples could be read in part only ({result['StatusCode']})"
        samples = tuple(sorted(counted | set(view.samples)))
        views[query.alarm] = replace(view, samples=samples, problem=problem)


def _view(alarm: Mapping[str, Any]) -> AlarmView:
    try:
        return _understood(alarm)
    except BROKEN:
        return AlarmView(alarm["AlarmName"], AlarmState.INSUFFICIENT_DATA, problem=UNREAD)


def _understood(alarm: Mapping[str, Any]) -> AlarmView:
    settings = json.dumps({name: alarm[name] for name in SETTINGS if name in alarm}, sort_keys=True, default=str)
    metrics = alarm.get("Metrics") or ()
    periods = [m["MetricStat"]["Period"] for m in metrics if "MetricStat" in m]
    periods += [m["Period"] for m in metrics if m.get("Period")]
    return AlarmView(
        name=alarm["AlarmName"],
        state=AlarmState(alarm["StateValue"]),
        period=float(alarm.get("Period") or max(periods, default=MINUTE)),
        evaluation_periods=int(alarm.get("EvaluationPeriods") or 1),
        settings=sha256(settings.encode()).hexdigest()[:16],
        problem=str(alarm.get("EvaluationState") or ""),
    )


def _changed(alarm: Mapping[str, Any]) -> float:
    """When the alarm came into the state it is in, as late as that may be."""
    moment: datetime | None = alarm.get("StateTransitionedTimestamp") or alarm.get("StateUpdatedTimestamp")
    return float("inf") if moment is None else moment.timestamp() + 1.0


def _own(alarm: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The alarm's own metric; a composite alarm has none."""
    if not alarm.get("MetricName"):
        return
    metric = {name: alarm[name] for name in ("Namespace", "MetricName", "Dimensions") if alarm.get(name)}
    yield {
        "Metric": metric,
        "Period": alarm["Period"],
        "Stat": alarm.get("Statistic") or alarm["ExtendedStatistic"],
        **({"Unit": alarm["Unit"]} if alarm.get("Unit") else {}),
    }


def _traffic(metric: Metric) -> dict[str, Any]:
    dimensions = [{"Name": name, "Value": value} for name, value in metric.dimensions]
    named = {"Namespace": metric.namespace, "MetricName": metric.name, "Dimensions": dimensions}
    return {"Metric": named, "Period": MINUTE, "Stat": metric.stat}
