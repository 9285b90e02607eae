"""What people may do to a rollout, as pure functions on its record; who did it is in the journal."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pointsman.rollouts.decision import Decision, entry
from pointsman.rollouts.draft import ATTEMPTS, MOST_CHANGES, SHED_BY_REVERT
from pointsman.rollouts.observations import ComponentView, Observations, Status
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import MARKS, Plan
from pointsman.rollouts.reasons import Notice, Reason, Said
from pointsman.rollouts.record import (
    STOP,
    Approval,
    Back,
    ComponentRecord,
    Direction,
    GateWaiver,
    Hold,
    HoldKind,
    Intent,
    RolloutRecord,
    State,
    Step,
)
from pointsman.rollouts.request import Request

EVENT = "event:"  # the actor of a command that came by the bus begins so
_WAIVABLE = frozenset({HoldKind.INCONCLUSIVE, HoldKind.NO_TRAFFIC})


class CommandRefused(ValueError):
    """A command that cannot be obeyed: what is wrong, and what to do instead."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        """Keep the two parts; the text is both."""
        self.problem, self.remedy = problem, remedy
        super().__init__(f"{problem}{f' ({remedy})' if remedy else ''}")


@dataclass(frozen=True, slots=True)
class By:
    """Who commands, when, and why."""

    actor: str
    at: float
    reason: str = ""


def start(request: Request, by: By, switch: str = "") -> Decision:
    """A new rollout, whose kill switch has this name; its first pass plans it."""
    before = RolloutRecord(request.rollout)
    after = replace(before, alarm=switch, started_at=by.at, started_by=by.actor, since=by.at)
    return _decision(before, after, by, Reason.STARTED, f"Asked for by {by.actor}.", "started")


def pause(record: RolloutRecord, by: By) -> Decision:
    """Hold forward admission until `resume`; alarms and ways back go on. It outlasts `pointsman start`."""
    _open(record)
    held = record.hold(HoldKind.OPERATOR)
    if held is not None and held.owner != STOP:
        raise CommandRefused("it is paused already", "resume it")
    if record.intent is not Intent.FORWARD:
        raise CommandRefused("it goes forward no more, and a way back is never paused", "")
    hold = Hold(HoldKind.OPERATOR, by.actor, by.at, None, by.reason or f"paused by {by.actor}")
    others = tuple(other for other in record.holds if other.kind is not HoldKind.OPERATOR)
    return _commanded(record, replace(record, holds=(*others, hold)), by, "pause")


def resume(record: RolloutRecord, by: By) -> Decision:
    """End a pause."""
    _open(record)
    held = record.hold(HoldKind.OPERATOR)
    if held is None:
        raise CommandRefused("it is not paused", "see what holds it with `rollout show`")
    if held.owner == STOP:
        raise CommandRefused("it is held because everything is stopped", "`pointsman start` ends that")
    holds = tuple(hold for hold in record.holds if hold.kind is not HoldKind.OPERATOR)
    return _commanded(record, replace(record, holds=holds), by, "resume")


def abort(record: RolloutRecord, by: By) -> Decision:
    """Stop: nothing more begins, what is in flight goes back, what is finished stays."""
    _open(record)
    if record.intent is not Intent.FORWARD:
        raise CommandRefused(f"it is {record.phase.value} already", "to take back what is done, roll back")
    return _commanded(record, turned(record, Intent.STOP, by), by, "abort")


def rollback(record: RolloutRecord, by: By) -> Decision:
    """Take everything back."""
    _open(record)
    if record.intent is Intent.REVERT:
        raise CommandRefused("it is rolling back already", "watch it")
    return _commanded(record, turned(record, Intent.REVERT, by), by, "rollback")


def approve(record: RolloutRecord, plan: Plan, wave: int, by: By) -> Decision:
    """Let a wave (from 1) begin."""
    _open(record)
    _person(by, "approve")
    if wave not in plan.approvals:
        others = ", ".join(map(str, plan.approvals)) or "none"
        raise CommandRefused(f"wave {wave} needs no approval", f"those that do: {others}")
    if any(approval.wave == wave for approval in record.approvals):
        raise CommandRefused(f"wave {wave} is approved already", "")
    approvals = (*record.approvals, Approval(wave, by.actor, by.at))
    holds = record.holds
    if wave == record.wave + 1:
        holds = tuple(hold for hold in holds if hold.kind is not HoldKind.APPROVAL)
    return _commanded(record, replace(record, approvals=approvals, holds=holds), by, f"approve wave {wave}")


def waive(record: RolloutRecord, kind: HoldKind, by: By) -> Decision:
    """Let this wave's gate pass without the evidence that it lacks."""
    _open(record)
    _person(by, "waive")
    if kind not in _WAIVABLE:
        raise CommandRefused(f"a hold of kind {kind.value} cannot be waived", "only inconclusive and no_traffic can")
    if record.hold(kind) is None:
        raise CommandRefused(f"it is not held for {kind.value}", "see what holds it with `rollout show`")
    if not by.reason:
        raise CommandRefused("a waiver needs a reason", "give it with --reason")
    waiver = GateWaiver(kind, record.gate, by.reason, by.actor, by.at)
    holds = tuple(hold for hold in record.holds if hold.kind is not kind)
    after = replace(record, waivers=(*record.waivers, waiver), holds=holds)
    return _commanded(record, after, by, f"waive {kind.value} at gate {waiver.wave}")


