"""Names that try to be keys, expressions or other people's items: each comes back as it was, and nothing else moves."""

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.control_table import DynamoControl
from pointsman.aws.job_table import DynamoJobTable
from pointsman.aws.share_records import DynamoShareRecords
from pointsman.ports import RecordedMove, Write
from pointsman.queues.effects import Effect
from pointsman.queues.evictions import Eviction, Party
from pointsman.queues.notices import QueueNotice
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.reasons import Move, Reason
from pointsman.queues.share_changes import Setting, ShareChange
from tests.contract.jobs import QUEUE, T0, job
from tests.contract.tables import create_table
from tests.proof.hostile import HOSTILE

OTHER = "other-training"
LIKE_KEYS = ("search-training", "STOP", "POLICY#search-training", "a#0000000000001#production", ":pk", "#n", *HOSTILE)


def test_a_name_is_a_value_of_its_own_item_in_both_tables(aws: Clients, written: dict[str, object]) -> None:
    control = DynamoControl(aws.dynamodb, create_table(aws, written, "ControlTable"))
    jobs = DynamoJobTable(aws.dynamodb, create_table(aws, written, "JobsTable"))
    records = DynamoShareRecords(aws.dynamodb, "ControlTable")
    control.put_policy(QUEUE, "{}", T0, "ana")
    party = [Party(name, name, "sweep", 1) for name in LIKE_KEYS]
    effects = [Effect(name, T0 + n, "production", 60.0) for n, name in enumerate(LIKE_KEYS)]
    pins = {name: Pin(name, T0 + 60, PinKind.FIRST, name, T0) for name in LIKE_KEYS}
    notices = {QueueNotice(name, name, T0) for name in LIKE_KEYS}
    evictions = [Eviction(each.name, T0 + n, each, (each,)) for n, each in enumerate(party)]
    changes = {ShareChange(name, Setting.BORROW_LIMIT, 0, 50, T0, name) for name in LIKE_KEYS}
    writes = {name: Write(name, 0, 1, 2, T0) for name in LIKE_KEYS}
    moves = {
        RecordedMove(QUEUE, T0, Move(name, name, "sweep", 0, 1, Reason.FRONT, name), 1, "done") for name in LIKE_KEYS
    }
    rows = {name: jobs.save(job(job_id=name, name=name)) for name in LIKE_KEYS}
    for effect in effects:
        control.put_effect(QUEUE, effect)
    for pin in pins.values():
        control.put_pin(QUEUE, pin)
    for notice in notices:
        control.put_notice(QUEUE, notice, None)
    for eviction in evictions:
        records.put_eviction(QUEUE, eviction)
    for change in changes:
        records.put_share_change(QUEUE, change)
    control.put_writes(list(writes.values()), {})
    control.record(list(moves))

    assert list(control.effects(QUEUE)) == effects
    assert {pin.job_id: pin for pin in control.pins(QUEUE)} == pins
    assert set(control.notices(QUEUE)) == notices
    assert list(records.evictions(QUEUE, 0.0)) == evictions
    assert set(records.share_changes(QUEUE)) == changes
    assert control.writes(LIKE_KEYS) == writes
    assert set(control.moves(QUEUE, 0.0, 1000)) == moves
    assert jobs.load(LIKE_KEYS) == rows
    assert not control.stopped()
    assert control.queues() == (QUEUE,)
    ruling = control.policy(QUEUE)
    assert ruling is not None
    assert ruling.document == "{}"
    for name in LIKE_KEYS:
        control.remove_pin(QUEUE, name)
    assert control.pins(QUEUE) == ()
    for read in (control.effects, control.pins, control.notices, records.share_changes):
        assert read(OTHER) == ()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_pattern_of_alarms_is_a_prefix_and_a_glob_and_asks_for_no_more(aws: Clients, name: str) -> None:
    from pointsman.aws.alarms import CloudWatchAlarms

    alarm = "drift-" + "".join(char for char in name if 31 < ord(char) < 127)
    aws.cloudwatch.put_metric_alarm(
        AlarmName="someone-else", MetricName="m", Namespace="n", Period=60, EvaluationPeriods=1, Threshold=1.0,
        ComparisonOperator="GreaterThanThreshold", Statistic="Sum",
    )  # fmt: skip
    aws.cloudwatch.set_alarm_state(AlarmName="someone-else", StateValue="ALARM", StateReason="x")
    assert CloudWatchAlarms(aws.cloudwatch).transitions(alarm, T0 - 1e9) == ()
