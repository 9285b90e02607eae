"""Every asynchronous edge of the template: tried again, with an end for what fails, and an alarm on that end.

The edges are found in the template, not listed here: one that is added without a failure path fails a test.
"""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.template.stack import ROOT, Stack, expand, target


@dataclass(frozen=True)
class Edge:
    """Something that is done for somebody who does not wait: how often, where it ends, what raises an alarm on it."""

    kind: str
    source: str
    to: str
    retries: int
    end: str
    alarms: tuple[tuple[str, str], ...]
    """Metric and the resource that it is of."""


def edges(stack: Stack) -> list[Edge]:
    """Every edge."""
    return [*of_rules(stack), *of_invocations(stack), *of_queues(stack), *of_state_machines(stack)]


def of_rules(stack: Stack) -> list[Edge]:
    found = []
    for name, rule in stack.of_type("AWS::Events::Rule").items():
        for reached in rule["Targets"]:
            retries = reached.get("RetryPolicy", {}).get("MaximumRetryAttempts", 0)
            end = target(reached["DeadLetterConfig"]["Arn"]) if "DeadLetterConfig" in reached else ""
            found.append(Edge("rule", name, target(reached["Arn"]), retries, end, (("FailedInvocations", name),)))
    return found


def of_invocations(stack: Stack) -> list[Edge]:
    """Functions that rules invoke, which Lambda does later."""
    configs = {target(c["FunctionName"]): c for c in stack.of_type("AWS::Lambda::EventInvokeConfig").values()}
    invoked = {edge.to for edge in of_rules(stack) if edge.to in stack.functions}
    found = []
    for name in sorted(invoked):
        config = configs.get(name, {})
        destination = config.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination")
        end = target(destination) if destination else ""
        alarms = tuple((metric, name) for metric in ("Errors", "Throttles", "Duration"))
        found.append(Edge("invocation", "Lambda", name, config.get("MaximumRetryAttempts", 0), end, alarms))
    return found


def of_queues(stack: Stack) -> list[Edge]:
    found = []
    for mapping in stack.of_type("AWS::Lambda::EventSourceMapping").values():
        queue, function = target(mapping["EventSourceArn"]), target(mapping["FunctionName"])
        redrive = stack.queues[queue].get("RedrivePolicy", {})
        end = target(redrive["deadLetterTargetArn"]) if redrive else ""
        alarms = (
            ("ApproximateAgeOfOldestMessage", queue),
            *((metric, function) for metric in ("Errors", "Throttles", "Duration")),
        )
        found.append(Edge("queue", queue, function, redrive.get("maxReceiveCount", 1) - 1, end, alarms))
    return found


def of_state_machines(stack: Stack) -> list[Edge]:
    """The tasks: what is caught goes on in another state; what is not ends the execution, and the tick finds it."""
    found = []
    for name in stack.of_type("AWS::StepFunctions::StateMachine"):
        for state, body in json.loads((ROOT / "statemachines/rollout.asl.json").read_text())["States"].items():
            if body["Type"] == "Task":
                retries = max((retry.get("MaxAttempts", 3) for retry in body.get("Retry", ())), default=0)
                end = body["Catch"][0]["Next"] if "Catch" in body else "the next execution"
                found.append(Edge("state", f"{name}: {state}", state, retries, end, (("DeadExecutions", ""),)))
    return found


def alarms(stack: Stack) -> set[tuple[str, str]]:
    """Metric and resource of each alarm; the resource is empty for what is the deployment's."""
    found = set()
    for alarm in stack.of_type("AWS::CloudWatch::Alarm").values():
        of = next((dimension["Value"] for dimension in alarm["Dimensions"] if dimension["Name"] != "EventBusName"), {})
        found.add((alarm["MetricName"], resource(of)))
    return found


def resource(value: Any) -> str:
    match value:
        case {"Ref": "AWS::StackName"}:
            return ""
        case {"Fn::Sub": "${AWS::StackName}-commands"}:
            return "CommandRule"
    return target(value)


@pytest.fixture(scope="session")
def every_edge(stack: Stack) -> list[Edge]:
    return edges(stack)


