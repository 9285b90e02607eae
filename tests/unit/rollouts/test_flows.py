"""What an operator can see of rollouts in a calm world, on the way on: waves, gates, holds, room."""

from dataclasses import replace
from typing import Any

import pytest

from pointsman.rollouts.commands import approve, resume, waive
from pointsman.rollouts.decide import decide
from pointsman.rollouts.decision import CreateSwitch, SetCopies, SubmitUpdate
from pointsman.rollouts.observations import Suspension
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import Direction, HoldKind, State, Step
from pointsman.rollouts.request import Capacity, Freeze, NoTraffic, WhenShort
from tests.unit.rollouts.build import BIG_BOX, NOW, SMALL_BOX
from tests.unit.rollouts.drive import held, reasons, until, updates, world
from tests.unit.rollouts.truth import Part
from tests.unit.rollouts.world import Edges

# ---------------------------------------------------------------------------------------------------------- the way on


def test_a_good_version_reaches_every_component_wave_by_wave() -> None:
    made = world()
    assert made.run().phase is Phase.SUCCEEDED
    assert updates(made, Direction.FORWARD)[:2] == ["m1", "m2"]
    assert set(updates(made, Direction.FORWARD)[2:]) == {"m3", "m4"}
    assert reasons(made).count(Reason.WAVE_RESERVED) == 3 + 4


def test_every_forward_update_lists_the_kill_switch_and_none_before_it_is_ready() -> None:
    made = world()
    made.run()
    first = next(n for n, act in enumerate(made.acts) if isinstance(act, SubmitUpdate))
    assert any(isinstance(act, CreateSwitch) for act in made.acts[:first])
    assert all("pointsman-kill-r1" in a.alarms for a in made.acts if isinstance(a, SubmitUpdate))


def test_what_gave_way_comes_back_and_one_copy_is_one_again() -> None:
    made = world()
    made.run()
    copies = [(a.component, a.copies) for a in made.acts if isinstance(a, SetCopies)]
    assert ("m2", 2) in copies
    assert copies.index(("m2", 2)) < copies.index(("m2", 1))
    assert made.truth.parts["y1"].scaling == Suspension(scale_in=True)


def test_a_pass_that_finds_nothing_new_changes_nothing() -> None:
    made = world()
    record = until(made, Phase.RUNNING, Step.BAKING)
    assert made.plan is not None
    decision = decide(record, made.plan, made.truth.observe(), made.truth.now)
    assert (decision.journal, decision.acts, decision.record) == (None, (), record)
    assert decision.next_wake_at is not None
    assert decision.next_wake_at > made.truth.now


@pytest.mark.parametrize("end", ["good", "bad"])
def test_a_record_that_has_ended_never_changes(end: str) -> None:
    made = world() if end == "good" else world().ready()
    record = made.run()
    assert made.plan is not None
    decision = decide(record, made.plan, made.truth.observe(), made.truth.now + 1e6)
    assert (decision.record, decision.acts, decision.next_wake_at) == (record, (), None)


# --------------------------------------------------------------------------------------------------------------- holds


def test_what_settles_during_a_pause_bakes_none_of_it() -> None:
    """However late the next pass comes."""
    made = world()
    until(made, Phase.RUNNING, Step.SETTLING)
    made.mischief("pause")
    made.run(stop=lambda: made.record.step is Step.BAKING and not made.running)
    made.wake = made.truth.now + 250
    made.run(until=1000.0)
    assert made.record.baked == 0.0


def test_a_pause_stops_the_bake_clock_and_nothing_else() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING)
    made.mischief("pause")
    made.run(until=3000.0)
    assert (made.record.step, made.record.wave) == (Step.BAKING, 0)
    made.command(resume)
    resumed = made.truth.now
    until(made, Phase.RUNNING, Step.GATED)
    assert made.truth.now - resumed > 200


def test_an_alarm_is_acted_on_in_a_pause() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING)
    made.mischief("pause")
    made.truth.bad, made.truth.rate = True, 1.0
    assert made.run().phase is Phase.ROLLED_BACK


def test_while_everything_is_stopped_nothing_begins_and_ways_back_go_on() -> None:
    made = world(edges=Edges(see=lambda seen: replace(seen, stopped=made.truth.now < NOW + 5000)))
    made.run(until=4000.0)
    assert not updates(made, Direction.FORWARD)
    assert made.run().phase is Phase.SUCCEEDED
    made = world(edges=Edges(see=lambda seen: replace(seen, stopped=made.truth.now > NOW + 800)))
    until(made, Phase.RUNNING, Step.ADMITTING, wave=1)
    made.truth.advance(500)
    made.mischief("rollback")
    assert made.run().phase is Phase.ROLLED_BACK


def test_a_wave_waits_for_its_approval() -> None:
    made = world(approvals=(2,))
    record = held(made, HoldKind.APPROVAL)
    made.run(until=5000.0)
    assert (made.record.wave, made.record.step) == (1, Step.ADMITTING)
    assert updates(made, Direction.FORWARD) == ["m1"]
    plan = made.plan
    assert plan is not None
    made.command(lambda r, by: approve(r, plan, 2, by))
    assert record.components == made.record.components
    assert made.run().phase is Phase.SUCCEEDED


