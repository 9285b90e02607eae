"""Application Auto Scaling on components: targets that move copies by themselves, each minute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from pointsman_emulator.models.inference_endpoints import Endpoints
from pointsman_emulator.models.inference_parts import Component
from pointsman_emulator.models.inference_update import Scaling

MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class ScalingTarget:
    """The bounds of a component's copies, and what moves them."""

    minimum: int
    maximum: int
    suspended_in: bool = False
    suspended_out: bool = False
    per_copy: float | None = None
    """Invocations a minute that one copy should get (SageMakerInferenceComponentInvocationsPerCopy)."""
    wish: int | None = None
    """What the policies ask for whatever the requests are, for tests."""


class AutoScaling(Endpoints):
    """Targets that change DesiredCopyCount; while something else is under way they try again each minute."""

    def put_target(self, component: str, target: ScalingTarget) -> None:
        """Register a target, or change it."""
        known = component in self.targets
        self.targets[component] = target
        if not known:
            self._quiet[component] = 0
            self.after(MINUTE - self.now % MINUTE, lambda: self._look(component))

    def change_target(self, component: str, *, per_copy: float | None = None, wish: int | None = None) -> None:
        """Change what moves a target's copies."""
        target = self.targets[component]
        self.targets[component] = replace(
            target,
            per_copy=target.per_copy if per_copy is None else per_copy,
            wish=target.wish if wish is None else wish,
        )

    def delete_target(self, component: str) -> None:
        """Leave the copies as they are from now on."""
        self.targets.pop(component, None)

    def _look(self, name: str) -> None:
        target, component = self.targets.get(name), self.components.get(name)
        if target is None or component is None:
            self.targets.pop(name, None)
            return
        self.after(MINUTE, lambda: self._look(name))
        wanted = max(target.minimum, min(target.maximum, self._wanted(name, target, component)))
        suspended = target.suspended_out if wanted > component.desired else target.suspended_in
        if wanted != component.desired and not suspended and component.settled:
            component.modified_at = self.now
            Scaling(self, component, wanted)

    def _wanted(self, name: str, target: ScalingTarget, component: Component) -> int:
        if target.wish is not None:
            return target.wish
        traffic = self.traffic.get(name)
        if target.per_copy is None or traffic is None:
            return component.desired
        self.serve(component)
        needed = ceil(traffic.last_minute / target.per_copy)
        if needed >= component.desired:
            self._quiet[name] = 0
            return needed
        self._quiet[name] += 1
        return needed if self._quiet[name] >= self.settings.scale_in_minutes else component.desired
