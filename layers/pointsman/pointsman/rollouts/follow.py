"""What became of each component since the pass before: what was read decides, once it proves something."""

from dataclasses import replace

from pointsman.rollouts.classify import Accepted, Expected, Sent, Verdict, accepted, classify
from pointsman.rollouts.draft import PATIENCE, Draft
from pointsman.rollouts.observations import Absent, ComponentView, Seen, Status
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import SHOWING, ComponentRecord, Direction, HoldKind, Intent, State
from pointsman.rollouts.request import OnFailure
from pointsman.rollouts.submit import exhausted

UNSENT = frozenset({State.PENDING, State.RESERVED, State.SUBMITTING})
_OWNER = "components"  # of the holds that follow from what was read of them, and go when that is over
NEW = frozenset({State.SETTLING, State.BAKING, State.DONE_NEW})


def follow(draft: Draft) -> None:
    """Bring every component's record up to what was read, and hold the rollout while one is stuck or has drifted."""
    for component in draft.record.components:
        view = draft.seen.component(component.name)
        refusal = draft.seen.refusals.get(component.name)
        if refusal and component.outstanding and component.sentence != refusal:
            draft.put(replace(component, refused=True), Reason.SENT, refusal)
        elif component.outstanding:
            _follow_attempt(draft, component, view)
        elif component.state in UNSENT:
            _follow_untouched(draft, component, view)
        elif component.state in NEW and draft.record.intent is not Intent.REVERT:
            _follow_new(draft, component, view)
        elif component.state is State.DRIFTED and draft.record.intent is Intent.FORWARD:
            _follow_drifted(draft, component, view)
    _hold_for(draft, HoldKind.DRIFT, State.DRIFTED, "was changed by someone else: adopt it, or roll back")
    _hold_for(draft, HoldKind.STUCK, State.STUCK, "is stuck: see to it, then retry or roll back")


def fail(draft: Draft, component: ComponentRecord, cause: str) -> None:
    """Let a component's failure turn the rollout; on the way to a stop or back it changes nothing more."""
    if draft.record.intent is Intent.FORWARD:
        revert = draft.plan.request.on_failure is OnFailure.REVERT
        draft.raise_intent(Intent.REVERT if revert else Intent.STOP, f"{component.name}: {cause}")


def _follow_attempt(draft: Draft, component: ComponentRecord, view: Seen) -> None:
    attempt, lease = component.attempt, component.lease_until
    if attempt is None or lease is None:
        return
    old, new = draft.old_digest(component), draft.member(component.name).new.digest
    forward = attempt.direction is Direction.FORWARD
    expected = Expected(old, new) if forward else Expected(new, old)
    verdict = classify(view, expected, Sent(attempt, lease), draft.seen.began)
    if verdict is Verdict.ROLLED_BACK and component.refused and not _proven(component, view):
        verdict = Verdict.NOT_APPLIED
    in_doubt = draft.seen.began <= lease
    if verdict is Verdict.UNKNOWN or (verdict in {Verdict.DRIFT, Verdict.FAILED} and in_doubt):
        draft.wake(lease + 1.0)
        _silence(draft, component)
    elif verdict is Verdict.IN_FLIGHT:
        _accept(draft, component, view)
    elif verdict is Verdict.DRIFT:
        text = "It is gone." if view is Absent.NOT_FOUND else "It has a specification that is neither old nor new."
        draft.put(_ended(component, State.DRIFTED if forward else State.REVERT_FAILED), Reason.DRIFT, text)
    elif forward:
        _forward(draft, component, view, verdict)
    else:
        _back(draft, component, verdict)


def _proven(component: ComponentRecord, view: Seen) -> bool:
    attempt = component.attempt
    return attempt is not None and isinstance(view, ComponentView) and accepted(view, attempt) is Accepted.PROVEN


def _accept(draft: Draft, component: ComponentRecord, view: Seen) -> None:
    proven = _proven(component, view)
    if proven and component.state is State.SUBMITTING:
        draft.put(replace(component, state=State.UPDATING), Reason.ACCEPTED, "SageMaker has taken the update.")
    elif proven and component.state is State.REVERT_SUBMITTING:
        draft.put(replace(component, state=State.REVERT_UPDATING), Reason.ACCEPTED, "SageMaker has taken the way back.")
    else:
        _silence(draft, component)


def _silence(draft: Draft, component: ComponentRecord) -> None:
    if component.deadline is None:
        return
    draft.wake(component.deadline)
    late = draft.now - component.deadline
    text = "It is silent beyond the end of its own timeout."
    if late > PATIENCE and draft.record.intent is Intent.REVERT:
        if draft.put(replace(component, state=State.NEEDS_HUMAN), Reason.NEEDS_HUMAN, text):
            draft.notice(f"human/{component.name}", f"{component.name} needs a person: {text}")
    elif late > 0 and component.state in {State.SUBMITTING, State.UPDATING}:
        draft.put(replace(component, state=State.STUCK), Reason.STUCK, text)


