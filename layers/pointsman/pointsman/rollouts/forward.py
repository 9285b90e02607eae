"""The way forward: a wave is reserved whole, updated, settles, bakes, and passes its gate before the next begins."""

from dataclasses import replace

from pointsman.rollouts.capacity import make_room
from pointsman.rollouts.draft import PATIENCE, Draft
from pointsman.rollouts.gate import LAG, Why, earliest_pass
from pointsman.rollouts.gate import Verdict as Judged
from pointsman.rollouts.notes import copies_changed, scaling_suspended, surging
from pointsman.rollouts.observations import AlarmState, ComponentView, EndpointView, Occupant, Status
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Member, needs_on
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import (
    OLD_VERSION,
    SHOWING,
    WATCHDOG,
    ComponentRecord,
    Direction,
    HoldKind,
    NoteState,
    State,
    Step,
)
from pointsman.rollouts.request import Capacity, NoTraffic, SingleCopy
from pointsman.rollouts.submit import batches_now, has_room, prepare, send
from pointsman.rollouts.switch import make_switch

_APPLIED = frozenset({State.SETTLING, State.BAKING, State.DONE_NEW, State.SKIPPED})
_GOING = frozenset({NoteState.NOTED, NoteState.LOWERING})
_SETTLED = frozenset({State.BAKING, State.DONE_NEW, State.SKIPPED})


def advance_wave(draft: Draft) -> None:
    """Carry the present wave one step on."""
    wave = [draft.record.component(name) for name in draft.plan.waves[draft.record.wave]]
    step = draft.record.step
    if step is Step.ADMITTING:
        _admit(draft, wave)
    elif step is Step.UPDATING:
        _update(draft, wave)
        if all(c.state in _APPLIED for c in wave):
            _step(draft, Step.SETTLING)
    elif step is Step.SETTLING and all(c.state in _SETTLED for c in wave):
        start_bake(draft, Step.BAKING)
        draft.say(Reason.WAVE_BAKES, f"Wave {draft.record.wave + 1} is whole and bakes.")
    elif step is Step.BAKING and baked(draft, draft.plan.request.bake):
        pass_gate(draft)
    elif step is Step.GATED:
        _finish(draft, wave)


def start_bake(draft: Draft, step: Step) -> None:
    """Start the bake clock at this read: what is judged healthy must postdate it."""
    began = draft.seen.began
    draft.update(replace(draft.record, step=step, settled_at=began, baked=0.0, baking_since=began))


def pass_gate(draft: Draft) -> None:
    """The gate passed: the next window begins where this verdict's read did, less the lag; never at the commit.

    Where nothing was judged, or not all of it (an empty bake, a waiver), the window goes on: what no read has covered
    is covered by the next.
    """
    judged = all(j.verdict is Judged.PASS for j in draft.judgements())
    window = draft.seen.began - LAG if judged else draft.record.window_from
    draft.update(replace(draft.record, step=Step.GATED, window_from=window, baking_since=None))
    final = draft.record.phase is Phase.FINAL_BAKE
    text = "The final bake" if final else f"Wave {draft.record.wave + 1}"
    draft.say(Reason.WAVE_PASSED, f"{text} passed its gate.")


def baked(draft: Draft, length: float) -> bool:
    """Whether the bake is over and its gate passes; a pause stops the clock, and an unknown verdict holds."""
    record = draft.record
    paused = record.hold(HoldKind.OPERATOR)
    if paused is not None:
        if record.baking_since is not None:
            total = record.baked + max(0.0, paused.since - record.baking_since)
            draft.update(replace(record, baked=total, baking_since=None))
        return False
    if record.baking_since is None:
        draft.update(replace(record, baking_since=draft.now))
        return False
    elapsed = record.baked + draft.seen.began - record.baking_since
    if elapsed < length:
        draft.wake(draft.now + length - elapsed)
        return False
    return _gate(draft, elapsed - length)


def _gate(draft: Draft, over: float) -> bool:
    request = draft.plan.request
    excused = {waiver.kind for waiver in draft.record.waivers if waiver.wave == draft.record.gate}
    if request.no_traffic is NoTraffic.WAIVE:
        excused.add(HoldKind.NO_TRAFFIC)
    open_questions = [
        (j, HoldKind.NO_TRAFFIC if j.why is Why.NO_TRAFFIC else HoldKind.INCONCLUSIVE)
        for j in draft.judgements()
        if j.verdict is Judged.UNKNOWN
    ]
    early = [j for j, _ in open_questions if j.why is Why.TOO_EARLY]
    left = [(j, kind) for j, kind in open_questions if kind not in excused and j.why is not Why.TOO_EARLY]
    if early:
        draft.wake(earliest_pass(draft.watches(), draft.seen.alarms, draft.record.settled_at or draft.now))
    for kind in (HoldKind.NO_TRAFFIC, HoldKind.INCONCLUSIVE):
        found = [j for j, its in left if its is kind]
        if not found:
            draft.release(kind)
        elif kind is HoldKind.NO_TRAFFIC and request.no_traffic is NoTraffic.EXTEND and over < request.extend:
            draft.wake(draft.now + request.extend - over)
        else:
            draft.hold(kind, "gate", found[0].sentence, draft.now + request.hold_timeout)
    return not early and not left