def test_a_freeze_holds_the_way_on_until_it_ends() -> None:
    made = world(freezes=(Freeze(NOW, NOW + 7200),))
    made.run(until=7000.0)
    assert not updates(made, Direction.FORWARD)
    assert made.record.hold(HoldKind.FREEZE) is not None
    assert made.run().phase is Phase.SUCCEEDED


def test_neither_freeze_nor_approval_nor_pause_holds_the_way_back() -> None:
    made = world(approvals=(2,), freezes=(Freeze(NOW + 1500, NOW + 1e6),))
    held(made, HoldKind.APPROVAL)
    made.mischief("pause")
    made.truth.advance(1500)
    made.mischief("rollback")
    assert made.run().phase is Phase.ROLLED_BACK


QUIET = [
    ("held, and stopped when nobody comes", {"no_traffic": NoTraffic.HOLD}, Phase.STOPPED),
    ("passed, where a person said so before", {"no_traffic": NoTraffic.WAIVE}, Phase.SUCCEEDED),
    ("baked longer, then held and stopped", {"no_traffic": NoTraffic.EXTEND, "extend": 7200.0}, Phase.STOPPED),
]


@pytest.mark.parametrize("asked,end", [q[1:] for q in QUIET], ids=[q[0] for q in QUIET])
def test_a_quiet_endpoint_is(asked: dict[str, Any], end: Phase) -> None:
    made = world(**asked)
    made.truth.quiet = True
    assert made.run().phase is end
    assert made.truth.now - NOW > asked.get("extend", 0.0)


def test_a_person_may_waive_what_a_gate_lacks_for_this_wave_only() -> None:
    made = world()
    made.truth.quiet = True
    held(made, HoldKind.NO_TRAFFIC)
    made.command(lambda r, by: waive(r, HoldKind.NO_TRAFFIC, by))
    record = held(made, HoldKind.NO_TRAFFIC)
    assert record.wave == 1


def test_a_waiver_of_the_last_wave_is_none_of_the_final_bake() -> None:
    made = world(waves=())
    made.truth.quiet = True
    held(made, HoldKind.NO_TRAFFIC)
    made.command(lambda r, by: waive(r, HoldKind.NO_TRAFFIC, by))
    assert held(made, HoldKind.NO_TRAFFIC).phase is Phase.FINAL_BAKE


def test_a_doubtful_alarm_holds_and_goes_on_when_it_is_sound_again() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING)
    made.truth.problem = "partial data"
    held(made, HoldKind.INCONCLUSIVE)
    made.truth.problem = ""
    assert made.run().phase is Phase.SUCCEEDED


# ------------------------------------------------------------------------------------------------------------ capacity


def test_no_wave_begins_without_room_and_it_goes_on_when_there_is_some() -> None:
    made = world()
    until(made, Phase.PREFLIGHT)
    made.truth.boxes["e1"] = (1, 1, BIG_BOX)
    made.truth.parts["m0"] = Part("m0", "e1", 3)
    record = held(made, HoldKind.CAPACITY)
    assert not updates(made, Direction.FORWARD)
    assert all(c.state is State.PENDING for c in record.components)
    made.truth.boxes["e1"] = (1, 3, BIG_BOX)
    assert made.run().phase is Phase.SUCCEEDED


def test_room_that_does_not_come_stops_the_rollout() -> None:
    made = world()
    until(made, Phase.PREFLIGHT)
    made.truth.boxes["e1"] = (1, 1, BIG_BOX)
    made.truth.parts["m0"] = Part("m0", "e1", 3)
    record = made.run()
    assert record.phase is Phase.STOPPED
    assert "needs 2 instances" in record.cause


def test_capacity_try_begins_without_room() -> None:
    made = world(capacity=Capacity.TRY, reason="no other way", person="maria", yielding=())
    made.truth.boxes["e1"] = (1, 1, BIG_BOX)
    made.truth.parts["m0"] = Part("m0", "e1", 3)
    assert made.run().phase is Phase.SUCCEEDED


def test_a_wave_is_reserved_whole_or_not_at_all() -> None:
    """Endpoint e3 is full and nobody gives way, so m3 on e2 waits too."""
    made = world(yielding=(), when_short=WhenShort.WAIT, capacity_wait=3000.0)
    record = held(made, HoldKind.CAPACITY)
    assert record.wave == 2
    made.run(until=2000.0)
    assert updates(made, Direction.FORWARD) == ["m1", "m2"]
    made.truth.boxes["e3"] = (8, 8, SMALL_BOX)
    assert made.run().phase is Phase.SUCCEEDED


def test_a_batch_follows_the_copies_that_a_component_has_by_then() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING)
    part = made.truth.parts["m2"]
    part.copies = part.current = 12
    made.run()
    sent = [a for a in made.acts if isinstance(a, SubmitUpdate) and a.component == "m2"]
    assert [a.attempt.batch.copies for a in sent] == [6]
    assert part.copies == 12
