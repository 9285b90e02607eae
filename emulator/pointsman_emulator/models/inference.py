"""SageMaker inference components, as a model: endpoints and their instances, components, updates, requests.

Structures are in the API's own spelling, times in seconds. No boto3, no clock, no network.

>>> model = InferenceModel(sizes={"ml.g5.2xlarge": Room(1, 8, 32768)}.__getitem__, seed=7)
>>> model.create_config({"EndpointConfigName": "c", "ExecutionRoleArn": role, "ProductionVariants": [
...     {"VariantName": "v", "InstanceType": "ml.g5.2xlarge", "InitialInstanceCount": 3}]})
>>> model.create_endpoint({"EndpointName": "e", "EndpointConfigName": "c"})
>>> model.create_component({"InferenceComponentName": "llm", "EndpointName": "e", "Specification": {...},
...     "RuntimeConfig": {"CopyCount": 3}})
>>> model.advance(until=3600)
>>> model.components["llm"].status
'InService'
"""

from __future__ import annotations

from math import inf
from typing import Literal

from pointsman_emulator.models.inference_course import MINUTE
from pointsman_emulator.models.inference_parts import Component, Copy, CopyState, Endpoint, Instance, Variant, plain
from pointsman_emulator.models.inference_plan import plan_of
from pointsman_emulator.models.inference_scaling import AutoScaling, ScalingTarget
from pointsman_emulator.models.inference_traffic import Counts, Traffic
from pointsman_emulator.models.inference_update import Creation, Deletion, Scaling, Update
from pointsman_emulator.models.inference_values import (
    FAILED,
    Document,
    InferenceChange,
    InferenceRefusedError,
    InferenceSettings,
    MetricValue,
    Room,
    Spec,
    check_name,
    spec_of,
)
from pointsman_emulator.models.inference_views import component_view, endpoint_view

__all__ = [
    "Component",
    "Copy",
    "CopyState",
    "Counts",
    "Endpoint",
    "InferenceChange",
    "InferenceModel",
    "InferenceRefusedError",
    "InferenceSettings",
    "Instance",
    "MetricValue",
    "Room",
    "ScalingTarget",
    "Spec",
    "Variant",
]


