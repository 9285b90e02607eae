"""A way back ends only when everything that was touched is seen back, or is listed for a person."""

import pytest

from pointsman.rollouts.commands import By, adopt
from pointsman.rollouts.draft import PATIENCE
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import Direction, HoldKind, State, Step
from pointsman.rollouts.request import OnFailure
from tests.unit.rollouts.build import NEW, OLD, OTHER
from tests.unit.rollouts.drive import held, until, updates, world
from tests.unit.rollouts.world import HUMAN, World


def _drifted() -> World:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING)
    made.truth.parts["m1"].spec = OTHER
    held(made, HoldKind.DRIFT)
    return made


def test_a_way_back_waits_for_what_drifted_and_is_busy_and_then_leaves_it_to_a_person() -> None:
    made = _drifted()
    made.truth.parts["m1"].busy_until = made.truth.now + 50_000  # whoever changed it is at it again
    began = made.truth.now
    made.mischief("rollback")
    record = made.run()
    assert (record.phase, record.needs_human) == (Phase.ROLLBACK_INCOMPLETE, ("m1",))
    assert made.truth.now > began + PATIENCE
    assert made.truth.locks["e1"].owner == "r1"
    assert not made.truth.wrong


@pytest.mark.parametrize("found", [OLD, NEW, OTHER], ids=["old", "new", "another's"])
def test_what_drifted_and_could_not_be_read_is_judged_by_what_it_has_when_it_can(found: object) -> None:
    made = _drifted()
    made.trouble.unreadable = 1.0
    made.mischief("rollback")
    made.run(until=3600.0)
    assert not made.record.phase.terminal
    made.truth.parts["m1"].spec = found  # type: ignore[assignment]
    made.trouble.unreadable = 0.0
    assert made.run().phase is (Phase.ROLLBACK_INCOMPLETE if found is OTHER else Phase.ROLLED_BACK)
    assert made.truth.parts["m1"].spec == (OTHER if found is OTHER else OLD)
    assert not made.truth.wrong


def test_what_a_way_back_cannot_read_for_long_is_shown_and_goes_on_when_it_can() -> None:
    made = _drifted()
    made.trouble.unreadable = 1.0
    made.mischief("rollback")
    made.run(until=2 * PATIENCE)
    assert [hold.sentence for hold in made.record.holds] == ["m1 waits for its way back, and cannot be read"]
    assert len([key for key in made.notices if "/hold/stuck" in key]) == 1
    made.trouble.unreadable = 0.0
    made.run(stop=lambda: made.record.hold(HoldKind.STUCK) is None)
    assert made.record.needs_human == ("m1",)


def test_a_way_back_waits_for_what_sagemaker_took_back_and_cannot_be_read() -> None:
    made = world(on_failure=OnFailure.STOP)
    made.run(stop=lambda: made.truth.parts["m1"].flight is not None and not made.running)
    made.truth.parts["m1"].flight.dies = True  # type: ignore[union-attr]
    made.run(stop=lambda: made.record.component("m1").state is State.NATIVE_ROLLED_BACK and not made.running)
    made.trouble.unreadable = 1.0
    made.mischief("rollback")
    made.truth.parts["m1"].spec = OTHER
    made.run(until=3600.0)
    assert not made.record.phase.terminal
    made.trouble.unreadable = 0.0
    record = made.run()
    assert (record.phase, record.needs_human) == (Phase.ROLLBACK_INCOMPLETE, ("m1",))


@pytest.mark.parametrize("step", [Step.BAKING, Step.GATED], ids=["planned again", "left out"])
def test_a_way_back_looks_at_what_was_adopted(step: Step) -> None:
    """It counts as old with what was adopted, and with nothing else."""
    made = world()
    until(made, Phase.RUNNING, step)
    made.truth.parts["m1"].spec = OTHER
    held(made, HoldKind.DRIFT)
    plan = made.plan
    assert plan is not None
    by = By(HUMAN, made.truth.now, "it is better")
    made.command(lambda record, _: adopt(record, plan, "m1", made.truth.observe(), by))
    assert made.record.component("m1").touched
    made.mischief("rollback")
    made.truth.parts["m1"].spec = NEW  # by hand, as it turns
    record = made.run()
    assert record.phase is Phase.ROLLED_BACK
    assert made.truth.parts["m1"].spec == OTHER
    assert updates(made, Direction.BACK) == ["m1"]
