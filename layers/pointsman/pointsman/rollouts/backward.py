"""The ways out: stopping (what is done stays, what is in flight goes back) and rolling back (everything does).

Neither depends on a gate, a freeze, an approval or a pause. What is in flight goes first, by the kill switch; then what
is finished, the newest wave first. A component whose call is in doubt is never taken for untouched.
"""

from dataclasses import replace

from pointsman.rollouts.batches import copies_of
from pointsman.rollouts.draft import PATIENCE, Draft
from pointsman.rollouts.notes import copies_changed, scaling_suspended, surging
from pointsman.rollouts.observations import Absent, ComponentView, Status
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import Back, ComponentRecord, Direction, HoldKind, Intent, State
from pointsman.rollouts.submit import exhausted, prepare, room_back, send

_ON_THE_WAY = frozenset({State.REVERT_WAIT, State.REVERT_SUBMITTING, State.REVERT_UPDATING, State.REVERT_FAILED})
_OWNER = "way back"  # of the holds that show why it does not go on
_BACK = frozenset({State.REVERTED, State.NEEDS_HUMAN})
RETRY = 60.0  # seconds from a first way back that came to nothing to the second; then twice as long each time
_RUNNING = frozenset({State.REVERT_SUBMITTING, State.REVERT_UPDATING})


def withdraw(draft: Draft) -> None:
    """Take back what was only intended, and let what is new be finished (a stop) or wait for its way back."""
    revert = draft.record.intent is Intent.REVERT
    for component in draft.record.components:
        state, sent = component.state, component.sent_at is not None
        if state in {State.RESERVED, State.SUBMITTING, State.STUCK} and not sent:
            unsent = state is State.SUBMITTING
            attempts = component.attempts[: -1 if unsent else None]
            put = replace(component, state=State.PENDING, attempts=attempts)
            draft.put(put, Reason.WITHDRAWN, "It was not begun, and stays as it is.")
        elif state in {State.SETTLING, State.BAKING} and not revert:
            draft.put(replace(component, state=State.DONE_NEW), Reason.WITHDRAWN, "It is finished, and stays.")
        elif revert and _in_question(component):
            draft.put(replace(component, state=State.REVERT_WAIT), Reason.REVERT_WAITS, "It waits for its way back.")
        elif state is State.DRIFTED and revert and not component.touched:
            put = replace(component, state=State.PENDING)
            draft.put(put, Reason.WITHDRAWN, "It was not begun, and stays as it is.")


def _in_question(component: ComponentRecord) -> bool:
    """Whether a component was touched and nothing is under way that shows what it has.

    So a new version, one that SageMaker took back, one that someone changed, and one whose adopted version is the old.
    """
    return component.touched and not component.outstanding and component.state not in _ON_THE_WAY | _BACK


def stopped(draft: Draft) -> bool:
    """Whether nothing is on its way any more, so that a stopped rollout may end."""
    waiting = {State.RESERVED, State.SUBMITTING, State.SETTLING, State.BAKING}
    return not draft.outstanding() and all(c.state not in waiting for c in draft.record.components)


def take_back(draft: Draft) -> bool:
    """Carry the way back one step on; whether every component was seen back, or is listed for a person."""
    ordered = sorted(draft.record.components, key=lambda c: (-draft.member(c.name).wave, c.name))
    short: list[str] = []
    for component in ordered:
        if component.state is State.REVERT_FAILED:
            _needs_human(draft, component, component.sentence)
        elif component.state is State.REVERT_WAIT or (
            component.state is State.REVERT_SUBMITTING and component.sent_at is None
        ):
            short.append(_revert(draft, component))
    _show_unread(draft)
    if any(short):
        draft.hold(HoldKind.CAPACITY, _OWNER, next(filter(None, short)))
    elif not draft.outstanding(Direction.BACK):
        draft.release(HoldKind.CAPACITY)
    if draft.outstanding(Direction.FORWARD):
        return _at(draft, Back.DRAIN)
    if any(c.state in _ON_THE_WAY or c.outstanding or _in_question(c) for c in draft.record.components):
        return _at(draft, Back.REVERT)
    if draft.record.back is not Back.VERIFY:
        return _at(draft, Back.VERIFY)
    return _verified(draft)


def _show_unread(draft: Draft) -> None:
    """Show a person what waits long for its way back because it cannot be read; it goes on by itself when it can."""
    waiting = [c.name for c in draft.record.components if c.state is State.REVERT_WAIT]
    unread = [name for name in waiting if draft.seen.component(name) is Absent.UNREADABLE]
    held = draft.record.hold(HoldKind.STUCK)
    if unread and draft.now > draft.progressed_at() + PATIENCE:
        draft.hold(HoldKind.STUCK, _OWNER, f"{', '.join(unread)} waits for its way back, and cannot be read")
    elif held is not None and held.owner == _OWNER and not unread:
        draft.release(HoldKind.STUCK)


