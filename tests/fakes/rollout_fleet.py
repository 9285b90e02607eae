"""SageMaker's inference components in memory: updates take their time, and alarms that they list turn them back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pointsman.errors import Gone, Refused
from pointsman.ports import Clock
from pointsman.rollout_ports import EndpointFacts, ModelFacts
from pointsman.rollouts.decision import SubmitUpdate
from pointsman.rollouts.observations import (
    WHOLE,
    Answer,
    ComponentView,
    Pool,
    ScalingView,
    Status,
    Suspension,
)
from pointsman.rollouts.specs import Compute, Spec
from tests.fakes.faults import Faulty, can_fail

ONE_GPU_BOX = Compute(1.0, 8.0, 32_768.0)
SCALING_SECONDS = 20.0


@dataclass
class Flight:
    """An update under way."""

    act: SubmitUpdate
    ends: float


@dataclass
class Part:
    """One component as it is."""

    view: ComponentView
    flight: Flight | None = None
    busy_until: float = 0.0
    sent: list[SubmitUpdate] = field(default_factory=list)


class FakeFleet(Faulty):
    """Endpoints, components and models; `firing` says which alarms are in ALARM."""

    def __init__(self, clock: Clock, roll_seconds: float = 300.0) -> None:
        super().__init__()
        self.clock = clock
        self.roll_seconds = roll_seconds
        self.parts: dict[str, Part] = {}
        self.endpoints: dict[str, EndpointFacts] = {}
        self.models: set[str] = set()
        self.firing: Callable[[str], bool] = lambda _alarm: False
        self.does_not_start: set[str] = set()
        self.flying: list[Part] = []

    def add_endpoint(self, name: str, count: int, most: int, shape: Compute = ONE_GPU_BOX, role: str = "r") -> None:
        pools = (Pool("ml.g5.2xlarge", count, shape),)
        self.endpoints[name] = EndpointFacts(name, in_service=True, pools=pools, most=most, role=role)

    def add(self, name: str, endpoint: str, spec: Spec, copies: int, tags: Mapping[str, str] | None = None) -> None:
        told = tuple(sorted((tags or {}).items()))
        now = self.clock.now()
        view = ComponentView(name, endpoint, Status.IN_SERVICE, spec, copies, copies, now, tags=told)
        self.parts[name] = Part(view)
        self.models |= {spec.model} if spec.model else set()

    def change(self, name: str, spec: Spec) -> None:
        """Someone else changes a component."""
        self.parts[name].view = replace(self.parts[name].view, spec=spec, modified=self.clock.now(), mark=None)

    def catch_up(self) -> None:
        now = self.clock.now()
        if not self.flying:
            return
        flying, self.flying = self.flying, []
        for part in flying:
            flight = part.flight
            if flight is None:
                continue
            self.flying.append(part)
            act = flight.act
            if any(self.firing(alarm) for alarm in act.alarms):
                self._end(part, part.view.spec, f"rolled back at {now:.0f}: an alarm fired")
            elif now >= flight.ends and act.spec.model in self.does_not_start:
                self._end(part, part.view.spec, f"rolled back at {now:.0f}: the copies did not start")
            elif now >= flight.ends:
                self._end(part, act.spec, part.view.failure)

    def _end(self, part: Part, spec: Spec, failure: str) -> None:
        part.flight = None
        part.view = replace(part.view, spec=spec, failure=failure, modified=self.clock.now())

    @can_fail
    def component(self, name: str) -> ComponentView:
        self.catch_up()
        part = self._find(name)
        busy = part.flight is not None or part.busy_until > self.clock.now()
        return replace(part.view, status=Status.UPDATING if busy else part.view.status, tags=())

    @can_fail
    def endpoint(self, name: str) -> EndpointFacts:
        if name not in self.endpoints:
            raise Gone(name)
        return self.endpoints[name]

    @can_fail
    def components(self, *, endpoint: str | None = None, prefix: str | None = None) -> tuple[str, ...]:
        return tuple(
            sorted(
                name
                for name, part in self.parts.items()
                if (endpoint is None or part.view.endpoint == endpoint) and name.startswith(prefix or "")
            )
        )

    @can_fail
    def tags(self, component: str) -> tuple[tuple[str, str], ...]:
        return self._find(component).view.tags

    @can_fail
    def model(self, name: str) -> ModelFacts:
        if name not in self.models:
            return ModelFacts(Answer.NO)
        return ModelFacts(Answer.YES, "models-role", (f"repo/{name}",), (f"s3://models/{name}",))

    @can_fail
    def update(self, act: SubmitUpdate) -> None:
        part = self._writable(act.component)
        part.sent.append(act)
        part.flight = Flight(act, self.clock.now() + self.roll_seconds)
        self.flying.append(part)
        part.view = replace(part.view, mark=act.attempt.mark, modified=self.clock.now())

    @can_fail
    def set_copies(self, component: str, copies: int) -> None:
        part = self._writable(component)
        part.view = replace(part.view, desired=copies, current=copies, modified=self.clock.now())
        part.busy_until = self.clock.now() + SCALING_SECONDS

    def _find(self, name: str) -> Part:
        if name not in self.parts:
            raise Gone(name)
        return self.parts[name]

    def _writable(self, name: str) -> Part:
        self.catch_up()
        if name not in self.parts:
            raise Refused(f"could not find {name}")
        part = self.parts[name]
        if part.flight is not None or part.busy_until > self.clock.now():
            raise Refused(f"cannot update {name} while in state UPDATE_IN_PROGRESS")
        return part


class FakeScaling(Faulty):
    """Auto-scaling targets."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: dict[str, ScalingView] = {}

    @can_fail
    def describe(self, components: Sequence[str]) -> Mapping[str, ScalingView]:
        return {name: self.targets[name] for name in components if name in self.targets}

    @can_fail
    def suspend(self, component: str) -> None:
        self._set(component, WHOLE)

    @can_fail
    def restore(self, component: str, suspension: Suspension) -> None:
        self._set(component, suspension)

    def _set(self, component: str, suspension: Suspension) -> None:
        if component not in self.targets:
            raise Gone(component)
        self.targets[component] = replace(self.targets[component], suspension=suspension)


class FakePermissions(Faulty):
    """What roles may do: all of it, unless told otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, str, tuple[str, ...]]] = []
        self.gone: set[str] = set()

    @can_fail
    def simulate(self, role: str, action: str, resources: Sequence[str]) -> Answer:
        self.asked.append((role, action, tuple(resources)))
        return self.answers.get(role, Answer.YES)

    @can_fail
    def reads_alarms(self, role: str, alarms: Sequence[str]) -> Answer:
        return self.simulate(role, "cloudwatch:DescribeAlarms", alarms)

    @can_fail
    def updates(self, role: str, components: Sequence[str]) -> Answer:
        return self.simulate(role, "sagemaker:UpdateInferenceComponent", components)

    @can_fail
    def exists(self, role: str) -> Answer:
        return Answer.NO if role in self.gone else Answer.YES


class FakeSources(Faulty):
    """Images and artifacts: all are there, unless told otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer] = {}

    @can_fail
    def image(self, uri: str) -> Answer:
        return self.answers.get(uri, Answer.YES)

    @can_fail
    def artifact(self, uri: str) -> Answer:
        return self.answers.get(uri, Answer.YES)