def _admit(draft: Draft, wave: list[ComponentRecord]) -> None:
    number = draft.record.wave + 1
    if number in draft.plan.approvals and all(a.wave != number for a in draft.record.approvals):
        draft.hold(HoldKind.APPROVAL, "request", f"wave {number} waits for a person's approval")
    if any(hold.kind is not HoldKind.CAPACITY for hold in draft.record.holds):
        return
    if draft.record.reserved_wave != draft.record.wave:
        short = _shortages(draft, wave)
        if short is None:
            return
        if short:
            until = draft.now + draft.plan.request.capacity_wait
            draft.hold(HoldKind.CAPACITY, "pointsman", short, until)
            return
        draft.release(HoldKind.CAPACITY)
        draft.update(replace(draft.record, reserved_wave=draft.record.wave))
        tried = draft.plan.request.capacity is Capacity.TRY
        draft.say(
            Reason.WAVE_RESERVED,
            f"Wave {number} is tried, whether or not there is room."
            if tried
            else f"Room for wave {number} and for its way back is reserved.",
        )
    for component in wave:
        if component.state is State.PENDING:
            draft.put(replace(component, state=State.RESERVED), Reason.WAVE_RESERVED, "Room is reserved.")
    if all(draft.record.component(c.name).state is not State.PENDING for c in wave):
        _step(draft, Step.UPDATING)


def _shortages(draft: Draft, wave: list[ComponentRecord]) -> str | None:
    """Why the wave cannot be reserved, all or none; empty when it can, None while room is being made."""
    if draft.plan.request.capacity is Capacity.TRY:
        return ""
    making: list[str] = []
    for name in sorted({draft.member(c.name).endpoint for c in wave if c.state is State.PENDING}):
        endpoint = draft.seen.endpoints.get(name)
        if endpoint is None:
            return f"endpoint {name} cannot be read"
        slow = [n for n in draft.record.copies if n.endpoint == name and n.state in _GOING]
        if slow:
            making += [f"{note.component} on {name}" for note in slow]
            continue
        members = [_sized(draft, draft.member(c.name)) for c in wave if draft.member(c.name).endpoint == name]
        gives = make_room(endpoint, draft.plan.request.yielding, _Enough(endpoint, members))
        if gives is None:
            short = [need for need in needs_on(endpoint, members, endpoint.occupants) if not need.room.enough]
            return max(short, key=lambda need: need.room.needed).sentence
        for give in gives:
            making.append(f"{give.component} on {name}")
            if scaling_suspended(draft, give.component, name):
                copies_changed(draft, give.component, name, give.after)
    if making and draft.now > draft.progressed_at() + PATIENCE:
        return f"{', '.join(making)} does not give way"
    return None if making else ""


class _Enough:
    """Whether the endpoint has room for all these members, one after the other, beside the occupants."""

    def __init__(self, endpoint: EndpointView, members: list[Member]) -> None:
        self._endpoint, self._members = endpoint, members

    def __call__(self, occupants: tuple[Occupant, ...]) -> bool:
        return all(need.room.enough for need in needs_on(self._endpoint, self._members, occupants))


def _sized(draft: Draft, member: Member) -> Member:
    view = draft.seen.component(member.name)
    if not isinstance(view, ComponentView):
        return member
    batch, back = batches_now(draft, member, view)
    return replace(member, batch=batch, rollback_batch=back)


def _update(draft: Draft, wave: list[ComponentRecord]) -> None:
    if any(hold.kind is not HoldKind.CAPACITY and hold.owner not in SHOWING for hold in draft.record.holds):
        return
    if make_switch(draft):
        _begin(draft, wave)
    wave = [draft.record.component(c.name) for c in wave]
    _show_firing(draft, wave)
    _bark(draft, wave)


def _begin(draft: Draft, wave: list[ComponentRecord]) -> None:
    waits: list[str | None] = []
    for component in wave:
        if component.state is State.PENDING:  # planned again after an adoption
            draft.put(replace(component, state=State.RESERVED), Reason.WAVE_RESERVED, "It is planned again.")
        elif component.state is State.RESERVED or (component.state is State.SUBMITTING and component.sent_at is None):
            waits.append(_submit(draft, component))
    if short := next((text for text in waits if text), ""):
        draft.hold(HoldKind.CAPACITY, "pointsman", short, draft.now + draft.plan.request.capacity_wait)
    elif not waits or "" in waits:
        draft.release(HoldKind.CAPACITY)


def _show_firing(draft: Draft, wave: list[ComponentRecord]) -> None:
    """Show a person what waits because its own alarm fires already, which says nothing of the new version."""
    firing = [(c, alarm) for c in _unsent(wave) for alarm in _firing(draft, c)]
    held = draft.record.hold(HoldKind.STUCK)
    if firing:
        component, alarm = firing[0]
        text = f"{component.name} waits: its alarm {alarm} is in ALARM, and nothing of it was changed"
        draft.hold(HoldKind.STUCK, OLD_VERSION, text)
    elif held is not None and held.owner == OLD_VERSION:
        draft.release(HoldKind.STUCK)


