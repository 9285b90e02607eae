"""What was read of the world in one pass. `began` is when the reading began: evidence is dated by it, never later."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pointsman.rollouts.specs import Compute, Spec


class Status(StrEnum):
    """A component's status in SageMaker; none of them says whether an update went through."""

    CREATING = "Creating"
    UPDATING = "Updating"
    IN_SERVICE = "InService"
    FAILED = "Failed"
    DELETING = "Deleting"


class Absent(StrEnum):
    """Why there is nothing to see of a component."""

    NOT_FOUND = "not found"
    UNREADABLE = "unreadable"


class AlarmState(StrEnum):
    """A CloudWatch alarm's state."""

    OK = "OK"
    ALARM = "ALARM"
    INSUFFICIENT_DATA = "INSUFFICIENT_DATA"


class Answer(StrEnum):
    """A yes, a no, or a question that could not be asked."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ComponentView:
    """One component as described; `mark` is MaximumExecutionTimeoutInSeconds of its LastDeploymentConfig.

    `base` is the base component of an adapter; `several` is whether it has a specification for each of several instance
    types, of which `spec` is the first.
    """

    name: str
    endpoint: str
    status: Status
    spec: Spec
    desired: int
    current: int
    modified: float
    failure: str = ""
    mark: int | None = None
    base: str | None = None
    several: bool = False
    tags: tuple[tuple[str, str], ...] = ()


Seen = ComponentView | Absent


@dataclass(frozen=True, slots=True)
class Pool:
    """Instances of one type behind an endpoint, and what one of them holds."""

    instance_type: str
    count: int
    shape: Compute


@dataclass(frozen=True, slots=True)
class Occupant:
    """A component that has copies on the endpoint, in the rollout or not."""

    component: str
    copies: int
    compute: Compute


@dataclass(frozen=True, slots=True)
class EndpointView:
    """One endpoint as described, with all that lives on it.

    `most` is the most instances that managed scaling may reach; the number there now where it is off. `reads_alarms`
    says whether the execution role may describe the alarms.
    """

    name: str
    in_service: bool
    pools: tuple[Pool, ...]
    most: int
    occupants: tuple[Occupant, ...] = ()
    reads_alarms: Answer = Answer.YES

    @property
    def instances(self) -> int:
        """Instances there now."""
        return sum(pool.count for pool in self.pools)


UNREAD = "it could not be read"  # the problem of an alarm that may be read in a moment


@dataclass(frozen=True, slots=True)
class AlarmView:
    """One alarm: its state, its moves into ALARM (from the history), its samples' times, and its settings' hash.

    `problem` is what CloudWatch says against the evaluation (partial data, an error), or why it could not be read.
    """

    name: str
    state: AlarmState
    period: float = 60.0
    evaluation_periods: int = 1
    entered: tuple[float, ...] = ()
    samples: tuple[float, ...] = ()
    settings: str = ""
    problem: str = ""

    @property
    def reaction(self) -> float:
        """The time that it needs to fire."""
        return self.period * self.evaluation_periods


@dataclass(frozen=True, slots=True)
class Suspension:
    """What an auto-scaling target is kept from doing."""

    scale_in: bool = False
    scale_out: bool = False
    scheduled: bool = False

    @property
    def whole(self) -> bool:
        """Whether it moves nothing in any way."""
        return self.scale_in and self.scale_out and self.scheduled

    def lifted(self, now: "Suspension") -> "Suspension":
        """This, less what somebody has resumed since.

        >>> Suspension(scale_in=True, scale_out=True).lifted(Suspension(scale_in=True, scheduled=True))
        Suspension(scale_in=True, scale_out=False, scheduled=False)
        """
        return Suspension(
            self.scale_in and now.scale_in, self.scale_out and now.scale_out, self.scheduled and now.scheduled
        )


NOTHING, WHOLE = Suspension(), Suspension(scale_in=True, scale_out=True, scheduled=True)


@dataclass(frozen=True, slots=True)
class ScalingView:
    """The auto-scaling target of a component's copies."""

    least: int
    most: int
    suspension: Suspension = Suspension()


class Ground(StrEnum):
    """What a way back stands on beside the old model itself."""

    PERMISSION = "permission"
    ROLE = "role"
    IMAGE = "image"
    ARTIFACT = "artifact"


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether one thing that the way back stands on is there."""

    ground: Ground
    name: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class LockView:
    """Which rollout has an endpoint (empty: none), and under which fence; the fence stays when the lock goes."""

    owner: str
    fence: int


@dataclass(frozen=True, slots=True)
class Observations:
    """All that one pass read. What was asked for and is missing in a mapping counts as unreadable.

    `alarms` lacks an alarm that does not exist. `models` says of each model's name whether it is readable; `proofs` are
    of what else the way back stands on. `refusals` are what SageMaker answered when it did not take a component's
    present attempt: losing them costs patience only. `scaling` lacks what has no target; None: it could not be read.
    `stopped` is whether `pointsman stop` is in force.
    """

    began: float
    components: Mapping[str, Seen] = field(default_factory=dict)
    endpoints: Mapping[str, EndpointView] = field(default_factory=dict)
    alarms: Mapping[str, AlarmView] = field(default_factory=dict)
    scaling: Mapping[str, ScalingView] | None = field(default_factory=dict)
    kill_switch: AlarmState | None = None
    locks: Mapping[str, LockView] = field(default_factory=dict)
    models: Mapping[str, Answer] = field(default_factory=dict)
    proofs: tuple[Proof, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=dict)
    stopped: bool = False

    def component(self, name: str) -> Seen:
        """What is known of a component."""
        return self.components.get(name, Absent.UNREADABLE)
