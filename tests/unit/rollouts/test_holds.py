"""What holds a rollout and for how long, and what it does when that is over."""

from dataclasses import replace

from pointsman.rollouts.commands import approve, pause, resume
from pointsman.rollouts.observations import UNREAD, AlarmState, AlarmView, Observations
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import Direction, HoldKind, Step
from pointsman.rollouts.request import AlarmWaiver, Amount, Freeze
from tests.unit.rollouts.build import NOW
from tests.unit.rollouts.drive import held, reasons, until, updates, world
from tests.unit.rollouts.world import Edges

# ----------------------------------------------------------------------------------------------- alarms that are waived


def test_what_an_alarm_did_while_it_was_waived_does_not_count_after() -> None:
    made = world(waived=(AlarmWaiver("fleet-errors", "being mended", "maria", NOW + 600),))
    until(made, Phase.RUNNING, Step.BAKING)
    assert made.truth.now < NOW + 500
    made.truth.alarmed, made.truth.alarm_until = [made.truth.now], made.truth.now + 30
    assert made.run().phase is Phase.SUCCEEDED


def test_an_alarm_that_still_fires_when_its_waiver_ends_counts() -> None:
    made = world(waived=(AlarmWaiver("fleet-errors", "being mended", "maria", NOW + 600),))
    made.truth.alarmed, made.truth.alarm_until = [NOW], NOW + 5000
    assert made.run().phase is Phase.ROLLED_BACK
    assert made.record.started_at + 600 <= next(
        line.at for line in made.journal if line.said and line.said[0].reason is Reason.ALARM
    )


def test_a_gate_that_passes_unjudged_leaves_the_window_where_it_was() -> None:
    """What no read of the alarm has covered yet is looked at by the next one."""
    unread = False

    def see(seen: Observations) -> Observations:
        blind = AlarmView("fleet-errors", AlarmState.INSUFFICIENT_DATA, problem=UNREAD)
        return replace(seen, alarms={"fleet-errors": blind}) if unread else seen

    made = world(edges=Edges(see=see), final_bake=0.0)
    until(made, Phase.RUNNING, Step.GATED, wave=2)
    unread = True
    made.truth.alarmed, made.truth.alarm_until = [made.truth.now + 1], made.truth.now + 10
    made.truth.advance(600)
    until(made, Phase.FINAL_BAKE, Step.GATED)
    made.run(until=600.0)
    assert made.record.phase is Phase.FINAL_BAKE  # it does not end on a look that shows nothing either
    unread = False
    assert made.run().phase is Phase.ROLLED_BACK


# -------------------------------------------------------------------------------------------- holds that outlive a wave


def test_an_approval_of_a_wave_that_is_empty_is_asked_for_before_the_next() -> None:
    made = world(waves=(Amount(1), Amount(25, percent=True), Amount(100, percent=True)), approvals=(2,))
    record = held(made, HoldKind.APPROVAL)
    assert record.wave == 1
    assert updates(made, Direction.FORWARD) == ["m1"]
    assert made.plan is not None
    plan = made.plan
    made.command(lambda r, by: approve(r, plan, 2, by))
    assert made.run().phase is Phase.SUCCEEDED


def test_a_freeze_is_none_of_the_final_bake() -> None:
    made = world(final_bake=3000.0, freezes=(Freeze(NOW + 1500, NOW + 1e6),), waves=())
    until(made, Phase.RUNNING, Step.BAKING)
    made.truth.advance(1500 + NOW - made.truth.now)
    until(made, Phase.FINAL_BAKE)
    made.run(until=200.0)
    assert made.record.hold(HoldKind.FREEZE) is None
    assert made.run().phase is Phase.SUCCEEDED


def test_after_a_long_pause_nobody_is_called_for_what_begins_at_once() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.UPDATING)
    made.command(pause)
    made.run(until=8000.0)
    made.command(resume)
    until(made, Phase.RUNNING, Step.BAKING)
    assert not [key for key in made.notices if "hold/stuck" in key]


def test_what_cannot_begin_after_a_pause_is_shown() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.UPDATING)
    made.command(pause)
    made.run(until=8000.0)
    made.truth.parts["m1"].busy_until = made.truth.now + 20_000
    made.command(resume)
    made.run(until=4000.0)
    assert made.record.hold(HoldKind.STUCK) is not None


def test_a_kill_switch_that_is_not_ok_is_shown() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.UPDATING)
    made.truth.switch = AlarmState.INSUFFICIENT_DATA
    made.run(until=4000.0)
    assert made.record.hold(HoldKind.STUCK) is not None
    assert Reason.SENT not in reasons(made)
