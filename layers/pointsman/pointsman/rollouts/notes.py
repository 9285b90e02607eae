"""What is changed for a time and given back under any ending: copies of components, and auto-scaling targets.

Noted before it is touched; changed by absolute acts, which may be repeated; given back only once the sender of the last
change can live no more, so that a late call never undoes it.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import TypeVar

from pointsman.rollouts.batches import copies_of
from pointsman.rollouts.decision import ResumeScaling, SetCopies, SuspendScaling
from pointsman.rollouts.draft import ASK_AGAIN, LEASE, PATIENCE, Draft
from pointsman.rollouts.observations import WHOLE, Absent, ComponentView, Status
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import CopyNote, NoteState, ScalingNote

OVER = frozenset({NoteState.RESTORED, NoteState.NEEDS_HUMAN})
_GIVING_BACK = frozenset({NoteState.RESTORING, *OVER})


def copies_changed(draft: Draft, component: str, endpoint: str, wanted: int) -> bool:
    """Whether the component has so many copies on our account; if not, note what it has, so that it gets there."""
    note = next((n for n in draft.record.copies if n.component == component), None)
    if note is None or (note.state is NoteState.RESTORED and _settled(draft, note)):
        view = draft.seen.component(component)
        if isinstance(view, ComponentView) and view.status is Status.IN_SERVICE:
            put_copies(draft, CopyNote(component, endpoint, view.desired, wanted, since=draft.now))
            draft.say(
                Reason.GAVE_WAY, f"{component} goes from {view.desired} to {copies_of(wanted)} for a time.", component
            )
        return False
    if note.state is NoteState.LOWERED and wanted < note.wanted:
        put_copies(draft, replace(note, wanted=wanted, state=NoteState.NOTED, since=draft.now))
        return False
    if note.state is NoteState.LOWERED and surging(note) and _fewer(draft, note):  # someone took them: ask again
        put_copies(draft, replace(note, state=NoteState.NOTED, since=draft.now))
        return False
    return note.state is NoteState.LOWERED


def scaling_suspended(draft: Draft, component: str, endpoint: str) -> bool:
    """Whether no auto-scaling target moves the component's copies; if one does, note that it must be suspended."""
    if draft.seen.scaling is None:
        return False
    view = draft.seen.scaling.get(component)
    if view is None:
        return True
    note = next((n for n in draft.record.scaling if n.component == component), None)
    if view.suspension.whole and (note is None or note.state in {NoteState.LOWERED, NoteState.RESTORED}):
        return True
    if note is not None and note.state is NoteState.LOWERED:  # someone resumed it: suspend it again
        put_scaling(draft, replace(note, state=NoteState.NOTED, since=draft.now))
    elif note is None or (note.state is NoteState.RESTORED and _settled(draft, note)):
        put_scaling(draft, ScalingNote(component, endpoint, view.suspension, since=draft.now))
        draft.say(Reason.GAVE_WAY, f"Auto scaling of {component} is suspended for a time.", component)
    return False


def surging(note: CopyNote) -> bool:
    """Whether a component has more copies for a time, or is on its way there or back."""
    return note.wanted > note.noted and note.state not in OVER


def give_copies_back(draft: Draft, component: str) -> bool:
    """Ask for a component's copies to be given back; whether they have been, or a person must."""
    for note in draft.record.copies:
        if note.component == component and note.state not in _GIVING_BACK and _settled(draft, note):
            view = _at_rest(draft, component)
            if view is not None and note.state is NoteState.LOWERED and view.desired not in {note.noted, note.wanted}:
                _leave(draft, note, view)
            else:
                put_copies(draft, _returning(note, draft.now))
    return not any(n.component == component and n.state not in OVER for n in draft.record.copies)


def give_back(draft: Draft, component: str) -> bool:
    """The same for all that was changed of it."""
    open_copies = not give_copies_back(draft, component)
    for target in draft.record.scaling:
        waits = target.component == component and target.state not in _GIVING_BACK and not open_copies
        if waits and _settled(draft, target):
            put_scaling(draft, _returning(target, draft.now))
    return not open_copies and all(n.state in OVER for n in draft.record.scaling if n.component == component)


