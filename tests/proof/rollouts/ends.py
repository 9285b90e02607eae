"""What must be true when a rollout has ended, or does not end, by the truth."""

from collections.abc import Mapping

from pointsman.rollouts.decision import replay
from pointsman.rollouts.observations import LockView
from pointsman.rollouts.phase import Phase, is_switch
from pointsman.rollouts.record import HoldKind, Intent, RolloutRecord, State
from pointsman_emulator.models.inference_update import Update
from tests.fakes.rollout_table import Kept
from tests.proof.rollouts.promises import ALARM
from tests.proof.rollouts.truth import LATE, Truth


def at_the_end(truth: Truth, record: RolloutRecord, locks: Mapping[str, LockView]) -> None:
    """S9, S10, S11, S22 and L5, as the last commit is made."""
    truth.ended_at = truth.now()
    if truth.plan is None:
        return
    if record.phase is Phase.SUCCEEDED:
        _s10(truth, record)
        if late := truth.excursions():
            truth.wrongly("S9", f"SUCCEEDED in spite of an excursion {truth.now() - late[0]:.0f} s ago")
    if record.phase in {Phase.ROLLED_BACK, Phase.ROLLBACK_INCOMPLETE}:
        _s11(truth, record)
    _in_flight(truth, record)
    _s22(truth, record)
    _l5(truth, record, locks)


def _s10(truth: Truth, record: RolloutRecord) -> None:
    for component in record.components:
        part = truth.model.components.get(component.name)
        if component.state is State.SKIPPED or not truth.steady(component.name):
            continue
        if part is None or part.spec.model != truth.new:
            truth.wrongly("S10", f"SUCCEEDED, and {component.name} has {truth.version(component.name)}")
        elif part.modified_at < truth.now() - LATE and part.current != part.desired:
            truth.wrongly("S10", f"SUCCEEDED, and {component.name} has {part.current} of {part.desired} copies")
        elif part.endpoint.status != "InService" and part.endpoint.modified_at < truth.now() - LATE:
            truth.wrongly("S10", f"SUCCEEDED, and endpoint {part.endpoint.name} is {part.endpoint.status}")


def _s11(truth: Truth, record: RolloutRecord) -> None:
    human = set(record.needs_human)
    if record.phase is Phase.ROLLED_BACK and human:
        truth.wrongly("S11", f"ROLLED_BACK, and {sorted(human)} need a person")
    if record.intent is not Intent.REVERT:
        truth.wrongly("S7", "rolled back without the intent")
    for name, sent in truth.sent.items():
        if name in human or not sent.forward or not truth.steady(name):
            continue
        adopted = record.component(name).adopted
        wanted = adopted.model if adopted is not None else truth.before[name][0]
        if truth.version(name) not in {wanted, None}:
            truth.wrongly("S11", f"{record.phase.value}, and {name} has {truth.version(name)}, not {wanted}")


def _in_flight(truth: Truth, record: RolloutRecord) -> None:
    for name in truth.sent:
        part = truth.model.components.get(name)
        if part is None or name in record.needs_human or not truth.steady(name):
            continue
        if isinstance(part.change, Update):
            truth.wrongly("S11", f"{record.phase.value}, and {name} is in flight")


def _s22(truth: Truth, record: RolloutRecord) -> None:
    noted = {note.component: note for note in (*record.copies, *record.scaling)}
    for name, (_, copies, kept) in truth.before.items():
        part = truth.model.components.get(name)
        if part is None or name in record.needs_human or not truth.steady(name, 1e9):
            continue
        if truth.kept(name) != kept and (name in noted or name in truth.sent):
            truth.wrongly("S22", f"the auto scaling of {name} is not as it was")
        moves = kept is not None and not kept.whole
        if not moves and part.desired != copies and name in {note.component for note in record.copies}:
            truth.wrongly("S22", f"{name} has {part.desired} copies, and had {copies}")


def _l5(truth: Truth, record: RolloutRecord, locks: Mapping[str, LockView]) -> None:
    human = {part.endpoint for part in truth.world.drawn.parts if part.name in record.stranded}
    mine = {endpoint for endpoint, lock in locks.items() if lock.owner == record.rollout}
    if mine - human:
        truth.wrongly("L5", f"locked after the end: {', '.join(sorted(mine - human))}")
    there = {
        p.endpoint for p in truth.world.drawn.parts if p.name in record.stranded and p.name in truth.model.components
    }
    if left := there & set(truth.plan.endpoints if truth.plan is not None else ()) - mine - set(
        truth.world.people.took_lock
    ):
        truth.wrongly("L2", f"{', '.join(sorted(left))} needs a person, and is not locked")


def afterwards(truth: Truth, kept: Kept, told: list[str], switches: set[str]) -> None:
    """S16, S18, L1, L3 and what is left over, when nothing more happens."""
    record = kept.stored.record
    if replay(RolloutRecord(record.rollout), kept.journal) != record:
        truth.wrongly("S16", "the journal does not rebuild the record")
    mine = [key for key in told if key.startswith(f"{record.rollout}/")]
    if record.phase.terminal:
        if unsent := [key for key, (_, sent) in kept.notices.items() if not sent and key not in mine]:
            truth.wrongly("S18", f"never told: {unsent[0]}")
        if mine.count(f"{record.rollout}/ended") < 1 and record.phase is not Phase.REJECTED:
            truth.wrongly("S18", "nobody was told of the end")
        if truth.told_of_alarm and f"{record.rollout}/late-alarm/{ALARM}" not in mine:
            truth.wrongly("S18", "an alarm fired after the end, and nobody was told of it")
        if any(is_switch(alarm, record.rollout) for alarm in switches) and not record.needs_human:
            truth.wrongly("S15", "the kill switch is left after the end")
        return
    if record.intent is Intent.REVERT:
        truth.wrongly("L3", f"a rollback does not end: {record.phase.value}, {[h.sentence for h in record.holds]}")
    elif not record.holds or record.hold(HoldKind.FREEZE):
        where = f"{record.phase.value} {record.step.value}, wave {record.wave + 1}"
        truth.wrongly("L1", f"neither ended nor held where a person could see it: {where}")
