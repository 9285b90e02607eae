"""What a pass wants: the next record, what to do outside, whom to tell, and when to look again.

The loop commits `record` (with `locks`, `unlocks`, journal and notices) in one transaction on condition of the `rev` it
read, and only then carries out the acts. Each act names an intent that the record it read already held.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from pointsman.rollouts.observations import Suspension
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.reasons import Notice, Said
from pointsman.rollouts.record import Attempt, ComponentRecord, HoldKind, RolloutRecord, State, Step
from pointsman.rollouts.specs import Spec


@dataclass(frozen=True, slots=True)
class SubmitUpdate:
    """Update a component, by one call without the SDK's retries, and not after `not_after`; never with a CopyCount.

    The attempt has MaximumExecutionTimeoutInSeconds (its mark) and both batches. A way back lists no alarms.
    """

    component: str
    attempt: Attempt
    spec: Spec
    wait: float
    alarms: tuple[str, ...]
    not_after: float


@dataclass(frozen=True, slots=True)
class SetCopies:
    """Set a component's copies, to give way, to surge, or to restore."""

    component: str
    copies: int
    not_after: float


@dataclass(frozen=True, slots=True)
class SuspendScaling:
    """Suspend a component's auto-scaling target."""

    component: str
    not_after: float


@dataclass(frozen=True, slots=True)
class ResumeScaling:
    """Resume a component's auto-scaling target, but for what was suspended of it before."""

    component: str
    suspension: Suspension
    not_after: float


@dataclass(frozen=True, slots=True)
class CreateSwitch:
    """Make the kill switch: an alarm on a metric without data, missing data notBreaching, set to OK."""

    alarm: str


@dataclass(frozen=True, slots=True)
class FireSwitch:
    """Let the kill switch fire: missing data breaching, then set to ALARM."""

    alarm: str


@dataclass(frozen=True, slots=True)
class DeleteSwitch:
    """Delete the kill switch."""

    alarm: str


Act = SubmitUpdate | SetCopies | SuspendScaling | ResumeScaling | CreateSwitch | FireSwitch | DeleteSwitch


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One commit, whole: what changed of the record and of its components; replaying all rebuilds the record."""

    rev: int
    at: float
    actor: str
    said: tuple[Said, ...]
    fields: tuple[tuple[str, object], ...]
    components: tuple[ComponentRecord, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """One pass's result. `journal` is None when nothing changed: then there is nothing to commit but the wake-up time.

    `plan` is set by the pass that freezes it. `locks` are endpoints to lock under these fences, in the transaction.
    """

    record: RolloutRecord
    journal: JournalEntry | None = None
    acts: tuple[Act, ...] = ()
    notices: tuple[Notice, ...] = ()
    next_wake_at: float | None = None
    plan: Plan | None = None
    locks: tuple[tuple[str, int], ...] = ()
    unlocks: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[str, ...]:
        """The components whose records this pass changes."""
        return tuple(c.name for c in self.journal.components) if self.journal else ()

    @property
    def said(self) -> tuple[Said, ...]:
        """What the pass did or found."""
        return self.journal.said if self.journal else ()

    @property
    def parking(self) -> str:
        """The state in which the execution waits."""
        return parking(self.record)


_BACK = frozenset({State.REVERTED, State.NATIVE_ROLLED_BACK})


def parking(record: RolloutRecord) -> str:
    """The parking state's name for an operator who looks at the console."""
    if record.phase.terminal:
        return "Done"
    if record.phase in {Phase.ROLLING_BACK, Phase.STOPPING}:
        return "Await rollback"
    kinds = {hold.kind for hold in record.holds}
    if kinds - {HoldKind.CAPACITY, HoldKind.FREEZE}:
        return "Await operator"
    if kinds or record.step is Step.ADMITTING or record.phase in {Phase.PLANNED, Phase.PREFLIGHT}:
        return "Await capacity"
    return "Await update" if record.step in {Step.UPDATING, Step.SETTLING} else "Bake"


def alarm_after_end(record: RolloutRecord, alarm: str) -> Notice | None:
    """The one notice of an alarm that fires when its rollout has ended: it starts nothing by itself.

    None where the rollout left nothing that could be taken back.
    """
    if all(not c.touched or c.state in _BACK for c in record.components):
        return None
    return Notice(
        f"{record.rollout}/late-alarm/{alarm}",
        f"Alarm {alarm} fires after rollout {record.rollout} has ended ({record.phase.value}). "
        "Nothing is started by it; "
        f"to take its components back by a linked rollout, run: pointsman rollout rollback {record.rollout}",
    )


def entry(before: RolloutRecord, after: RolloutRecord, at: float, actor: str, said: Iterable[Said]) -> JournalEntry:
    """The journal's entry for this commit."""
    known = {component.name: component for component in before.components}
    changed = tuple(c for c in after.components if known.get(c.name) != c)
    parts = tuple(
        (field.name, getattr(after, field.name))
        for field in fields(RolloutRecord)
        if field.name != "components" and getattr(after, field.name) != getattr(before, field.name)
    )
    return JournalEntry(after.rev, at, actor, tuple(said), parts, changed)


def replay(first: RolloutRecord, journal: Iterable[JournalEntry]) -> RolloutRecord:
    """The record that these entries make of the first one."""
    record = first
    for line in journal:
        components = {component.name: component for component in record.components}
        components.update({component.name: component for component in line.components})
        # Every field's name and value come from a record of this very class.
        record = replace(record, components=tuple(components.values()), **dict(line.fields))  # type: ignore[arg-type]
    return record