def give_all_back(draft: Draft) -> bool:
    """The same for everything noted; and whether no call of ours can come any more, which would undo another's."""
    names = dict.fromkeys([n.component for n in draft.record.copies] + [n.component for n in draft.record.scaling])
    given = [give_back(draft, name) for name in names]
    settled = [_settled(draft, note) for note in draft.record.copies]
    settled += [_settled(draft, target) for target in draft.record.scaling]
    return all(given) and all(settled)


def advance_notes(draft: Draft, needed: Collection[str]) -> None:
    """Carry every note one step on.

    Other copies are asked for while somebody needs them, and no longer: what is asked for cannot be given back.
    """
    for note in draft.record.copies:
        _advance_copies(draft, note, forward=note.component in needed)
    for target in draft.record.scaling:
        _advance_scaling(draft, target)


def put_copies(draft: Draft, note: CopyNote) -> None:
    """Put a note in the place of the component's own."""
    others = tuple(n for n in draft.record.copies if n.component != note.component)
    draft.update(replace(draft.record, copies=(*others, note)))


def put_scaling(draft: Draft, note: ScalingNote) -> None:
    """Put a note in the place of the component's own."""
    others = tuple(n for n in draft.record.scaling if n.component != note.component)
    draft.update(replace(draft.record, scaling=(*others, note)))


def _fewer(draft: Draft, note: CopyNote) -> bool:
    view = draft.seen.component(note.component)
    return isinstance(view, ComponentView) and view.desired < note.wanted


def _at_rest(draft: Draft, component: str) -> ComponentView | None:
    """What is seen of a component whose copies nobody is changing at this moment."""
    view = draft.seen.component(component)
    return view if isinstance(view, ComponentView) and view.status is not Status.UPDATING else None


def _beyond(note: CopyNote, view: ComponentView) -> int:
    """Whether there are other copies than any call of ours makes: 1 beyond what is wanted, -1 beyond what was noted."""
    up = 1 if note.wanted > note.noted else -1
    past = (view.desired - note.wanted) * up > 0
    return 1 if past else -1 if (note.noted - view.desired) * up > 0 else 0


def _leave(draft: Draft, note: CopyNote, view: ComponentView) -> None:
    """End a note whose copies someone else has set since: they are theirs, and an older count would undo that."""
    put_copies(draft, replace(note, state=NoteState.RESTORED, since=draft.now))
    text = f"{note.component} has {copies_of(view.desired)}, which someone else has set: they stay."
    draft.say(Reason.RESTORED, text, note.component)


_Note = TypeVar("_Note", CopyNote, ScalingNote)


def _returning(note: _Note, now: float) -> _Note:
    untouched = note.state is NoteState.NOTED and note.asked_at is None
    state = NoteState.RESTORED if untouched else NoteState.RESTORING
    return replace(note, state=state, since=now, asked_at=None)


def _settled(draft: Draft, note: CopyNote | ScalingNote) -> bool:
    if note.asked_at is None or draft.seen.began > note.asked_at + LEASE:
        return True
    draft.wake(note.asked_at + LEASE)
    return False


def _advance_copies(draft: Draft, note: CopyNote, *, forward: bool) -> None:
    if note.state in OVER or note.state is NoteState.LOWERED:
        return
    view = _at_rest(draft, note.component)
    back = note.state is NoteState.RESTORING
    goal = note.noted if back else note.wanted
    if draft.seen.component(note.component) is Absent.NOT_FOUND:
        _give_up(draft, note, "it is gone")
    elif view is not None and _set_by_others(draft, note, view):
        return
    elif view is not None and note.asked_at is not None and _there(note, view):
        put_copies(draft, replace(note, state=NoteState.RESTORED if back else NoteState.LOWERED, since=draft.now))
        reason, has = Reason.RESTORED if back else Reason.ROOM_MADE, copies_of(view.desired)
        draft.say(reason, f"{note.component} has {has}.", note.component)
    elif back and draft.now > note.since + PATIENCE:
        _give_up(draft, note, f"it did not get its {copies_of(goal)} back")
    elif not ((back or forward) and _may_ask(draft, note.asked_at)):
        return
    elif view is not None:
        if not back and not scaling_suspended(draft, note.component, note.endpoint):
            return
        state = NoteState.RESTORING if back else NoteState.LOWERING
        put_copies(draft, replace(note, state=state, asked_at=draft.now))
        draft.act(SetCopies(note.component, goal, draft.now + LEASE))


