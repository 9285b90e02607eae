"""Service environments."""

from __future__ import annotations

from typing import Any

from moto.batch.exceptions import ClientException

from pointsman_emulator.backends.batch.records import (
    ARN,
    CREATING,
    DELETING,
    UPDATING,
    VALID,
    Record,
    found,
    limits_of,
    named,
    one_of,
    paged,
    settled,
    state_of,
    tagged,
)
from pointsman_emulator.backends.batch.resources import Resources
from pointsman_emulator.models.batch_values import ANY_TYPE

MOST = 50
"""Service environments of a Region (UG:service_limits)."""


class ServiceEnvironments(Resources):
    """A cap on instances that its queues share."""

    def create_service_environment(self, request: dict[str, Any]) -> dict[str, Any]:
        """FIFO and fair-share queues count NUM_INSTANCES, quota management counts by type (API:CapacityLimit)."""
        name = named(request["serviceEnvironmentName"], "serviceEnvironmentName")
        kind = one_of(request["serviceEnvironmentType"], ("SAGEMAKER_TRAINING",), "serviceEnvironmentType")
        arn = f"{ARN}:service-environment/{name}"
        if arn in self.environments:
            raise ClientException("Object already exists")
        if len(self.environments) >= MOST:
            raise ClientException(f"Limit of {MOST} service environments exceeded")
        capacity = _capacity_of(limits_of(request["capacityLimits"]))
        detail = {
            "serviceEnvironmentName": name,
            "serviceEnvironmentArn": arn,
            "serviceEnvironmentType": kind,
            "state": state_of(request),
            "capacityLimits": request["capacityLimits"],
        }
        record = Record(name, arn, detail, tagged(request.get("tags")))
        self.model.add_environment(name, capacity)
        self.environments[arn] = record
        self.model.update_environment(name, enabled=record.enabled)
        self.begin(record, CREATING)
        return {"serviceEnvironmentName": name, "serviceEnvironmentArn": arn}

    def describe_service_environments(self, request: dict[str, Any]) -> dict[str, Any]:
        """Those asked for, or all of them; one that is unknown is left out."""
        wanted = set(request.get("serviceEnvironments") or ())
        described = [
            {**record.detail, "status": record.status, "tags": record.tags}
            for record in self.environments.values()
            if not wanted or {record.name, record.arn} & wanted
        ]
        return paged(described, request, "serviceEnvironments")

    def update_service_environment(self, request: dict[str, Any]) -> dict[str, Any]:
        """State and limits, in effect at once: a lower limit stops nothing (UG:updating-service-environments)."""
        record = settled(self.environment(request["serviceEnvironment"]), "update")
        state = state_of(request, record.detail["state"])
        if request.get("capacityLimits"):
            self.model.update_environment(record.name, capacity=_capacity_of(limits_of(request["capacityLimits"])))
            record.detail["capacityLimits"] = request["capacityLimits"]
        record.detail["state"] = state
        self.model.update_environment(record.name, enabled=record.enabled)
        self.begin(record, UPDATING)
        return {"serviceEnvironmentName": record.name, "serviceEnvironmentArn": record.arn}

    def delete_service_environment(self, request: dict[str, Any]) -> dict[str, Any]:
        """Only when it is disabled and no queue uses it (API:DeleteServiceEnvironment)."""
        record = settled(self.environment(request["serviceEnvironment"]), "delete")
        if record.enabled:
            raise ClientException("Cannot delete, service environment must be disabled first")
        if self.queues_on(record):
            raise ClientException("Cannot delete, found existing JobQueue relationship")

        def remove() -> None:
            del self.environments[record.arn]
            self.model.remove_environment(record.name)

        self.begin(record, DELETING, remove)
        return {}

    def environment(self, identifier: str) -> Record:
        """The environment of a name or ARN."""
        record = found(self.environments, identifier)
        if record is None:
            raise ClientException(f"Service environment {identifier} does not exist")
        return record

    def valid_environment(self, identifier: str) -> Record:
        """The same, where it must be VALID."""
        record = self.environment(identifier)
        if record.status != VALID:
            raise ClientException(f"Service environment {record.arn} is not VALID")
        return record

    def queues_on(self, environment: Record) -> list[Record]:
        """The queues that an environment feeds."""
        return [
            queue
            for queue in self.queues.values()
            if queue.detail["serviceEnvironmentOrder"][0]["serviceEnvironment"] == environment.arn
        ]


def _capacity_of(limits: dict[str, int]) -> int | dict[str, int]:
    """One cap on instances of any type, or caps by type; the model checks the rest."""
    if ANY_TYPE not in limits:
        return limits
    if len(limits) > 1:
        raise ClientException(f"capacityLimits is one limit in {ANY_TYPE}, or limits by instance type, not both")
    return limits[ANY_TYPE]