class InferenceModel(AutoScaling):
    """Endpoints and inference components, in a time that the caller advances."""

    # Components

    def create_component(self, request: Document) -> Component:
        """Create a component; CopyCount 0 is for later only (observed)."""
        name, endpoint = request["InferenceComponentName"], self.find_endpoint(request["EndpointName"])
        if name in self.components:
            raise InferenceRefusedError(f"Cannot create already existing inference component {name}.")
        check_name("inferenceComponentName", name)
        variant_name = request.get("VariantName", next(iter(endpoint.variants)))
        variant = endpoint.variants.get(variant_name)
        if variant is None:
            raise InferenceRefusedError(f'Could not find variant "{variant_name}" of endpoint "{endpoint.name}".')
        self._endpoint_takes_writes(endpoint)
        spec = self._spec(plain(request.get("Specification") or {}), request.get("Specifications"))
        copies = int((request.get("RuntimeConfig") or {}).get("CopyCount", 1))
        if spec.base is not None:
            self.find_component(spec.base)
            copies = 0
        elif copies < 1:
            raise InferenceRefusedError("CopyCount must be an integer greater than 0.")
        component = Component(name, endpoint, variant, spec, copies, self.now, self.now)
        component.resolved_at = self.now
        component.tags = list(request.get("Tags") or [])
        self.components[name] = component
        self.tell(component, "Creating", f"creating {copies} copies")
        Creation(self, component)
        return component

    def update_component(self, request: Document) -> Component:
        """Another spec, another number of copies, or both; what is not named stays."""
        component = self.find_component(request["InferenceComponentName"])
        self._takes_writes(component)
        several, runtime = request.get("Specifications"), request.get("RuntimeConfig")
        given = request.get("Specification") or ({} if several else None)
        copies = None if runtime is None else int(runtime["CopyCount"])
        config = request.get("DeploymentConfig")
        if given is None:
            if copies is None:
                raise InferenceRefusedError("The request must contain Specification or RuntimeConfig.")
            Scaling(self, component, copies)
            return component
        document = plain(given)
        if not several and (self.settings.partial_spec == "merge" or component.spec.base is not None):
            document = plain(_merged(component.spec.document, document))
        spec = self._spec(document, several)
        if spec.base is not None and config is not None:
            if self.settings.adapter_config == "refuse":
                raise InferenceRefusedError("DeploymentConfig is not supported for adapter inference components.")
            config = None
        plan = plan_of(config, component.desired, self.settings)
        self._check_alarms(component, plan.alarms)
        configs = component.last_config, component.last_config if config is None else plain(config)
        if self.settings.modified_when_accepted:
            component.modified_at = self.now
        Update(self, component, spec, copies, plan, configs)
        return component

    def update_runtime(self, name: str, copies: int) -> Component:
        """UpdateInferenceComponentRuntimeConfig: another number of copies."""
        component = self.find_component(name)
        self._takes_writes(component)
        if component.spec.base is not None:
            raise InferenceRefusedError("An adapter inference component has no copies of its own.")
        if self.settings.modified_when_accepted:
            component.modified_at = self.now
        Scaling(self, component, copies)
        return component

    def delete_component(self, name: str) -> None:
        """Delete a component; a base goes after its adapters (observed)."""
        component = self.find_component(name)
        self._not_busy(component, "delete")
        adapters = [it.name for it in self.components.values() if it.spec.base == name]
        if adapters:
            raise InferenceRefusedError(
                f"Cannot delete inference component {name}: it is the base of {', '.join(sorted(adapters))}."
            )
        Deletion(self, component)

    def find_component(self, name: str) -> Component:
        """A component by its name."""
        component = self.components.get(name)
        if component is None:
            raise InferenceRefusedError(f'Could not find inference component "{name}".')
        return component

    def describe_component(self, name: str) -> Document:
        """DescribeInferenceComponent, as fresh as the settings let it be."""
        component = self.find_component(name)
        lag = self.settings.describe_lag
        if not lag:
            return component_view(component, self.settings)
        then = [view for at, view in component.shown if at <= self.now - lag]
        return then[-1] if then else component.shown[0][1]

    def describe_endpoint(self, name: str) -> Document:
        """DescribeEndpoint."""
        return endpoint_view(self.find_endpoint(name))

    def _spec(self, document: Document, several: list[Document] | None) -> Spec:
        if several and (document or len(several) < 2):
            raise InferenceRefusedError("Specifications takes 2 to 5 entries, and no Specification beside them.")
        each = tuple(plain(it) for it in several or ())
        spec = spec_of(each[0] if each else document, self.models, self.settings.startup_timeout, each)
        if any("InstanceType" not in it or "BaseInferenceComponentName" in it for it in each):
            raise InferenceRefusedError("Each of the Specifications needs an InstanceType and has no base component.")
        if spec.base is None and not all(it.get("ComputeResourceRequirements") for it in each or (document,)):
            raise InferenceRefusedError("ComputeResourceRequirements is required for an inference component.")
        return spec

    def _check_alarms(self, component: Component, names: tuple[str, ...]) -> None:
        for name in names:
            state = self.alarm_state(name, component)
            if state is None and self.settings.alarm_missing == "refuse":
                raise InferenceRefusedError(f"Could not find alarm {name}.")
            if state == "ALARM" and self.settings.alarm_at_start == "refuse":
                raise InferenceRefusedError(f"Alarm {name} is in ALARM.")

    def _takes_writes(self, component: Component) -> None:
        self._not_busy(component, "update")
        if component.status == FAILED and self.settings.update_of_failed == "refuse":
            raise InferenceRefusedError(
                f"Cannot update inference component {component.name} while it is in state CREATE_FAILED."
            )
        self._endpoint_takes_writes(component.endpoint)
        others = [
            it.name
            for it in self.components.values()
            if it.endpoint is component.endpoint and isinstance(it.change, Update)
        ]
        if others and self.settings.parallel_updates == "refuse":
            raise InferenceRefusedError(
                f"Cannot update inference component {component.name} while {others[0]} is being updated."
            )

    def _not_busy(self, component: Component, what: str) -> None:
        if component.internal is not None:
            raise InferenceRefusedError(
                f"Cannot {what} inference component {component.name} while it is in state {component.internal}.",
                self.settings.busy_code,
            )

    def _endpoint_takes_writes(self, endpoint: Endpoint) -> None:
        if (
            endpoint.status in ("Updating", "SystemUpdating")
            and self.settings.writes_while_endpoint_updates == "refuse"
        ):
            raise InferenceRefusedError(f'Endpoint "{endpoint.name}" is being updated.')

    # Requests

    def start_traffic(
        self, component: str, rate: float, *, until: float = inf, arrivals: Literal["poisson", "even"] = "poisson"
    ) -> Traffic:
        """Send a component so many requests a second, from now on."""
        self.find_component(component)
        traffic = Traffic(rate, f"{self._seed} {component}", self.settings, self.now, until, arrivals)
        self.traffic[component] = traffic
        if component not in self._ticking:
            self._ticking.add(component)
            self.after(MINUTE - self.now % MINUTE, lambda: self._minute(component))
        return traffic

    def counts(self, component: str) -> Counts:
        """What became of a component's requests until now."""
        self.serve(self.components[component])
        return self.traffic[component].counts

    def _minute(self, name: str) -> None:
        component, traffic = self.components.get(name), self.traffic.get(name)
        if component is None or traffic is None:
            self._ticking.discard(name)
            return
        traffic.run(component, self.now)
        values = traffic.take_minute(name, self.now - MINUTE, component.current)
        if values and self.publish:
            self.after(self.settings.metric_lag, lambda: self.publish(values) if self.publish else None)
        if self.now - MINUTE < traffic.until:
            self.after(MINUTE, lambda: self._minute(name))
        else:
            self._ticking.discard(name)


def _merged(old: Document, new: Document) -> Document:
    """A specification whose absent members stay as they were, at every depth but for the environment."""
    found = dict(old)
    for key, value in new.items():
        before = found.get(key)
        deeper = isinstance(value, dict) and isinstance(before, dict) and key != "Environment"
        found[key] = _merged(before, value) if deeper and isinstance(before, dict) else value
    return found