def _there(note: CopyNote, view: ComponentView) -> bool:
    """Whether the copies are what was asked for, and there; more of them do where more were wanted, or fewer."""
    goal = note.noted if note.state is NoteState.RESTORING else note.wanted
    return view.current == view.desired and (view.desired == goal or _beyond(note, view) > 0)


def _set_by_others(draft: Draft, note: CopyNote, view: ComponentView) -> bool:
    """Whether someone else has set the copies, so that the note is another: theirs is noted, or left as it is."""
    if note.state is NoteState.RESTORING:
        if theirs := _beyond(note, view) != 0:
            _leave(draft, note, view)
        return theirs
    unasked = note.asked_at is None and view.desired != note.noted
    if unasked and (view.desired == note.wanted or _beyond(note, view) > 0):
        _leave(draft, note, view)
    elif unasked or _beyond(note, view) < 0:
        put_copies(draft, replace(note, noted=view.desired))  # noted anew, before the act
    else:
        return False
    return True


def _advance_scaling(draft: Draft, note: ScalingNote) -> None:
    read = draft.seen.scaling is not None
    view = (draft.seen.scaling or {}).get(note.component)
    if note.state is NoteState.LOWERED and view is not None:  # what somebody resumes meanwhile is not suspended after
        noted = note.noted.lifted(view.suspension)
        if noted != note.noted:
            put_scaling(draft, replace(note, noted=noted))
        return
    if note.state in OVER or note.state is NoteState.LOWERED:
        return
    back = note.state is NoteState.RESTORING
    if not (read or back):
        return  # what is not known is not suspended; what was is resumed all the same, by an absolute act
    if view is not None and note.state is NoteState.NOTED and note.asked_at is None and view.suspension != note.noted:
        put_scaling(draft, replace(note, noted=view.suspension))  # noted anew, before the act
    elif view is None and read:
        put_scaling(draft, replace(note, state=NoteState.RESTORED, since=draft.now))  # the target itself is gone
    elif note.asked_at is not None and view is not None and view.suspension == (note.noted if back else WHOLE):
        put_scaling(draft, replace(note, state=NoteState.RESTORED if back else NoteState.LOWERED, since=draft.now))
    elif back and draft.now > note.since + PATIENCE:
        put_scaling(draft, replace(note, state=NoteState.NEEDS_HUMAN, since=draft.now))
        draft.say(Reason.NEEDS_HUMAN, f"Auto scaling of {note.component} could not be resumed.", note.component)
        draft.notice(f"human/scaling/{note.component}", f"Resume the auto scaling of {note.component} yourself.")
    elif _may_ask(draft, note.asked_at):
        state = NoteState.RESTORING if back else NoteState.LOWERING
        put_scaling(draft, replace(note, state=state, asked_at=draft.now))
        until = draft.now + LEASE
        resume, suspend = ResumeScaling(note.component, note.noted, until), SuspendScaling(note.component, until)
        draft.act(resume if back else suspend)


def _may_ask(draft: Draft, asked_at: float | None) -> bool:
    if asked_at is None or draft.now >= asked_at + ASK_AGAIN:
        return True
    draft.wake(asked_at + ASK_AGAIN)
    return False


def _give_up(draft: Draft, note: CopyNote, why: str) -> None:
    put_copies(draft, replace(note, state=NoteState.NEEDS_HUMAN, since=draft.now))
    text = f"{note.component} had {copies_of(note.noted)} and could not be restored: {why}."
    draft.say(Reason.NEEDS_HUMAN, text, note.component)
    draft.notice(f"human/copies/{note.component}", text)
