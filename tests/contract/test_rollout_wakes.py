"""The contract of the rollouts' table: what the clock and those who wake a rollout keep beside its record."""

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.rollout_table import DynamoRolloutTable
from pointsman.errors import Conflict
from pointsman.rollout_ports import RolloutTable
from pointsman.rollouts.commands import pause
from tests.contract.rollout_tables import ANA, asked
from tests.unit.rollouts.build import NOW


def test_a_wake_is_counted_and_finds_the_token(table: RolloutTable) -> None:
    asked(table)

    assert table.wake("r1").token == ""
    assert table.load("r1").wake_seq == 1
    assert table.wake("r1").generation == 1
    assert table.load("r1").wake_seq == 2


def test_a_commit_leaves_wakes_alone(table: RolloutTable) -> None:
    stored = asked(table)
    table.wake("r1")
    written = table.commit(stored, pause(stored.record, ANA), NOW + 5, 1)

    assert written.wake_seq == 0
    assert table.load("r1").wake_seq == 1


def test_passes_are_counted_for_each_generation(table: RolloutTable) -> None:
    stored = asked(table)
    table.sleep(stored, NOW + 9, 1)
    assert (table.load("r1").passes, table.load("r1").next_wake_at) == (1, NOW + 9)
    stored = table.load("r1")
    table.commit(stored, pause(stored.record, ANA), NOW + 10, 2)

    assert (table.load("r1").passes, table.load("r1").generation) == (0, 2)


def test_a_pass_of_a_generation_that_was_succeeded_commits_nothing(table: RolloutTable) -> None:
    stored = asked(table)

    assert table.succeed("r1", 1) == 2
    assert table.succeed("r1", 1) == 2
    with pytest.raises(Conflict):
        table.commit(stored, pause(stored.record, ANA), NOW + 5, 1)
    with pytest.raises(Conflict):
        table.sleep(stored, NOW + 5, 1)


def test_open_rollouts_come_in_the_order_of_their_wakes(table: RolloutTable) -> None:
    for number, rollout in enumerate(("r1", "r2", "r3")):
        table.sleep(asked(table, rollout), NOW + 50 - number, 1)

    assert [line.rollout for line in table.open()] == ["r3", "r2", "r1"]
    assert [line.next_wake_at for line in table.open()] == [NOW + 48, NOW + 49, NOW + 50]


def test_the_state_machine_parks_on_the_wake_that_the_pass_saw(aws: Clients, table_name: str) -> None:
    table = DynamoRolloutTable(aws.dynamodb, table_name)
    asked(table)
    aws.dynamodb.update_item(
        TableName=table_name,
        Key={"pk": {"S": "ROLLOUT#r1"}, "sk": {"S": "ROLLOUT"}},
        UpdateExpression="SET task_token = :token",
        ConditionExpression="wake_seq = :seen AND generation = :generation",
        ExpressionAttributeValues={":token": {"S": "T"}, ":seen": {"N": "0"}, ":generation": {"N": "1"}},
    )

    assert table.wake("r1").token == "T"