def _forward(draft: Draft, component: ComponentRecord, view: Seen, verdict: Verdict) -> None:
    why = view.failure if isinstance(view, ComponentView) and view.failure else "no reason is given"
    if verdict is Verdict.APPLIED:
        draft.put(_ended(component, State.SETTLING), Reason.APPLIED, "The new version is described.")
    elif verdict is Verdict.ROLLED_BACK:
        text = f"SageMaker took the update and went back to the old version ({why})."
        if draft.put(_ended(component, State.NATIVE_ROLLED_BACK), Reason.NATIVE_ROLLBACK, text):
            fail(draft, component, text)
    elif verdict is Verdict.FAILED:
        text = f"It is Failed ({why})."
        if draft.put(_ended(component, State.FAILED), Reason.FAILED, text):
            fail(draft, component, text)
    elif draft.record.intent is not Intent.FORWARD:
        draft.put(_ended(component, State.PENDING), Reason.NOT_APPLIED, "The update was never taken; nothing to undo.")
    elif exhausted(component, Direction.FORWARD):
        text = f"{component.tried(Direction.FORWARD)} attempts were not taken. {component.sentence}"
        draft.put(_ended(component, State.STUCK), Reason.STUCK, text)
    else:
        text = "The attempt is proven not to have been taken; a new one follows."
        draft.put(_ended(component, State.RESERVED), Reason.NOT_APPLIED, text)


def _back(draft: Draft, component: ComponentRecord, verdict: Verdict) -> None:
    if verdict is Verdict.APPLIED:
        draft.put(_ended(component, State.REVERTED), Reason.REVERTED, "It has the old version again.")
    elif exhausted(component, Direction.BACK):
        said = f" {component.sentence}" if component.refused else ""
        text = f"{component.tried(Direction.BACK)} ways back came to nothing; the last was {verdict.value}.{said}"
        draft.put(_ended(component, State.REVERT_FAILED), Reason.NEEDS_HUMAN, text)
    else:
        text = f"The way back was {verdict.value}; a new one follows."
        draft.put(_ended(component, State.REVERT_WAIT), Reason.REVERT_WAITS, text)


def _follow_untouched(draft: Draft, component: ComponentRecord, view: Seen) -> None:
    if draft.record.intent is not Intent.FORWARD or view is Absent.UNREADABLE:
        return
    if view is Absent.NOT_FOUND and not component.touched:
        text = f"{component.name} is gone, and was only planned: it is left out."
        if draft.put(_ended(component, State.SKIPPED), Reason.EXCLUDED, text):
            draft.notice(f"excluded/{component.name}", text)
    elif not isinstance(view, ComponentView) or view.status in {Status.FAILED, Status.DELETING}:
        what = view.status.value if isinstance(view, ComponentView) else "gone"
        draft.put(_drifted(component), Reason.DRIFT, f"It is {what}, and not by us.")
    elif view.status is Status.IN_SERVICE and view.spec.digest != draft.old_digest(component):
        draft.put(_drifted(component), Reason.DRIFT, "Its specification is not the one that was planned from.")


def _follow_new(draft: Draft, component: ComponentRecord, view: Seen) -> None:
    if view is Absent.UNREADABLE:
        return
    new = draft.member(component.name).new.digest
    if isinstance(view, ComponentView) and view.status is Status.FAILED:
        if draft.put(_ended(component, State.FAILED), Reason.FAILED, "It failed after the update."):
            fail(draft, component, "it failed after the update")
    elif not isinstance(view, ComponentView) or view.status is Status.DELETING:
        draft.put(_ended(component, State.DRIFTED), Reason.DRIFT, "It is gone.")
    elif view.status is Status.IN_SERVICE and view.spec.digest != new:
        draft.put(_ended(component, State.DRIFTED), Reason.DRIFT, "It has the new version no more, and not by us.")
    elif component.state is State.SETTLING and settled(draft, view):
        whole = "Its copy is there." if view.desired == 1 else f"All {view.desired} copies are there."
        draft.put(replace(component, state=State.BAKING), Reason.SETTLED, whole)
    elif component.state is State.SETTLING and draft.now > component.since + PATIENCE:
        text = f"{component.name} has the new version and does not settle."
        draft.hold(HoldKind.STUCK, _OWNER, text)


def settled(draft: Draft, view: ComponentView) -> bool:
    """Whether a component is InService with all the copies that it should have, on an endpoint that is InService."""
    endpoint = draft.seen.endpoints.get(view.endpoint)
    in_service = view.status is Status.IN_SERVICE and endpoint is not None and endpoint.in_service
    return in_service and view.current == view.desired


def _follow_drifted(draft: Draft, component: ComponentRecord, view: Seen) -> None:
    if not isinstance(view, ComponentView) or view.status is not Status.IN_SERVICE:
        return
    digest = view.spec.digest
    if not component.touched and digest == draft.old_digest(component):
        draft.put(_ended(component, State.PENDING), Reason.DRIFT_OVER, "It is again as it was planned from.")
    elif component.touched and digest == draft.member(component.name).new.digest:
        draft.put(_ended(component, State.SETTLING), Reason.DRIFT_OVER, "It has the new version again.")


def _hold_for(draft: Draft, kind: HoldKind, state: State, what: str) -> None:
    names, held = [c.name for c in draft.record.components if c.state is state], draft.record.hold(kind)
    if held is not None and held.owner in SHOWING and (names or draft.record.intent is not Intent.FORWARD):
        draft.release(kind)
    if names:
        draft.hold(kind, _OWNER, f"{', '.join(names)} {what}")
    elif held is not None and held.owner == _OWNER and not _unsettled(draft):
        draft.release(kind)


def _unsettled(draft: Draft) -> bool:
    return any(c.state is State.SETTLING and draft.now > c.since + PATIENCE for c in draft.record.components)


def _ended(component: ComponentRecord, state: State) -> ComponentRecord:
    return replace(component, state=state, sent_at=None, lease_until=None, deadline=None, refused=False)


def _drifted(component: ComponentRecord) -> ComponentRecord:
    """Drifted before anything was sent: an intent that was only recorded is withdrawn."""
    withdrawn = component.state is State.SUBMITTING
    return replace(component, state=State.DRIFTED, attempts=component.attempts[: -1 if withdrawn else None])
