"""Every second pass, or write, is killed with its execution and its answer lost: the rollout ends the same."""

from collections.abc import Callable
from typing import Any

import pytest

from pointsman_emulator.gateway import Call
from tests.flow.fleet import MINUTE, SAMPLE, Fleet, deployed

ROLLOUT = SAMPLE["detail"]["rollout"]
# A guard that asks for no more requests than a short bake sees, so that no run is held where another is not.
SHORT = {"bake": "5m", "final_bake": "5m", "wait": "1m", "guards": [{"alarm": "{component}-errors", "native": True}]}
HOURS = 8
WRITES = (
    ("dynamodb", "TransactWriteItems"),
    ("dynamodb", "BatchWriteItem"),
    ("dynamodb", "UpdateItem"),
    ("sagemaker", "UpdateInferenceComponent"),
    ("cloudwatch", "PutMetricAlarm"),
    ("cloudwatch", "DeleteAlarms"),
    ("sns", "Publish"),
)


class Killed(BaseException):
    """Not an error: the process is gone."""


def every_second(caller: str) -> tuple[list[Call], Callable[[Call], None]]:
    """A hook that kills every second call of this caller, and what it met."""
    met: list[Call] = []

    def kill(call: Call) -> None:
        if call.caller == caller:
            met.append(call)
            if len(met) % 2:
                raise Killed

    return met, kill


def outlive(fleet: Fleet) -> None:
    """Let time pass, whatever is killed, until the rollout has ended."""
    last = fleet.aws.now + HOURS * 60 * MINUTE
    while not fleet.ended():
        assert fleet.aws.now < last, fleet.record().record
        try:
            fleet.aws.run_for(MINUTE)
        except Killed:
            continue


def projection(fleet: Fleet) -> dict[str, Any]:
    """What must be the same, whatever died on the way."""
    record = fleet.record().record
    alarms = fleet.aws.client("cloudwatch").describe_alarms(AlarmNamePrefix="pointsman-kill/")["MetricAlarms"]
    component = fleet.aws.inference_model.components["llm"]
    return {
        "phase": record.phase,
        "components": [(c.name, c.state, len(c.attempts)) for c in record.components],
        "models": fleet.models(),
        "copies": (component.desired, component.current),
        "locks": {lock.owner for lock in fleet.wiring.rollouts.locks(["chat"]).values()},
        "kill switches": [alarm["AlarmName"] for alarm in alarms],
        "updates": fleet.aws.count("sagemaker", "UpdateInferenceComponent"),
        "told": set(fleet.notices()),
        "faults": [repr(error) for _, error in fleet.aws.failures],
    }


@pytest.fixture(scope="module")
def undisturbed() -> dict[str, Any]:
    with deployed() as fleet:
        fleet.ask(**SHORT)
        fleet.until_ended()
        return projection(fleet)


@pytest.mark.parametrize("side", ["before", "after"])
def test_killed_at_every_second_pass_the_rollout_ends_as_if_nothing_had_died(
    undisturbed: dict[str, Any], side: str
) -> None:
    with deployed() as fleet:
        passes, kill = every_second("RolloutStateMachine")
        getattr(fleet.aws, side)("lambda", "Invoke", kill, None)
        fleet.ask(**SHORT)
        outlive(fleet)
        fleet.aws.run_for(2 * MINUTE)
        assert projection(fleet) == undisturbed
        ended = fleet.executions()
        assert list(ended.values()).count("FAILED") == (len(passes) + 1) // 2 >= 10


def test_killed_after_every_second_write_of_each_kind_it_ends_so_too(undisturbed: dict[str, Any]) -> None:
    with deployed() as fleet:
        hooks = {operation: every_second("AdvanceRolloutFunction") for operation in WRITES}
        for (service, operation), (_, kill) in hooks.items():
            fleet.aws.after(service, operation, kill, None)
        fleet.ask(**SHORT)
        outlive(fleet)
        fleet.aws.run_for(2 * MINUTE)
        assert projection(fleet) == undisturbed
        assert {operation for operation, (met, _) in hooks.items() if not met} == set()
