"""Copies that are changed for a time: nobody waits for ever for those that do not come, nor for those that stay."""

from pointsman.rollouts.commands import By, adopt
from pointsman.rollouts.decision import SetCopies, SubmitUpdate
from pointsman.rollouts.draft import LEASE
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import HoldKind, State, Step
from tests.unit.rollouts.build import NEW, OLD, SMALL_BOX
from tests.unit.rollouts.drive import until, world
from tests.unit.rollouts.world import HUMAN, World


def _asked(made: World, component: str) -> None:
    """Until the component was asked for other copies."""
    made.run(stop=lambda: any(isinstance(a, SetCopies) and a.component == component for a in made.acts))


def test_a_surge_that_finds_no_room_holds_up_no_way_back() -> None:
    made = world()
    made.truth.cramped = {"m2"}
    until(made, Phase.RUNNING, Step.UPDATING, wave=1)
    _asked(made, "m2")
    made.mischief("rollback")
    assert made.run(until=20_000.0).phase is Phase.ROLLED_BACK
    assert made.truth.parts["m2"].copies == 1


def test_what_does_not_give_way_holds_up_no_way_back() -> None:
    made = world()
    made.truth.cramped = {"y1"}
    until(made, Phase.RUNNING, Step.GATED, wave=1)
    _asked(made, "y1")
    made.mischief("rollback")
    assert made.run(until=20_000.0).phase is Phase.ROLLED_BACK
    assert made.record.needs_human == ()


def test_a_surge_of_what_is_left_out_holds_up_no_end() -> None:
    made = world()
    made.truth.cramped = {"m2"}
    until(made, Phase.RUNNING, Step.UPDATING, wave=1)
    _asked(made, "m2")
    made.truth.parts["m2"].spec = NEW  # someone else was faster
    made.run(stop=lambda: made.record.component("m2").state is State.DRIFTED and not made.running)
    plan = made.plan
    assert plan is not None
    made.command(
        lambda record, _: adopt(record, plan, "m2", made.truth.observe(), By(HUMAN, made.truth.now, "it is new"))
    )
    assert made.run(until=40_000.0).phase is Phase.SUCCEEDED
    assert made.truth.parts["m2"].copies == 1


def test_two_of_one_copy_are_rolled_in_the_room_for_one_more() -> None:
    """The second goes to two copies when the first is back at one, so that no update is sent without room."""
    made = world(waves=(), yielding=())
    for name in ("m3", "m4", "y1"):
        del made.truth.parts[name]
    made.truth.parts["m1"].copies = made.truth.parts["m1"].current = 1
    made.truth.boxes = {"e1": (4, 4, SMALL_BOX)}
    made.before = dict.fromkeys(("m1", "m2"), (1, None))
    most = 0

    def looked() -> bool:
        nonlocal most
        flying = sum(1 for part in made.truth.parts.values() if part.flight is not None)
        most = max(most, flying + sum(part.copies for part in made.truth.parts.values()))
        return False

    assert made.run(stop=looked).phase is Phase.SUCCEEDED
    assert most <= 4
    assert [act.component for act in made.acts if isinstance(act, SubmitUpdate)] == ["m1", "m2"]
    assert made.record.hold(HoldKind.CAPACITY) is None
    assert all(part.spec != OLD and part.copies == 1 for part in made.truth.parts.values())


def test_an_end_waits_until_nobody_can_give_back_any_more() -> None:
    """A call that is late would undo what someone else has asked for since."""
    made = world()
    assert made.run().phase is Phase.SUCCEEDED
    asked = [note.asked_at for note in (*made.record.copies, *made.record.scaling) if note.asked_at is not None]
    assert made.record.ended_at is not None
    assert made.record.ended_at > max(asked) + LEASE


def _scaled_back(made: World, unsent: State) -> int:
    """How many copies it is rolled with, where someone scales it to one when it has two for its turn."""

    def recorded() -> bool:
        component = made.record.component("m2")
        return component.state is unsent and component.sent_at is None and not made.running

    made.run(stop=recorded)
    assert recorded()
    made.truth.set_copies("m2", 1)
    made.truth.parts["m2"].current = 1
    made.run(stop=lambda: made.truth.parts["m2"].flight is not None)
    return made.truth.parts["m2"].copies


def test_an_update_waits_for_the_second_copy_that_someone_took_meanwhile() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.UPDATING, wave=1)
    assert _scaled_back(made, State.SUBMITTING) == 2
    assert made.run().phase is Phase.SUCCEEDED
    assert made.truth.parts["m2"].copies == 1


def test_a_way_back_waits_for_the_second_copy_that_someone_took_meanwhile() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING, wave=1)
    made.mischief("rollback")
    assert _scaled_back(made, State.REVERT_SUBMITTING) == 2
    assert made.run(until=20_000.0).phase is Phase.ROLLED_BACK
    assert made.truth.parts["m2"].copies == 1
