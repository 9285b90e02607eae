"""The rollout's record: three axes (where, which way, why not moving), and one record for each component.

All of it is frozen: a pass makes the next record, and the loop commits it on condition of `rev`. The clock's own fields
(wake_seq, task_token, next_wake_at) are stored beside it and are none of the core's.
"""

from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

from pointsman.rollouts.batches import Batch
from pointsman.rollouts.observations import NOTHING, Suspension
from pointsman.rollouts.phase import Phase, switch_name
from pointsman.rollouts.specs import Spec

SCHEMA = 1


class Step(StrEnum):
    """Where the present wave is."""

    ADMITTING = "ADMITTING"
    UPDATING = "UPDATING"
    SETTLING = "SETTLING"
    BAKING = "BAKING"
    GATED = "GATED"


class Back(StrEnum):
    """Where the way back is."""

    DRAIN = "DRAIN"
    REVERT = "REVERT"
    VERIFY = "VERIFY"


class Intent(IntEnum):
    """Which way the rollout goes; it only rises."""

    FORWARD = 0
    STOP = 1
    REVERT = 2


STOP = "stop"  # the owner of the hold while everything is stopped
WATCHDOG = "watchdog"  # the owner of a hold that only shows that nothing goes on
OLD_VERSION = "old version"  # the owner of a hold that only shows that a component's own alarm fires before its turn
SHOWING = frozenset({WATCHDOG, OLD_VERSION})  # what is held by these goes on by itself when it can


class HoldKind(StrEnum):
    """Why nothing new is admitted."""

    OPERATOR = "operator"
    FREEZE = "freeze"
    APPROVAL = "approval"
    INCONCLUSIVE = "inconclusive"
    NO_TRAFFIC = "no_traffic"
    CAPACITY = "capacity"
    STUCK = "stuck"
    DRIFT = "drift"


GIVEN_UP = frozenset({HoldKind.CAPACITY, HoldKind.INCONCLUSIVE, HoldKind.NO_TRAFFIC})  # after a time


@dataclass(frozen=True, slots=True)
class Hold:
    """One reason for not moving forward: whose, since when, and when it ends or is given up.

    `left` are the seconds that were left to its end when another hold let its time stand still.
    """

    kind: HoldKind
    owner: str
    since: float
    expiry: float | None = None
    sentence: str = ""
    left: float | None = None


class Direction(StrEnum):
    """To the new version, or back to the old one."""

    FORWARD = "forward"
    BACK = "back"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One update that is to be sent, with what was read before it; never changed once it is sent.

    `mark` is the MaximumExecutionTimeoutInSeconds that only this attempt sends.
    """

    number: int
    direction: Direction
    target: str
    mark: int
    batch: Batch
    rollback_batch: Batch
    modified: float
    failure: str
    prepared_at: float


class State(StrEnum):
    """Where one component is."""

    PENDING = "PENDING"
    RESERVED = "RESERVED"
    SUBMITTING = "SUBMITTING"
    UPDATING = "UPDATING"
    SETTLING = "SETTLING"
    BAKING = "BAKING"
    DONE_NEW = "DONE_NEW"
    NATIVE_ROLLED_BACK = "NATIVE_ROLLED_BACK"
    FAILED = "FAILED"
    STUCK = "STUCK"
    SKIPPED = "SKIPPED"
    DRIFTED = "DRIFTED"
    REVERT_WAIT = "REVERT_WAIT"
    REVERT_SUBMITTING = "REVERT_SUBMITTING"
    REVERT_UPDATING = "REVERT_UPDATING"
    REVERTED = "REVERTED"
    REVERT_FAILED = "REVERT_FAILED"
    NEEDS_HUMAN = "NEEDS_HUMAN"


@dataclass(frozen=True, slots=True)
class ComponentRecord:
    """One component of the rollout.

    `sent_at`, `lease_until` and `deadline` belong to the last attempt and are None until it is sent. `adopted` is a
    drifted specification that counts as the old one. `refused`: SageMaker said no to the last attempt, so that a weak
    sign of its acceptance is another's doing. `granted` are attempts that a person allowed beyond the bound.
    """

    name: str
    state: State = State.PENDING
    since: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    sent_at: float | None = None
    lease_until: float | None = None
    deadline: float | None = None
    adopted: Spec | None = None
    refused: bool = False
    granted: int = 0
    touched: bool = False
    sentence: str = ""

    @property
    def attempt(self) -> Attempt | None:
        """The present attempt."""
        return self.attempts[-1] if self.attempts else None

    def tried(self, direction: Direction) -> int:
        """How many attempts were prepared in this direction."""
        return sum(1 for attempt in self.attempts if attempt.direction is direction)

    @property
    def outstanding(self) -> bool:
        """Whether a call may be on its way, or an update may run, that was not yet seen to its end."""
        return self.sent_at is not None and self.state in _OUTSTANDING


_OUTSTANDING = frozenset(
    {State.SUBMITTING, State.UPDATING, State.STUCK, State.REVERT_SUBMITTING, State.REVERT_UPDATING},
)


class NoteState(StrEnum):
    """Where something is that was changed for a time: noted, changed, given back."""

    NOTED = "NOTED"
    LOWERING = "LOWERING"
    LOWERED = "LOWERED"
    RESTORING = "RESTORING"
    RESTORED = "RESTORED"
    NEEDS_HUMAN = "NEEDS_HUMAN"


@dataclass(frozen=True, slots=True)
class CopyNote:
    """Copies of a component that are other than they were: lowered to give way, or two while a single one is rolled."""

    component: str
    endpoint: str
    noted: int
    wanted: int
    state: NoteState = NoteState.NOTED
    since: float = 0.0
    asked_at: float | None = None


@dataclass(frozen=True, slots=True)
class ScalingNote:
    """An auto-scaling target that is suspended for a component's time; LOWERED stands for suspended.

    `noted` is what was suspended of it before, and will be after.
    """

    component: str
    endpoint: str
    noted: Suspension = NOTHING  # an older note has none: all of it is resumed
    state: NoteState = NoteState.NOTED
    since: float = 0.0
    asked_at: float | None = None


class Switch(StrEnum):
    """The kill switch: an alarm that every forward update lists, and that only we let fire."""

    NONE = "NONE"
    CREATING = "CREATING"
    READY = "READY"
    FIRING = "FIRING"
    FIRED = "FIRED"
    DELETING = "DELETING"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Approval:
    """A person let a wave (from 1) begin."""

    wave: int
    actor: str
    at: float


@dataclass(frozen=True, slots=True)
class GateWaiver:
    """A person let one gate pass without evidence of one kind; `wave` is the gate's number."""

    kind: HoldKind
    wave: int
    reason: str
    actor: str
    at: float