def adopt(record: RolloutRecord, plan: Plan, name: str, seen: Observations, by: By) -> Decision:
    """Let a drifted specification count as the old one; the component is planned again, or left out if it is new.

    What is planned again has all its attempts once more.
    """
    _open(record)
    _person(by, "adopt")
    if not by.reason:
        raise CommandRefused("an adoption needs a reason", "give it with --reason")
    component = _component(record, name)
    view = seen.component(name)
    if component.state is not State.DRIFTED and not (
        component.state is State.NEEDS_HUMAN and record.intent is Intent.REVERT
    ):
        raise CommandRefused(f"{name} has not drifted", "only a drifted component can be adopted")
    if not isinstance(view, ComponentView):
        raise CommandRefused(f"{name} is {view.value}", "there is no specification to adopt")
    if view.status is not Status.IN_SERVICE:
        raise CommandRefused(f"{name} is {view.status.value}", "wait until it is InService")
    member, tried = plan.member(name), component.tried(Direction.FORWARD)
    again = member.wave > record.wave or (member.wave == record.wave and record.step is not Step.GATED)
    again = again and len(component.attempts) + ATTEMPTS < MARKS
    if record.intent is Intent.REVERT:
        state = State.REVERTED
    elif again and not view.several and view.spec.digest != member.new.digest and record.phase is Phase.RUNNING:
        state = State.PENDING
    else:
        state = State.SKIPPED
    changed = replace(
        component, state=state, since=by.at, adopted=view.spec, sent_at=None, lease_until=None, deadline=None
    )
    if state is State.PENDING:
        changed = replace(changed, granted=max(component.granted, tried))
    after = record.with_component(changed)
    if state is State.PENDING and member.wave == record.wave and record.step in {Step.SETTLING, Step.BAKING}:
        after = replace(after, step=Step.UPDATING, settled_at=None, baking_since=None)
    return _commanded(record, after, by, f"adopt {name}", component=name)


