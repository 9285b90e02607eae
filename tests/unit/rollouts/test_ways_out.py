"""What an operator can see of rollouts that stop, go back, drift, get stuck, or need a person."""

import itertools

import pytest

from pointsman.rollouts.commands import retry
from pointsman.rollouts.decision import FireSwitch, SubmitUpdate, SuspendScaling
from pointsman.rollouts.draft import ATTEMPTS_BACK, MOST_CHANGES, PATIENCE
from pointsman.rollouts.observations import WHOLE, AlarmState, Suspension
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import Direction, HoldKind, NoteState, State, Step, Switch
from pointsman.rollouts.request import Amount, OnFailure, Yielding
from tests.unit.rollouts.build import BIG_BOX, NEW, OLD, OTHER
from tests.unit.rollouts.drive import held, until, updates, world
from tests.unit.rollouts.truth import Flight, Part
from tests.unit.rollouts.world import Trouble, World, calm

# ------------------------------------------------------------------------------------------------------- the ways out


def test_from_an_alarm_to_the_first_call_it_takes_a_pass_and_the_commit_of_its_intent() -> None:
    made = world(concurrency=1)
    until(made, Phase.RUNNING, Step.UPDATING, wave=1)
    made.run(stop=lambda: made.truth.parts["m2"].flight is not None and not made.running)
    made.truth.alarm_until = made.truth.now + 5000
    made.truth.alarmed.append(made.truth.now)
    passes, calls = made.passes, len(made.acts)
    made.run(stop=lambda: len(made.acts) > calls)
    assert isinstance(made.acts[calls], FireSwitch)
    assert made.passes - passes <= 2 + 1  # one may have been due already when the alarm fired


def test_what_is_finished_goes_back_the_newest_wave_first_and_without_alarms() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.GATED, wave=1)
    made.mischief("rollback")
    assert made.run().phase is Phase.ROLLED_BACK
    backs = [a for a in made.acts if isinstance(a, SubmitUpdate) and a.attempt.direction is Direction.BACK]
    assert [a.component for a in backs] == ["m2", "m1"]
    assert all(a.alarms == () for a in backs)
    assert all(a.attempt.rollback_batch.copies > 0 for a in backs)


def test_an_abort_takes_back_what_is_in_flight_and_keeps_what_is_finished() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.UPDATING, wave=1)
    made.run(stop=lambda: made.truth.parts["m2"].flight is not None and not made.running)
    made.mischief("abort")
    assert made.run().phase is Phase.STOPPED
    assert [made.truth.parts[name].spec for name in ("m1", "m2", "m3", "m4")] == [NEW, OLD, OLD, OLD]
    assert made.record.switch is Switch.DELETED


def test_what_gave_way_and_is_not_given_back_keeps_no_endpoint_locked() -> None:
    """The only way to free it would be to take back what has succeeded."""
    made = world()
    made.run(stop=lambda: any(n.component == "y1" and n.state is NoteState.LOWERED for n in made.record.copies))
    made.truth.parts["y1"].gone = True
    assert made.run(until=400_000).phase is Phase.SUCCEEDED
    assert made.record.needs_human == ("y1",)
    assert {lock.owner for lock in made.truth.locks.values()} == {""}


def test_a_component_that_is_gone_keeps_no_endpoint_locked() -> None:
    """Each way back would find it gone again, and hand the lock on for ever."""
    made = world()
    until(made, Phase.RUNNING, Step.GATED, wave=1)
    made.truth.parts["m1"].gone = True
    made.mischief("rollback")
    assert made.run(until=400_000).phase is Phase.ROLLBACK_INCOMPLETE
    assert made.record.needs_human == ("m1",)
    assert {lock.owner for lock in made.truth.locks.values()} == {""}


def test_an_abort_before_anything_was_changed_changes_nothing() -> None:
    made = world()
    until(made, Phase.PREFLIGHT)
    made.mischief("abort")
    assert made.run().phase is Phase.REJECTED
    assert not updates(made, Direction.FORWARD)