def _unsent(wave: list[ComponentRecord]) -> list[ComponentRecord]:
    """Those whose turn it is, and of whom no update was sent."""
    return [c for c in wave if c.state in {State.RESERVED, State.SUBMITTING} and c.sent_at is None]


def _firing(draft: Draft, component: ComponentRecord) -> list[str]:
    """The alarms of a component that was never updated which fire for the version that it has."""
    own = () if component.touched else draft.own_alarms(component.name)
    return [view.name for view in own if view.state is AlarmState.ALARM]


def _fired_since(draft: Draft, component: ComponentRecord) -> bool:
    """Whether an own alarm fired after the intent was recorded: it is recorded anew, as alarms count from it on."""
    attempt = component.attempt
    own = () if component.touched or attempt is None else draft.own_alarms(component.name)
    return attempt is not None and any(at >= attempt.prepared_at for view in own for at in view.entered)


def _bark(draft: Draft, wave: list[ComponentRecord]) -> None:
    """Show a person what has waited long for its turn though nothing is in flight; it goes on by itself when it can."""
    waiting = [component.name for component in _unsent(wave)]
    silent = draft.now > draft.progressed_at() + PATIENCE and not draft.outstanding()
    held = draft.record.hold(HoldKind.STUCK)
    if waiting and silent and draft.record.hold(HoldKind.CAPACITY) is None:
        draft.hold(HoldKind.STUCK, WATCHDOG, f"{', '.join(waiting)} cannot begin: {_hindrance(draft)}")
    elif held is not None and held.owner == WATCHDOG and not silent:
        draft.release(HoldKind.STUCK)


def _hindrance(draft: Draft) -> str:
    state = draft.seen.kill_switch
    if state is not AlarmState.OK:
        is_ = "is missing" if state is None else f"is not OK ({state.value})"
        return f"their kill switch, alarm {draft.record.kill_switch}, {is_}"
    if draft.seen.scaling is None:
        return "auto scaling cannot be read"
    return "busy, not yet settled, or the endpoint is not InService"


def _submit(draft: Draft, component: ComponentRecord) -> str | None:
    """Record or send one update if its turn has come; why it waits for room (empty: not, None: not asked yet)."""
    member = draft.member(component.name)
    view = draft.seen.component(component.name)
    endpoint = draft.seen.endpoints.get(member.endpoint)
    if not isinstance(view, ComponentView) or view.status is not Status.IN_SERVICE or endpoint is None:
        return None
    if view.spec.digest != draft.old_digest(component) or not endpoint.in_service or not _turn(draft, component):
        return None
    if _firing(draft, component):
        return None
    if not scaling_suspended(draft, component.name, member.endpoint):
        return None
    if view.desired == 0 or (view.desired == 1 and draft.plan.request.single_copy is SingleCopy.REFUSE):
        return f"{component.name} has {view.desired} copies by now, too few to roll"
    noted = any(n.component == component.name and n.state is not NoteState.RESTORED for n in draft.record.copies)
    if (view.desired == 1 or noted) and not copies_changed(draft, component.name, member.endpoint, 2):
        return None
    if short := has_room(draft, member, view, endpoint):
        return short
    if component.state is State.RESERVED or _fired_since(draft, component):
        prepare(draft, component, view, Direction.FORWARD)
    else:
        send(draft, component, view)
    return ""


def _turn(draft: Draft, component: ComponentRecord) -> bool:
    """Whether the limits let this component be in flight: one per endpoint, and the concurrency less the failed.

    One that has more copies for its own turn has the endpoint until it is back at what it had.
    """
    endpoint = draft.member(component.name).endpoint
    if any(n.endpoint == endpoint and n.component != component.name and surging(n) for n in draft.record.copies):
        return False
    flying = {c.name for c in draft.flying()} - {component.name}
    if any(draft.member(name).endpoint == endpoint for name in flying):
        return False
    return len((flying | {c.name for c in draft.failed()}) - {component.name}) < draft.plan.request.concurrency


def _finish(draft: Draft, wave: list[ComponentRecord]) -> None:
    for component in wave:
        if component.state is State.BAKING:
            draft.put(replace(component, state=State.DONE_NEW), Reason.WAVE_PASSED, "Its wave passed.")
    if any(draft.record.component(c.name).state is State.BAKING for c in wave):
        return
    if draft.record.wave + 1 < len(draft.plan.waves):
        draft.update(
            replace(draft.record, wave=draft.record.wave + 1, step=Step.ADMITTING, settled_at=None, reserved_wave=None),
        )
    else:
        draft.update(replace(draft.record, phase=Phase.FINAL_BAKE, since=draft.now))
        start_bake(draft, Step.BAKING)


def _step(draft: Draft, step: Step) -> None:
    draft.update(replace(draft.record, step=step))
