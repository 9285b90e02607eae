"""The parts of the inference model: instances and copies, endpoints and components."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from pointsman_emulator.models.inference_values import IN_SERVICE, Document, Room, Spec

if TYPE_CHECKING:
    from pointsman_emulator.models.inference_update import Change


class CopyState(Enum):
    """Where a copy is."""

    WAITING = "waiting"
    """For room, or for its instance."""
    STARTING = "starting"
    SERVING = "serving"
    DRAINING = "draining"
    GONE = "gone"


@dataclass(slots=True, eq=False)
class Copy:
    """One running container of a component."""

    component: Component
    spec: Spec
    number: int
    state: CopyState = CopyState.WAITING
    instance: Instance | None = None
    serving_since: float | None = None
    work: list[float] = field(default_factory=list)
    """When each request in hand is done, as a heap."""


@dataclass(slots=True, eq=False)
class Instance:
    """One instance of a variant."""

    number: int
    pool: InstancePool
    free: Room
    ready: bool = False
    copies: list[Copy] = field(default_factory=list)
    idle_turn: int = 0
    leaving: bool = False

    def take(self, copy: Copy) -> None:
        """Reserve room for a copy."""
        copy.instance = self
        self.copies.append(copy)
        self.free = self.free.less(self.needs_of(copy.spec))
        self.idle_turn += 1

    def give_up(self, copy: Copy) -> None:
        """Free the room of a copy."""
        copy.instance = None
        self.copies.remove(copy)
        self.free = self.free.plus(self.needs_of(copy.spec)) if self.copies else self.pool.size
        self.idle_turn += 1

    def needs_of(self, spec: Spec) -> Room:
        """What a copy takes on an instance of this type."""
        return spec.needs_on(self.pool.instance_type) or Room()

    def holds(self, spec: Spec) -> bool:
        """Whether one more copy fits."""
        needs = spec.needs_on(self.pool.instance_type)
        return needs is not None and not self.leaving and self.free.holds(needs)


@dataclass(slots=True, eq=False)
class Stock:
    """What instances are taken from: all of a type, or a reservation."""

    total: int | None
    """None: never short."""
    used: int = 0
    reservation: str | None = None

    def has(self, number: int = 1) -> bool:
        """Whether so many more are to be had."""
        return self.total is None or self.used + number <= self.total


@dataclass(slots=True, eq=False)
class InstancePool:
    """The instances of one type in a variant; the lower its priority, the sooner it grows (API:InstancePool)."""

    instance_type: str
    size: Room
    stock: Stock
    priority: int = 1


@dataclass(slots=True, eq=False)
class Variant:
    """A production variant without a model: instances of one type, or of the types of its pools."""

    name: str
    pools: tuple[InstancePool, ...]
    minimum: int
    maximum: int
    managed: bool
    desired: int = 0
    instances: list[Instance] = field(default_factory=list)
    document: Document = field(default_factory=dict)

    @property
    def initial(self) -> int:
        """How many instances it begins with."""
        return max(int(self.document.get("InitialInstanceCount", self.minimum)), self.minimum)

    @property
    def current(self) -> int:
        """Instances that take copies."""
        return sum(1 for instance in self.instances if instance.ready)


@dataclass(slots=True, eq=False)
class Endpoint:
    """An endpoint for inference components."""

    name: str
    config: str
    created_at: float
    modified_at: float
    variants: dict[str, Variant]
    status: str = "Creating"
    busy: int = 0
    """How many changes of instances are under way."""
    waiting: list[Copy] = field(default_factory=list)
    """Copies without room, in the order in which they came."""
    role: str = ""
    """The execution role, which reads the alarms of updates."""
    failure_reason: str | None = None
    tags: list[dict[str, str]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Component:
    """An inference component."""

    name: str
    endpoint: Endpoint
    variant: Variant
    spec: Spec
    desired: int
    created_at: float
    modified_at: float
    status: str = "Creating"
    internal: str | None = "CREATE_IN_PROGRESS"
    """The internal state that a refusal names (observed)."""
    failure_reason: str | None = None
    last_config: Document | None = None
    copies: list[Copy] = field(default_factory=list)
    change: Change | None = None
    resolved_at: float = 0.0
    tags: list[dict[str, str]] = field(default_factory=list)
    lowest_serving: int | None = None
    """The fewest copies that served since it first had them all."""
    shown: list[tuple[float, Document]] = field(default_factory=list)
    """What was described since when, where descriptions lag."""
    log: list[tuple[float, str]] = field(default_factory=list)
    """What happened to it, in words, for timelines and tests."""

    def alive(self, spec: Spec | None = None, *, other_than: Spec | None = None) -> list[Copy]:
        """Copies that are not on their way out, of a spec or of all others."""
        return [
            copy
            for copy in self.copies
            if copy.state not in (CopyState.DRAINING, CopyState.GONE)
            and (spec is None or copy.spec is spec)
            and (other_than is None or copy.spec is not other_than)
        ]

    @property
    def serving(self) -> list[Copy]:
        """Copies that take requests."""
        return [copy for copy in self.copies if copy.state is CopyState.SERVING]

    @property
    def current(self) -> int:
        """CurrentCopyCount: the copies that are deployed (API:InferenceComponentRuntimeConfigSummary)."""
        return len(self.serving)

    @property
    def settled(self) -> bool:
        """Whether nothing is under way."""
        return self.status == IN_SERVICE and self.internal is None


def plain(document: Document) -> dict[str, Any]:
    """A copy of a structure that its reader may change."""
    return {
        key: plain(value) if isinstance(value, dict) else list(value) if isinstance(value, list) else value
        for key, value in document.items()
    }
