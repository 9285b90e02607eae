"""An update, in two commits: first the intent with what was read, then that it is sent; only then it is.

The pass that records an intent never acts on it. A kill between any two steps so leaves an intent without effect (the
lease ends, a read shows it, a new attempt follows) or an effect with its intent (a read shows it, and it is adopted).
"""

from dataclasses import replace

from pointsman.rollouts.batches import Batch, single
from pointsman.rollouts.capacity import Room, make_room, room_for, with_copies
from pointsman.rollouts.decision import SubmitUpdate
from pointsman.rollouts.draft import ATTEMPTS, ATTEMPTS_BACK, LEASE, SLACK, Draft
from pointsman.rollouts.notes import copies_changed, scaling_suspended
from pointsman.rollouts.observations import ComponentView, EndpointView, Occupant
from pointsman.rollouts.plan import MARKS, Member, Need, needs_on
from pointsman.rollouts.planner import new_per_instance, size_batch
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import Attempt, ComponentRecord, Direction, State
from pointsman.rollouts.request import Capacity
from pointsman.rollouts.specs import Spec


def exhausted(component: ComponentRecord, direction: Direction) -> bool:
    """Whether no further attempt may be made without a person."""
    bound = component.granted + (ATTEMPTS if direction is Direction.FORWARD else ATTEMPTS_BACK)
    return component.tried(direction) >= bound or len(component.attempts) >= MARKS - 1


def mark_for(base: int, number: int, present: int | None) -> int:
    """A timeout that no other attempt of this component sends, nor the one that is described now.

    >>> mark_for(3600, 1, None), mark_for(3600, 2, 3602)
    (3601, 3634)
    """
    mark = base + number
    return mark + MARKS if mark == present else mark


def prepare(draft: Draft, component: ComponentRecord, view: ComponentView, direction: Direction) -> None:
    """Record an intent: what will be sent, and what was read before it."""
    member = draft.member(component.name)
    batch, back = batches_now(draft, member, view)
    target = spec_for(draft, component, direction)
    unsent = component.sent_at is None and component.state in {State.SUBMITTING, State.REVERT_SUBMITTING}
    earlier = component.attempts[:-1] if unsent else component.attempts
    number = len(earlier) + 1
    attempt = Attempt(
        number=number,
        direction=direction,
        target=target.digest,
        mark=mark_for(member.timeout, number, view.mark),
        batch=batch if direction is Direction.FORWARD else back,
        rollback_batch=back,
        modified=view.modified,
        failure=view.failure,
        prepared_at=draft.now,
    )
    state = State.SUBMITTING if direction is Direction.FORWARD else State.REVERT_SUBMITTING
    put = replace(component, state=state, attempts=(*earlier, attempt), sent_at=None, lease_until=None, deadline=None)
    draft.put(put, Reason.INTENT_RECORDED, f"Attempt {number} ({direction.value}), {attempt.batch.copies} at a time.")


def send(draft: Draft, component: ComponentRecord, view: ComponentView) -> None:
    """Send the recorded attempt, if the record already held it and nothing has changed since it was read."""
    attempt = component.attempt
    if attempt is None or draft.before.component(component.name) != component:
        return
    if (view.modified, view.failure) != (attempt.modified, attempt.failure) or view.mark == attempt.mark:
        prepare(draft, component, view, attempt.direction)
        return
    until = draft.now + LEASE
    deadline = draft.now + attempt.mark + SLACK
    sent = replace(component, sent_at=draft.now, lease_until=until, deadline=deadline, touched=True)
    forward = attempt.direction is Direction.FORWARD
    if draft.put(sent, Reason.SENT, f"Attempt {attempt.number} ({attempt.direction.value}) is sent."):
        draft.act(
            SubmitUpdate(
                component=component.name,
                attempt=attempt,
                spec=spec_for(draft, component, attempt.direction),
                wait=draft.plan.request.wait if forward else 0.0,
                alarms=_alarms(draft, component.name) if forward else (),
                not_after=until,
            ),
        )


def spec_for(draft: Draft, component: ComponentRecord, direction: Direction) -> Spec:
    """The whole specification to send in this direction."""
    member = draft.member(component.name)
    return member.new if direction is Direction.FORWARD else component.adopted or member.old


def batches_now(draft: Draft, member: Member, view: ComponentView) -> tuple[Batch, Batch]:
    """The batches for the copies that the component has by now: they may have moved since the plan."""
    copies = view.desired
    if member.single and copies <= 2:
        return single(), single()
    if copies == member.copies:
        return member.batch, member.rollback_batch
    endpoint = draft.seen.endpoints.get(member.endpoint)
    each = new_per_instance(endpoint, member.new.compute) if endpoint is not None else 1
    batch = size_batch(copies, draft.plan.request, each)
    return batch, batch


def has_room(draft: Draft, member: Member, view: ComponentView, endpoint: EndpointView) -> str:
    """Why the component must wait for room, in numbers; empty when it need not."""
    if draft.plan.request.capacity is Capacity.TRY:
        return ""
    batch, back = batches_now(draft, member, view)
    occupants = with_copies(endpoint.occupants, member.name, view.desired, view.spec.compute)
    needs = needs_on(endpoint, [replace(member, batch=batch, rollback_batch=back)], occupants)
    short = [need for need in needs if not need.room.enough]
    return max(short, key=lambda need: need.room.needed).sentence if short else ""


def room_back(draft: Draft, component: ComponentRecord, view: ComponentView, endpoint: EndpointView) -> str:
    """Why the way back must wait for room, in numbers; empty when it need not. Whatever yields is asked to give way."""
    member = draft.member(component.name)
    _, back = batches_now(draft, member, view)
    old = spec_for(draft, component, Direction.BACK).compute
    copies = max(2 if view.desired == 1 else view.desired, view.current)

    def room(occupants: tuple[Occupant, ...]) -> Room:
        return room_for(endpoint, with_copies(occupants, member.name, copies, view.spec.compute), back.copies, old)

    need = Need(member.name, endpoint.name, member.wave, Direction.BACK, back.copies, room(endpoint.occupants))
    if need.room.enough:
        return ""
    for give in make_room(endpoint, draft.plan.request.yielding, lambda occupants: room(occupants).enough) or ():
        if scaling_suspended(draft, give.component, endpoint.name):
            copies_changed(draft, give.component, endpoint.name, give.after)
    return need.sentence


def _alarms(draft: Draft, component: str) -> tuple[str, ...]:
    waived = {w.alarm for w in draft.plan.request.waived if draft.now < w.until}
    own = tuple(name for name in draft.member(component).natives if name not in waived)
    return (*own, draft.record.kill_switch)
