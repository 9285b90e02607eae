"""The rollout's state machine as it is written: valid, closed, and without judgement."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from cfnlint.api import lint_all

import pointsman.errors
from pointsman.errors import PointsmanError
from pointsman.rollouts.phase import Phase
from pointsman_emulator.templates import TemplateError, expand
from tests.template.stack import ROOT

FILE = ROOT / "statemachines/rollout.asl.json"
TEMPLATE = ROOT / "tests/emulator/rollout_stack/template.yaml"
MACHINE = json.loads(FILE.read_text())
STATES: dict[str, dict[str, Any]] = MACHINE["States"]
PARKING = ("Await capacity", "Await update", "Bake", "Await operator", "Await rollback")
FULL = 25_000

# "Error names" and "Handling error conditions" in the Step Functions Developer Guide; of the services, what the SDK for
# Java calls errors that no model names, and those that never reached a service.
OF_STATES = {"States.Timeout", "States.TaskFailed"}
OF_LAMBDA = {
    "Lambda.AWSLambdaException",
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.SdkClientException",
    "Lambda.ServiceException",
    "Lambda.TooManyRequestsException",
    "Lambda.Unknown",
    "Sandbox.Timedout",
}
OF_EVERY_CLIENT = {"DynamoDb.DynamoDbException", "DynamoDb.SdkClientException"}


@pytest.fixture
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Away from the settings of cfn-lint for our own template, which ask for rules that are not installed here."""
    monkeypatch.chdir(tmp_path)


def lint(machine: dict[str, Any]) -> list[str]:
    """What cfn-lint says of a state machine; it reads a definition only where it is inside a template."""
    properties = {
        "RoleArn": "arn:aws:iam::123456789012:role/states",
        "Definition": machine,
        "DefinitionSubstitutions": {"AdvanceRolloutFunction": "advance", "ControlTable": "control"},
    }
    resources = {"Machine": {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}}
    matches = lint_all(json.dumps({"Resources": resources}))
    return [f"{match.rule.id} {match.message}" for match in matches if not match.rule.id.startswith("I")]