def test_a_failure_stops_where_the_request_says_so() -> None:
    made = world(on_failure=OnFailure.STOP)
    until(made, Phase.RUNNING, Step.GATED, wave=0)
    made.truth.dies = 1.0
    assert made.run().phase is Phase.STOPPED
    assert made.truth.parts["m1"].spec == NEW
    assert not updates(made, Direction.BACK)
    assert "m2" in made.record.cause


def test_the_switch_is_gone_after_a_long_final_bake() -> None:
    made = world(final_bake=80_000.0)
    assert made.run().phase is Phase.SUCCEEDED
    assert made.truth.switch is None


def test_the_switch_goes_though_the_end_is_held() -> None:
    made = world()
    made.run(stop=lambda: made.record.switch is Switch.DELETING and not made.running)
    made.mischief("pause")
    made.run(until=1000.0)
    assert (made.record.phase, made.truth.switch) == (Phase.FINAL_BAKE, None)


def test_an_alarm_in_the_final_bake_takes_everything_back() -> None:
    made = world()
    until(made, Phase.FINAL_BAKE)
    made.truth.bad, made.truth.rate = True, 1.0
    assert made.run().phase is Phase.ROLLED_BACK
    assert all(made.truth.parts[name].spec == OLD for name in ("m1", "m2", "m3", "m4"))


def test_a_kill_switch_fires_while_the_alarm_is_deleted_only_at_the_end() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.UPDATING)
    made.run(stop=lambda: made.truth.parts["m1"].flight is not None and not made.running)
    made.mischief("rollback")
    made.run(stop=lambda: made.record.switch is Switch.FIRED)
    assert made.truth.switch is AlarmState.ALARM
    made.run()
    assert made.truth.switch is None


@pytest.mark.parametrize(
    "found",
    [Suspension(), Suspension(scale_in=True), Suspension(scale_out=True, scheduled=True), WHOLE],
    ids=["nothing suspended", "scaling in suspended", "all but scaling in suspended", "all suspended"],
)
@pytest.mark.parametrize("bad", [False, True], ids=["on", "and back"])
def test_auto_scaling_is_given_back_as_it_was_found(found: Suspension, bad: bool) -> None:
    truth = calm(bad=bad, rate=1.0)
    truth.fleet()
    truth.parts["m3"].scaling = found
    made = World(truth, Trouble(), waves=())
    assert made.run().phase is (Phase.ROLLED_BACK if bad else Phase.SUCCEEDED)
    assert truth.parts["m3"].scaling == found
    assert not truth.wrong


def test_auto_scaling_that_is_changed_between_the_note_and_the_act_is_given_back_as_the_act_found_it() -> None:
    made = world(waves=(Amount(100, percent=True),))
    part = made.truth.parts["m3"]
    made.run(stop=lambda: any(n.component == "m3" for n in made.record.scaling) and not made.running)
    assert part.scaling == Suspension()
    part.scaling = Suspension(scale_out=True)
    assert made.run().phase is Phase.SUCCEEDED
    assert part.scaling == Suspension(scale_out=True)


def test_what_a_person_resumes_meanwhile_stays_resumed() -> None:
    made = world(waves=(Amount(100, percent=True),))
    part = made.truth.parts["m3"]
    part.scaling = Suspension(scale_in=True, scheduled=True)
    made.run(stop=lambda: part.flight is not None and not made.running)
    part.scaling = Suspension(scale_in=True, scale_out=True)
    assert made.run().phase is Phase.SUCCEEDED
    assert part.scaling == Suspension(scale_in=True)


def _full(made: World) -> None:
    """Someone fills endpoint e1, and lets it grow no more."""
    made.truth.boxes["e1"] = (1, 1, BIG_BOX)
    made.truth.parts["x1"] = Part("x1", "e1", 3)


def test_a_way_back_without_room_waits_where_a_person_can_see_it_and_goes_when_there_is_room() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.GATED, wave=0)
    _full(made)
    made.mischief("rollback")
    record = held(made, HoldKind.CAPACITY)
    assert "e1 needs 2 instances to take back m1" in record.holds[0].sentence
    made.run(until=1200.0)
    assert not updates(made, Direction.BACK)
    made.truth.parts["x1"].copies = 1
    assert made.run().phase is Phase.ROLLED_BACK
    assert made.truth.parts["m1"].spec == OLD
    assert any(key.startswith("r1/hold/capacity/") for key in made.notices)