def test_the_edges_are_those_that_the_page_lists(every_edge: list[Edge]) -> None:
    assert len([edge for edge in every_edge if edge.kind == "rule"]) == 5
    assert {edge.to for edge in every_edge if edge.kind == "invocation"} == {
        "RelayAlarmFunction",
        "WakeDueFunction",
        "CommandRolloutFunction",
    }
    assert {edge.source for edge in every_edge if edge.kind == "queue"} == {"JobEventsQueue", "QueueWakesQueue"}
    assert len([edge for edge in every_edge if edge.kind == "state"]) == 7


def test_every_edge_is_tried_again(every_edge: list[Edge]) -> None:
    assert [edge for edge in every_edge if edge.retries < 1] == []


def test_every_edge_has_an_end_and_its_end_has_an_alarm(stack: Stack, every_edge: list[Edge]) -> None:
    watched = alarms(stack)
    for edge in every_edge:
        assert edge.end, edge
        assert edge.end not in stack.queues or ("ApproximateNumberOfMessagesVisible", edge.end) in watched, edge


def test_every_edge_raises_an_alarm_of_its_own_while_it_fails(stack: Stack, every_edge: list[Edge]) -> None:
    watched = alarms(stack)
    assert [(edge.source, alarm) for edge in every_edge for alarm in edge.alarms if alarm not in watched] == []


def test_every_task_of_the_state_machine_that_may_fail_for_good_is_found_by_the_tick(every_edge: list[Edge]) -> None:
    ends = {edge.to: edge.end for edge in every_edge if edge.kind == "state"}
    assert ends.pop("Advance") == "the next execution"
    assert ends.pop("Start successor") == "Superseded"
    assert set(ends.values()) == {"Advance"}


def test_a_function_s_slowness_is_told_at_four_fifths_of_its_timeout(stack: Stack) -> None:
    slow = {
        target(alarm["Dimensions"][0]["Value"]): alarm["Threshold"]
        for alarm in stack.of_type("AWS::CloudWatch::Alarm").values()
        if alarm["MetricName"] == "Duration"
    }
    assert slow == {name: 800 * function["Timeout"] for name, function in stack.functions.items()}


def test_no_end_has_an_end_of_its_own_that_a_message_could_go_round_in(stack: Stack) -> None:
    dead = {edge.end for edge in edges(stack)} & set(stack.queues)
    assert dead == {"DeadLettersQueue", "QueueWakesDeadLetterQueue"}
    assert not any("RedrivePolicy" in stack.queues[name] for name in dead)


def test_every_log_group_is_kept_as_long_as_the_parameter_says() -> None:
    stack = expand(LogRetentionDays="7")
    groups = stack.of_type("AWS::Logs::LogGroup")
    machine = stack.of_type("AWS::StepFunctions::StateMachine")["RolloutStateMachine"]["LoggingConfiguration"]
    (destination,) = machine["Destinations"]
    used = {target(function["LoggingConfig"]["LogGroup"]) for function in stack.functions.values()}
    used.add(target(destination["CloudWatchLogsLogGroup"]["LogGroupArn"]))
    assert used == set(groups)
    assert {stack.value(group["RetentionInDays"]) for group in groups.values()} == {"7"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r: r["MinuteRule"]["Properties"]["Targets"][0].pop("RetryPolicy"),
        lambda r: r["AlarmRule"]["Properties"]["Targets"][0].pop("DeadLetterConfig"),
        lambda r: r.pop("RelayAlarmFailures"),
        lambda r: r["JobEventsQueue"]["Properties"].pop("RedrivePolicy"),
        lambda r: r.pop("QueueWakesDeadLetterAlarm"),
        lambda r: r.pop("CommandRuleAlarm"),
        lambda r: r.pop("QueueWakesAgeAlarm"),
        lambda r: r.pop("DeadExecutionsAlarm"),
    ],
    ids=["retries", "rule", "destination", "redrive", "dead letters", "failed", "age", "executions"],
)
def test_an_edge_that_loses_its_path_is_found(spoil: Any) -> None:
    stack = expand()
    spoil(stack.resources)
    watched = alarms(stack)
    wrong = [
        edge
        for edge in edges(stack)
        if edge.retries < 1
        or not edge.end
        or (edge.end in stack.queues and ("ApproximateNumberOfMessagesVisible", edge.end) not in watched)
        or set(edge.alarms) - watched
    ]
    assert wrong
