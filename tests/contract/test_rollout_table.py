"""The contract of the rollouts' table, and what only DynamoDB can do wrong."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.rollout_table import DynamoRolloutTable
from pointsman.errors import Conflict, Gone, Misconfigured
from pointsman.rollout_ports import Refusal, RolloutTable, StoredRollout
from pointsman.rollouts.commands import By, pause, rollback, start
from pointsman.rollouts.decide import decide, freeze
from pointsman.rollouts.decision import Decision, SetCopies, replay
from pointsman.rollouts.observations import AlarmState, LockView
from pointsman.rollouts.reasons import Notice
from pointsman.rollouts.record import SCHEMA, CopyNote, Phase, RolloutRecord, State
from pointsman.rollouts.request import Guard, Request
from pointsman.rollouts.specs import Spec
from tests.contract.interference import Interfered
from tests.contract.rollout_tables import make_rollout_table
from tests.fakes.rollout_table import FakeRolloutTable
from tests.unit.rollouts.build import NOW, ONE_GPU, alarm, component, endpoint, request, seen

ANA = By("ana", NOW)


@pytest.fixture
def table_name(aws: Clients, written: dict[str, Any]) -> str:
    return make_rollout_table(aws, written)


@pytest.fixture(params=["fake", "DynamoDB"])
def table(request: pytest.FixtureRequest) -> RolloutTable:
    if request.param == "fake":
        return FakeRolloutTable()
    aws: Clients = request.getfixturevalue("aws")
    return DynamoRolloutTable(aws.dynamodb, request.getfixturevalue("table_name"))


def asked(table: RolloutTable, rollout: str = "r1", **changes: Any) -> StoredRollout:
    wanted: Request = request(rollout=rollout, **changes)
    table.create(wanted, start(wanted, ANA))
    return table.load(rollout)


def frozen(table: RolloutTable, rollout: str = "r1", count: int = 3) -> StoredRollout:
    stored = asked(table, rollout)
    views = [component(f"m{n}", endpoint=f"e{n % 2}") for n in range(count)]
    roomy = {name: endpoint(name, views, count=40) for name in ("e0", "e1")}
    known = seen(*views, locks=table.locks(["e0", "e1"]), endpoints=roomy)
    decision = freeze(stored.record, stored.request, known, NOW + 1)
    return table.commit(stored, decision, NOW + 1, 1)


def noticed(stored: StoredRollout, *notices: Notice) -> Decision:
    return replace(pause(stored.record, ANA), notices=notices)


def test_a_rollout_that_nobody_asked_for_is_gone(table: RolloutTable) -> None:
    with pytest.raises(Gone):
        table.load("r1")
    with pytest.raises(Gone):
        table.wake("r1")
    assert table.open() == ()


def test_a_rollout_is_loaded_as_it_was_asked_for(table: RolloutTable) -> None:
    stored = asked(table)

    assert stored.record == start(request(), ANA).record
    assert stored.request == request()
    assert (stored.plan, stored.wake_seq, stored.generation, stored.passes) == (None, 0, 1, 0)


def test_an_id_is_taken_once(table: RolloutTable) -> None:
    asked(table)

    with pytest.raises(Conflict):
        asked(table)


def test_a_frozen_plan_is_loaded_whole_with_its_locks_and_components(table: RolloutTable) -> None:
    written = frozen(table, count=12)

    loaded = table.load("r1")
    assert loaded == written
    assert loaded.record.phase is Phase.PREFLIGHT
    assert [c.name for c in loaded.record.components] == [m.name for m in loaded.plan.members] if loaded.plan else False
    assert table.locks(["e0", "e1", "e2"]) == {"e0": LockView("r1", 1), "e1": LockView("r1", 1)}
    assert [(line.alarms, line.endpoints) for line in table.open()] == [
        (("fleet-errors", "pointsman-kill-r1"), ("e0", "e1"))
    ]


def test_the_largest_fleet_is_frozen_in_one_commit(table: RolloutTable) -> None:
    long = Spec("ranker-v1", environment=tuple((f"KEY_{n}", "v" * 100) for n in range(16)), compute=ONE_GPU)
    views = [component(f"m{n:03d}-{'x' * 50}", endpoint=f"e{n % 40:02d}-{'x' * 50}", spec=long) for n in range(200)]
    guards = tuple(Guard(f"{{component}}-{'a' * 100}-{n}") for n in range(3))
    stored = asked(table, guards=guards)
    names = sorted({view.endpoint for view in views})
    known = seen(
        *views,
        endpoints={name: endpoint(name, views, count=40) for name in names},
        alarms={guard.named(view.name, view.endpoint): alarm() for guard in guards for view in views},
    )
    written = table.commit(stored, freeze(stored.record, stored.request, known, NOW + 1), NOW + 1, 1)

    assert written.record.phase is Phase.PREFLIGHT, written.record.cause
    assert table.load("r1") == written
    assert len(table.open()[0].alarms) == 601
    assert len(table.locks(names)) == 40


def test_a_changed_component_is_loaded_beside_the_untouched(table: RolloutTable) -> None:
    stored = frozen(table)
    after = stored.record.with_component(replace(stored.record.component("m1"), state=State.RESERVED, sentence="now"))
    decision = pause(after, ANA)
    changed = replace(decision, journal=replace(_line(decision), components=(after.component("m1"),)))
    written = table.commit(stored, changed, NOW + 5, 1)

    loaded = table.load("r1")
    assert loaded == written
    assert [c.state for c in loaded.record.components] == [State.PENDING, State.RESERVED, State.PENDING]


def test_of_two_passes_that_read_the_same_only_one_commits(table: RolloutTable) -> None:
    stored = asked(table)
    table.commit(stored, pause(stored.record, ANA), NOW + 5, 1)

    with pytest.raises(Conflict):
        table.commit(stored, rollback(stored.record, ANA), NOW + 5, 1)
    with pytest.raises(Conflict):
        table.sleep(stored, NOW + 9, 1)
    assert len(table.journal("r1")) == 2


def test_a_pass_of_a_generation_that_was_succeeded_commits_nothing(table: RolloutTable) -> None:
    stored = asked(table)

    assert table.succeed("r1", 1) == 2
    assert table.succeed("r1", 1) == 2
    with pytest.raises(Conflict):
        table.commit(stored, pause(stored.record, ANA), NOW + 5, 1)
    with pytest.raises(Conflict):
        table.sleep(stored, NOW + 5, 1)


def test_a_lock_of_another_rollout_stops_the_whole_commit(table: RolloutTable) -> None:
    frozen(table, "r1")
    stored = asked(table, "r2")
    decision = freeze(stored.record, stored.request, seen(component("m0", endpoint="e0")), NOW)

    with pytest.raises(Conflict):
        table.commit(stored, replace(decision, locks=(("e0", 2),)), NOW, 1)
    assert table.load("r2") == stored
    assert table.locks(["e0"]) == {"e0": LockView("r1", 1)}


def test_a_lock_that_was_given_up_is_taken_under_the_next_fence_only(table: RolloutTable) -> None:
    stored = frozen(table, "r1")
    given = replace(pause(stored.record, ANA), unlocks=("e0", "e1"))
    table.commit(stored, given, NOW + 5, 1)
    assert table.locks(["e0"]) == {"e0": LockView("", 1)}
    other = asked(table, "r2")
    decision = freeze(other.record, other.request, seen(component("m0", endpoint="e0")), NOW)

    with pytest.raises(Conflict):
        table.commit(other, replace(decision, locks=(("e0", 1),)), NOW, 1)
    table.commit(other, replace(decision, locks=(("e0", 2),)), NOW, 1)
    assert table.locks(["e0"]) == {"e0": LockView("r2", 2)}


def test_an_act_on_an_endpoint_that_is_no_longer_ours_is_not_committed(table: RolloutTable) -> None:
    stored = frozen(table, "r1")
    written = table.commit(stored, replace(pause(stored.record, ANA), unlocks=("e0",)), NOW + 5, 1)
    acting = replace(rollback(written.record, ANA), acts=(SetCopies("m0", 2, NOW + 99),))

    with pytest.raises(Conflict):
        table.commit(written, acting, NOW + 6, 1)
    table.commit(written, replace(acting, acts=(SetCopies("m1", 2, NOW + 99),)), NOW + 6, 1)


def test_a_note_on_a_component_outside_the_plan_is_kept(table: RolloutTable) -> None:
    stored = frozen(table)
    note = CopyNote("giving", "e0", 4, 2, since=NOW)
    decision = pause(replace(stored.record, copies=(note,)), ANA)
    table.commit(stored, decision, NOW + 5, 1)

    assert table.load("r1").record.copies == (note,)


def test_the_journal_rebuilds_the_record(table: RolloutTable) -> None:
    stored = frozen(table)
    switched = seen(*(component(f"m{n}", endpoint=f"e{n % 2}") for n in range(3)), kill_switch=AlarmState.OK)
    for step in range(6):
        assert stored.plan is not None
        views = replace(switched, began=NOW + 2 + step, alarms={"fleet-errors": alarm()})
        decision = decide(stored.record, stored.plan, views, NOW + 2 + step)
        if decision.journal is not None:
            stored = table.commit(stored, decision, NOW + 2 + step, 1)

    assert replay(RolloutRecord("r1"), table.journal("r1")) == table.load("r1").record


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


def test_open_rollouts_come_in_the_order_of_their_wakes(table: RolloutTable) -> None:
    for number, rollout in enumerate(("r1", "r2", "r3")):
        table.sleep(asked(table, rollout), NOW + 50 - number, 1)

    assert [line.rollout for line in table.open()] == ["r3", "r2", "r1"]
    assert [line.next_wake_at for line in table.open()] == [NOW + 48, NOW + 49, NOW + 50]


def test_the_last_rollouts_are_listed_the_newest_first(table: RolloutTable) -> None:
    for number, rollout in enumerate(("r2", "r1", "r3")):
        wanted = request(rollout=rollout)
        table.create(wanted, start(wanted, By("ana", NOW + number)))

    assert table.rollouts(2) == ("r3", "r1")
    assert table.rollouts(0) == ()


def test_a_notice_is_there_until_it_was_sent_and_once_only(table: RolloutTable) -> None:
    stored = asked(table)
    table.sent("r1", "r1/started")
    notice = Notice("r1/hold", "It is held.")
    stored = table.commit(stored, noticed(stored, notice), NOW + 5, 1)
    assert table.notices("r1") == (notice,)
    table.sent("r1", "r1/hold")

    resumed = replace(stored, record=replace(stored.record, holds=()))
    table.commit(stored, noticed(resumed, notice), NOW + 6, 1)
    assert table.notices("r1") == ()


def test_more_notices_than_a_transaction_holds_are_told_as_fewer(table: RolloutTable) -> None:
    stored = asked(table)
    many = tuple(Notice(f"r1/n{number:03d}", f"Sentence {number}.") for number in range(98))
    table.commit(stored, noticed(stored, *many), NOW + 5, 1)

    text = " ".join(notice.sentence for notice in table.notices("r1"))
    assert all(f"Sentence {number}." in text for number in range(98))


def test_a_rollout_that_has_ended_is_done_with_once_its_notices_are_sent(table: RolloutTable) -> None:
    stored = asked(table)
    ended = table.commit(stored, rollback(stored.record, ANA), NOW + 5, 1)
    assert ended.record.phase is Phase.REJECTED
    assert [line.unsent for line in table.open()] == [2]

    table.settle("r1", 1)
    assert [line.unsent for line in table.open()] == [2]
    table.close("r1")
    assert [line.unsent for line in table.open()] == [2]
    table.settle("r1", 2)
    assert [(line.unsent, line.phase) for line in table.open()] == [(0, Phase.REJECTED)]
    table.close("r1")
    assert table.open() == ()
    assert table.load("r1").record == ended.record


def test_an_open_rollout_stays_open_when_its_notices_are_sent(table: RolloutTable) -> None:
    asked(table)
    table.settle("r1", 1)
    table.close("r1")

    assert [line.unsent for line in table.open()] == [0]


def test_an_alarm_after_the_end_is_told_of_once(table: RolloutTable) -> None:
    stored = asked(table)
    notice = Notice("r1/late", "Too late.")
    table.late("r1", notice)
    assert [n.key for n in table.notices("r1")] == ["r1/started"]
    table.commit(stored, replace(rollback(stored.record, ANA), notices=()), NOW + 5, 1)
    table.sent("r1", "r1/started")
    table.settle("r1", 1)

    table.late("r1", notice)
    table.late("r1", notice)
    assert table.notices("r1") == (notice,)
    (line,) = table.open()
    table.sent("r1", "r1/late")
    table.settle("r1", line.unsent)
    table.late("r1", notice)
    assert table.notices("r1") == ()
    assert table.load("r1").unsent == 0


def test_a_rollout_may_begin_with_a_plan_and_its_locks(table: RolloutTable) -> None:
    planned = frozen(table, "r1")
    assert planned.plan is not None
    wanted = replace(planned.request, rollout="r2")
    plan = replace(planned.plan, request=wanted)
    begun = start(wanted, ANA)
    parts = (replace(planned.record.components[0], state=State.REVERT_WAIT),)
    begun = replace(begun, record=replace(begun.record, components=parts, fences=(("e0", 2),)), plan=plan)

    with pytest.raises(Conflict):
        table.create(wanted, replace(begun, locks=(("e0", 2),)))
    table.create(wanted, replace(begun, locks=(("e9", 1),)))

    loaded = table.load("r2")
    assert (loaded.plan, loaded.record) == (plan, begun.record)
    assert table.locks(["e9"]) == {"e9": LockView("r2", 1)}


def test_refusals_are_kept_by_component(table: RolloutTable) -> None:
    asked(table)
    table.reply("r1", {"m1": Refusal(2, "busy")})

    assert table.load("r1").refusals == {"m1": Refusal(2, "busy")}


def test_a_component_that_changes_between_two_reads_makes_the_commit_fail(aws: Clients, table_name: str) -> None:
    table = DynamoRolloutTable(aws.dynamodb, table_name)
    stored = frozen(table)

    def query(real: Callable[..., Any], **asked_for: Any) -> Any:
        if asked_for["ExpressionAttributeValues"][":sk"] == {"S": "COMPONENT#"}:
            after = stored.record.with_component(replace(stored.record.component("m1"), state=State.RESERVED))
            decision = pause(after, ANA)
            changed = replace(decision, journal=replace(_line(decision), components=(after.component("m1"),)))
            table.commit(stored, changed, NOW + 5, 1)
        return real(**asked_for)

    torn = DynamoRolloutTable(Interfered(aws.dynamodb, query=query), table_name).load("r1")

    assert torn.record.component("m1").state is State.RESERVED
    assert torn.record.holds == ()
    with pytest.raises(Conflict):
        table.commit(torn, rollback(torn.record, ANA), NOW + 6, 1)


def test_a_record_of_an_older_schema_is_loaded_and_goes_on(aws: Clients, table_name: str) -> None:
    table = DynamoRolloutTable(aws.dynamodb, table_name)
    stored = frozen(table)
    older = dict(_state(aws, table_name), forgotten="of no use")
    for added in ("waivers", "baked", "cause"):
        del older[added]
    _set(aws, table_name, {":state": {"S": json.dumps(older)}, ":schema": {"N": str(SCHEMA - 1)}})

    loaded = table.load("r1")
    assert loaded == stored
    written = table.commit(loaded, pause(loaded.record, ANA), NOW + 5, 1)
    assert table.load("r1") == written
    assert replay(RolloutRecord("r1"), table.journal("r1")) == written.record


def test_a_record_of_a_later_schema_is_not_guessed_at(aws: Clients, table_name: str) -> None:
    table = DynamoRolloutTable(aws.dynamodb, table_name)
    frozen(table)
    state = json.dumps(_state(aws, table_name))
    _set(aws, table_name, {":state": {"S": state}, ":schema": {"N": str(SCHEMA + 1)}})

    with pytest.raises(Misconfigured, match="later"):
        table.load("r1")


def test_what_cannot_be_read_is_said(aws: Clients, table_name: str) -> None:
    table = DynamoRolloutTable(aws.dynamodb, table_name)
    frozen(table)
    state = json.dumps({**_state(aws, table_name), "phase": "DANCING"})
    _set(aws, table_name, {":state": {"S": state}, ":schema": {"N": str(SCHEMA)}})

    with pytest.raises(Misconfigured, match="DANCING"):
        table.load("r1")


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


def _line(decision: Decision) -> Any:
    assert decision.journal is not None
    return decision.journal


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
