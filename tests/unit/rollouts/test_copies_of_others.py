"""Copies that someone else sets while they are other than they were for a time: nobody's count is overwritten."""

from collections.abc import Callable

import pytest

from pointsman.rollouts.decision import SetCopies
from pointsman.rollouts.draft import PATIENCE
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import CopyNote, Direction, NoteState, State, Step
from tests.unit.rollouts.build import OLD
from tests.unit.rollouts.drive import until, updates, world
from tests.unit.rollouts.world import World


def _note(made: World, component: str) -> CopyNote | None:
    return next((note for note in made.record.copies if note.component == component), None)


def _when(made: World, component: str, state: NoteState, *, asked: bool | None = None) -> None:
    """Until the component's copies are noted so."""

    def there() -> bool:
        note = _note(made, component)
        if note is None or note.state is not state or made.running:
            return False
        return asked is None or asked == (note.asked_at is not None)

    made.run(stop=there)
    assert there(), made.record.copies


def _set(made: World, component: str, copies: int) -> int:
    """Someone sets the copies; how many acts there were before."""
    made.truth.parts[component].copies = made.truth.parts[component].current = copies
    made.truth.parts[component].modified = made.truth.now
    return len(made.acts)


def _asked(made: World, component: str, since: int = 0) -> list[int]:
    return [act.copies for act in made.acts[since:] if isinstance(act, SetCopies) and act.component == component]


def _said(made: World, component: str) -> list[str]:
    return [said.sentence for line in made.journal for said in line.said if said.component == component]


def _surged(made: World) -> None:
    _when(made, "m2", NoteState.LOWERED)


def _with_old_scaling(made: World) -> World:
    made.truth.parts["y1"].scaling = None
    return made


def test_who_is_scaled_up_while_it_has_two_for_its_turn_keeps_what_it_was_given() -> None:
    made = world()
    _surged(made)
    before = _set(made, "m2", 4)
    assert made.run().phase is Phase.SUCCEEDED
    assert made.truth.parts["m2"].copies == 4
    assert _asked(made, "m2", before) == []
    assert "m2 has 4 copies, which someone else has set: they stay." in _said(made, "m2")


def test_a_second_copy_is_not_asked_for_where_someone_set_more_meanwhile() -> None:
    made = world()
    _when(made, "m2", NoteState.LOWERING, asked=True)
    before = _set(made, "m2", 4)
    assert made.run().phase is Phase.SUCCEEDED
    assert made.truth.parts["m2"].copies == 4
    assert _asked(made, "m2", before) == []


@pytest.mark.parametrize("copies", [3, 1])
def test_what_is_noted_and_not_yet_asked_for_is_noted_anew(copies: int) -> None:
    """Three are enough to roll; and of one that has one, the other copy is asked for as ever."""
    made = world()
    _when(made, "m2", NoteState.NOTED, asked=False)
    _set(made, "m2", copies)
    assert made.run().phase is Phase.SUCCEEDED
    assert made.truth.parts["m2"].copies == copies
    assert _asked(made, "m2") == ([] if copies == 3 else [2, 1])


@pytest.mark.parametrize(
    "when",
    [
        lambda made: _when(made, "y1", NoteState.NOTED, asked=False),
        lambda made: _when(made, "y1", NoteState.LOWERING, asked=True),
        lambda made: _when(made, "y1", NoteState.LOWERED),
        lambda made: _when(made, "y1", NoteState.RESTORING),
    ],
    ids=["noted", "asked to give way", "lowered", "to be restored"],
)
def test_who_gives_way_and_is_scaled_up_has_that_in_the_end(when: Callable[[World], None]) -> None:
    made = _with_old_scaling(world())
    when(made)
    _set(made, "y1", 5)
    made.truth.boxes["e3"] = (9, 9, made.truth.boxes["e3"][2])
    assert made.run().phase is Phase.SUCCEEDED
    assert made.truth.parts["y1"].copies == 5


def test_who_is_set_to_none_while_it_has_two_for_its_turn_keeps_none() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.SETTLING, wave=1)
    _set(made, "m2", 0)
    assert made.run().phase is Phase.SUCCEEDED
    assert made.truth.parts["m2"].copies == 0


def test_a_way_back_takes_no_copies_from_who_was_scaled_up_since_it_was_rolled() -> None:
    made = world()
    made.run(stop=lambda: made.record.phase is Phase.FINAL_BAKE and not made.running)
    note = _note(made, "m2")
    assert note is not None
    assert note.state is NoteState.RESTORED
    before = _set(made, "m2", 4)
    made.mischief("rollback")
    assert made.run().phase is Phase.ROLLED_BACK
    assert "m2" in updates(made, Direction.BACK)
    assert _asked(made, "m2", before) == []
    assert (made.truth.parts["m2"].spec, made.truth.parts["m2"].copies) == (OLD, 4)


def test_copies_that_do_not_come_back_are_still_told_of() -> None:
    made = _with_old_scaling(world())
    _when(made, "y1", NoteState.LOWERED)
    made.truth.cramped = {"y1"}
    began = made.truth.now
    record = made.run()
    assert record.phase is Phase.SUCCEEDED
    assert record.needs_human == ("y1",)
    assert made.truth.now > began + PATIENCE
    assert made.record.component("m4").state is State.DONE_NEW
