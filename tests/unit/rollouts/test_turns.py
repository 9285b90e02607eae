"""Which way a rollout goes, and that it never turns again: alarms, stops, deadlines."""

import pytest

from pointsman.rollouts.commands import pause
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import Direction, HoldKind, Intent, State, Step
from pointsman.rollouts.request import NoTraffic, OnFailure
from tests.unit.rollouts.build import NEW, OLD
from tests.unit.rollouts.drive import held, until, updates, world
from tests.unit.rollouts.world import World


def in_flight(made: World, name: str = "m2", wave: int = 1) -> None:
    until(made, Phase.RUNNING, Step.UPDATING, wave=wave)
    made.run(stop=lambda: made.truth.parts[name].flight is not None and not made.running)


def fire(made: World, seconds: float = 5000.0) -> None:
    made.truth.alarmed.append(made.truth.now)
    made.truth.alarm_until = made.truth.now + seconds


def test_an_alarm_stops_where_the_request_says_so_and_what_is_done_stays() -> None:
    made = world(on_failure=OnFailure.STOP)
    in_flight(made)
    fire(made)
    assert made.run().phase is Phase.STOPPED
    assert [made.truth.parts[name].spec for name in ("m1", "m2", "m3", "m4")] == [NEW, OLD, OLD, OLD]
    assert not updates(made, Direction.BACK)


@pytest.mark.parametrize(
    "asked,end", [(OnFailure.REVERT, Phase.ROLLED_BACK), (OnFailure.STOP, Phase.STOPPED)], ids=["revert", "stop"]
)
def test_an_alarm_while_it_stops_takes_back_only_where_failures_do(asked: OnFailure, end: Phase) -> None:
    made = world(on_failure=asked)
    in_flight(made)
    made.mischief("abort")
    made.run(stop=lambda: made.record.phase is Phase.STOPPING and not made.running)
    fire(made)
    assert made.run().phase is end


def test_an_abort_never_lowers_a_rollback() -> None:
    made = world()
    in_flight(made)
    made.mischief("rollback")
    made.mischief("abort")
    assert (made.record.phase, made.record.intent) == (Phase.ROLLING_BACK, Intent.REVERT)


def test_a_final_bake_of_no_length_ends_with_the_last_gate() -> None:
    made = world(final_bake=0.0, waves=())
    until(made, Phase.RUNNING, Step.GATED)
    passed = made.truth.now
    assert made.run().phase is Phase.SUCCEEDED
    assert made.truth.now - passed < 400


def test_a_pause_moves_no_deadline_of_what_is_in_flight() -> None:
    made = world()
    in_flight(made, "m1", 0)
    deadline = made.record.component("m1").deadline
    flight = made.truth.parts["m1"].flight
    assert flight is not None
    assert deadline is not None
    flight.ends = float("inf")
    made.command(pause)
    made.run(stop=lambda: made.record.hold(HoldKind.STUCK) is not None)
    assert made.record.component("m1").state is State.STUCK
    assert deadline < made.truth.now <= deadline + made.request.poll + 10


def test_traffic_that_comes_in_the_longer_bake_is_evidence() -> None:
    made = world(no_traffic=NoTraffic.EXTEND, extend=7200.0, waves=())
    until(made, Phase.RUNNING, Step.BAKING)
    made.truth.quiet = True
    made.run(until=2000.0)
    assert (made.record.step, made.record.holds) == (Step.BAKING, ())
    made.truth.quiet = False
    assert made.run().phase is Phase.SUCCEEDED
    assert not [key for key in made.notices if "hold/" in key]


def test_an_alarm_in_a_hold_for_want_of_traffic_takes_everything_back() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING)
    made.truth.quiet = True
    held(made, HoldKind.NO_TRAFFIC)
    fire(made)
    assert made.run().phase is Phase.ROLLED_BACK
    assert made.record.holds == ()
