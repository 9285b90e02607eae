"""How copies and instances move: room, launches, starts, drains and releases, in a time that the caller advances."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any

from pointsman_emulator.models.inference_parts import (
    Component,
    Copy,
    CopyState,
    Endpoint,
    Instance,
    InstancePool,
    Stock,
    Variant,
)
from pointsman_emulator.models.inference_traffic import Traffic
from pointsman_emulator.models.inference_values import (
    FAILED,
    InferenceChange,
    InferenceSettings,
    MetricValue,
    Room,
    Seconds,
    Spec,
)
from pointsman_emulator.models.inference_views import component_view

NO_ROOM = (
    "Not enough hardware resources on the endpoint's instances to create a copy of the inference component {name}."
)
NO_CAPACITY = (
    "CapacityError: Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity error."
)
NO_MODEL = 'Could not find model "{model}".'
NO_ARTIFACT = "Failed to download model data for inference component {name}."
MINUTE = 60.0

Action = Callable[[], None]

if TYPE_CHECKING:
    from pointsman_emulator.models.inference_scaling import ScalingTarget


class InferenceCourse:
    """Endpoints' instances and components' copies. Each event costs O(log n) and a look at one endpoint."""

    def __init__(
        self,
        settings: InferenceSettings | None = None,
        seed: int = 0,
        *,
        start: float = 0.0,
        sizes: Callable[[str], Room],
        listener: Callable[[InferenceChange], None] | None = None,
        alarm_state: Callable[[str, Component], str | None] | None = None,
        publish: Callable[[list[MetricValue]], None] | None = None,
    ) -> None:
        self.settings = settings or InferenceSettings()
        self.now = start
        self.sizes = sizes
        self.listener = listener
        self.publish = publish
        self.alarm_state = alarm_state or (lambda _name, _component: "OK")
        """The state of an alarm as a component's endpoint sees it; None: missing, "" unreadable."""
        self.models: dict[str, dict[str, Any]] = {}
        self.configs: dict[str, dict[str, Any]] = {}
        self.endpoints: dict[str, Endpoint] = {}
        self.components: dict[str, Component] = {}
        self.traffic: dict[str, Traffic] = {}
        self._ticking: set[str] = set()
        """Components whose metrics are published each minute."""
        self.targets: dict[str, ScalingTarget] = {}
        self._quiet: dict[str, int] = {}
        """Minutes in which each target could have had fewer copies."""
        self.stocks: dict[str, Stock] = {}
        """Where instances come from, by type or by reservation."""
        self._seed = seed
        self._luck = random.Random(f"{seed} inference")
        self._numbers = count(1)
        self._sequence = count()
        self._heap: list[tuple[float, int, Action]] = []

    # Time

    @property
    def next_event_at(self) -> float | None:
        """When something happens next by itself; None when nothing will."""
        return self._heap[0][0] if self._heap else None

    def advance(self, until: float) -> None:
        """Let everything happen that happens by then."""
        heap = self._heap
        while heap and heap[0][0] <= until:
            at, _, action = heapq.heappop(heap)
            self.now = max(self.now, at)
            action()
        self.now = max(self.now, until)

    def catch_up(self, now: float) -> None:
        """Let everything happen that should have happened before now; what is due now waits for `advance`."""
        at = self.next_event_at
        while at is not None and at < now:
            self.advance(at)
            at = self.next_event_at
        self.now = max(self.now, now)

    def after(self, seconds: float, action: Action) -> None:
        """Do something later."""
        heapq.heappush(self._heap, (self.now + seconds, next(self._sequence), action))

    def draw(self, seconds: Seconds) -> float:
        """How long it takes this time."""
        return self._luck.uniform(*seconds) if isinstance(seconds, tuple) else seconds

    # Copies

    def add(self, component: Component, spec: Spec, number: int) -> list[Copy]:
        """Ask for copies; they take room at once where there is some."""
        made = [Copy(component, spec, next(self._numbers)) for _ in range(number)]
        component.copies += made
        component.endpoint.waiting += made
        self._arrange(component.endpoint)
        for copy in made:
            if copy.instance is None:
                self._miss(copy)
        return made

    def stop(self, copies: Iterable[Copy]) -> None:
        """Take copies out: a serving one drains first."""
        for copy in list(copies):
            self.serve(copy.component)
            if copy.state is CopyState.SERVING:
                copy.state = CopyState.DRAINING
                self._count(copy.component)
                self.after(self.draw(self.settings.copy_stop), partial(self._gone, copy))
            elif copy.state is not CopyState.DRAINING:
                self._gone(copy)

    def _gone(self, copy: Copy) -> None:
        if copy.state is CopyState.GONE:
            return
        component, endpoint = copy.component, copy.component.endpoint
        self.serve(component)
        if component.name in self.traffic:
            self.traffic[component.name].cut_off(copy, self.now)
        copy.state = CopyState.GONE
        component.copies.remove(copy)
        if copy in endpoint.waiting:
            endpoint.waiting.remove(copy)
        instance = copy.instance
        if instance is not None:
            instance.give_up(copy)
            self._look_for_idle(endpoint, component.variant, instance)
            self._arrange(endpoint)
        self._poke(component)

    def _begin(self, copy: Copy) -> None:
        if copy.state is not CopyState.WAITING:
            return
        copy.state = CopyState.STARTING
        spec, settings = copy.spec, self.settings
        behaviour, name = spec.behaviour, copy.component.name
        if spec.model is not None and spec.model not in self.models:
            self.after(0.0, lambda: self._failed(copy, NO_MODEL.format(model=spec.model)))
        elif behaviour.kind == "no-artifact":
            reason = NO_ARTIFACT.format(name=name)
            self.after(self.draw(settings.failed_artifact), lambda: self._failed(copy, reason))
        elif behaviour.kind == "does-not-start":
            reason = settings.startup_text.format(name=name)
            self.after(spec.startup_timeout, lambda: self._failed(copy, reason))
        else:
            given = behaviour.start_seconds
            self.after(self.draw(settings.copy_start) if given is None else given, lambda: self._started(copy))

    def _started(self, copy: Copy) -> None:
        if copy.state is not CopyState.STARTING:
            return
        component = copy.component
        self.serve(component)
        copy.state, copy.serving_since = CopyState.SERVING, self.now
        self._count(component)
        self._poke(component)

    def _failed(self, copy: Copy, reason: str) -> None:
        if copy.state is not CopyState.STARTING:
            return
        if copy.component.change is not None:
            copy.component.change.fail(reason)
        else:
            self._gone(copy)

    def _miss(self, copy: Copy) -> None:
        """A copy has no room: it waits as long as patience lasts, and not at all where it fits on no instance."""
        patience = self.settings.shortage_patience
        if not any(may_hold(pool, copy.spec) for pool in copy.component.variant.pools):
            patience = 0.0
        if patience < inf:
            self.after(patience, lambda: self._give_up(copy))

    def _give_up(self, copy: Copy, reason: str | None = None) -> None:
        change = copy.component.change
        if copy.state is CopyState.WAITING and copy.instance is None and change is not None:
            change.no_room(copy, reason or NO_ROOM.format(name=copy.component.name))

    # Instances

    def _arrange(self, endpoint: Endpoint) -> None:
        """Give the waiting copies what room there is, in their order, and launch instances for the others."""
        for copy in list(endpoint.waiting):
            variant = copy.component.variant
            instance = place_for(copy.spec, variant.instances)
            pool = self._pool_to_grow(variant, copy.spec) if instance is None else None
            if pool is not None:
                instance = self._launch(endpoint, variant, pool)
            if instance is not None:
                endpoint.waiting.remove(copy)
                instance.take(copy)
                if instance.ready:
                    self._begin(copy)

    @staticmethod
    def _pool_to_grow(variant: Variant, spec: Spec) -> InstancePool | None:
        """Where an instance for one more copy may come from."""
        there = sum(1 for instance in variant.instances if not instance.leaving)
        if not variant.managed or there >= variant.maximum:
            return None
        return next((pool for pool in variant.pools if pool.stock.has() and may_hold(pool, spec)), None)

    def _launch(self, endpoint: Endpoint, variant: Variant, pool: InstancePool) -> Instance:
        """Add an instance; it is there after a while."""
        instance = Instance(next(self._numbers), pool, pool.size)
        variant.instances.append(instance)
        variant.desired += 1
        pool.stock.used += 1
        self._busier(endpoint, 1)
        fails = bool(self.settings.launch_failures) and self._luck.random() < self.settings.launch_failures
        action = self._launch_failed if fails else self._launched
        self.after(self.draw(self.settings.instance_launch), lambda: action(endpoint, variant, instance))
        return instance

    def _launched(self, endpoint: Endpoint, variant: Variant, instance: Instance) -> None:
        if endpoint.name not in self.endpoints:
            return
        instance.ready = True
        self._busier(endpoint, -1)
        for copy in list(instance.copies):
            self._begin(copy)
        self._look_for_idle(endpoint, variant, instance)

    def _launch_failed(self, endpoint: Endpoint, variant: Variant, instance: Instance) -> None:
        self._forget(variant, instance)
        variant.desired -= 1
        self._busier(endpoint, -1)
        for copy in list(instance.copies):
            instance.give_up(copy)
            endpoint.waiting.append(copy)
            self.after(self.settings.shortage_patience, partial(self._give_up, copy, NO_CAPACITY))
        if self.settings.shortage_patience:
            self._arrange(endpoint)

    def _forget(self, variant: Variant, instance: Instance) -> None:
        if instance in variant.instances:
            variant.instances.remove(instance)
            instance.pool.stock.used -= 1

    def _look_for_idle(self, endpoint: Endpoint, variant: Variant, instance: Instance) -> None:
        """An instance without copies is released after a while, unless the variant would fall below its minimum."""
        if variant.managed and not instance.copies:
            turn = instance.idle_turn
            self.after(
                self.draw(self.settings.instance_release), lambda: self._release(endpoint, variant, instance, turn)
            )

    def _release(self, endpoint: Endpoint, variant: Variant, instance: Instance, turn: int) -> None:
        idle = instance.idle_turn == turn and instance.ready and not instance.leaving and not instance.copies
        if idle and endpoint.name in self.endpoints and variant.desired > variant.minimum:
            self.let_go(endpoint, variant, instance)

    def let_go(self, endpoint: Endpoint, variant: Variant, instance: Instance) -> None:
        """Take an idle instance out: the counts change at once, the endpoint settles later."""
        instance.leaving = True
        variant.desired -= 1
        self._busier(endpoint, 1)
        self._forget(variant, instance)
        self.after(self.draw(self.settings.release_seconds), lambda: self._busier(endpoint, -1))

    def _busier(self, endpoint: Endpoint, change: int) -> None:
        """The endpoint is Updating while its instances change, and only then."""
        endpoint.busy += change
        if endpoint.name not in self.endpoints or endpoint.status in (FAILED, "Deleting"):
            return
        status = "InService" if endpoint.busy == 0 else endpoint.status
        if endpoint.busy > 0 and endpoint.status == "InService":
            status = "Updating"
        if status != endpoint.status:
            self._tell_endpoint(endpoint, status)

    def _tell_endpoint(self, endpoint: Endpoint, status: str) -> None:
        endpoint.status, endpoint.modified_at = status, self.now
        if self.listener:
            self.listener(InferenceChange("endpoint", self.now, endpoint.name, status))

    # Components

    def tell(self, component: Component, status: str, what: str) -> None:
        """A component takes a status."""
        component.status = status
        self.remember(component)
        component.log.append((self.now, what))
        if self.listener:
            self.listener(InferenceChange("component", self.now, component.name, status))

    def remember(self, component: Component) -> None:
        """Keep what is described now for those who will see it later."""
        if self.settings.describe_lag:
            shown = component.shown
            shown.append((self.now, component_view(component, self.settings)))
            while len(shown) > 1 and shown[1][0] <= self.now - self.settings.describe_lag:
                del shown[0]

    def serve(self, component: Component) -> None:
        """Let the component's requests come until now, before its copies change."""
        traffic = self.traffic.get(component.name)
        if traffic is not None:
            traffic.run(component, self.now)

    def _count(self, component: Component) -> None:
        serving = component.current
        lowest = component.lowest_serving
        if lowest is not None or serving >= component.desired > 0:
            component.lowest_serving = serving if lowest is None else min(lowest, serving)
        self.remember(component)

    @staticmethod
    def _poke(component: Component) -> None:
        if component.change is not None:
            component.change.poke()


def place_for(spec: Spec, instances: Iterable[Instance]) -> Instance | None:
    """The instance for one more copy: one that is there before one on its way; spread, or packed where asked."""
    fitting = [it for it in instances if it.holds(spec)]
    sign = -1 if spec.binpack else 1
    return min(fitting, key=lambda it: (not it.ready, sign * len(it.copies), it.number), default=None)


def may_hold(pool: InstancePool, spec: Spec) -> bool:
    """Whether a copy fits on an empty instance of a pool."""
    needs = spec.needs_on(pool.instance_type)
    return needs is not None and pool.size.holds(needs)
