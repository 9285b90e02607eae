"""What Pointsman changes of a share for a while, and how it gives it back: noted before, restored whatever dies.

The note is stored before the change is made. What is found later is compared with the note: a value that is neither the
one found first nor one of ours was set by someone else, and is left as it is. A borrow limit that is as it was found
first is what an update of its stack leaves, so that it is set again; who wants it otherwise changes the policy.
"""

from dataclasses import dataclass, replace
from enum import StrEnum


class Setting(StrEnum):
    """What is changed of a quota share: its borrow limit in per cent, or in-share preemption (1 on, 0 off)."""

    BORROW_LIMIT = "borrow limit"
    PREEMPTION = "in-share preemption"


@dataclass(frozen=True, slots=True)
class ShareChange:
    """The note of one change: the share had `before`, we mean it to have `after` since `at`.

    `was` is what we meant it to have before that, if it had another value of ours; `seen` says that it was found to
    have `after`, so that another value is someone else's.
    """

    share: str
    setting: Setting
    before: int
    after: int
    at: float
    because: str
    was: int | None = None
    seen: bool = False


@dataclass(frozen=True, slots=True)
class Wish:
    """What a share should have for now, and why."""

    value: int
    because: str


@dataclass(frozen=True, slots=True)
class Step:
    """What to do about one setting, in this order: store `note`, make it `value`, forget the note; and what to tell."""

    note: ShareChange | None = None
    value: int | None = None
    forget: bool = False
    told: str = ""


def settle(share: str, setting: Setting, current: int, note: ShareChange | None, wish: Wish | None, now: float) -> Step:
    """The next step from what a share has towards what it should have."""
    if wish is None:
        return _give_back(current, note) if note else Step()
    if note is None:
        if current == wish.value:
            return Step()
        return Step(ShareChange(share, setting, current, wish.value, now, wish.because), wish.value)
    if current == note.before and note.seen and setting is Setting.BORROW_LIMIT and note.after == wish.value:
        back = f"the {setting} of share {share} was set back to {current}, as an update of its stack does"
        return Step(value=wish.value, told=f"{back}: it is set to {wish.value} again")
    ours = current in (note.after, note.was) or (current == note.before and not note.seen)
    if not ours:
        return Step(told=f"someone else set the {setting} of share {share} to {current}: it is left so")
    if note.after != wish.value:
        changed = replace(note, after=wish.value, was=current, at=now, because=wish.because, seen=False)
        return Step(changed, wish.value)
    if current != wish.value:
        return Step(value=wish.value)
    return Step() if note.seen else Step(replace(note, was=None, seen=True))


def _give_back(current: int, note: ShareChange) -> Step:
    if current in (note.after, note.was) and current != note.before:
        return Step(value=note.before, forget=True)
    if current == note.before:
        return Step(forget=True)
    return Step(
        forget=True,
        told=f"someone else set the {note.setting} of share {note.share} to {current} meanwhile: it is not set back to "
        f"{note.before}",
    )
