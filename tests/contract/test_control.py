"""The control table's contract, and what only DynamoDB can do wrong."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.control_table import DynamoControl
from pointsman.errors import Conflict, Transient
from pointsman.ports import Control, RecordedMove, Standstill, StoredPolicy, Write
from pointsman.queues.effects import Effect
from pointsman.queues.notices import QueueNotice
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.reasons import Move, Reason
from tests.contract.interference import Interfered
from tests.contract.jobs import QUEUE, T0
from tests.fakes.control import FakeControl


@pytest.fixture
def table(request: pytest.FixtureRequest) -> str:
    make: Callable[[str], str] = request.getfixturevalue("make_table")
    return make("ControlTable")


@pytest.fixture(params=["fake", "DynamoDB"])
def control(request: pytest.FixtureRequest) -> Control:
    if request.param == "fake":
        return FakeControl()
    aws: Clients = request.getfixturevalue("aws")
    return DynamoControl(aws.dynamodb, request.getfixturevalue("table"))


def recorded(job_id: str, at: float, reason: Reason = Reason.FRONT, queue: str = QUEUE) -> RecordedMove:
    move = Move(job_id, "prod-1", "production", 0, 4999, reason, "prod-1 ranks first and fits what is free.")
    return RecordedMove(queue, at, move, 3, "set")


def test_a_queue_without_a_policy_has_none(control: Control) -> None:
    assert control.policy(QUEUE) is None
    assert control.queues() == ()


def test_the_last_version_applied_rules(control: Control) -> None:
    first = control.put_policy(QUEUE, "version: 1\n", T0, "ana")
    second = control.put_policy(QUEUE, "version: 1\nmode: act\n", T0 + 60, "")

    assert (first.number, second.number) == (1, 2)
    assert second == StoredPolicy(QUEUE, 2, "version: 1\nmode: act\n", T0 + 60, "")
    assert control.policy(QUEUE) == second


def test_an_older_version_can_still_be_read(control: Control) -> None:
    first = control.put_policy(QUEUE, "version: 1\n", T0, "ana")
    control.put_policy(QUEUE, "version: 1\nmode: act\n", T0 + 60, "")

    assert control.policy_version(QUEUE, 1) == first
    assert control.policy_version(QUEUE, 3) is None


def test_a_version_is_stored_only_after_the_one_that_was_meant(control: Control) -> None:
    control.put_policy(QUEUE, "version: 1\n", T0, "ana", after=0)
    second = control.put_policy(QUEUE, "version: 1\nmode: act\n", T0, "ana", after=1)

    for stale in (0, 1, 3):
        with pytest.raises(Conflict):
            control.put_policy(QUEUE, "version: 1\nspread: 1h\n", T0, "ben", after=stale)
    assert control.policy(QUEUE) == second


def test_every_queue_with_a_policy_is_listed_once(control: Control) -> None:
    for queue in ("search", "ads", "search"):
        control.put_policy(queue, "version: 1\n", T0, "ana")

    assert sorted(control.queues()) == ["ads", "search"]


def test_a_queue_has_its_own_effects_oldest_first(control: Control) -> None:
    late = Effect("ranker-drift", T0 + 60, "production", 43_200.0, until=T0 + 7260)
    early = Effect("zebra", T0, "research", 3600.0)
    for effect in (late, early):
        control.put_effect(QUEUE, effect)
    control.put_effect("other", Effect("ranker-drift", T0, "production", 60.0))

    assert control.effects(QUEUE) == (early, late)
    assert control.effects("unheard-of") == ()


def test_an_effect_stored_again_changes_nothing(control: Control) -> None:
    effect = Effect("ranker-drift", T0, "production", 43_200.0)
    control.put_effect(QUEUE, effect)

    control.put_effect(QUEUE, replace(effect, by=1.0))

    assert control.effects(QUEUE) == (effect,)


def test_an_effect_that_ended_says_so_once_and_for_all(control: Control) -> None:
    effect = Effect("ranker-drift", T0, "production", 43_200.0)
    control.put_effect(QUEUE, effect)
    ended = replace(effect, ended=T0 + 600.5)

    control.put_effect(QUEUE, ended)
    control.put_effect(QUEUE, effect)
    control.put_effect(QUEUE, replace(effect, ended=T0 + 900))

    assert control.effects(QUEUE) == (ended,)


def test_one_transition_of_an_alarm_has_an_effect_on_each_class(control: Control) -> None:
    effects = (Effect("drift", T0, "production", 60.0), Effect("drift", T0, "research", 30.0, ended=T0 + 1))
    for effect in effects:
        control.put_effect(QUEUE, effect)

    assert control.effects(QUEUE) == effects


def test_a_queue_has_its_own_pins_one_a_job_and_the_last_is_kept(control: Control) -> None:
    first, other = Pin("job-1", T0 + 60, PinKind.FIRST, "ana", T0), Pin("job-2", T0 + 90.5, PinKind.LAST, "ben", T0 + 1)
    for pin in (Pin("job-1", T0 + 30, PinKind.LAST, "ben", T0 - 9), first, other):
        control.put_pin(QUEUE, pin)
    control.put_pin("other", Pin("job-3", T0, PinKind.FIRST, "", T0))

    assert control.pins(QUEUE) == (first, other)
    assert control.pins("unheard-of") == ()


def test_a_pin_can_be_taken_away_and_one_that_is_not_there_too(control: Control) -> None:
    control.put_pin(QUEUE, Pin("job-1", T0 + 60, PinKind.FIRST, "ana", T0))

    control.remove_pin(QUEUE, "job-1")
    control.remove_pin(QUEUE, "job-1")

    assert control.pins(QUEUE) == ()


def test_what_was_last_meant_for_a_job_is_kept(control: Control) -> None:
    first, second = Write("job-1", 5, 5, 4999, T0), Write("job-1", 5, 4999, 5, T0 + 60)
    control.put_writes([first, Write("job-2", 0, 0, 4998, T0)], {})
    control.put_writes([second], {"job-1": first})

    assert control.writes(["job-1", "job-2", "job-3"]) == {"job-1": second, "job-2": Write("job-2", 0, 0, 4998, T0)}
    assert control.writes([]) == {}


def test_with_a_write_is_kept_what_the_history_will_tell_of_it(control: Control) -> None:
    move = Move("job-1", "prod-1", "production", 0, 4999, Reason.FRONT, "it is next")
    write = Write("job-1", 0, 0, 4999, T0 + 2, RecordedMove(QUEUE, T0 + 0.125, move, 3, "done"))
    control.put_writes([write], {})
    assert control.writes(["job-1"]) == {"job-1": write}


def test_what_is_meant_is_stored_only_in_the_place_of_what_was_read(control: Control) -> None:
    first, newer, late = (Write("job-1", 0, 0, after, T0 + after) for after in (1, 2, 3))
    control.put_writes([first], {})
    control.put_writes([newer], {"job-1": first})

    for before in ({"job-1": first}, {}):
        with pytest.raises(Conflict):
            control.put_writes([Write("job-2", 0, 0, 4999, T0), late], before)

    assert control.writes(["job-1", "job-2"]) == {"job-1": newer}


def test_what_was_read_and_has_run_out_since_is_in_nobodys_place(control: Control) -> None:
    gone = Write("job-1", 0, 0, 4999, T0)

    with pytest.raises(Conflict):
        control.put_writes([Write("job-1", 0, 4999, 0, T0 + 60)], {"job-1": gone})

    assert control.writes(["job-1"]) == {}


def test_more_writes_are_kept_than_one_call_takes(control: Control) -> None:
    writes = [Write(f"job-{number}", 0, 0, 4999, T0) for number in range(130)]

    control.put_writes(writes, {})

    assert control.writes(write.job_id for write in writes) == {write.job_id: write for write in writes}


def test_moves_come_newest_first_and_no_more_than_asked_for(control: Control) -> None:
    lines = [recorded(f"job-{number:03d}", T0 + number) for number in range(60)]
    control.record(lines)
    control.record([recorded("job-1", T0 + 30, queue="other")])

    assert control.moves(QUEUE, T0 + 57, 100) == tuple(reversed(lines[57:]))
    assert control.moves(QUEUE, 0, 2) == tuple(reversed(lines[58:]))
    assert control.moves(QUEUE, T0 + 61, 10) == ()
    assert control.moves(QUEUE, 0, 0) == ()


def test_the_same_line_twice_is_one_line(control: Control) -> None:
    line = recorded("job-1", T0)

    control.record([line, line])
    control.record([line])

    assert control.moves(QUEUE, T0, 10) == (line,)


def test_one_job_moved_twice_at_once_for_two_reasons_has_two_lines(control: Control) -> None:
    lines = (recorded("job-1", T0, Reason.RETURNED), recorded("job-1", T0, Reason.FRONT))

    control.record(lines)

    assert control.moves(QUEUE, T0, 10) == lines


def test_the_first_who_stops_everything_is_the_one_who_did_until_it_is_started(control: Control) -> None:
    first = Standstill(T0, "ana", "a bad policy")

    assert (control.stopped(), control.standstill(), control.go_on(T0, "ben", "")) == (False, None, None)
    assert control.stand_still(first) == first
    assert control.stand_still(Standstill(T0 + 1, "ben", "")) == first
    assert (control.stopped(), control.standstill()) == (True, first)
    assert control.go_on(T0 + 2, "ben", "mended") == first
    assert (control.stopped(), control.go_on(T0 + 3, "ben", "")) == (False, None)
    assert control.stand_still(Standstill(T0 + 4, "ben", "")) == Standstill(T0 + 4, "ben", "")


def test_a_notice_is_stored_once_and_only_in_the_place_of_the_one_that_was_meant(control: Control) -> None:
    begun = QueueNotice("at_risk/job-1", "It is late.", T0 + 0.5)
    sent, over = replace(begun, sent=True), replace(begun, sent=True, over=True)
    control.put_notice(QUEUE, begun, None)
    with pytest.raises(Conflict):
        control.put_notice(QUEUE, replace(begun, since=T0 + 9), None)
    control.put_notice(QUEUE, sent, begun)
    with pytest.raises(Conflict):
        control.put_notice(QUEUE, over, begun)
    control.put_notice(QUEUE, over, sent)
    control.put_notice("other", begun, None)

    assert control.notices(QUEUE) == (over,)
    assert control.notices("unheard-of") == ()


def test_recording_nothing_is_no_error(control: Control) -> None:
    control.record([])
    control.put_writes([], {})


# ------------------------------------------------------------------------------------------------- DynamoDB only


def test_nothing_is_stopped_until_the_switch_is_there(aws: Clients, table: str) -> None:
    control = DynamoControl(aws.dynamodb, table)
    before = control.stopped()
    aws.dynamodb.put_item(TableName=table, Item={"pk": {"S": "STOP"}, "sk": {"S": "stop"}})

    assert (before, control.stopped(), control.standstill()) == (False, True, Standstill(0.0))
    assert control.go_on(T0, "ana", "") == Standstill(0.0)
    assert not control.stopped()


def test_who_stopped_and_who_started_is_kept_for_good(aws: Clients, table: str) -> None:
    control = DynamoControl(aws.dynamodb, table)
    control.stand_still(Standstill(T0, "ana", "a bad policy"))
    control.go_on(T0 + 2, "ben", "mended")

    found = aws.dynamodb.query(
        TableName=table, KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": "STOP"}}
    )["Items"]
    assert [(i["sk"]["S"].partition("#")[2], i["by"]["S"], i["reason"]["S"]) for i in found] == [
        ("stop", "ana", "a bad policy"),
        ("start", "ben", "mended"),
    ]


def test_who_starts_ends_no_stop_that_came_after_the_look(aws: Clients, table: str) -> None:
    other = DynamoControl(aws.dynamodb, table)
    other.stand_still(Standstill(T0, "ana", ""))

    def transact_write_items(real: Callable[..., Any], **request: Any) -> Any:
        other.go_on(T0 + 1, "ana", "")
        other.stand_still(Standstill(T0 + 2, "ana", "again"))
        return real(**request)

    DynamoControl(Interfered(aws.dynamodb, transact_write_items=transact_write_items), table).go_on(T0 + 3, "ben", "")
    assert other.standstill() == Standstill(T0 + 2, "ana", "again")


def test_of_two_people_who_apply_a_policy_at_once_the_second_is_told(aws: Clients, table: str) -> None:
    other = DynamoControl(aws.dynamodb, table)

    def get_item(real: Callable[..., Any], **request: Any) -> Any:
        answer = real(**request)
        other.put_policy(QUEUE, "theirs\n", T0, "ben")
        return answer

    with pytest.raises(Conflict):
        DynamoControl(Interfered(aws.dynamodb, get_item=get_item), table).put_policy(QUEUE, "ours\n", T0, "ana")
    stored = other.policy(QUEUE)
    assert stored is not None
    assert (stored.number, stored.document) == (1, "theirs\n")


def test_old_versions_of_a_policy_stay(aws: Clients, table: str) -> None:
    control = DynamoControl(aws.dynamodb, table)
    control.put_policy(QUEUE, "first\n", T0, "ana")
    control.put_policy(QUEUE, "second\n", T0, "ana")

    key = {"pk": {"S": f"POLICY#{QUEUE}"}, "sk": {"S": "v#00000001"}}
    assert aws.dynamodb.get_item(TableName=table, Key=key)["Item"]["document"] == {"S": "first\n"}


def test_lines_that_dynamodb_left_undone_are_written(aws: Clients, table: str) -> None:
    half = Interfered(aws.dynamodb, batch_write_item=_leaves_half(times=2))
    lines = [recorded(f"job-{number}", T0 + number) for number in range(3)]

    DynamoControl(half, table).record(lines)

    assert DynamoControl(aws.dynamodb, table).moves(QUEUE, T0, 10) == tuple(reversed(lines))


def test_lines_left_undone_for_ever_are_transient(aws: Clients, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    never = Interfered(aws.dynamodb, batch_write_item=_leaves_half(times=99))

    with pytest.raises(Transient):
        DynamoControl(never, table).record([recorded("job-1", T0)])


def test_an_effect_expires_when_it_is_long_over_and_an_open_one_never(aws: Clients, table: str) -> None:
    control = DynamoControl(aws.dynamodb, table)
    control.put_effect(QUEUE, Effect("a", T0, "production", 60.0))
    control.put_effect(QUEUE, Effect("b", T0, "production", 60.0, until=T0 + 60))

    items = aws.dynamodb.scan(TableName=table)["Items"]
    expiry = {item["alarm"]["S"]: item.get("expires_at") for item in items}
    assert expiry == {"a": None, "b": {"N": str(int(T0 + 60) + 7 * 86_400)}}


def _leaves_half(times: int) -> Callable[..., Any]:
    left = [times]

    def batch_write_item(real: Callable[..., Any], RequestItems: dict[str, Any]) -> Any:  # noqa: N803 - boto's own name
        ((table, asked),) = RequestItems.items()
        if left[0] == 0:
            return real(RequestItems=RequestItems)
        left[0] -= 1
        done, undone = asked[:1], asked[1:] or asked
        return {**real(RequestItems={table: done}), "UnprocessedItems": {table: undone}}

    return batch_write_item