def test_a_way_back_that_waited_long_for_room_is_tried_and_then_left_to_a_person() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.GATED, wave=0)
    _full(made)
    made.truth.dies = 1.0
    began = made.truth.now
    made.mischief("rollback")
    made.run(stop=lambda: bool(updates(made, Direction.BACK)))
    assert made.truth.now > began + PATIENCE
    record = made.run()
    assert (record.phase, record.needs_human) == (Phase.ROLLBACK_INCOMPLETE, ("m1",))
    assert len(updates(made, Direction.BACK)) == ATTEMPTS_BACK
    assert len([key for key in made.notices if "hold/capacity" in key]) == 1
    assert made.truth.now < began + 3 * PATIENCE


def test_auto_scaling_is_suspended_before_a_way_back_that_waited_long_for_room_is_tried() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.GATED, wave=0)
    _full(made)
    made.truth.parts["m1"].scaling = Suspension()
    made.before["m1"] = (4, Suspension())
    made.mischief("rollback")
    assert made.run().phase is Phase.ROLLED_BACK
    assert made.truth.parts["m1"].scaling == Suspension()
    assert not made.truth.wrong


def test_ways_back_that_fail_are_tried_again_ever_later() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.GATED, wave=0)
    made.truth.dies = 1.0
    made.mischief("rollback")
    made.run()
    sent = [a.attempt.prepared_at for a in made.acts if isinstance(a, SubmitUpdate) and not a.alarms]
    gaps = [after - before for before, after in itertools.pairwise(sent)]
    assert len(sent) == ATTEMPTS_BACK
    assert [gap >= least for gap, least in zip(gaps, (60, 120, 240, 480, 960), strict=True)] == [True] * 5


def test_a_person_who_allows_more_ways_back_waits_for_none() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.GATED, wave=1)
    made.truth.dies = 1.0
    made.mischief("rollback")
    made.run(stop=lambda: made.record.component("m2").state is State.NEEDS_HUMAN and not made.running)
    made.truth.dies, asked_at = 0.0, made.truth.now
    made.command(retry)
    assert made.run().phase is Phase.ROLLED_BACK
    assert made.truth.parts["m2"].spec == OLD
    assert made.truth.now < asked_at + PATIENCE


def test_a_target_that_is_taken_away_meanwhile_is_left_alone() -> None:
    made = world(waves=(Amount(100, percent=True),))
    part = made.truth.parts["m3"]
    made.run(stop=lambda: any(n.component == "m3" for n in made.record.scaling) and not made.running)
    part.scaling = None
    assert made.run().phase is Phase.SUCCEEDED
    assert sum(isinstance(a, SuspendScaling) and a.component == "m3" for a in made.acts) <= 1


def test_what_yields_gives_way_to_a_way_back_too_and_is_restored() -> None:
    made = world(yielding=(Yielding("y1"), Yielding("x1", 1)))
    made.truth.parts["x1"] = Part("x1", "e1", 1)
    until(made, Phase.RUNNING, Step.GATED, wave=0)
    _full(made)
    made.mischief("rollback")
    assert made.run().phase is Phase.ROLLED_BACK
    assert made.truth.parts["m1"].spec == OLD
    assert made.truth.parts["x1"].copies == 3


def test_copies_that_did_not_come_back_are_waited_for_and_then_told() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.GATED, wave=0)
    part, began = made.truth.parts["m1"], made.truth.now
    made.mischief("rollback")
    made.run(stop=lambda: part.flight is not None and not made.running)
    part.current = 3
    assert made.run().phase is Phase.ROLLED_BACK
    assert made.truth.now > began + PATIENCE
    assert "m1 has 3 of its 4 copies" in made.journal[-1].said[-1].sentence


# ------------------------------------------------------------------------------------------------- drift, stuck, human


