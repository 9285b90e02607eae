"""One pass over one rollout: from its record and what was read to the next record, the acts, and when to look again."""

from dataclasses import replace

from pointsman.rollouts.backward import lacking, stopped, take_back, withdraw
from pointsman.rollouts.decision import Decision
from pointsman.rollouts.draft import PATIENCE, Draft
from pointsman.rollouts.follow import follow, settled
from pointsman.rollouts.forward import advance_wave, baked, pass_gate
from pointsman.rollouts.gate import Verdict
from pointsman.rollouts.looks import next_look
from pointsman.rollouts.notes import advance_notes, give_all_back, give_back, give_copies_back
from pointsman.rollouts.observations import UNREAD, AlarmState, ComponentView, Observations
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.planner import make_plan
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import (
    GIVEN_UP,
    SHOWING,
    STOP,
    ComponentRecord,
    Hold,
    HoldKind,
    Intent,
    RolloutRecord,
    State,
    Step,
    Switch,
)
from pointsman.rollouts.request import OnFailure, Request
from pointsman.rollouts.switch import advance_switch, dispose_of_switch, make_switch

_WAITING = frozenset({State.RESERVED, State.SUBMITTING})
_IDLE = frozenset({State.DONE_NEW, State.SKIPPED, State.REVERTED, State.NEEDS_HUMAN})


def freeze(record: RolloutRecord, request: Request, seen: Observations, now: float) -> Decision:
    """The first pass: the plan is made and frozen with its members, and its endpoints are locked; or all is refused.

    The locks are taken in the commit's transaction; where one is lost, the next try finds its owner and refuses.
    """
    plan = make_plan(request, seen, now)
    draft = Draft(record, plan, seen, now)
    if record.phase is not Phase.PLANNED:
        return Decision(record, next_wake_at=now)
    if plan.refused:
        draft.update(replace(record, cause=plan.refusal))
        draft.end(Phase.REJECTED, f"Refused: {plan.refusal}")
        return replace(draft.decision(), plan=plan)
    locks = tuple((name, (seen.locks[name].fence if name in seen.locks else 0) + 1) for name in plan.endpoints)
    draft.update(
        replace(
            record,
            phase=Phase.PREFLIGHT,
            since=now,
            fences=locks,
            components=tuple(ComponentRecord(member.name, since=now) for member in plan.members),
        ),
    )
    draft.say(Reason.FROZEN_PLAN, f"{len(plan.members)} components in {len(plan.waves)} waves.")
    return replace(draft.decision(), plan=plan, locks=locks)


def decide(record: RolloutRecord, plan: Plan, seen: Observations, now: float) -> Decision:
    """What this pass changes, does and says; a pure function. A record that has ended stays as it is."""
    if record.phase.terminal or record.phase is Phase.PLANNED:
        return Decision(record, next_wake_at=None if record.phase.terminal else now)
    draft = Draft(record, plan, seen, now)
    _heed_stop(draft)
    if record.phase is not Phase.PREFLIGHT:
        follow(draft)
        _watch(draft)
    _advance_notes(draft)
    advance_switch(draft)
    phase = draft.record.phase
    if phase is Phase.PREFLIGHT:
        _preflight(draft)
    elif phase is Phase.RUNNING:
        _frozen(draft)
        advance_wave(draft)
    elif phase is Phase.FINAL_BAKE:
        _final_bake(draft)
    elif phase is Phase.STOPPING:
        withdraw(draft)
        if stopped(draft) and _closed(draft):
            draft.end(Phase.STOPPED, f"Stopped; what was done stays. {draft.record.cause}")
    elif phase is Phase.ROLLING_BACK:
        withdraw(draft)
        if take_back(draft) and _closed(draft):
            _end_rollback(draft)
    _give_back_idle(draft)
    _expire(draft)
    draft.wake(next_look(draft))
    return draft.decision()


def _heed_stop(draft: Draft) -> None:
    """While everything is stopped, a rollout is held as by an operator; ways back go on."""
    held = draft.record.hold(HoldKind.OPERATOR)
    if draft.seen.stopped and held is None and draft.record.intent is Intent.FORWARD:
        draft.hold(HoldKind.OPERATOR, STOP, "everything is stopped (`pointsman stop`)")
    elif not draft.seen.stopped and held is not None and held.owner == STOP:
        draft.release(HoldKind.OPERATOR)


def _preflight(draft: Draft) -> None:
    record = draft.record
    if record.intent is not Intent.FORWARD:
        if _closed(draft):
            draft.end(Phase.REJECTED, f"Given up before anything was changed: {record.cause}")
        return
    waived = {w.alarm for w in draft.plan.request.waived if draft.now < w.until}
    names = [w.alarm for w in draft.plan.watches if w.alarm not in waived]
    firing = [n for n in names if n in draft.seen.alarms and draft.seen.alarms[n].state is AlarmState.ALARM]
    if firing:
        draft.raise_intent(Intent.STOP, f"alarm {firing[0]} is in ALARM before the start")
    elif not make_switch(draft):
        if record.switch is not Switch.NONE and draft.now > record.switch_since + PATIENCE:
            draft.raise_intent(Intent.STOP, "the kill switch did not become ready")
    elif draft.record.hold(HoldKind.OPERATOR) is None:
        draft.update(replace(draft.record, phase=Phase.RUNNING, since=draft.now, window_from=draft.seen.began))
        draft.say(Reason.PREFLIGHT_PASSED, "The kill switch stands ready, and no alarm is firing.")


