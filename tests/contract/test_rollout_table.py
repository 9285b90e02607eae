"""The contract of the rollouts' table: one record, its plan and its locks, committed whole or not at all."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.rollout_table import DynamoRolloutTable
from pointsman.errors import Conflict, Gone
from pointsman.rollout_ports import Refusal, RolloutTable
from pointsman.rollouts.commands import By, pause, rollback, start
from pointsman.rollouts.decide import decide, freeze
from pointsman.rollouts.decision import Decision, SetCopies, replay
from pointsman.rollouts.observations import AlarmState, LockView
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import CopyNote, RolloutRecord, State
from pointsman.rollouts.request import Guard
from pointsman.rollouts.specs import Spec
from tests.contract.interference import Interfered
from tests.contract.rollout_tables import ANA, asked, frozen
from tests.unit.rollouts.build import NOW, ONE_GPU, alarm, component, endpoint, request, seen


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


def test_the_last_rollouts_are_listed_the_newest_first(table: RolloutTable) -> None:
    for number, rollout in enumerate(("r2", "r1", "r3")):
        wanted = request(rollout=rollout)
        table.create(wanted, start(wanted, By("ana", NOW + number)))

    assert table.rollouts(2) == ("r3", "r1")
    assert table.rollouts(0) == ()


def test_a_lock_that_was_kept_for_a_person_goes_to_the_rollout_that_is_linked_to_its_owner(table: RolloutTable) -> None:
    frozen(table)
    wanted = request(rollout="r2", retry_of="r1")
    asked(table, "r2", retry_of="r1")
    stored = table.load("r2")
    known = seen(component("m0", endpoint="e0"), locks=table.locks(["e0"]))
    decision = freeze(stored.record, wanted, known, NOW)
    table.commit(stored, decision, NOW, 1)

    assert table.locks(["e0"]) == {"e0": LockView("r2", 2)}


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


def _line(decision: Decision) -> Any:
    assert decision.journal is not None
    return decision.journal