def test_drift_holds_and_nothing_is_overwritten() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING)
    made.truth.parts["m3"].spec = OTHER
    made.truth.parts["m3"].modified = made.truth.now
    held(made, HoldKind.DRIFT)
    made.run(until=50_000.0)
    assert made.truth.parts["m3"].spec == OTHER
    assert updates(made, Direction.FORWARD) == ["m1"]
    made.truth.parts["m3"].busy_until = 0.0  # what is being scaled at this moment cannot be adopted
    made.human()
    assert made.run().phase is Phase.SUCCEEDED
    assert made.truth.parts["m3"].spec == NEW


def test_a_way_back_leaves_what_drifted_to_a_person_and_says_so() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING)
    made.truth.parts["m1"].spec = OTHER
    held(made, HoldKind.DRIFT)
    made.mischief("rollback")
    record = made.run()
    assert (record.phase, record.needs_human) == (Phase.ROLLBACK_INCOMPLETE, ("m1",))
    assert made.truth.parts["m1"].spec == OTHER
    assert made.truth.locks["e1"].owner == "r1"
    assert made.truth.locks["e2"].owner == ""


def test_silence_beyond_the_timeout_is_stuck_and_keeps_the_lock() -> None:
    made = world()
    made.run(stop=lambda: made.truth.parts["m1"].flight is not None and not made.running)
    flight = made.truth.parts["m1"].flight
    assert isinstance(flight, Flight)
    flight.ends, flight.alarms = float("inf"), ()
    held(made, HoldKind.STUCK)
    made.run(until=30_000.0)
    assert not made.record.phase.terminal
    made.mischief("rollback")
    record = made.run()
    assert (record.phase, record.needs_human) == (Phase.ROLLBACK_INCOMPLETE, ("m1",))
    assert made.truth.locks["e1"].owner == "r1"


def test_attempts_are_bounded_and_a_person_may_grant_more() -> None:
    made = world()
    made.truth.refuses = True
    record = held(made, HoldKind.STUCK)
    assert record.component("m1").state is State.STUCK
    assert updates(made, Direction.FORWARD) == ["m1"] * 3
    marks = {a.mark for a in record.component("m1").attempts}
    assert len(marks) == 3
    made.truth.refuses = False
    made.command(retry)
    assert made.run().phase is Phase.SUCCEEDED


def test_a_refused_attempt_is_not_taken_for_one_that_was_rolled_back() -> None:
    """Someone scaled the component as the call was made: it was refused, and LastModifiedTime moved all the same."""
    made = world()
    made.run(stop=lambda: any(c.sent_at for c in made.record.components) and not made.acts[1:])
    part = made.truth.parts["m1"]
    part.busy_until, part.modified = made.truth.now + 30, made.truth.now + 1
    assert made.run().phase is Phase.SUCCEEDED
    assert updates(made, Direction.FORWARD).count("m1") == 2


def test_what_cannot_begin_is_shown_and_begins_when_it_can() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING)
    made.truth.parts["m2"].busy_until = made.truth.now + 20_000
    record = held(made, HoldKind.STUCK)
    assert "m2" in record.holds[0].sentence
    assert made.run().phase is Phase.SUCCEEDED


def test_a_component_that_does_not_give_way_holds_and_then_stops_the_rollout() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING, wave=1)
    made.truth.parts["y1"].busy_until = made.truth.now + 8000
    record = made.run()
    assert record.phase is Phase.STOPPED
    assert "y1 on e3 does not give way" in record.cause
    assert made.truth.parts["y1"].scaling == Suspension(scale_in=True)


def test_a_component_that_was_only_planned_and_is_gone_is_left_out() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING)
    made.truth.parts["m4"].gone = True
    record = made.run()
    assert record.phase is Phase.SUCCEEDED
    assert record.component("m4").state is State.SKIPPED


def test_a_large_wave_changes_no_more_in_a_pass_than_a_transaction_takes() -> None:
    truth = calm()
    for n in range(100):
        truth.boxes[f"e{n % 40}"] = (2, 4, BIG_BOX)
        truth.parts[f"m{n:03d}"] = Part(f"m{n:03d}", f"e{n % 40}", 2)
    made = World(truth, Trouble(), yielding=(), waves=(), concurrency=40)
    assert made.run().phase is Phase.SUCCEEDED
    assert max(len(line.components) for line in made.journal[2:]) <= MOST_CHANGES
    assert not made.truth.wrong