def _watch(draft: Draft) -> None:
    """Act on an excursion of any alarm since the window began, whatever holds."""
    stops = draft.plan.request.on_failure is OnFailure.STOP
    if draft.record.intent is Intent.REVERT or (draft.record.intent is Intent.STOP and stops):
        return
    failed = [j for j in draft.judgements() if j.verdict is Verdict.FAIL]
    if failed and draft.record.window_from is not None:
        draft.say(Reason.ALARM, failed[0].sentence)
        draft.raise_intent(Intent.STOP if stops else Intent.REVERT, failed[0].sentence)


def _advance_notes(draft: Draft) -> None:
    intent, kinds = draft.record.intent, {hold.kind for hold in draft.record.holds if hold.owner not in SHOWING}
    going = intent is Intent.REVERT or (intent is Intent.FORWARD and not kinds - {HoldKind.CAPACITY})
    busy = {c.name for c in draft.record.components if going and not _idle(draft, c)}
    members = {c.name for c in draft.record.components}
    where = {draft.member(name).endpoint for name in busy}
    yields = {note.component for note in draft.record.copies if note.endpoint in where} - members
    advance_notes(draft, busy | yields)


def _frozen(draft: Draft) -> None:
    until = [f.until for f in draft.plan.request.freezes if f.since <= draft.now < f.until]
    if until:
        draft.hold(HoldKind.FREEZE, "calendar", "a freeze window is open", max(until))
        draft.wake(max(until))
    else:
        draft.release(HoldKind.FREEZE)


def _final_bake(draft: Draft) -> None:
    length = draft.plan.request.final_bake
    draft.release(HoldKind.FREEZE)  # nothing begins any more
    if draft.record.step is Step.BAKING:
        if (length == 0 and draft.record.hold(HoldKind.OPERATOR) is None) or baked(draft, length):
            pass_gate(draft)
    elif unread := [name for name, view in draft.seen.alarms.items() if view.problem == UNREAD]:
        if draft.now > draft.record.since + length + PATIENCE:
            draft.hold(HoldKind.STUCK, "final bake", f"alarm {min(unread)} cannot be read")
        return  # the last look may show what the verdict's came too early for
    elif not any(h.kind in {HoldKind.DRIFT, HoldKind.OPERATOR} for h in draft.record.holds) and _closed(draft):
        if all(_whole(draft, c) for c in draft.record.components):
            count = len(draft.record.components)
            whole = "The component has" if count == 1 else f"All {count} components have"
            draft.end(Phase.SUCCEEDED, f"{whole} the new version.")
        elif draft.now > draft.record.since + length + PATIENCE:
            draft.hold(HoldKind.STUCK, "final bake", "not every component is InService with all its copies")


def _whole(draft: Draft, component: ComponentRecord) -> bool:
    if component.state is State.SKIPPED:
        return True
    view = draft.seen.component(component.name)
    new = draft.member(component.name).new.digest
    return isinstance(view, ComponentView) and view.spec.digest == new and settled(draft, view)


def _end_rollback(draft: Draft) -> None:
    if left := draft.record.needs_human:
        draft.end(Phase.ROLLBACK_INCOMPLETE, f"Not all is back; a person must see to {', '.join(left)}.")
    else:
        but = f", but {short}" if (short := lacking(draft)) else ""
        draft.end(Phase.ROLLED_BACK, f"Everything has the old version again{but}. {draft.record.cause}")


def _closed(draft: Draft) -> bool:
    """Whether all that was changed for a time is given back, or listed, and the switch is gone."""
    given = give_all_back(draft)
    return dispose_of_switch(draft) and given


def _give_back_idle(draft: Draft) -> None:
    if draft.record.phase.terminal:
        return
    # Where another of the endpoint waits for its turn; else what may have to go back keeps what that takes.
    awaited = {draft.member(c.name).endpoint for c in draft.record.components if c.state in _WAITING}
    for component in draft.record.components:
        if _idle(draft, component):
            give_back(draft, component.name)
        elif component.state is State.BAKING and draft.member(component.name).endpoint in awaited:
            give_copies_back(draft, component.name)


def _idle(draft: Draft, component: ComponentRecord) -> bool:
    """Whether nothing more is to be done to a component as things are."""
    unbegun = component.state is State.PENDING and draft.record.intent is not Intent.FORWARD
    return unbegun or component.state in _IDLE


def _expire(draft: Draft) -> None:
    """Give up what was held for too long; while another hold keeps everybody from looking, that time stands still."""
    holds = draft.record.holds
    stills = [hold.since for hold in holds if hold.kind not in GIVEN_UP and hold.owner not in SHOWING]
    for hold in (hold for hold in holds if hold.kind in GIVEN_UP):
        if hold.expiry is not None and stills:
            left = max(0.0, hold.expiry - max(hold.since, min(stills)))
            _put_hold(draft, replace(hold, expiry=None, left=left))
        elif hold.left is not None and not stills:
            _put_hold(draft, replace(hold, expiry=draft.now + hold.left, left=None))
        elif hold.expiry is not None:
            draft.wake(hold.expiry)
            if draft.now >= hold.expiry:
                draft.say(Reason.GAVE_UP, f"The hold ({hold.kind.value}) lasted too long.")
                draft.raise_intent(Intent.STOP, f"held ({hold.kind.value}) too long: {hold.sentence}")


def _put_hold(draft: Draft, hold: Hold) -> None:
    holds = tuple(hold if other.kind is hold.kind else other for other in draft.record.holds)
    draft.update(replace(draft.record, holds=holds))