def retry(record: RolloutRecord, by: By) -> Decision:
    """New attempts for what is stuck or failed, of a rollout that is held or on its way back.

    One call allows as many as a commit may change; where more are stuck, it is given again.
    """
    _open(record)
    changed = [c for c in record.components if _retried(record, c) is not None][:MOST_CHANGES]
    if not changed and (flying := [c.name for c in record.components if c.state is State.STUCK]):
        text = f"SageMaker may be at {', '.join(flying)} still, so nothing can be sent"
        raise CommandRefused(text, "wait for its end, or roll back")
    if not changed or (record.intent is Intent.FORWARD and record.hold(HoldKind.STUCK) is None):
        raise CommandRefused("nothing of it can be tried again", "only what is stuck or needs a person")
    after = record
    for component in changed:
        state = _retried(record, component)
        if state is not None and len(component.attempts) + ATTEMPTS < MARKS:
            put = replace(component, state=state, since=by.at, granted=component.granted + ATTEMPTS)
            after = after.with_component(put)
    if after == record:
        raise CommandRefused("it was tried as often as can be told apart", "roll back, and start a new rollout")
    holds = tuple(hold for hold in after.holds if hold.kind is not HoldKind.STUCK)
    back = Back.REVERT if after.intent is Intent.REVERT else after.back
    return _commanded(record, replace(after, holds=holds, back=back), by, "retry")


def turned(record: RolloutRecord, intent: Intent, by: By) -> RolloutRecord:
    """The record with a risen intent; one that has changed nothing yet is simply given up."""
    cause = record.cause or f"{'rollback' if intent is Intent.REVERT else 'abort'} by {by.actor}: {by.reason}".strip(
        ": "
    )
    after = replace(record, intent=intent, cause=cause)
    if record.phase is Phase.PLANNED:
        return replace(after, phase=Phase.REJECTED, since=by.at, ended_at=by.at, holds=())
    if record.phase is Phase.PREFLIGHT:
        return after
    revert = intent is Intent.REVERT
    return replace(
        after,
        phase=Phase.ROLLING_BACK if revert else Phase.STOPPING,
        back=Back.DRAIN if revert else None,
        since=by.at,
        holds=tuple(hold for hold in record.holds if hold.kind not in SHED_BY_REVERT),
    )


def _retried(record: RolloutRecord, component: ComponentRecord) -> State | None:
    if record.intent is Intent.REVERT:
        waits = component.state in {State.NEEDS_HUMAN, State.REVERT_FAILED}
        return State.REVERT_WAIT if waits and component.sent_at is None else None
    if record.intent is Intent.FORWARD and component.sent_at is None:
        again = component.state in {State.STUCK, State.FAILED, State.NATIVE_ROLLED_BACK}
        return State.RESERVED if again else None
    return None


def _component(record: RolloutRecord, name: str) -> ComponentRecord:
    try:
        return record.component(name)
    except KeyError:
        names = ", ".join(c.name for c in record.components)
        raise CommandRefused(f"{name} is not of this rollout", f"one of: {names}") from None


def _open(record: RolloutRecord) -> None:
    if record.phase.terminal:
        raise CommandRefused(f"it has ended ({record.phase.value}), and never changes again", "start a new rollout")


def _person(by: By, verb: str) -> None:
    if by.actor.startswith(EVENT):
        raise CommandRefused(f"an event may not {verb}", "a person must, by the command")


def _commanded(
    before: RolloutRecord,
    after: RolloutRecord,
    by: By,
    what: str,
    *,
    component: str | None = None,
) -> Decision:
    reason = f": {by.reason}" if by.reason else ""
    said = (Said(Reason.COMMAND, f"{what} by {by.actor}{reason}.", component),)
    return _made(before, after, by, said, f"command/{what}/{by.at:.0f}")


def _decision(before: RolloutRecord, after: RolloutRecord, by: By, reason: Reason, text: str, key: str) -> Decision:
    return _made(before, after, by, (Said(reason, text),), key)


def _made(before: RolloutRecord, after: RolloutRecord, by: By, said: Iterable[Said], key: str) -> Decision:
    after = replace(after, rev=before.rev + 1)
    lines = tuple(said)
    notice = Notice(f"{after.rollout}/{key}", f"Rollout {after.rollout}: {lines[0].sentence}")
    wake = None if after.phase.terminal else by.at
    return Decision(after, entry(before, after, by.at, by.actor, lines), (), (notice,), wake)