def handlers() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each Retry and Catch, with the state that it is in."""
    for name, state in STATES.items():
        for handler in [*state.get("Retry", ()), *state.get("Catch", ())]:
            yield name, handler


def targets(state: dict[str, Any]) -> set[str]:
    branches = [*state.get("Choices", ()), *state.get("Catch", ()), state]
    return {branch[key] for branch in branches for key in ("Next", "Default") if key in branch}


def known(service: str) -> set[str]:
    client = boto3.client(service, region_name="us-east-1", config=Config(signature_version=UNSIGNED))
    return {shape.name for shape in client.meta.service_model.error_shapes}


@pytest.mark.usefixtures("_elsewhere")
def test_the_definition_is_valid() -> None:
    assert lint(MACHINE) == []


@pytest.mark.usefixtures("_elsewhere")
def test_a_definition_that_is_not_valid_is_seen() -> None:
    broken = json.loads(json.dumps(MACHINE))
    broken["States"]["Bake"]["Type"] = "Nap"
    assert any(line.startswith("E3601") for line in lint(broken))


def test_every_state_is_reached_and_every_target_is_there() -> None:
    reached = {MACHINE["StartAt"]}.union(*(targets(state) for state in STATES.values()))
    assert reached == set(STATES)


def test_every_substitution_is_used_and_given() -> None:
    used = set(re.findall(r"\$\{(\w+)\}", FILE.read_text()))
    assert used == {"AdvanceRolloutFunction", "ControlTable"}
    given = re.search(r"DefinitionSubstitutions:\n((?: {8}\w+: .*\n)+)", TEMPLATE.read_text())
    assert given
    assert set(re.findall(r"(\w+): ", given[1])) == used


def test_a_substitution_that_is_not_given_is_named(tmp_path: Path) -> None:
    text = TEMPLATE.read_text().replace("../../../statemachines", str(FILE.parent))
    (tmp_path / "template.yaml").write_text(text.replace("        ControlTable: !Ref ControlTable\n", ""))
    with pytest.raises(TemplateError, match="no DefinitionSubstitutions for ControlTable"):
        expand(tmp_path / "template.yaml", {})


def test_every_error_name_is_known() -> None:
    ours = {
        name
        for name, kind in vars(pointsman.errors).items()
        if isinstance(kind, type) and issubclass(kind, PointsmanError)
    }
    dynamodb = {f"DynamoDb.{name if name.endswith('Exception') else f'{name}Exception'}" for name in known("dynamodb")}
    stepfunctions = {f"StepFunctions.{name}Exception" for name in known("stepfunctions")}
    named = {error for _, handler in handlers() for error in handler["ErrorEquals"]}
    assert named <= ours | OF_STATES | OF_LAMBDA | OF_EVERY_CLIENT | dynamodb | stepfunctions


def test_every_retry_ends_and_spreads() -> None:
    for name, handler in handlers():
        if handler.get("MaxAttempts", 1):
            retried = "Next" not in handler
            assert not retried or handler["JitterStrategy"] == "FULL", name
            assert not retried or handler["MaxAttempts"] <= 6, name


@pytest.mark.parametrize("name", PARKING)
def test_a_rollout_parks_in_one_way_wherever_it_is(name: str) -> None:
    named = {key: value for key, value in STATES[name].items() if key != "Comment"}
    assert named == {key: value for key, value in STATES["Bake"].items() if key != "Comment"}
    assert STATES[name]["Comment"]
    assert targets(STATES[name]) == {"Advance"}
    assert STATES[name]["TimeoutSecondsPath"] == "$.wait_seconds"


def test_the_phase_that_a_pass_says_is_the_name_of_the_state_that_it_parks_in() -> None:
    by_phase = {choice["StringEquals"]: choice["Next"] for choice in STATES["Choose by phase"]["Choices"][1:]}
    assert {phase: state for phase, state in by_phase.items() if state in PARKING} == {name: name for name in PARKING}


def test_every_end_of_a_rollout_ends_its_execution() -> None:
    by_phase = {choice["StringEquals"]: choice["Next"] for choice in STATES["Choose by phase"]["Choices"][1:]}
    ends = {phase.value for phase in Phase if phase.terminal}
    assert {phase for phase, state in by_phase.items() if state not in PARKING} == {*ends, "SUPERSEDED"}
    assert all(STATES[by_phase[phase]]["Type"] in ("Succeed", "Fail") for phase in ends)


def test_the_numbers_of_the_condition_are_compared_as_numbers() -> None:
    values = STATES["Bake"]["Parameters"]["ExpressionAttributeValues"]
    assert values[":seen"] == {"N.$": "States.Format('{}', $.wake_seq)"}
    assert values[":generation"] == {"N.$": "States.Format('{}', $.generation)"}


def test_it_holds_no_judgement() -> None:
    assert {state["Type"] for state in STATES.values()} == {"Task", "Choice", "Succeed", "Fail"}
    choices = [choice for state in STATES.values() for choice in state.get("Choices", ())]
    assert {choice["Variable"] for choice in choices} == {"$.phase", "$.successor"}
    assert {test for choice in choices for test in choice} == {"Variable", "StringEquals", "IsNumeric", "Next"}
    assert "States.Math" not in FILE.read_text()


def test_only_what_succeeded_ends_green() -> None:
    green = {name for name, state in STATES.items() if state["Type"] == "Succeed"}
    assert green == {"Succeeded", "Superseded"}
    red = [state for state in STATES.values() if state["Type"] == "Fail"]
    assert len({state["Error"] for state in red}) == len(red)
    assert all(state["Cause"] for state in red)


def test_the_name_of_an_execution_fits() -> None:
    """A rollout's id has at most 60 characters, a name 80."""
    assert STATES["Start successor"]["Parameters"]["Name.$"] == "States.Format('{}-{}', $.rollout_id, $.successor)"
    assert len(f"{60 * 'x'}-{FULL}") <= 80