def _at(draft: Draft, back: Back) -> bool:
    draft.update(replace(draft.record, back=back))
    return False


def _revert(draft: Draft, component: ComponentRecord) -> str:
    """Begin one way back, or say what must be said of it; why it waits for room (empty: it does not)."""
    view = draft.seen.component(component.name)
    late = draft.now > draft.progressed_at() + PATIENCE
    if view is Absent.NOT_FOUND:
        _needs_human(draft, component, "It is gone.")
    elif isinstance(view, ComponentView) and view.status is Status.IN_SERVICE:
        digest = view.spec.digest
        if digest == draft.old_digest(component):
            put = replace(component, state=State.REVERTED)
            draft.put(put, Reason.REVERTED, "It has the old version.")
        elif digest != draft.member(component.name).new.digest:
            _needs_human(draft, component, "It has a specification that is neither old nor new: adopt it, or mend it.")
        else:
            return _submit(draft, component, view, late=late)
    elif isinstance(view, ComponentView) and view.status is Status.FAILED:
        return _submit(draft, component, view, late=late)
    elif late and view is not Absent.UNREADABLE:
        _needs_human(draft, component, "It is busy, and not by us.")
    return ""


def _submit(draft: Draft, component: ComponentRecord, view: ComponentView, *, late: bool) -> str:
    member = draft.member(component.name)
    others = [c for c in draft.record.components if c.name != component.name]
    if any(c.outstanding and draft.member(c.name).endpoint == member.endpoint for c in others):
        return ""
    if any(c.state in _RUNNING and draft.member(c.name).endpoint == member.endpoint for c in others):
        return ""
    if sum(1 for c in others if c.state in _RUNNING) >= draft.plan.request.revert_concurrency:
        return ""
    held = draft.record.hold(HoldKind.CAPACITY)
    if (again := _again(component, view)) > draft.now:
        draft.wake(again)
        return held.sentence if held is not None else ""
    endpoint = draft.seen.endpoints.get(member.endpoint)
    ready = endpoint is not None and endpoint.in_service
    ready = ready and scaling_suspended(draft, component.name, member.endpoint)
    short = room_back(draft, component, view, endpoint) if endpoint is not None else ""
    if short and (held is None or draft.now <= held.since + PATIENCE):
        draft.wake((held.since if held is not None else draft.now) + PATIENCE + 1.0)
        return short
    if ready and view.status is Status.IN_SERVICE and (view.desired == 1 or _surged(draft, component.name)):
        ready = copies_changed(draft, component.name, member.endpoint, 2)
    if not (ready or late):
        draft.wake(draft.progressed_at() + PATIENCE + 1.0)
    elif component.state is State.REVERT_SUBMITTING:
        send(draft, component, view)
    elif exhausted(component, Direction.BACK):
        _needs_human(draft, component, "Its ways back are used up.")
    else:
        prepare(draft, component, view, Direction.BACK)
    return short


def _again(component: ComponentRecord, view: ComponentView) -> float:
    """When a way back that came to nothing is tried again: each time later, since room that lacks may come by then."""
    failed = component.tried(Direction.BACK)
    if component.state is not State.REVERT_WAIT or failed == 0 or component.granted or view.status is Status.FAILED:
        return component.since  # a person who allows more attempts, or has to see to one that failed, waits for none
    return component.since + RETRY * 2.0 ** (failed - 1)


def _surged(draft: Draft, component: str) -> bool:
    return any(note.component == component and surging(note) for note in draft.record.copies)


def _verified(draft: Draft) -> bool:
    good = True
    for component in draft.record.components:
        if component.state is not State.REVERTED:
            continue
        view = draft.seen.component(component.name)
        if isinstance(view, ComponentView) and view.status is Status.IN_SERVICE:
            if view.spec.digest == draft.old_digest(component):
                if view.current < view.desired and draft.now <= component.since + PATIENCE:
                    draft.wake(component.since + PATIENCE + 1.0)
                    good = False
                continue
            put = replace(component, state=State.REVERT_WAIT)
            draft.put(put, Reason.REVERT_WAITS, "It has the old version no more.")
        elif view is Absent.NOT_FOUND or draft.now > draft.progressed_at() + PATIENCE:
            _needs_human(draft, component, "It could not be seen InService with the old version.")
        good = False
    return good


def lacking(draft: Draft) -> str:
    """Which components went back and have fewer copies than they should; empty when none."""
    short: list[str] = []
    for component in draft.record.components:
        view = draft.seen.component(component.name)
        if component.state is State.REVERTED and isinstance(view, ComponentView) and view.current < view.desired:
            short.append(f"{component.name} has {view.current} of its {copies_of(view.desired)}")
    return ", ".join(short)


def _needs_human(draft: Draft, component: ComponentRecord, why: str) -> None:
    if draft.put(replace(component, state=State.NEEDS_HUMAN), Reason.NEEDS_HUMAN, why):
        draft.notice(f"human/{component.name}/{draft.now:.0f}", f"{component.name} needs a person: {why}")
