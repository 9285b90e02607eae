"""What a scenario of a rollout is made of: the world before it, the request, and how the world behaves."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pointsman_emulator.models.inference import InferenceSettings

WARM_UP = 1200.0  # from the first request to the rollout's: alarms have judged, metrics are there


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Instances of one type: how many there are, the most that managed scaling may reach, and the reservation used."""

    name: str
    instances: int
    most: int
    instance_type: str = "ml.g5.2xlarge"
    reservation: str | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """An inference component, and the requests that it gets each second."""

    name: str
    endpoint: str
    copies: int
    model: str
    rate: float = 0.0
    accelerators: int = 1
    memory_mb: int = 16_384
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alarm:
    """More than `threshold` of a component's metric in a minute, in each of so many minutes on end."""

    name: str
    component: str
    metric: str = "Invocation4XXErrors"
    threshold: float = 15.0
    minutes: int = 2


@dataclass(frozen=True, slots=True)
class Scenario:
    """One world and one rollout in it. `models` has each model's environment: how the emulator lets it behave."""

    name: str
    about: str
    endpoints: tuple[Endpoint, ...]
    models: Mapping[str, Mapping[str, str]]
    components: tuple[Component, ...]
    alarms: tuple[Alarm, ...]
    request: Mapping[str, Any]
    settings: InferenceSettings
    seed: int = 7
    events: float = 1.0  # how often each event is delivered
    limit: float = 24 * 3600.0  # no rollout of a demo takes longer

    def asking(self, **keys: Any) -> "Scenario":
        """The same world, and a request with other keys."""
        return replace(self, request={**self.request, **keys})

    def drained_first(self) -> "Scenario":
        """The negative control: the same requests, and a SageMaker that takes a copy away before it has another."""
        return replace(self, settings=replace(self.settings, order="drain-first"))

    @property
    def with_traffic(self) -> tuple[Component, ...]:
        """The components that get requests."""
        return tuple(component for component in self.components if component.rate > 0)
