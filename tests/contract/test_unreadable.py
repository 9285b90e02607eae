"""Stored items that are none: the job table makes them anew, the control table names the one that is to be mended."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.control_table import DynamoControl
from pointsman.aws.day_table import DynamoDayTable
from pointsman.aws.job_table import DynamoJobTable
from pointsman.aws.rollout_table import DynamoRolloutTable
from pointsman.aws.share_records import DynamoShareRecords
from pointsman.errors import Conflict, Unreadable
from pointsman.inbound import Message
from pointsman.loops.recorder import Recorder
from pointsman.ports import QueueRecord
from pointsman.queues.days import Day
from pointsman.queues.effects import Effect
from pointsman.queues.estimates import Finished, History, Kind
from pointsman.queues.evictions import Eviction, Party
from pointsman.queues.jobs import Sighting, Status
from pointsman.queues.notices import QueueNotice
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.policy import How
from pointsman.queues.share_changes import Setting, ShareChange
from tests.contract.jobs import QUEUE, T0, job, job_id
from tests.fakes.clock import FakeClock
from tests.fakes.messages import FakeDeadLetters, FakeWakes
from tests.unit.loops.world import Log, event_of

Item = dict[str, Any]
DAMAGE: dict[str, Callable[[Item], object]] = {
    "without its state": lambda item: item.pop("st"),
    "half a record": lambda item: item.update(st={"S": item["st"]["S"][:20]}),
    "of another schema": lambda item: item.update(st={"S": '{"schema": 9, "body": []}'}),
    "with a state that is null": lambda item: item.update(st={"S": "null"}),
    "with a state of another type": lambda item: item.update(st={"N": "7"}),
    "without its version": lambda item: item.pop("v"),
    "with a version that is a text": lambda item: item.update(v={"S": "one"}),
}


@pytest.fixture
def table(make_table: Callable[[str], str]) -> str:
    return make_table("JobsTable")


@pytest.fixture
def control_table(make_table: Callable[[str], str]) -> str:
    return make_table("ControlTable")


def damage(aws: Clients, table: str, key: Item, how: Callable[[Item], object]) -> None:
    item = aws.dynamodb.get_item(TableName=table, Key=key)["Item"]
    how(item)
    aws.dynamodb.put_item(TableName=table, Item=item)


def running(number: int) -> str:
    """What Batch tells when a job of this number starts."""
    return event_of(Sighting(job_id(number), Status.RUNNING, T0, QUEUE, f"sweep-{number}", T0, started=T0), T0 + 60)


@pytest.fixture(params=DAMAGE.values(), ids=DAMAGE.keys())
def how(request: pytest.FixtureRequest) -> Callable[[Item], object]:
    return request.param  # type: ignore[no-any-return]


def test_a_damaged_job_is_left_out_told_of_and_made_anew_by_the_next_event(
    aws: Clients, table: str, how: Callable[[Item], object]
) -> None:
    told: list[str] = []
    jobs = DynamoJobTable(aws.dynamodb, table, told=told.append)
    whole = jobs.save(job(2))
    jobs.save(job(1))
    damage(aws, table, {"pk": {"S": f"JOB#{job_id(1)}"}}, how)

    assert jobs.active(QUEUE) == (whole,)
    assert jobs.load([job_id(1), job_id(2)]) == {job_id(2): whole}
    assert all(f"item JOB#{job_id(1)}" in line and "made anew" in line for line in told)
    assert told

    recorder = Recorder(FakeClock(), jobs, FakeWakes(), FakeDeadLetters(), Log())
    events = [Message(str(n), running(n)) for n in (1, 2)]
    assert recorder.record(events) == ()
    assert {row.status for row in jobs.active(QUEUE)} == {Status.RUNNING}
    assert len(jobs.active(QUEUE)) == 2


def test_of_two_who_make_a_damaged_job_anew_the_second_loses(aws: Clients, table: str) -> None:
    jobs = DynamoJobTable(aws.dynamodb, table)
    jobs.save(job(1))
    damage(aws, table, {"pk": {"S": f"JOB#{job_id(1)}"}}, DAMAGE["half a record"])

    saved = jobs.save(job(1, Status.RUNNING, started=T0))
    with pytest.raises(Conflict):
        jobs.save(job(1))
    assert jobs.load([job_id(1)]) == {job_id(1): saved}


def test_a_damaged_queue_record_counts_as_none_and_the_next_pass_takes_its_place(
    aws: Clients, table: str, how: Callable[[Item], object]
) -> None:
    jobs = DynamoJobTable(aws.dynamodb, table)
    jobs.save_queue(QueueRecord(QUEUE, priorities=(("job", 4999),)))
    damage(aws, table, {"pk": {"S": f"QUEUE#{QUEUE}"}}, how)

    record = jobs.queue(QUEUE)
    assert replace(record, version=0) == QueueRecord(QUEUE)
    saved = jobs.save_queue(replace(record, owner="me"))
    assert jobs.queue(QUEUE) == saved


@pytest.mark.parametrize("name, value", [("priorities", [["job"]]), ("priorities", [["job", "high"]]), ("usage", 7),
                                         ("lease_until", "soon"), ("sweep", {"began": 1.0, "status": "LOST"}),
                                         ("suspects", [None]), ("description", {"name": "x"}), ("looked", None),
                                         ("next_wake_at", float("nan"))])  # fmt: skip
def test_a_queue_record_with_one_field_amiss_counts_as_none(aws: Clients, table: str, name: str, value: object) -> None:
    jobs = DynamoJobTable(aws.dynamodb, table)
    jobs.save_queue(QueueRecord(QUEUE))
    damage(
        aws, table, {"pk": {"S": f"QUEUE#{QUEUE}"}},
        lambda item: item.update(st={"S": json.dumps({**json.loads(item["st"]["S"]), name: value})}),
    )  # fmt: skip

    assert jobs.queue(QUEUE) == QueueRecord(QUEUE)


def test_a_damaged_history_is_learned_anew(aws: Clients, table: str) -> None:
    jobs = DynamoJobTable(aws.dynamodb, table)
    for amiss in ({"h": {"B": b"no zlib"}}, {"h": {"S": "{}"}}, {}):
        aws.dynamodb.put_item(TableName=table, Item={"pk": {"S": f"ESTIMATE#{QUEUE}"}, **amiss})
        assert jobs.history(QUEUE) == History()
        learned = History().learn([Finished(Kind("a", "sweep-#", 1, "sweep"), 60.0)])
        jobs.save_history(QUEUE, learned)
        assert jobs.history(QUEUE) == learned


def test_a_history_that_another_release_stored_without_a_version_is_gone_on_with(aws: Clients, table: str) -> None:
    jobs, kind = DynamoJobTable(aws.dynamodb, table), Kind("a", "sweep-#", 1, "sweep")
    jobs.save_history(QUEUE, History().learn([Finished(kind, 60.0)]))
    damage(aws, table, {"pk": {"S": f"ESTIMATE#{QUEUE}"}}, lambda item: [item.pop(name) for name in ("v", "t")])
    for seconds in (70.0, 80.0):
        jobs.save_history(QUEUE, jobs.history(QUEUE).learn([Finished(kind, seconds)]))
    assert jobs.history(QUEUE).circles[kind.circles()[0]] == (60.0, 70.0, 80.0)


def test_a_damaged_budget_is_empty_and_fills_from_now(aws: Clients, table: str) -> None:
    aws.dynamodb.put_item(TableName=table, Item={"pk": {"S": "BUDGET"}, "tokens": {"S": "many"}})
    jobs = DynamoJobTable(aws.dynamodb, table, calls_a_second=2.0)

    assert jobs.take_budget(10, T0) == 0
    assert jobs.take_budget(10, T0 + 3) == 6


PARTY = Party("job-1", "sweep", "sweep", 1)


def everything(control: DynamoControl, records: DynamoShareRecords, days: DynamoDayTable) -> None:
    control.put_policy(QUEUE, "{}", T0, "ana")
    control.put_effect(QUEUE, Effect("drift", T0, "production", 3600.0, T0 + 7200))
    control.put_pin(QUEUE, Pin("job-1", T0 + 3600, PinKind.FIRST, "ana", T0))
    control.put_notice(QUEUE, QueueNotice("blocked", "it is blocked", T0), None)
    records.put_eviction(QUEUE, Eviction("all", T0, PARTY, (PARTY,), How.SWITCH, 60.0))
    records.put_share_change(QUEUE, ShareChange("all", Setting.BORROW_LIMIT, 0, 50, T0, "alarm drift"))
    days.save([Day(QUEUE, "2027-01-15")])


def test_a_damaged_item_of_the_control_table_is_named_with_what_helps(aws: Clients, control_table: str) -> None:
    control = DynamoControl(aws.dynamodb, control_table)
    records = DynamoShareRecords(aws.dynamodb, control_table)
    days = DynamoDayTable(aws.dynamodb, control_table)
    everything(control, records, days)
    reads: dict[str, Callable[[], object]] = {
        f"POLICY#{QUEUE} v#": lambda: control.policy(QUEUE),
        f"EFFECT#{QUEUE}": lambda: control.effects(QUEUE),
        f"PIN#{QUEUE}": lambda: control.pins(QUEUE),
        f"NOTICE#{QUEUE}": lambda: control.notices(QUEUE),
        f"EVICTION#{QUEUE}": lambda: records.evictions(QUEUE, 0.0),
        f"SHARE#{QUEUE}": lambda: records.share_changes(QUEUE),
        f"DAY#{QUEUE}": lambda: days.newest(QUEUE),
    }
    for read in reads.values():
        read()
    for item in aws.dynamodb.scan(TableName=control_table)["Items"]:
        named = f"{item['pk']['S']} {item['sk']['S']}"
        kind = next((kind for kind in reads if named.startswith(kind)), None)
        if kind is None:
            continue
        for name in set(item) - {"pk", "sk", "expires_at", "until", "ended"}:
            for amiss in ({}, {name: {"NULL": True}}, {name: {"L": []}}):
                rest = {key: value for key, value in item.items() if key != name}
                aws.dynamodb.put_item(TableName=control_table, Item={**rest, **amiss})
                with pytest.raises(Unreadable) as caught:
                    reads[kind]()
                assert named in str(caught.value)
                assert "item of the control table" in str(caught.value) or "apply the policy" in str(caught.value)
        aws.dynamodb.put_item(TableName=control_table, Item=item)
        reads[kind]()


def test_a_stop_that_was_put_by_hand_in_any_shape_stops(aws: Clients, control_table: str) -> None:
    control = DynamoControl(aws.dynamodb, control_table)
    for more in ({}, {"by": {"N": "7"}, "at": {"S": "noon"}}, {"reason": {"BOOL": True}}):
        aws.dynamodb.put_item(TableName=control_table, Item={"pk": {"S": "STOP"}, "sk": {"S": "stop"}, **more})
        assert control.stopped()


def test_one_rollout_whose_line_is_damaged_keeps_no_other_from_being_woken(aws: Clients, control_table: str) -> None:
    rollouts = DynamoRolloutTable(aws.dynamodb, control_table)
    line = {"sk": {"S": "ROLLOUT"}, "open": {"S": "rollout"}, "next_wake_at": {"N": "5"}}
    sound = {"phase": {"S": "RUNNING"}, "generation": {"N": "1"}}
    for name, more in (("chat-v1", {}), ("chat-v2", sound), ("chat-v3", {**sound, "generation": {"S": "first"}})):
        aws.dynamodb.put_item(TableName=control_table, Item={"pk": {"S": f"ROLLOUT#{name}"}, **line, **more})

    assert [each.rollout for each in rollouts.open()] == ["chat-v2"]
    assert rollouts.wake("chat-v2").token == ""
    for name in ("chat-v1", "chat-v3"):
        with pytest.raises(Unreadable, match=f"ROLLOUT#{name}"):
            rollouts.wake(name)
        with pytest.raises(Unreadable, match=name):
            rollouts.load(name)


def test_a_lock_that_is_damaged_is_named(aws: Clients, control_table: str) -> None:
    aws.dynamodb.put_item(TableName=control_table, Item={"pk": {"S": "LOCK#chat"}, "sk": {"S": "LOCK"}})
    with pytest.raises(Unreadable, match="LOCK#chat LOCK"):
        DynamoRolloutTable(aws.dynamodb, control_table).locks(["chat"])


def test_a_version_other_than_the_one_read_is_still_a_conflict(aws: Clients, table: str) -> None:
    jobs = DynamoJobTable(aws.dynamodb, table)
    saved = jobs.save(job(1))
    with pytest.raises(Conflict):
        jobs.save(replace(saved, version=7))
