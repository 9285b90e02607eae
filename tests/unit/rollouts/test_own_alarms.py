"""A component's own alarm speaks of its old version until it is first updated, and counts from then on only."""

from dataclasses import replace

from pointsman.rollouts.commands import pause, resume
from pointsman.rollouts.observations import AlarmState, Observations
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import Direction, HoldKind, Step
from pointsman.rollouts.request import Guard
from tests.unit.rollouts.drive import held, until, updates, world
from tests.unit.rollouts.world import Edges, World

OWN = "{component}-errors"


class _Own:
    """The components' own alarms: as the fleet's is, but for those that fire, and for what they did."""

    def __init__(self) -> None:
        self.firing: set[str] = set()
        self.entered: dict[str, tuple[float, ...]] = {}

    def __call__(self, seen: Observations) -> Observations:
        fleet, alarms = seen.alarms["fleet-errors"], dict(seen.alarms)
        for name in (f"m{n}-errors" for n in range(1, 5)):
            state = AlarmState.ALARM if name in self.firing else AlarmState.OK
            alarms[name] = replace(fleet, name=name, state=state, entered=self.entered.get(name, ()))
        return replace(seen, alarms=alarms)


def _world() -> tuple[World, _Own]:
    own = _Own()
    return world(edges=Edges(see=own), guards=(Guard("fleet-errors"), Guard(OWN))), own


def test_what_an_old_version_lets_fire_is_waited_for_where_a_person_can_see_it_and_takes_nothing_back() -> None:
    made, own = _world()
    until(made, Phase.RUNNING, Step.BAKING, wave=0)
    own.firing, own.entered = {"m2-errors"}, {"m2-errors": (made.truth.now,)}
    record = held(made, HoldKind.STUCK)
    assert record.holds[0].sentence == "m2 waits: its alarm m2-errors is in ALARM, and nothing of it was changed"
    made.run(until=20_000.0)
    assert made.record.phase is Phase.RUNNING
    assert updates(made, Direction.FORWARD) == ["m1"]
    own.firing = set()
    assert made.run().phase is Phase.SUCCEEDED
    assert made.record.hold(HoldKind.STUCK) is None


def test_the_others_of_a_wave_go_on_while_one_waits_for_its_own_alarm() -> None:
    made, own = _world()
    until(made, Phase.RUNNING, Step.GATED, wave=1)
    own.firing = {"m3-errors"}
    made.run(until=10_000.0)
    assert set(updates(made, Direction.FORWARD)) == {"m1", "m2", "m4"}
    own.firing = set()
    assert made.run().phase is Phase.SUCCEEDED


def test_who_waits_for_its_own_alarm_hides_nobody_who_is_stuck() -> None:
    made, own = _world()
    until(made, Phase.RUNNING, Step.GATED, wave=1)
    own.firing = {"m3-errors"}
    made.run(stop=lambda: made.truth.parts["m4"].flight is not None and not made.running)
    flight = made.truth.parts["m4"].flight
    assert flight is not None
    flight.ends, flight.alarms = float("inf"), ()
    made.run(until=20_000.0)
    assert [hold.sentence for hold in made.record.holds] == ["m4 is stuck: see to it, then retry or roll back"]
    assert len([key for key in made.notices if "/hold/stuck" in key]) == 2


def test_a_way_back_shows_nobody_who_waits_to_go_forward() -> None:
    made, own = _world()
    until(made, Phase.RUNNING, Step.BAKING, wave=0)
    own.firing = {"m2-errors"}
    held(made, HoldKind.STUCK)
    made.mischief("rollback")
    made.run(stop=lambda: made.truth.parts["m1"].flight is not None and not made.running)
    assert made.record.phase is Phase.ROLLING_BACK
    assert made.record.holds == ()


def test_what_an_own_alarm_did_before_the_first_update_does_not_count() -> None:
    made, own = _world()
    until(made, Phase.RUNNING, Step.UPDATING, wave=1)
    own.entered = {"m2-errors": (made.truth.now - 1.0,)}
    assert made.run().phase is Phase.SUCCEEDED


def test_what_an_own_alarm_did_while_a_recorded_update_was_not_sent_does_not_count() -> None:
    made, own = _world()

    def recorded() -> bool:
        component = made.record.component("m3") if made.record.components else None
        return component is not None and bool(component.attempts) and component.sent_at is None and not made.running

    made.run(stop=recorded)
    assert recorded()
    made.command(pause)
    made.truth.advance(3000.0)
    own.entered = {"m3-errors": (made.truth.now - 1000.0,)}
    made.run(until=200.0)
    assert made.record.phase is Phase.RUNNING
    made.command(resume)
    assert made.run().phase is Phase.SUCCEEDED


def test_what_an_own_alarm_did_after_the_first_update_takes_everything_back() -> None:
    made, own = _world()
    made.run(stop=lambda: made.truth.parts["m1"].flight is not None and not made.running)
    own.entered = {"m1-errors": (made.truth.now + 1.0,)}
    assert made.run().phase is Phase.ROLLED_BACK
    assert "m1-errors" in made.record.cause


def test_an_own_alarm_that_fires_before_the_start_keeps_it_from_beginning() -> None:
    made, own = _world()
    own.firing = {"m4-errors"}
    assert made.run().phase is Phase.REJECTED
