"""What is not the rollout's doing, by the truth: others' copies, alarms of old versions, and time that stands still.

`own alarm` is a violation's name: a rollout turned for what a component's own alarm did before anything was sent to it.
"""

from typing import TYPE_CHECKING

from pointsman.rollouts.decision import Decision
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import GIVEN_UP, SHOWING, Direction, HoldKind, RolloutRecord

if TYPE_CHECKING:
    from tests.proof.rollouts.truth import Truth

BLUNT = 30.0  # seconds: clocks that are off, and a read before its commit


def own_alarm(component: str) -> str:
    """The name of a component's own alarm."""
    return f"{component}-errors"


def copies(truth: "Truth", record: RolloutRecord, component: str, wanted: int, late: float) -> None:
    """S22: a count that someone set, and that no call of ours makes, is not overwritten."""
    at, count = truth.world.people.scaled.get(component, (0.0, 0))
    part = truth.model.components.get(component)
    note = next((note for note in record.copies if note.component == component), None)
    if part is None or note is None or not at or part.desired != count or at > truth.now() - late:
        return
    least, most = sorted((note.noted, note.wanted))
    if not least <= count <= most:
        truth.wrongly("S22", f"someone set {component} to {count} copies, and it is to have {wanted}")


def commits(truth: "Truth", before: RolloutRecord, decision: Decision, late: float) -> None:
    """Why it turned, if it did; and since when what."""
    after, line = decision.record, decision.journal
    for said in line.said if line is not None and line.actor == "pointsman" else ():
        if said.reason is Reason.ALARM:
            _alarm(truth, said.sentence.split()[1], late)
        elif said.reason is Reason.GAVE_UP:
            _gave_up(truth, before)
    for component in after.components:
        forward = component.attempt is not None and component.attempt.direction is Direction.FORWARD
        if component.sent_at is not None and forward:
            truth.begun.setdefault(component.name, truth.now())
    still = any(hold.kind not in GIVEN_UP and hold.owner not in SHOWING for hold in after.holds)
    stands = bool(truth.stood) and truth.stood[-1][1] is None
    if still and not stands:
        truth.stood.append((truth.now(), None))
    elif stands and not still:
        truth.stood[-1] = (truth.stood[-1][0], truth.now())


def _alarm(truth: "Truth", alarm: str, late: float) -> None:
    watches = truth.plan.watches if truth.plan is not None else ()
    owners = [name for watch in watches if watch.alarm == alarm for name in watch.components]
    bell = truth.signals.bells.get(alarm)
    if not owners or bell is None:
        return
    since = min((truth.begun[name] for name in owners if name in truth.begun), default=float("inf")) - late
    if not any(at >= since for at in bell.entered):
        truth.wrongly("own alarm", f"it turned, and {alarm} did nothing since {owners[0]} was first updated")


def _gave_up(truth: "Truth", before: RolloutRecord) -> None:
    """S21: no hold is given up before its time; that in which another kept everybody from looking does not count."""
    if truth.plan is None:
        return
    request, now = truth.plan.request, truth.now()
    for hold in before.holds:
        if hold.kind not in GIVEN_UP or hold.expiry is None:
            continue
        stood = sum(max(0.0, (end or now) - max(begin, hold.since)) for begin, end in truth.stood)
        wait = request.capacity_wait if hold.kind is HoldKind.CAPACITY else request.hold_timeout
        if now >= hold.expiry - BLUNT and now - hold.since - stood < wait - BLUNT:
            text = f"given up ({hold.kind.value}) {now - hold.since - stood:.0f} s after it began, of {wait:.0f}"
            truth.wrongly("S21", text)
