"""What `rollout show` proposes: the commands that end a hold, or that follow an end."""

import pytest

from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import (
    SHOWING,
    ComponentRecord,
    CopyNote,
    Hold,
    HoldKind,
    Intent,
    NoteState,
    RolloutRecord,
    State,
)
from pointsman_cli.rollout_next import next_steps

DRIFTED = (ComponentRecord("m1", State.DRIFTED), ComponentRecord("m2", State.DONE_NEW))
LOST = (ComponentRecord("m1", State.NEEDS_HUMAN),)

CASES = [
    ("one that goes on by itself", Phase.RUNNING, None, (), ()),
    ("paused", Phase.RUNNING, HoldKind.OPERATOR, (), ("resume r1",)),
    ("an approval is wanted", Phase.RUNNING, HoldKind.APPROVAL, (), ("approve r1 1",)),
    ("too little traffic", Phase.RUNNING, HoldKind.NO_TRAFFIC, (), ("waive r1 no_traffic --reason TEXT",)),
    ("an alarm that cannot tell", Phase.RUNNING, HoldKind.INCONCLUSIVE, (), ("waive r1 inconclusive --reason TEXT",)),
    ("someone changed a component", Phase.RUNNING, HoldKind.DRIFT, DRIFTED, ("adopt r1 m1 --reason TEXT",)),
    ("stuck", Phase.RUNNING, HoldKind.STUCK, (), ("retry r1", "rollback r1")),
    ("no room yet", Phase.RUNNING, HoldKind.CAPACITY, (), ()),
    ("a freeze", Phase.RUNNING, HoldKind.FREEZE, (), ()),
    ("a way back that needs a person", Phase.ROLLING_BACK, None, LOST, ("retry r1",)),
    ("succeeded", Phase.SUCCEEDED, None, (), ()),
    ("refused", Phase.REJECTED, None, (), ("start FILE, with what it names mended, and another name",)),
    ("stopped", Phase.STOPPED, None, (), ("retry r1", "rollback r1")),
    ("taken back", Phase.ROLLED_BACK, None, (), ("retry r1, when its cause is gone",)),
    ("taken back in part", Phase.ROLLBACK_INCOMPLETE, None, LOST, ("rollback r1, when what is said of m1 is seen to",)),
]


@pytest.mark.parametrize("phase,held,components,steps", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_comes_next(
    phase: Phase, held: HoldKind | None, components: tuple[ComponentRecord, ...], steps: tuple[str, ...]
) -> None:
    holds = () if held is None else (Hold(held, "gate", 0.0),)
    record = RolloutRecord("r1", phase=phase, holds=holds, components=components)
    assert next_steps(record) == tuple(f"pointsman rollout {step}" for step in steps)


@pytest.mark.parametrize(
    "phase, before",
    [
        (Phase.SUCCEEDED, ()),
        (Phase.STOPPED, ("retry r1", "rollback r1")),
        (Phase.ROLLBACK_INCOMPLETE, ()),
    ],
)
def test_what_gave_way_and_was_not_given_back_is_for_a_person_and_no_rollout_helps(
    phase: Phase, before: tuple[str, ...]
) -> None:
    note = CopyNote("y1", "e1", 2, 1, state=NoteState.NEEDS_HUMAN)
    steps = (*before, "history r1, for what y1 had before it gave way: give it back by hand")
    assert next_steps(RolloutRecord("r1", phase=phase, copies=(note,))) == tuple(
        f"pointsman rollout {s}" for s in steps
    )


@pytest.mark.parametrize("owner", sorted(SHOWING))
def test_what_only_waits_is_not_tried_again_and_what_goes_back_is_not_taken_back(owner: str) -> None:
    holds = (Hold(HoldKind.STUCK, owner, 0.0),)
    assert next_steps(RolloutRecord("r1", phase=Phase.RUNNING, holds=holds)) == ("pointsman rollout rollback r1",)
    back = RolloutRecord("r1", phase=Phase.ROLLING_BACK, intent=Intent.REVERT, holds=holds)
    assert next_steps(back) == ()


def test_every_kind_of_hold_is_thought_of() -> None:
    assert {held for _, _, held, *_ in CASES if held is not None} == set(HoldKind)
