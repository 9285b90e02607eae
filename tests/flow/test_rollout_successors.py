"""Executions hand over before their history is full; the record says which one is real, and the rollout ends the same.

An execution makes `GENERATION` passes, which takes a day or more. A test makes the record count them sooner; `make
walk` makes every one of them.
"""

from contextlib import suppress
from typing import Any

import pytest

from pointsman.loops.rollout import GENERATION
from pointsman_emulator.gateway import Call
from tests.flow.fleet import MINUTE, SAMPLE, Fleet, deployed

ROLLOUT = SAMPLE["detail"]["rollout"]
SHORT = {"bake": "5m", "final_bake": "5m", "wait": "1m", "guards": [{"alarm": "{component}-errors", "native": True}]}
HISTORY = 25_000  # events of an execution (Step Functions Developer Guide, "Service quotas")
MACHINE = "RolloutStateMachine"


class Killed(BaseException):
    """Not an error: the process is gone."""


def grow_old(fleet: Fleet) -> None:
    """As if the execution had made nearly all the passes that it may make: one more, and its successor is named."""
    fleet.aws.client("dynamodb").update_item(
        TableName=fleet.stack.outputs["ControlTable"],
        Key={"pk": {"S": f"ROLLOUT#{ROLLOUT}"}, "sk": {"S": "ROLLOUT"}},
        UpdateExpression="SET passes = :passes",
        ExpressionAttributeValues={":passes": {"N": str(GENERATION - 1)}},
    )


def outlive(fleet: Fleet) -> None:
    """Let time pass until the rollout has ended, whatever is killed."""
    last = fleet.aws.now + 8 * 60 * MINUTE
    while not fleet.ended():
        assert fleet.aws.now < last, fleet.record().record
        with suppress(Killed):
            fleet.aws.run_for(MINUTE)
    fleet.aws.run_for(2 * MINUTE)


def outcome(fleet: Fleet) -> dict[str, Any]:
    """What must be the same, however many executions carried it."""
    record = fleet.record().record
    return {
        "phase": record.phase,
        "components": [(c.name, c.state, len(c.attempts)) for c in record.components],
        "models": fleet.models(),
        "locks": {lock.owner for lock in fleet.wiring.rollouts.locks(["chat"]).values()},
        "updates": fleet.aws.count("sagemaker", "UpdateInferenceComponent"),
        "told": sorted(fleet.notices()),
        "faults": [repr(error) for _, error in fleet.aws.failures],
    }


def lives(fleet: Fleet) -> set[str]:
    return {name for name, status in fleet.executions().items() if status == "RUNNING"}


@pytest.fixture(scope="module")
def undisturbed() -> dict[str, Any]:
    with deployed() as fleet:
        fleet.ask(**SHORT)
        outlive(fleet)
        assert fleet.executions() == {f"{ROLLOUT}-1": "SUCCEEDED"}
        return outcome(fleet)


def test_two_successors_carry_the_rollout_to_the_same_end(undisturbed: dict[str, Any]) -> None:
    with deployed() as fleet:
        fleet.ask(**SHORT)
        for generation in (1, 2):
            fleet.aws.run_for(4 * MINUTE)
            assert fleet.record().generation == generation
            assert lives(fleet) == {f"{ROLLOUT}-{generation}"}
            grow_old(fleet)
        outlive(fleet)
        assert outcome(fleet) == undisturbed
        assert fleet.record().generation == 3
        assert fleet.executions() == {f"{ROLLOUT}-{generation}": "SUCCEEDED" for generation in (1, 2, 3)}
        for generation in (1, 2):
            assert fleet.phases(f"{ROLLOUT}-{generation}")[-2:] == ["Start successor", "Superseded"]
        assert fleet.phases(f"{ROLLOUT}-3")[-1] == "Succeeded"


@pytest.mark.parametrize("side", ["before", "after"])
def test_an_execution_killed_while_it_starts_its_successor_is_followed_by_that_one(
    undisturbed: dict[str, Any], side: str
) -> None:
    met: list[Call] = []

    def kill(call: Call) -> None:
        if call.caller == MACHINE:
            met.append(call)
            raise Killed

    with deployed() as fleet:
        getattr(fleet.aws, side)("sfn", "StartExecution", kill, None)
        fleet.ask(**SHORT)
        fleet.aws.run_for(4 * MINUTE)
        grow_old(fleet)
        outlive(fleet)
        assert len(met) == 1
        assert outcome(fleet) == undisturbed
        assert fleet.executions() == {f"{ROLLOUT}-1": "FAILED", f"{ROLLOUT}-2": "SUCCEEDED"}


def test_a_pass_that_named_the_successor_and_was_not_heard_is_made_up_for(undisturbed: dict[str, Any]) -> None:
    with deployed() as fleet:
        fleet.ask(**SHORT)
        fleet.aws.run_for(4 * MINUTE)
        grow_old(fleet)
        fleet.aws.fail_next("lambda", "Invoke", "ServiceException", status=500, after=True)
        outlive(fleet)
        assert outcome(fleet) == undisturbed
        assert fleet.executions() == {f"{ROLLOUT}-1": "SUCCEEDED", f"{ROLLOUT}-2": "SUCCEEDED"}
        assert fleet.phases(f"{ROLLOUT}-1")[-1] == "Superseded"


def test_an_execution_that_was_taken_over_while_it_lived_ends_by_itself(undisturbed: dict[str, Any]) -> None:
    with deployed() as fleet:
        fleet.ask(**SHORT)
        fleet.aws.run_for(4 * MINUTE)
        assert fleet.wiring.rollouts.succeed(ROLLOUT, 1) == 2
        fleet.wiring._execution.start(ROLLOUT, 2)
        fleet.aws.run_for(1)
        assert lives(fleet) == {f"{ROLLOUT}-1", f"{ROLLOUT}-2"}
        outlive(fleet)
        assert outcome(fleet) == undisturbed
        assert fleet.executions() == {f"{ROLLOUT}-1": "SUCCEEDED", f"{ROLLOUT}-2": "SUCCEEDED"}
        assert fleet.phases(f"{ROLLOUT}-1")[-1] == "Superseded"


def test_executions_that_die_of_a_full_history_are_followed_by_others(undisturbed: dict[str, Any]) -> None:
    with deployed() as fleet:
        fleet.aws.engine.history_limit = 120
        fleet.ask(**SHORT)
        outlive(fleet)
        assert outcome(fleet) == undisturbed
        *dead, last = fleet.executions().values()
        assert len(dead) >= 2
        assert {*dead, last} == {"FAILED", "SUCCEEDED"}
        assert dead.count("FAILED") + [last].count("FAILED") == len(dead)


@pytest.mark.walk
def test_the_passes_of_an_execution_fit_into_its_history() -> None:
    """Every pass of a generation is made, each after a wake, while a person holds the rollout."""
    with deployed() as fleet:
        fleet.ask(**SHORT)
        fleet.aws.run_for(2 * MINUTE)
        fleet.command("pause", reason="lunch")
        while fleet.record().generation == 1:
            fleet.wiring.rollout_waker.wake(ROLLOUT)
            fleet.aws.run_for(1)
        assert lives(fleet) == {f"{ROLLOUT}-2"}
        assert GENERATION * 12 < len(fleet.events(f"{ROLLOUT}-1")) < HISTORY * 0.9
        assert fleet.phases(f"{ROLLOUT}-1")[-1] == "Superseded"
        fleet.command("resume")
        assert fleet.until_ended().record.phase.value == "SUCCEEDED"
