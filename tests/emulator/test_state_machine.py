"""The rollout's state machine, carried out: it waits, it is woken, it ends, it dies, it hands over."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from pointsman_emulator import Emulator
from tests.emulator.rollout_worlds import Rollouts, step

DONE = step("SUCCEEDED")
MINUTE, HOUR = 60, 3600


@pytest.fixture
def rollouts() -> Iterator[Rollouts]:
    with Emulator(seed=7) as aws:
        yield Rollouts(aws)


# Waiting


def test_a_rollout_that_nobody_wakes_goes_on_when_its_time_is_over(rollouts: Rollouts) -> None:
    execution = rollouts.start(step("Bake", wait=HOUR), DONE)
    rollouts.aws.run_for(HOUR - 1)
    assert (rollouts.where(execution), rollouts.passes()) == ("Bake", 1)
    rollouts.aws.run_for(1)
    assert (rollouts.describe(execution)["status"], rollouts.passes()) == ("SUCCEEDED", 2)


def test_an_hours_bake_takes_a_moment(rollouts: Rollouts) -> None:
    rollouts.start(step("Bake", wait=24 * HOUR), DONE)
    begun = time.perf_counter()
    rollouts.aws.run_for(24 * HOUR)
    assert rollouts.passes() == 2
    assert time.perf_counter() - begun < 5


def test_a_rollout_that_is_woken_goes_on_at_once(rollouts: Rollouts) -> None:
    execution = rollouts.start(step("Await update", wait=HOUR), DONE)
    rollouts.aws.run_for(MINUTE)
    assert rollouts.wake() == "taken"
    assert rollouts.passes() == 1  # not inside the waker's call
    rollouts.aws.run_for(0)
    assert rollouts.describe(execution)["status"] == "SUCCEEDED"
    assert rollouts.describe(execution)["stopDate"] == datetime(2026, 3, 2, 0, 1, tzinfo=UTC)


def test_the_time_that_was_left_does_not_wake_a_rollout_that_was_woken(rollouts: Rollouts) -> None:
    execution = rollouts.start(step("Await update", wait=600), step("Bake", wait=HOUR), DONE)
    rollouts.aws.run_for(300)
    rollouts.wake()
    rollouts.aws.run_for(HOUR - 1)
    assert (rollouts.where(execution), rollouts.passes()) == ("Bake", 2)


def test_a_wake_that_came_before_the_token_was_stored_is_not_lost(rollouts: Rollouts) -> None:
    execution = rollouts.start(step("Await update", wait=HOUR), step("Bake", wait=HOUR), DONE)
    said: list[str] = []
    rollouts.aws.after("lambda", "Invoke", lambda _: said.append(rollouts.wake()))
    rollouts.aws.run_for(0)
    assert said == ["no token yet"]
    assert (rollouts.visited(execution), rollouts.passes()) == (["Await update", "Bake"], 2)
    failed = [event["taskFailedEventDetails"] for event in rollouts.events(execution) if event["type"] == "TaskFailed"]
    assert [details["error"] for details in failed] == ["DynamoDb.ConditionalCheckFailedException"]


def test_a_wake_that_comes_as_soon_as_the_token_is_stored_is_taken(rollouts: Rollouts) -> None:
    execution = rollouts.start(step("Await update", wait=HOUR), step("Bake", wait=HOUR), DONE)
    said: list[str] = []

    def stored(call: Any) -> None:
        if call.caller == "RolloutStateMachine" and not said:
            said.append("")
            said.append(rollouts.wake())

    rollouts.aws.after("dynamodb", "UpdateItem", stored, times=None)
    rollouts.aws.run_for(1)
    assert said == ["", "taken"]
    assert (rollouts.where(execution), rollouts.passes()) == ("Bake", 2)


def test_the_second_of_two_wakes_changes_nothing(rollouts: Rollouts) -> None:
    execution = rollouts.start(step("Await update", wait=HOUR), step("Bake", wait=HOUR), DONE)
    rollouts.aws.run_for(MINUTE)
    token = rollouts.record()["task_token"]
    assert [rollouts.answer(token), rollouts.answer(token)] == ["taken", "TaskTimedOut"]
    rollouts.aws.run_for(MINUTE)
    assert rollouts.answer(token) == "TaskTimedOut"
    assert (rollouts.visited(execution), rollouts.passes()) == (["Await update", "Bake"], 2)


def test_what_a_late_answer_meets_is_a_setting(rollouts: Rollouts) -> None:
    rollouts.aws.engine.late_answer = "TaskDoesNotExist"
    rollouts.start(step("Await update", wait=MINUTE), step("Bake", wait=HOUR), DONE)
    rollouts.aws.run_for(1)
    token = rollouts.record()["task_token"]
    assert [rollouts.answer(token), rollouts.answer(token)] == ["taken", "TaskDoesNotExist"]


def test_a_token_whose_time_ran_out_is_refused(rollouts: Rollouts) -> None:
    rollouts.start(step("Bake", wait=MINUTE), step("Bake", wait=HOUR), DONE)
    rollouts.aws.run_for(1)
    token = rollouts.record()["task_token"]
    rollouts.aws.run_for(MINUTE)
    assert rollouts.answer(token) == "TaskTimedOut"


def test_what_is_no_token_is_refused(rollouts: Rollouts) -> None:
    rollouts.start(step("Bake"))
    rollouts.aws.run_for(1)
    assert rollouts.answer("nobody's") == "InvalidToken"
    assert rollouts.answer(rollouts.record()["task_token"], output="{") == "InvalidOutput"


def test_two_rollouts_run_side_by_side(rollouts: Rollouts) -> None:
    slow = rollouts.start(step("Bake", wait=2 * HOUR), DONE, name="slow")
    fast = rollouts.start(step("Await update", wait=MINUTE), step("Bake", wait=HOUR), DONE, name="fast")
    rollouts.aws.run_for(MINUTE)
    assert (rollouts.where(slow), rollouts.where(fast)) == ("Bake", "Bake")
    rollouts.wake("slow")
    rollouts.aws.run_for(1)
    assert (rollouts.describe(slow)["status"], rollouts.describe(fast)["status"]) == ("SUCCEEDED", "RUNNING")
    rollouts.aws.run_for(HOUR)
    assert rollouts.describe(fast)["status"] == "SUCCEEDED"


def test_others_go_on_in_the_middle_of_a_pass(rollouts: Rollouts) -> None:
    other = rollouts.start(step("Bake", wait=MINUTE), step("Bake", wait=HOUR), name="other")
    rollouts.aws.run_for(1)
    mine = rollouts.start(step("Bake", wait=HOUR))
    rollouts.aws.before("dynamodb", "GetItem", lambda _: rollouts.aws.run_for(2 * MINUTE))
    rollouts.aws.run_for(0)
    assert (rollouts.passes("other"), rollouts.where(other)) == (2, "Bake")
    rollouts.aws.run_for(MINUTE)
    assert rollouts.where(mine) == "Bake"


def test_a_throttled_table_is_asked_again_while_the_world_goes_on(rollouts: Rollouts) -> None:
    rollouts.aws.before(
        "lambda",
        "Invoke",
        lambda _: rollouts.aws.after(
            "dynamodb",
            "UpdateItem",
            lambda _: rollouts.aws.fail_next("dynamodb", "UpdateItem", "TransactionConflictException", times=2),
        ),
    )
    execution = rollouts.start(step("Bake", wait=HOUR), DONE)
    rollouts.aws.run_for(MINUTE)
    assert rollouts.wake() == "taken"
    rollouts.aws.run_for(1)
    assert rollouts.describe(execution)["status"] == "SUCCEEDED"
    errors = [
        event["taskFailedEventDetails"]["error"]
        for event in rollouts.events(execution)
        if event["type"] == "TaskFailed"
    ]
    assert errors == 2 * ["DynamoDb.TransactionConflictException"]


@pytest.mark.parametrize("wait", [60.5, 60.0, 0, -1, None, "60"])
def test_a_wait_that_is_no_positive_integer_fails_as_in_aws(rollouts: Rollouts, wait: Any) -> None:
    execution = rollouts.start(step("Bake", wait=wait), DONE)
    rollouts.aws.run_for(HOUR)
    assert (rollouts.describe(execution)["error"], rollouts.passes()) == ("States.Runtime", 1)


# Phases and ends

PARKING = ("Await capacity", "Await update", "Bake", "Await operator", "Await rollback")


def test_the_history_tells_the_phases_by_name(rollouts: Rollouts) -> None:
    execution = rollouts.start(*(step(phase) for phase in PARKING), step("ROLLED_BACK"))
    rollouts.aws.run_for(HOUR)
    assert rollouts.visited(execution) == [*PARKING, "Rolled back"]


def test_the_history_can_be_read_backwards_to_see_where_a_rollout_is(rollouts: Rollouts) -> None:
    execution = rollouts.start(step("Await capacity", wait=HOUR))
    rollouts.aws.run_for(MINUTE)
    last = rollouts.sfn.get_execution_history(executionArn=execution, reverseOrder=True, maxResults=5)["events"]
    assert last[0]["type"] == "TaskSubmitted"
    assert last[3]["stateEnteredEventDetails"]["name"] == "Await capacity"


@pytest.mark.parametrize(
    "phase, status, error",
    [
        ("SUCCEEDED", "SUCCEEDED", None),
        ("REJECTED", "FAILED", "RolloutRejected"),
        ("STOPPED", "FAILED", "RolloutStopped"),
        ("ROLLED_BACK", "FAILED", "RolloutRolledBack"),
        ("ROLLBACK_INCOMPLETE", "FAILED", "RolloutRollbackIncomplete"),
        ("SUPERSEDED", "SUCCEEDED", None),
        ("A_NEW_ONE", "FAILED", "UnknownPhase"),
    ],
)
def test_an_execution_ends_as_the_rollout_did(rollouts: Rollouts, phase: str, status: str, error: str | None) -> None:
    execution = rollouts.start(step(phase))
    rollouts.aws.run_for(1)
    described = rollouts.describe(execution)
    assert (described["status"], described.get("error")) == (status, error)
    assert bool(described.get("cause")) is (error is not None)


# Dying


def test_a_pass_that_fails_for_a_moment_is_made_again(rollouts: Rollouts) -> None:
    execution = rollouts.start(step("Bake", raises="Transient"), step("Bake", raises="Conflict"), DONE)
    rollouts.aws.run_for(0)
    assert rollouts.passes() == 1  # the retry waits
    rollouts.aws.run_for(MINUTE)
    assert (rollouts.describe(execution)["status"], rollouts.passes()) == ("SUCCEEDED", 3)


def test_a_pass_that_takes_longer_than_its_function_may_is_made_again(rollouts: Rollouts) -> None:
    rollouts.aws.before("dynamodb", "GetItem", lambda _: rollouts.aws.clock.sleep(31))
    execution = rollouts.start(DONE)
    rollouts.aws.run_for(2 * MINUTE)
    assert (rollouts.describe(execution)["status"], rollouts.passes()) == ("SUCCEEDED", 2)


def test_an_execution_that_dies_is_seen_and_the_next_generation_goes_on(rollouts: Rollouts) -> None:
    dead = rollouts.start(step("Bake", raises="KeyError"), DONE)
    rollouts.aws.run_for(1)
    described = rollouts.describe(dead)
    assert (described["status"], described["error"]) == ("FAILED", "KeyError")
    assert rollouts.passes() == 1
    alive = rollouts.execute("r", 2)
    rollouts.aws.run_for(1)
    assert rollouts.describe(alive)["status"] == "SUCCEEDED"


def test_an_execution_whose_pass_is_killed_dies_with_it(rollouts: Rollouts) -> None:
    class Killed(BaseException):
        """Not an error: the process is gone."""

    def kill(_: Any) -> None:
        raise Killed

    execution = rollouts.start(step("Bake", wait=HOUR), DONE)
    rollouts.aws.after("dynamodb", "UpdateItem", kill)
    with pytest.raises(Killed):
        rollouts.aws.run_for(1)
    assert rollouts.passes() == 1
    described = rollouts.describe(execution)
    assert (described["status"], described["error"]) == ("FAILED", "Runtime.ExitError")
    alive = rollouts.execute("r", 2)
    rollouts.aws.run_for(MINUTE)
    assert rollouts.describe(alive)["status"] == "SUCCEEDED"


def test_an_execution_that_is_stopped_runs_no_more_passes(rollouts: Rollouts) -> None:
    execution = rollouts.start(step("Bake", wait=MINUTE), DONE)
    rollouts.aws.run_for(1)
    token = rollouts.record()["task_token"]
    rollouts.sfn.stop_execution(executionArn=execution, error="Operator", cause="by hand")
    rollouts.aws.run_for(HOUR)
    described = rollouts.describe(execution)
    assert (described["status"], described["error"], described["cause"]) == ("ABORTED", "Operator", "by hand")
    assert rollouts.passes() == 1
    assert rollouts.answer(token) == "TaskTimedOut"
    assert [event["type"] for event in rollouts.events(execution)][-1] == "ExecutionAborted"


def test_an_execution_that_is_stopped_before_it_began_never_begins(rollouts: Rollouts) -> None:
    execution = rollouts.start(DONE)
    rollouts.sfn.stop_execution(executionArn=execution)
    rollouts.aws.run_for(MINUTE)
    assert (rollouts.describe(execution)["status"], rollouts.passes()) == ("ABORTED", 0)


def test_an_execution_that_lost_its_rollout_to_a_later_one_cannot_store_its_token(rollouts: Rollouts) -> None:
    old = rollouts.start(step("Bake", wait=HOUR), step("Bake", wait=HOUR), step("SUPERSEDED"))

    def taken_over(_: Any) -> None:
        rollouts.dynamodb.update_item(
            **rollouts.table,
            Key={"pk": {"S": "ROLLOUT#r"}, "sk": {"S": "ROLLOUT"}},
            UpdateExpression="SET generation = :two, task_token = :theirs",
            ExpressionAttributeValues={":two": {"N": "2"}, ":theirs": {"S": "theirs"}},
        )

    rollouts.aws.after("lambda", "Invoke", taken_over)
    rollouts.aws.run_for(1)
    assert rollouts.record()["task_token"] == "theirs"
    assert rollouts.where(old) == "Superseded"


# Handing over


def test_an_execution_whose_history_is_nearly_full_starts_its_successor_and_ends(rollouts: Rollouts) -> None:
    first = rollouts.start(step("Bake", wait=MINUTE), step("Bake", successor=2), step("Bake", wait=MINUTE), DONE)
    rollouts.aws.run_for(HOUR)
    assert rollouts.visited(first) == ["Bake", "Start successor", "Superseded"]
    listed = rollouts.sfn.list_executions(stateMachineArn=rollouts.machine)["executions"]
    assert {(found["name"], found["status"]) for found in listed} == {("r-1", "SUCCEEDED"), ("r-2", "SUCCEEDED")}
    assert rollouts.passes() == 4


def test_a_successor_that_somebody_else_started_and_that_ended_already_is_no_failure(rollouts: Rollouts) -> None:
    second = rollouts.execute("r", 2)
    rollouts.sfn.stop_execution(executionArn=second)
    first = rollouts.start(step("Bake", successor=2))
    rollouts.aws.run_for(1)
    assert (rollouts.describe(first)["status"], rollouts.where(first)) == ("SUCCEEDED", "Superseded")


def test_an_execution_with_a_full_history_fails_as_in_aws(rollouts: Rollouts) -> None:
    rollouts.aws.engine.history_limit = 100
    execution = rollouts.start(step("Bake", wait=MINUTE))
    rollouts.aws.run_for(HOUR)
    described = rollouts.describe(execution)
    assert described["status"] == "FAILED"
    assert "maximum number of history events (100)" in described["cause"]
    assert len(list(rollouts.events(execution))) == 100
    assert rollouts.passes() == 8


def test_a_pass_and_its_wait_are_thirteen_events(rollouts: Rollouts) -> None:
    """So a generation has room for 1,900 passes; `advance_rollout` counts them."""
    execution = rollouts.start(step("Bake", wait=MINUTE))
    rollouts.aws.run_for(MINUTE - 1)
    before = len(list(rollouts.events(execution)))
    rollouts.aws.run_for(2 * MINUTE)
    assert len(list(rollouts.events(execution))) - before == 2 * 13
