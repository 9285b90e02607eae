"""What the rollout loop needs of the outside world, as a few small Protocols.

Times are epoch seconds. Every method may raise `Transient` and `Misconfigured`; what else it raises is said where it
does. Adapters on AWS are in `pointsman.aws`; the contract tests run the same suite over them and over the fakes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pointsman.rollout_wake_ports import RolloutIndex
from pointsman.rollouts.decision import Decision, JournalEntry, SubmitUpdate
from pointsman.rollouts.observations import (
    AlarmView,
    Answer,
    ComponentView,
    LockView,
    Pool,
    ScalingView,
    Suspension,
)
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.reasons import Notice
from pointsman.rollouts.record import RolloutRecord
from pointsman.rollouts.request import Metric, Request
from pointsman.rollouts.specs import Compute

LONGEST_ID = 60  # characters of a rollout's id: its executions' names add the generation, and hold 80
ID = rf"[a-z0-9][a-z0-9-]{{0,{LONGEST_ID - 1}}}"
ID_IN_WORDS = f"small letters, digits and hyphens, {LONGEST_ID} at most"


# --------------------------------------------------------------------------------------------------------- SageMaker


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    """One endpoint as described; `role` is its execution role (empty: not known)."""

    name: str
    in_service: bool
    pools: tuple[Pool, ...]
    most: int
    role: str = ""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model: whether it is there (`UNKNOWN`: we may not ask), its execution role, what its containers are made of.

    Artifacts are S3 URIs; one that ends with a slash is all that begins so.
    """

    there: Answer
    role: str = ""
    images: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()


class InferenceFleet(Protocol):
    """SageMaker's inference components: reads, and the two writes."""

    def component(self, name: str) -> ComponentView:
        """The component as described, without its tags; raises `Gone` when there is none."""
        ...

    def endpoint(self, name: str) -> EndpointFacts:
        """The endpoint as described; raises `Gone` when there is none."""
        ...

    def components(self, *, endpoint: str | None = None, prefix: str | None = None) -> tuple[str, ...]:
        """Names of the components on this endpoint, or beginning so, or of all, sorted."""
        ...

    def tags(self, component: str) -> tuple[tuple[str, str], ...]:
        """A component's tags, sorted; raises `Gone` when there is no such component."""
        ...

    def model(self, name: str) -> ModelFacts:
        """What is known of the model."""
        ...

    def update(self, act: SubmitUpdate) -> None:
        """Ask for the update, by one call that nothing repeats; never with a number of copies.

        Raises `Refused` with what SageMaker said when it did not take it, `Transient` when it may have.
        """
        ...

    def set_copies(self, component: str, copies: int) -> None:
        """Ask for so many copies. Raises `Refused` with what SageMaker said."""
        ...


class Shapes(Protocol):
    """What instances hold."""

    def shape(self, instance_type: str) -> Compute | None:
        """What one instance of this SageMaker type holds; None when EC2 does not know it."""
        ...


# -------------------------------------------------------------------------------------------------------- CloudWatch


@dataclass(frozen=True, slots=True)
class AlarmQuery:
    """An alarm to be read: its moves since then, and `enough` of its samples after it `settled`, if there are so many.

    Where `traffic` names metrics, the samples are the minutes in which one of them is above zero, not the alarm's own.
    """

    alarm: str
    since: float | None = None  # None: no moves
    traffic: tuple[Metric, ...] = ()
    settled: float | None = None  # None: no samples
    enough: int = 1


class Gauges(Protocol):
    """CloudWatch alarms, read."""

    def read(self, queries: Iterable[AlarmQuery], now: float) -> Mapping[str, AlarmView]:
        """The alarms asked for that exist; `problem` of one says what could not be read of it.

        Moves and samples are read from the newest on, no further than to where there is one, or enough.
        """
        ...


class KillSwitch(Protocol):
    """The alarm that nobody but us lets fire. Every method may be repeated."""

    def make(self, alarm: str) -> None:
        """Make it, on a metric without data, and set it to OK."""
        ...

    def fire(self, alarm: str) -> None:
        """Let it fire, and stay so."""
        ...

    def delete(self, alarm: str) -> None:
        """Delete it."""
        ...


# ------------------------------------------------------------------------------------------ scaling and permissions


class Scaling(Protocol):
    """Application Auto Scaling's targets on components' copies."""

    def describe(self, components: Sequence[str]) -> Mapping[str, ScalingView]:
        """The targets that these components have."""
        ...

    def suspend(self, component: str) -> None:
        """Let the target move nothing. Raises `Gone` when there is no target."""
        ...

    def restore(self, component: str, suspension: Suspension) -> None:
        """Keep the target from this only. Raises `Gone` when there is no target."""
        ...


