"""What holds between the numbers and names of the template, those of the state machine, and those of the loop."""

import json
import re
from typing import Any

from pointsman.loops.rollout import GENERATION, RUN_SECONDS
from pointsman.rollouts.draft import LEASE
from pointsman.rollouts.phase import switch_name
from tests.template.stack import ROOT, Stack

FILE = ROOT / "statemachines/rollout.asl.json"
EVENTS_OF_A_PASS, EVENTS_OF_AN_EXECUTION = 13, 25_000


def timeout(stack: Stack) -> float:
    """After how many seconds Lambda ends a pass."""
    return float(stack.functions["AdvanceRolloutFunction"]["Timeout"])


def test_whoever_sends_an_update_is_dead_before_its_lease_is_over(stack: Stack) -> None:
    assert timeout(stack) < LEASE


def test_a_run_of_passes_begins_its_last_one_well_before_the_function_is_ended(stack: Stack) -> None:
    assert timeout(stack) > 2 * RUN_SECONDS


def test_the_state_machine_waits_for_longer_than_the_function_may_take(stack: Stack) -> None:
    advance = json.loads(FILE.read_text())["States"]["Advance"]
    assert advance["TimeoutSeconds"] > timeout(stack)


def test_a_generation_ends_before_its_history_is_full() -> None:
    assert GENERATION * EVENTS_OF_A_PASS < 0.9 * EVENTS_OF_AN_EXECUTION


def test_the_definition_gets_each_name_that_it_has_a_place_for(written: dict[str, Any]) -> None:
    machine = written["Resources"]["RolloutStateMachine"]["Properties"]
    assert ROOT / machine["DefinitionUri"] == FILE
    assert set(machine["DefinitionSubstitutions"]) == set(re.findall(r"\$\{(\w+)\}", FILE.read_text()))


def test_no_alarm_but_a_kill_switch_is_made_set_or_deleted(stack: Stack) -> None:
    touching = {"cloudwatch:PutMetricAlarm", "cloudwatch:SetAlarmState", "cloudwatch:DeleteAlarms"}
    prefixes = [switch_name("", "${AWS::StackName}"), switch_name("")]
    for function in stack.functions:
        for statement in stack.statements(function):
            if touching & set(statement["Action"]):
                assert function == "AdvanceRolloutFunction"
                found = [resource["Fn::Sub"].partition(":alarm:")[2] for resource in statement["Resource"]]
                assert found == [f"{prefix}*" for prefix in prefixes]
