"""What every deployed function must have, whatever it does."""

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import pytest

from tests.template.calls import UNSCOPED
from tests.template.stack import ROOT, Stack, expand, target

FUNCTIONS = {
    "RecordJobsFunction": "record_jobs",
    "PrioritizeQueueFunction": "prioritize_queue",
    "RelayAlarmFunction": "relay_alarm",
    "WakeDueFunction": "wake_due",
    "CommandRolloutFunction": "command_rollout",
    "AdvanceRolloutFunction": "advance_rollout",
}

MANAGED = {"service-role/AWSLambdaBasicExecutionRole", "AWSXrayWriteOnlyAccess"}

# Read by Powertools, not by us.
FOR_POWERTOOLS = {"POWERTOOLS_SERVICE_NAME", "POWERTOOLS_METRICS_NAMESPACE", "POWERTOOLS_LOG_LEVEL"}

# Their caller waits for the answer, and what fails is its to repeat.
AWAITED = {"AdvanceRolloutFunction"}

every_function = pytest.mark.parametrize("function", FUNCTIONS)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_each_folder_of_functions_is_deployed_and_nothing_else(stack: Stack, written: dict[str, Any]) -> None:
    assert set(stack.functions) == set(FUNCTIONS)
    uris = {name: written["Resources"][name]["Properties"]["CodeUri"] for name in FUNCTIONS}
    assert uris == {name: f"functions/{folder}" for name, folder in FUNCTIONS.items()}
    assert {path.parent.name for path in ROOT.glob("functions/*/app.py")} == set(FUNCTIONS.values())


@every_function
def test_the_logs_have_a_group_with_a_retention(stack: Stack, function: str) -> None:
    group = target(stack.functions[function]["LoggingConfig"]["LogGroup"])
    assert stack.of_type("AWS::Logs::LogGroup")[group]["RetentionInDays"] == {"Ref": "LogRetentionDays"}
    users = [name for name, other in stack.functions.items() if target(other["LoggingConfig"]["LogGroup"]) == group]
    assert users == [function]


@every_function
def test_errors_raise_an_alarm(stack: Stack, function: str) -> None:
    alarms = [
        alarm
        for alarm in stack.of_type("AWS::CloudWatch::Alarm").values()
        if (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Lambda", "Errors")
        and alarm["Dimensions"] == [{"Name": "FunctionName", "Value": {"Ref": function}}]
    ]
    assert len(alarms) == 1
    assert "AlarmActions" in alarms[0]


@pytest.mark.parametrize("function", [name for name in FUNCTIONS if name not in AWAITED])
def test_what_fails_for_good_ends_in_a_dead_letter_queue(stack: Stack, function: str) -> None:
    sources = [
        m for m in stack.of_type("AWS::Lambda::EventSourceMapping").values() if target(m["FunctionName"]) == function
    ]
    invoked = [
        c for c in stack.of_type("AWS::Lambda::EventInvokeConfig").values() if target(c["FunctionName"]) == function
    ]
    assert sources or invoked
    for mapping in sources:
        assert "RedrivePolicy" in stack.queues[target(mapping["EventSourceArn"])]
    for config in invoked:
        destination = config["DestinationConfig"]["OnFailure"]["Destination"]
        assert target(destination) in stack.queues
        assert any(
            "sqs:SendMessage" in listed(statement["Action"]) and destination in listed(statement["Resource"])
            for statement in stack.statements(function)
        )


@every_function
def test_no_permission_is_wider_than_aws_lets_it_be(stack: Stack, function: str) -> None:
    for statement in stack.statements(function):
        assert statement["Effect"] == "Allow"
        actions = listed(statement["Action"])
        assert not [action for action in actions if "*" in action]
        if "*" in listed(statement["Resource"]):
            assert set(actions) <= set(UNSCOPED)
        else:
            assert not set(actions) & set(UNSCOPED), "scoped here, so it need not be listed as unscoped"
    role = stack.of_type("AWS::IAM::Role")[target(stack.functions[function]["Role"])]
    arns = [json.dumps(arn) for arn in role["ManagedPolicyArns"]]
    assert all(any(name in arn for name in MANAGED) for arn in arns)


def test_a_permission_on_an_index_names_an_index_that_exists(stack: Stack) -> None:
    indexes = {
        f"${{{name}.Arn}}/index/{index['IndexName']}"
        for name, table in stack.of_type("AWS::DynamoDB::Table").items()
        for index in table.get("GlobalSecondaryIndexes", [])
    }
    used = {
        resource["Fn::Sub"]
        for function in FUNCTIONS
        for statement in stack.statements(function)
        for resource in listed(statement["Resource"])
        if "Fn::Sub" in resource and "/index/" in resource["Fn::Sub"]
    }
    assert used == indexes


@pytest.mark.parametrize("architecture", ["arm64", "x86_64"])
def test_functions_and_layers_are_for_one_architecture(written: dict[str, Any], architecture: str) -> None:
    stack = expand(Architecture=architecture)
    layers = stack.of_type("AWS::Lambda::LayerVersion")
    built = [r for r in written["Resources"].values() if r["Type"] == "AWS::Serverless::LayerVersion"]
    assert len(layers) == len(built) == 2
    assert {json.dumps(stack.value(f["Architectures"])) for f in stack.functions.values()} == {
        json.dumps([architecture])
    }
    assert {json.dumps(stack.value(layer["CompatibleArchitectures"])) for layer in layers.values()} == {
        json.dumps([architecture])
    }
    assert [layer["Metadata"]["BuildArchitecture"] for layer in built] == [{"Ref": "Architecture"}] * 2
    assert {layer["Metadata"]["BuildMethod"] for layer in built} == {f["Runtime"] for f in stack.functions.values()}


@every_function
def test_an_empty_endpoint_is_no_endpoint(stack: Stack, function: str) -> None:
    assert "ENDPOINT_URL" not in stack.environment(function)


@every_function
def test_a_given_endpoint_reaches_the_function(function: str) -> None:
    assert expand(EndpointUrl="http://127.0.0.1:5000").environment(function)["ENDPOINT_URL"] == "http://127.0.0.1:5000"


class Recorder(Mapping[str, str]):
    """An environment that has every variable, and remembers which it was asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return "http://127.0.0.1:5000"

    def __iter__(self) -> Iterator[str]:
        return iter(self.asked)

    def __len__(self) -> int:
        return len(self.asked)


@every_function
def test_every_variable_that_is_read_is_set_and_none_is_set_for_nothing(
    monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    app, environment = import_module(f"functions.{FUNCTIONS[function]}.app"), Recorder()
    monkeypatch.setattr(app, "environ", environment)
    (made_once,) = (value for value in vars(app).values() if hasattr(value, "cache_clear"))
    made_once.__wrapped__()
    given = expand(EndpointUrl="http://127.0.0.1:5000").environment(function)
    assert set(given) == environment.asked | FOR_POWERTOOLS


@every_function
def test_there_are_sample_events_good_and_bad(function: str) -> None:
    samples = sorted(ROOT.glob(f"events/{FUNCTIONS[function]}.*.json"))
    assert len(samples) >= 2
    for sample in samples:
        json.loads(sample.read_text())


def test_every_sample_event_is_for_a_function() -> None:
    assert {path.name.split(".")[0] for path in ROOT.glob("events/*")} == set(FUNCTIONS.values())