@dataclass(frozen=True, slots=True)
class RolloutRecord:
    """One rollout; `cause` is the first reason for which its intent rose, kept.

    `alarm` is the name of its kill switch (empty: a release began it that named them by the rollout alone).

    `window_from` is where the gate's present window begins; `settled_at` when the wave was first seen whole; `baked`
    the seconds baked before `baking_since`. `wave` counts from 0.
    """

    rollout: str
    phase: Phase = Phase.PLANNED
    intent: Intent = Intent.FORWARD
    rev: int = 0
    schema: int = SCHEMA
    wave: int = 0
    step: Step = Step.ADMITTING
    back: Back | None = None
    holds: tuple[Hold, ...] = ()
    started_at: float = 0.0
    started_by: str = ""
    since: float = 0.0
    window_from: float | None = None
    settled_at: float | None = None
    baked: float = 0.0
    baking_since: float | None = None
    reserved_wave: int | None = None
    switch: Switch = Switch.NONE
    alarm: str = ""
    switch_since: float = 0.0
    switch_asked_at: float | None = None
    copies: tuple[CopyNote, ...] = ()
    scaling: tuple[ScalingNote, ...] = ()
    approvals: tuple[Approval, ...] = ()
    waivers: tuple[GateWaiver, ...] = ()
    fences: tuple[tuple[str, int], ...] = ()
    cause: str = ""
    ended_at: float | None = None
    components: tuple[ComponentRecord, ...] = ()

    def component(self, name: str) -> ComponentRecord:
        """The component's record; KeyError when the rollout has none of this name."""
        for component in self.components:
            if component.name == name:
                return component
        raise KeyError(name)

    def hold(self, kind: HoldKind) -> Hold | None:
        """The hold of this kind, if there is one."""
        return next((hold for hold in self.holds if hold.kind is kind), None)

    def with_component(self, component: ComponentRecord) -> "RolloutRecord":
        """The record with this component's record in place of its own."""
        return replace(
            self,
            components=tuple(component if c.name == component.name else c for c in self.components),
        )

    @property
    def kill_switch(self) -> str:
        """The name of its kill switch."""
        return self.alarm or switch_name(self.rollout)

    @property
    def gate(self) -> int:
        """The number of the gate ahead: a wave's (from 1), and one more for the final bake."""
        return self.wave + (2 if self.phase is Phase.FINAL_BAKE else 1)

    @property
    def stranded(self) -> tuple[str, ...]:
        """The components of the rollout that could not be taken back."""
        return tuple(c.name for c in self.components if c.state in {State.NEEDS_HUMAN, State.REVERT_FAILED})

    @property
    def needs_human(self) -> tuple[str, ...]:
        """The components that a person must see to."""
        names = set(self.stranded)
        names |= {note.component for note in self.copies if note.state is NoteState.NEEDS_HUMAN}
        names |= {note.component for note in self.scaling if note.state is NoteState.NEEDS_HUMAN}
        return tuple(sorted(names))
