"""What is changed of a share for a while: noted, made, found, given back; what someone else set is theirs."""

from dataclasses import replace

import pytest

from pointsman.queues.share_changes import Setting, ShareChange, Step, Wish, settle

NOTE = ShareChange("team", Setting.BORROW_LIMIT, 100, 200, 0.0, "alarm drift")
SEEN = replace(NOTE, seen=True)
OTHER = replace(NOTE, after=300, was=200, at=60.0, because="alarm flood")


def step(current: int, note: ShareChange | None, wish: int | None, because: str = "alarm drift") -> Step:
    return settle("team", Setting.BORROW_LIMIT, current, note, None if wish is None else Wish(wish, because), 60.0)


@pytest.mark.parametrize(
    "case, current, note, wish, value, forget",
    [
        ("nothing is wanted of it", 100, None, None, None, False),
        ("it has already what is wanted", 200, None, 200, None, False),
        ("a change that did not come through is made again", 100, NOTE, 200, 200, False),
        ("what was found to have been made, and is as before, is set again", 100, SEEN, 200, 200, False),
        ("any other value someone else set", 50, NOTE, 200, None, False),
        ("what is made stays", 200, SEEN, 200, None, False),
        ("another value of ours may still be there", 200, OTHER, 300, 300, False),
        ("it is given back", 200, SEEN, None, 100, True),
        ("from an older value of ours too", 200, OTHER, None, 100, True),
        ("what is as before is only forgotten", 100, NOTE, None, None, True),
        ("what someone else set is left", 50, SEEN, None, None, True),
    ],
)
def test_of_a_share(
    case: str, current: int, note: ShareChange | None, wish: int | None, value: int | None, forget: bool
) -> None:
    taken = step(current, note, wish)
    assert (taken.value, taken.forget) == (value, forget), case


def test_a_change_is_noted_with_what_was_there_first_however_often_it_changes() -> None:
    first = step(100, None, 200)
    assert first == Step(replace(NOTE, at=60.0), 200)
    assert step(200, first.note, 300, "alarm flood") == Step(OTHER, 300)


def test_in_share_preemption_that_someone_turned_off_stays_off() -> None:
    on = ShareChange("team", Setting.PREEMPTION, 0, 1, 0.0, "a job takes the place of others", seen=True)
    taken = settle("team", Setting.PREEMPTION, 0, on, Wish(1, "a job takes the place of others"), 60.0)
    assert (taken.value, taken.told) == (
        None,
        "someone else set the in-share preemption of share team to 0: it is left so",
    )


@pytest.mark.parametrize("current, note, wish", [(50, NOTE, 200), (50, SEEN, None)])
def test_what_someone_else_set_is_told(current: int, note: ShareChange, wish: int | None) -> None:
    assert f"someone else set the borrow limit of share team to {current}" in step(current, note, wish).told
