"""Models, endpoint configurations and endpoints."""

from __future__ import annotations

from collections.abc import Mapping

from pointsman_emulator.models.inference_course import InferenceCourse
from pointsman_emulator.models.inference_parts import Endpoint, Instance, InstancePool, Stock, Variant, plain
from pointsman_emulator.models.inference_values import Document, InferenceRefusedError, Room, check_name


class Endpoints(InferenceCourse):
    """What components run on."""

    # Models

    def create_model(self, request: Document) -> None:
        """A model: what a copy downloads and runs."""
        name = request["ModelName"]
        if name in self.models:
            raise InferenceRefusedError(f"Cannot create already existing model {name}.")
        self.models[name] = plain({**request, "CreationTime": self.now})

    def find_model(self, name: str) -> Document:
        """A model by its name."""
        return _found(self.models, name, f'Could not find model "{name}".')

    def delete_model(self, name: str) -> None:
        """Delete a model: copies that run stay, none can start again."""
        self.find_model(name)
        del self.models[name]

    # Endpoint configurations

    def create_config(self, request: Document) -> None:
        """A configuration whose one variant names no model, and so is for components."""
        name = request["EndpointConfigName"]
        if name in self.configs:
            raise InferenceRefusedError(f"Cannot create already existing endpoint configuration {name}.")
        variants = request["ProductionVariants"]
        if len(variants) != 1:
            raise NotImplementedError("The emulator has endpoints of one variant only")
        for variant in variants:
            self._check_variant(variant, request)
        self.configs[name] = plain({**request, "CreationTime": self.now})

    def _check_variant(self, variant: Document, request: Document) -> None:
        scaling = variant.get("ManagedInstanceScaling") or {}
        if variant.get("ModelName"):
            if scaling:
                raise InferenceRefusedError(
                    "ManagedInstanceScaling is only supported for inference component endpoints."
                )
            raise NotImplementedError("The emulator has no variants that name a model")
        if not request.get("ExecutionRoleArn"):
            raise InferenceRefusedError("ExecutionRoleArn is required for inference component endpoints.")
        if scaling.get("MinInstanceCount", 1) == 0 and self.settings.zero_instances == "refuse":
            raise InferenceRefusedError("MinInstanceCount must be at least 1.")
        for pool in _pools(variant):
            self.room_of(pool["InstanceType"])

    def room_of(self, instance_type: str) -> Room:
        """What copies can reserve on an instance of a type."""
        size = self.sizes(instance_type)
        return Room(size.accelerators, size.cores, size.memory * self.settings.schedulable_memory)

    def find_config(self, name: str) -> Document:
        """A configuration by its name."""
        return _found(self.configs, name, f'Could not find endpoint configuration "{name}".')

    def delete_config(self, name: str) -> None:
        """Delete a configuration, in use or not."""
        self.find_config(name)
        del self.configs[name]

    # Endpoints

    def create_endpoint(self, request: Document) -> None:
        """An endpoint: Creating until its first instances are there."""
        name, config = request["EndpointName"], self.find_config(request["EndpointConfigName"])
        if name in self.endpoints:
            raise InferenceRefusedError(f"Cannot create already existing endpoint {name}.")
        check_name("endpointName", name)
        variants = {it["VariantName"]: self._variant(it) for it in config["ProductionVariants"]}
        for variant in variants.values():
            self._within_limits(variant.pools, variant.initial)
        endpoint = Endpoint(name, request["EndpointConfigName"], self.now, self.now, variants)
        endpoint.tags = list(request.get("Tags") or [])
        endpoint.role = config["ExecutionRoleArn"]
        self.endpoints[name] = endpoint
        self._tell_endpoint(endpoint, "Creating")
        for variant in variants.values():
            self._grow(endpoint, variant, variant.initial)
        if endpoint.busy == 0:
            self._busier(endpoint, 0)

    def _variant(self, given: Document) -> Variant:
        scaling = given.get("ManagedInstanceScaling") or {}
        managed = scaling.get("Status") == "ENABLED"
        initial = int(given.get("InitialInstanceCount", scaling.get("MinInstanceCount", 1)))
        pools = [
            InstancePool(it["InstanceType"], self.room_of(it["InstanceType"]), self._stock(it, given), it["Priority"])
            for it in _pools(given)
        ]
        return Variant(
            given["VariantName"],
            tuple(sorted(pools, key=lambda pool: pool.priority)),
            int(scaling.get("MinInstanceCount", initial)) if managed else initial,
            int(scaling.get("MaxInstanceCount", initial)) if managed else initial,
            managed,
            document=given,
        )

    def _stock(self, pool: Document, given: Document) -> Stock:
        """Instances come from the variant's reservation, or from all that there are of the type."""
        reservation = (given.get("CapacityReservationConfig") or {}).get("MlReservationArn")
        name = reservation or pool["InstanceType"]
        if name not in self.stocks:
            totals = self.settings.reservations if reservation else self.settings.instances
            self.stocks[name] = Stock(totals.get(name, 0 if reservation else None), reservation=reservation)
        return self.stocks[name]

    def _grow(self, endpoint: Endpoint, variant: Variant, number: int) -> None:
        """Launch so many instances, each in the first pool that can grow."""
        for _ in range(number):
            self._launch(endpoint, variant, next((it for it in variant.pools if it.stock.has()), variant.pools[0]))

    @staticmethod
    def _within_limits(pools: tuple[InstancePool, ...], more: int) -> None:
        first = pools[0]
        if len(pools) == 1 and not first.stock.has(more):
            what = first.stock.reservation or f"{first.instance_type} for endpoint usage"
            raise InferenceRefusedError(
                f"The limit of '{what}' is {first.stock.total} Instances, with current utilization of "
                f"{first.stock.used} Instances and a request delta of {more} Instances.",
                "ResourceLimitExceeded",
            )

    def find_endpoint(self, name: str) -> Endpoint:
        """An endpoint by its name."""
        endpoint = self.endpoints.get(name)
        if endpoint is None:
            raise InferenceRefusedError(f'Could not find endpoint "{name}".')
        return endpoint

    def update_endpoint(self, request: Document) -> None:
        """Another configuration: the bounds of managed scaling may change, the instance type may not (observed)."""
        endpoint, config = self.find_endpoint(request["EndpointName"]), self.find_config(request["EndpointConfigName"])
        self._settled(endpoint, "update")
        for given in config["ProductionVariants"]:
            variant = endpoint.variants.get(given["VariantName"])
            if variant is None:
                raise NotImplementedError("The emulator cannot replace the variant of an endpoint")
            if {it["InstanceType"] for it in _pools(given)} != {it.instance_type for it in variant.pools}:
                raise InferenceRefusedError(
                    "Updating the instance type of an endpoint that has inference components is not supported."
                )
        endpoint.config = request["EndpointConfigName"]
        for given in config["ProductionVariants"]:
            variant, fresh = endpoint.variants[given["VariantName"]], self._variant(given)
            variant.minimum, variant.maximum, variant.managed = fresh.minimum, fresh.maximum, fresh.managed
            variant.document = given
            for instance in variant.instances:
                self._look_for_idle(endpoint, variant, instance)
            self._grow(endpoint, variant, max(0, variant.minimum - variant.desired))
        self._busier(endpoint, 1)
        self.after(self.draw(self.settings.release_seconds), lambda: self._busier(endpoint, -1))
        self._arrange(endpoint)

    def set_instances(self, request: Document) -> None:
        """UpdateEndpointWeightsAndCapacities: more instances, or fewer where they are idle."""
        endpoint = self.find_endpoint(request["EndpointName"])
        self._settled(endpoint, "update")
        for wish in request["DesiredWeightsAndCapacities"]:
            variant = endpoint.variants.get(wish["VariantName"])
            if variant is None:
                raise InferenceRefusedError(f'Could not find variant "{wish["VariantName"]}".')
            wanted = wish.get("DesiredInstanceCount", variant.desired)
            idle = [it for it in variant.instances if it.ready and not it.copies]
            if variant.desired - wanted > len(idle):
                raise NotImplementedError("The emulator releases idle instances only")
            self._within_limits(variant.pools, max(0, wanted - variant.desired))
            if not variant.managed:
                variant.minimum = variant.maximum = wanted
            for instance in idle[: max(0, variant.desired - wanted)]:
                self.let_go(endpoint, variant, instance)
            self._grow(endpoint, variant, max(0, wanted - variant.desired))
        self._arrange(endpoint)

    @staticmethod
    def _settled(endpoint: Endpoint, what: str) -> None:
        if endpoint.status in ("Creating", "Updating", "SystemUpdating", "RollingBack", "Deleting"):
            raise InferenceRefusedError(
                f'Cannot {what} in-progress endpoint "{endpoint.name}" while it is {endpoint.status}.'
            )

    def system_update(self, name: str, seconds: float) -> None:
        """SageMaker patches the endpoint, which nobody asked for: SystemUpdating for a while (API:EndpointStatus)."""
        endpoint = self.find_endpoint(name)
        self._settled(endpoint, "patch")
        endpoint.busy += 1
        self._tell_endpoint(endpoint, "SystemUpdating")
        self.after(seconds, lambda: self._busier(endpoint, -1))

    def delete_endpoint(self, name: str) -> None:
        """Delete an endpoint; with components on it, as the settings say."""
        endpoint = self.find_endpoint(name)
        held = [it for it in self.components.values() if it.endpoint is endpoint]
        if held and self.settings.endpoint_delete == "refuse":
            raise InferenceRefusedError(
                f'Cannot delete endpoint "{name}": it has inference components: {", ".join(it.name for it in held)}.'
            )
        self._tell_endpoint(endpoint, "Deleting")
        self.after(self.draw(self.settings.release_seconds), lambda: self._remove(endpoint))

    def _remove(self, endpoint: Endpoint) -> None:
        for variant in endpoint.variants.values():
            for instance in list(variant.instances):
                self._forget(variant, instance)
        self.endpoints.pop(endpoint.name, None)

    def instances_of(self, endpoint: str) -> list[Instance]:
        """The instances of an endpoint, which the API does not show."""
        return [it for variant in self.find_endpoint(endpoint).variants.values() for it in variant.instances]


def _pools(variant: Document) -> list[Document]:
    """The pools of a variant; one that has none is a pool of its type."""
    return list(variant.get("InstancePools") or [{"InstanceType": variant["InstanceType"], "Priority": 1}])


def _found(known: Mapping[str, Document], name: str, message: str) -> Document:
    document = known.get(name)
    if document is None:
        raise InferenceRefusedError(message)
    return document
