"""What a person asks of a rollout, as values the core can decide on. Durations are seconds, moments epoch seconds.

`pointsman.rollout_documents` turns the YAML that people write, or an event's body, into these values.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from pointsman.rollouts.specs import Change


class OnFailure(StrEnum):
    """What follows a component's failure or an alarm: take everything back, or stop and keep what is done."""

    REVERT = "revert"
    STOP = "stop"


class SingleCopy(StrEnum):
    """What to do with a component of one copy: go to two while it is rolled, or refuse."""

    SURGE = "surge"
    REFUSE = "refuse"


class Capacity(StrEnum):
    """Whether room for the surge and for the way back must be there (`REQUIRE`), or the attempt is made anyway."""

    REQUIRE = "require"
    TRY = "try"


class WhenShort(StrEnum):
    """The answer to a shortage that no yielding component can mend: refuse with the numbers, or wait."""

    REFUSE = "refuse"
    WAIT = "wait"


class NoTraffic(StrEnum):
    """What to do when a bake saw too few samples: hold, bake longer and then hold, or pass."""

    HOLD = "hold"
    EXTEND = "extend"
    WAIVE = "waive"


@dataclass(frozen=True, slots=True)
class Target:
    """One way to name components; exactly one of the four is given."""

    component: str | None = None
    endpoint: str | None = None
    prefix: str | None = None
    tag: tuple[str, str] | None = None

    def __str__(self) -> str:
        """The target as a message names it."""
        if self.tag is not None:
            return f"tag {self.tag[0]}={self.tag[1]}"
        if self.component is not None:
            return f"component {self.component}"
        return f"endpoint {self.endpoint}" if self.endpoint is not None else f"prefix {self.prefix}"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of things, or a percentage of them."""

    value: float
    percent: bool = False

    def __str__(self) -> str:
        """As people write it."""
        return f"{self.value:g}{'%' if self.percent else ''}"


@dataclass(frozen=True, slots=True)
class Metric:
    """A CloudWatch metric; `{component}` and `{endpoint}` in a dimension's value stand for each component's own.

    >>> str(Metric("App", "Requests", (("Model", "{component}"),)).of("llm", "chat"))
    'App/Requests (Model=llm), Sum'
    """

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...] = ()
    stat: str = "Sum"

    def of(self, component: str, endpoint: str) -> "Metric":
        """The metric of one component."""
        own = tuple((name, _named(value, component, endpoint)) for name, value in self.dimensions)
        return replace(self, dimensions=own)

    def __str__(self) -> str:
        """As a message names it."""
        where = ", ".join(f"{name}={value}" for name, value in self.dimensions)
        return f"{self.namespace}/{self.name}{f' ({where})' if where else ''}, {self.stat}"


INVOCATIONS = Metric("AWS/SageMaker", "Invocations", (("InferenceComponentName", "{component}"),))


@dataclass(frozen=True, slots=True)
class Guard:
    """An alarm that watches; a name with `{component}` or `{endpoint}` is one alarm for each of them.

    A native guard is also listed in SageMaker's own rollback configuration; all are judged by our gate. Its samples are
    those of the alarm's own metric, or the minutes in which `counted` is above zero.
    """

    alarm: str
    native: bool = False
    min_samples: int = 1
    counted: Metric | None = None

    @property
    def own(self) -> bool:
        """Whether each component or endpoint has an alarm of its own under this name."""
        return "{component}" in self.alarm or "{endpoint}" in self.alarm

    def named(self, component: str, endpoint: str) -> str:
        """The alarm's name for one component."""
        return _named(self.alarm, component, endpoint)


@dataclass(frozen=True, slots=True)
class AlarmWaiver:
    """An alarm that does not count until then, with the person who answers for it and why."""

    alarm: str
    reason: str
    person: str
    until: float


@dataclass(frozen=True, slots=True)
class Yielding:
    """A component that may be lowered to `least` copies to make room, and is restored after."""

    component: str
    least: int = 1


@dataclass(frozen=True, slots=True)
class Freeze:
    """A time in which nothing new is started; it never stops a way back."""

    since: float
    until: float


@dataclass(frozen=True, slots=True)
class Request:
    """A rollout as it was asked for; `approvals` are the amounts of `waves` (from 1) that a person must approve."""

    rollout: str
    targets: tuple[Target, ...]
    change: Change
    waves: tuple[Amount, ...] = (Amount(1), Amount(25, percent=True), Amount(100, percent=True))
    concurrency: int = 5
    revert_concurrency: int = 10
    batch: Amount | None = None
    wait: float = 120.0
    bake: float = 600.0
    final_bake: float = 1800.0
    guards: tuple[Guard, ...] = ()
    waived: tuple[AlarmWaiver, ...] = ()
    no_traffic: NoTraffic = NoTraffic.HOLD
    extend: float = 0.0
    hold_timeout: float = 3600.0
    on_failure: OnFailure = OnFailure.REVERT
    single_copy: SingleCopy = SingleCopy.SURGE
    capacity: Capacity = Capacity.REQUIRE
    reason: str = ""  # of `capacity: try` and `no_traffic: waive`, with the person
    person: str = ""
    when_short: WhenShort = WhenShort.REFUSE
    capacity_wait: float = 1800.0
    yielding: tuple[Yielding, ...] = ()
    freezes: tuple[Freeze, ...] = ()
    approvals: tuple[int, ...] = ()
    poll: float = 120.0  # the longest time between two looks, when no event wakes the rollout
    start_up: float = 300.0  # what a copy is expected to take from nothing to serving, for the estimate
    retry_of: str = ""


def _named(pattern: str, component: str, endpoint: str) -> str:
    return pattern.replace("{component}", component).replace("{endpoint}", endpoint)
