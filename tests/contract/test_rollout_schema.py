"""Records of rollouts that another release of Pointsman wrote."""

import json
from dataclasses import replace
from typing import Any

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.rollout_table import DynamoRolloutTable
from pointsman.errors import Conflict, Misconfigured
from pointsman.rollouts.commands import pause, start
from pointsman.rollouts.decision import replay
from pointsman.rollouts.observations import Suspension
from pointsman.rollouts.record import SCHEMA, NoteState, RolloutRecord, ScalingNote
from tests.contract.rollout_tables import ANA, asked, frozen
from tests.unit.loops.rollout_world import World
from tests.unit.rollouts.build import NOW

WANTED = {"version": 1, "rollout": "r1", "targets": [{"prefix": "m"}], "change": {"model": "ranker-v2"}}


def test_what_was_added_to_a_record_since_takes_its_default(aws: Clients, table_name: str) -> None:
    table = DynamoRolloutTable(aws.dynamodb, table_name)
    stored = frozen(table)
    older = dict(_state(aws, table_name), forgotten="of no use")
    for added in ("waivers", "baked", "cause"):
        del older[added]
    _set(aws, table_name, {":state": {"S": json.dumps(older)}, ":schema": {"N": str(SCHEMA)}})

    loaded = table.load("r1")
    assert loaded == stored
    written = table.commit(loaded, pause(loaded.record, ANA), NOW + 5, 1)
    assert table.load("r1") == written
    assert replay(RolloutRecord("r1"), table.journal("r1")) == written.record


def test_a_record_of_a_later_release_is_refused_in_one_message_and_left_as_it_is(aws: Clients, table_name: str) -> None:
    table = DynamoRolloutTable(aws.dynamodb, table_name)
    stored = frozen(table)
    state = json.dumps({**_state(aws, table_name), "weather": "fine"})
    _set(aws, table_name, {":state": {"S": state}, ":schema": {"N": str(SCHEMA + 1)}})
    before = aws.dynamodb.scan(TableName=table_name)["Items"]
    world = World()
    loop = replace(world.loop, table=table)
    commands = replace(world.commands, table=table)

    for touch in (
        lambda: loop.run("r1", 1),
        lambda: commands.receive({"verb": "pause", "caller": "ana", "rollout": "r1"}),
        lambda: commands.receive({"verb": "request", "caller": "ana", "request": WANTED}),
    ):
        with pytest.raises(Misconfigured, match=r"^rollout r1 was written by a later release .* install that release"):
            touch()
    with pytest.raises(Conflict):
        table.create(stored.request, start(stored.request, ANA))
    assert aws.dynamodb.scan(TableName=table_name)["Items"] == before


def test_a_rollout_in_a_phase_of_a_later_release_keeps_no_other_from_being_woken(aws: Clients, table_name: str) -> None:
    table = DynamoRolloutTable(aws.dynamodb, table_name)
    asked(table, "r1")
    asked(table, "r2")
    aws.dynamodb.update_item(
        TableName=table_name,
        Key={"pk": {"S": "ROLLOUT#r1"}, "sk": {"S": "ROLLOUT"}},
        UpdateExpression="SET phase = :phase",
        ExpressionAttributeValues={":phase": {"S": "DANCING"}},
    )

    assert [line.rollout for line in table.open()] == ["r2"]


def test_what_cannot_be_read_is_said(aws: Clients, table_name: str) -> None:
    table = DynamoRolloutTable(aws.dynamodb, table_name)
    frozen(table)
    state = json.dumps({**_state(aws, table_name), "phase": "DANCING"})
    _set(aws, table_name, {":state": {"S": state}, ":schema": {"N": str(SCHEMA)}})

    with pytest.raises(Misconfigured, match="DANCING"):
        table.load("r1")


def test_a_note_of_auto_scaling_that_an_older_release_left_resumes_all_of_it(aws: Clients, table_name: str) -> None:
    table = DynamoRolloutTable(aws.dynamodb, table_name)
    frozen(table)
    note = {"component": "m1", "endpoint": "e1", "state": "LOWERED", "since": 5.0, "asked_at": 4.0}
    older = {**_state(aws, table_name), "scaling": [note]}
    _set(aws, table_name, {":state": {"S": json.dumps(older)}, ":schema": {"N": str(SCHEMA)}})

    (loaded,) = table.load("r1").record.scaling
    assert loaded == ScalingNote("m1", "e1", Suspension(), NoteState.LOWERED, 5.0, 4.0)


def _state(aws: Clients, table_name: str) -> dict[str, Any]:
    key = {"pk": {"S": "ROLLOUT#r1"}, "sk": {"S": "ROLLOUT"}}
    state: dict[str, Any] = json.loads(aws.dynamodb.get_item(TableName=table_name, Key=key)["Item"]["state"]["S"])
    return state


def _set(aws: Clients, table_name: str, values: dict[str, Any]) -> None:
    aws.dynamodb.update_item(
        TableName=table_name,
        Key={"pk": {"S": "ROLLOUT#r1"}, "sk": {"S": "ROLLOUT"}},
        UpdateExpression="SET #state = :state, #schema = :schema",
        ExpressionAttributeNames={"#state": "state", "#schema": "schema"},
        ExpressionAttributeValues=values,
    )
