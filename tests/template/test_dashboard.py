"""The dashboard and the alarms: what they name is put, what is put they name, and each alarm has its part of a page."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from pointsman.decision_log import PowertoolsLog
from pointsman.queues.gpu_use import GpuUse
from pointsman.rollout_log import _ENDS, PowertoolsRolloutLog
from tests.template.stack import ROOT, Stack
from tests.unit.loops import rollout_world
from tests.unit.loops.quota_world import pressed
from tests.unit.loops.world import QUEUE

Named = tuple[str, str, tuple[str, ...]]
SEARCH = re.compile(r"SEARCH\('\{([^}]+)\} MetricName=\"(\w+)\"', '(\w+)', (\d+)\)")

# "Types of metrics" in the documentation of each service.
OF_AWS = {
    ("AWS/Lambda", "FunctionName"): {"Errors", "Throttles", "Duration", "Invocations"},
    ("AWS/SQS", "QueueName"): {"ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage"},
    ("AWS/Events", "RuleName"): {"FailedInvocations", "InvocationsSentToDlq"},
    ("AWS/Events", "EventBusName", "RuleName"): {"FailedInvocations", "InvocationsSentToDlq"},
}


@pytest.fixture(scope="module")
def put() -> set[Named]:
    """Every metric that the logs put, after passes of queues and rollouts and all else that they are told."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Pointsman")
        patch.setenv("POWERTOOLS_SERVICE_NAME", "pointsman")
        printed: list[str] = []
        patch.setattr("builtins.print", lambda text, **_: printed.append(text))
        logger = Logger(service="test_dashboard")
        logger.setLevel("CRITICAL")
        queues, rollouts = PowertoolsLog(logger), PowertoolsRolloutLog(logger)
        world = pressed()
        world.pass_()
        for report in world.log.reports:
            queues.passed(report)
        queues._measure_gpus(QUEUE, GpuUse(0.5, (("sweep", 0.5),), 1))
        queues.failed(QUEUE, "why", known=True)
        queues.poisoned("reason", "place")
        queues.overdue(0.0)
        fleet = rollout_world.World()
        fleet.ask()
        fleet.run()
        for told in fleet.log.passes:
            rollouts.advanced(told)
        rollouts.stumbled("r1", "why", known=True)
        rollouts.overdue(0.0)
        rollouts.died("r1", 1)
    found = set()
    for line in map(json.loads, printed):
        (directive,) = line["_aws"]["CloudWatchMetrics"]
        dimensions = tuple(sorted(directive["Dimensions"][0]))
        found |= {(directive["Namespace"], metric["Name"], dimensions) for metric in directive["Metrics"]}
    return found | {("Pointsman", name, ("service",)) for name in _ENDS.values()}


@pytest.fixture
def body(stack: Stack) -> dict[str, Any]:
    """The dashboard as it is read, its references left as they are."""
    found: dict[str, Any] = json.loads(stack.resources["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"])
    return found


def named(body: dict[str, Any]) -> Iterator[Named]:
    """Every metric of the dashboard."""
    for widget in body["widgets"]:
        for metric in widget["properties"].get("metrics", ()):
            if isinstance(metric[0], str):
                namespace, name, *pairs = metric
                yield namespace, name, tuple(pairs[::2])
            else:
                found = SEARCH.fullmatch(metric[0]["expression"])
                assert found, metric
                namespace, *dimensions = found[1].split(",")
                yield namespace, found[2], tuple(sorted(dimensions))


def of_alarms(stack: Stack) -> set[Named]:
    return {
        (a["Namespace"], a["MetricName"], tuple(sorted(d["Name"] for d in a["Dimensions"])))
        for a in stack.of_type("AWS::CloudWatch::Alarm").values()
    }


def known(metric: Named, put: set[Named]) -> bool:
    namespace, name, dimensions = metric
    return metric in put or name in OF_AWS.get((namespace, *dimensions), ())  # type: ignore[call-overload]


def test_every_metric_of_the_dashboard_is_put_by_somebody(body: dict[str, Any], put: set[Named]) -> None:
    metrics = list(named(body))
    assert len(metrics) > 40
    assert [metric for metric in metrics if not known(metric, put)] == []


def test_every_metric_that_we_put_is_on_the_dashboard(body: dict[str, Any], put: set[Named]) -> None:
    assert put - set(named(body)) == set()


def test_every_alarm_is_on_a_metric_that_is_put(stack: Stack, put: set[Named]) -> None:
    assert [metric for metric in of_alarms(stack) if not known(metric, put)] == []


def test_the_dashboard_names_resources_that_there_are_and_every_alarm(stack: Stack, body: dict[str, Any]) -> None:
    names = set(re.findall(r"\$\{(\w+)(?:\.\w+)?\}", json.dumps(body)))
    assert names <= set(stack.resources)
    (listed,) = (widget["properties"]["alarms"] for widget in body["widgets"] if widget["type"] == "alarm")
    assert listed == [f"${{{name}.Arn}}" for name in stack.of_type("AWS::CloudWatch::Alarm")]


def test_no_two_parts_of_the_dashboard_lie_on_each_other_and_none_is_outside(body: dict[str, Any]) -> None:
    taken: set[tuple[int, int]] = set()
    for widget in body["widgets"]:
        cells = {
            (x, y)
            for x in range(widget["x"], widget["x"] + widget["width"])
            for y in range(widget["y"], widget["y"] + widget["height"])
        }
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells


def slug(heading: str) -> str:
    """A heading's anchor, as it is made where Markdown is shown."""
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def test_every_alarm_has_its_part_of_the_page_and_every_part_its_alarms(stack: Stack) -> None:
    page = (ROOT / "docs/operations.md").read_text().split("\n## When an alarm fires\n")[1].split("\n## ")[0]
    parts = {slug(part.split("\n")[0]): part for part in page.split("\n### ")[1:]}
    told: dict[str, set[str]] = {}
    for name, alarm in stack.of_type("AWS::CloudWatch::Alarm").items():
        sentence, anchor = alarm["AlarmDescription"].rsplit(" See docs/operations.md#", 1)
        assert sentence.endswith(".")
        told.setdefault(anchor, set()).add(name)
    listed = {anchor: set(re.findall(r"`(\w+Alarm)`", part.split("*")[1])) for anchor, part in parts.items()}
    assert told == listed