class Permissions(Protocol):
    """What another role may do."""

    def simulate(self, role: str, action: str, resources: Sequence[str]) -> Answer:
        """Whether the role may do this to all of these; `UNKNOWN` when we may not ask."""
        ...

    def reads_alarms(self, role: str, alarms: Sequence[str]) -> Answer:
        """Whether the role may describe these alarms, by name."""
        ...

    def updates(self, role: str, components: Sequence[str]) -> Answer:
        """Whether the role may update these inference components, by name."""
        ...

    def exists(self, role: str) -> Answer:
        """Whether there is such a role; `UNKNOWN` when we may not ask."""
        ...


class Sources(Protocol):
    """What versions are made of. `UNKNOWN` for what we may not ask, and for what is kept elsewhere than we can look."""

    def image(self, uri: str) -> Answer:
        """Whether the container's image is in its repository."""
        ...

    def artifact(self, uri: str) -> Answer:
        """Whether the object is in its bucket; with a slash at the end, whether any begins so."""
        ...


# --------------------------------------------------------------------------------------------------------- the clock


class StopSwitch(Protocol):
    """Whether `pointsman stop` is in force."""

    def stopped(self) -> bool:
        """Whether every rollout is to be held."""
        ...


class RolloutNotices(Protocol):
    """Where people hear of rollouts."""

    def send(self, notice: Notice) -> None:
        """Tell people; the notice's key goes along, so that a second one of it can be known."""
        ...


# --------------------------------------------------------------------------------------------------------- the table


@dataclass(frozen=True, slots=True)
class Refusal:
    """What SageMaker answered to an attempt (0: to a change of copies)."""

    attempt: int
    sentence: str


@dataclass(frozen=True, slots=True)
class StoredRollout:
    """A rollout as stored: its record, and what the clock keeps beside it.

    `passes` are those of the present generation. `unsent` is the revision of the last commit with notices that were
    not all sent (0: they were).
    """

    record: RolloutRecord
    request: Request
    plan: Plan | None = None
    wake_seq: int = 0
    generation: int = 1
    passes: int = 0
    next_wake_at: float = 0.0
    unsent: int = 0
    refusals: Mapping[str, Refusal] = field(default_factory=dict)


class RolloutTable(RolloutIndex, Protocol):
    """The truth of all rollouts. Only `commit` changes a record, and only one that is still as it was read."""

    def create(self, request: Request, decision: Decision) -> None:
        """Store a new rollout, all or nothing: its record, plan and locks if it has them, journal line and notices.

        Raises `Conflict` when its id is taken, or a lock is another's.
        """
        ...

    def load(self, rollout: str) -> StoredRollout:
        """The rollout, whole, for a pass that will commit on its `rev`; raises `Gone` when there is none."""
        ...

    def commit(self, read: StoredRollout, decision: Decision, wake_at: float, generation: int) -> StoredRollout:
        """Store the decision's record, plan, locks, journal line and notices, all or nothing; count a pass.

        Raises `Conflict` when the record is not as it was read, when a lock is another's, or when an endpoint that an
        act touches is no longer ours. Gives what is stored then; its `wake_seq` is still the one that was read.
        """
        ...

    def sleep(self, read: StoredRollout, wake_at: float, generation: int) -> None:
        """Nothing has changed: store when to look again, and count a pass. Raises `Conflict`."""
        ...

    def reply(self, rollout: str, refusals: Mapping[str, Refusal]) -> None:
        """Keep what SageMaker refused; the last refusal of a component is the one kept."""
        ...

    def rollouts(self, limit: int) -> tuple[str, ...]:
        """The ids of the last rollouts that were asked for, the newest first."""
        ...

    def locks(self, endpoints: Iterable[str]) -> Mapping[str, LockView]:
        """Who has these endpoints; one that was never locked is left out."""
        ...

    def journal(self, rollout: str) -> tuple[JournalEntry, ...]:
        """Every commit of the rollout, the oldest first."""
        ...

    def notices(self, rollout: str) -> tuple[Notice, ...]:
        """The notices that were not sent."""
        ...

    def sent(self, rollout: str, key: str) -> None:
        """Remember that this notice was sent."""
        ...

    def settle(self, rollout: str, unsent: int) -> None:
        """All notices up to this revision were sent."""
        ...

    def late(self, rollout: str, notice: Notice) -> None:
        """Add a notice to a rollout that has ended, once; one that has not ended is left alone."""
        ...
