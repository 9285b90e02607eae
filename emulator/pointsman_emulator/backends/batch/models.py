"""The Batch backend: environments, policies and queues, on the pure model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from moto.batch.exceptions import ClientException
from moto.batch.models import BatchBackend, batch_backends

from pointsman_emulator.backends.batch import events
from pointsman_emulator.backends.batch.jobs import ServiceJobs
from pointsman_emulator.bus import Bus
from pointsman_emulator.clock import Clock
from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_emulator.models.batch import BatchModel, BatchSettings, FairShare, JobChange

PAGE = 100
UNIT = "NUM_INSTANCES"


@dataclass(slots=True)
class _World:
    settings: BatchSettings
    seed: int
    clock: Clock
    bus: Bus


@dataclass(slots=True)
class _Record:
    """A resource as it is described, under its name."""

    name: str
    arn: str
    detail: dict[str, Any]
    tags: dict[str, str] = field(default_factory=dict)


class EmulatorBatchBackend(ServiceJobs, BatchBackend):
    """moto's backend for container queues, and SageMaker training beside it."""

    world: ClassVar[_World | None] = None

    @classmethod
    def open(cls, settings: BatchSettings, seed: int, clock: Clock, bus: Bus) -> None:
        """Bind the backend to an emulator."""
        cls.world = _World(settings, seed, clock, bus)
        batch_backends[ACCOUNT][REGION].reset()
        clock.models.append(batch_backend().model)

    @classmethod
    def close(cls) -> None:
        """Unbind it."""
        cls.world = None

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        world = self.world
        self.settings = world.settings if world else BatchSettings()
        self.model = BatchModel(
            self.settings,
            world.seed if world else 0,
            start=world.clock.now if world else 0.0,
            listener=self._announce if world else None,
        )
        self.tokens: set[str] = set()
        self._environments: dict[str, _Record] = {}
        self._policies: dict[str, _Record] = {}
        self._queues: dict[str, _Record] = {}

    def catch_up(self) -> None:
        """Let the model reach the clock, but for what is due at this very moment."""
        if self.world is not None:
            self.model.catch_up(self.world.clock.now)

    def _announce(self, change: JobChange) -> None:
        if self.world is None:
            return
        job = change.job
        if change.kind == "blocked":
            kind, detail = events.BLOCKED, events.blocked_detail(job, self.settings)
        else:
            kind, detail = events.STATE_CHANGE, events.state_detail(job, self.settings)
        self.world.bus.put("aws.batch", kind, detail, at=change.at, resources=[events.job_arn(job)])

    # Service environments

    def create_service_environment(self, request: dict[str, Any]) -> dict[str, Any]:
        """A cap on instances; FIFO and fair-share queues count NUM_INSTANCES (API:CapacityLimit)."""
        name = request["serviceEnvironmentName"]
        if name in self._environments:
            raise ClientException("Object already exists")
        limit = _limit(request["capacityLimits"])
        arn = f"{events.ARN}:service-environment/{name}"
        detail = {
            "serviceEnvironmentName": name,
            "serviceEnvironmentArn": arn,
            "serviceEnvironmentType": request["serviceEnvironmentType"],
            "state": request.get("state", "ENABLED"),
            "status": "VALID",
            "capacityLimits": request["capacityLimits"],
        }
        self._environments[name] = _Record(name, arn, detail)
        self.tag_resource(arn, request.get("tags") or {})
        self.model.add_environment(name, limit)
        self.model.update_environment(name, enabled=detail["state"] == "ENABLED")
        return {"serviceEnvironmentName": name, "serviceEnvironmentArn": arn}

    def describe_service_environments(self, request: dict[str, Any]) -> dict[str, Any]:
        """Those asked for, or all of them."""
        wanted = request.get("serviceEnvironments")
        found = [
            record for record in self._environments.values() if not wanted or {record.name, record.arn} & set(wanted)
        ]
        return self._page(
            [{**record.detail, "tags": self.list_tags_for_resource(record.arn)} for record in found],
            request,
            "serviceEnvironments",
        )

    def update_service_environment(self, request: dict[str, Any]) -> dict[str, Any]:
        """State and limits, in effect at once (UG:updating-service-environments)."""
        record = self._environment(request["serviceEnvironment"])
        if request.get("capacityLimits"):
            self.model.update_environment(record.name, capacity=_limit(request["capacityLimits"]))
            record.detail["capacityLimits"] = request["capacityLimits"]
        if request.get("state"):
            record.detail["state"] = request["state"]
            self.model.update_environment(record.name, enabled=request["state"] == "ENABLED")
        return {"serviceEnvironmentName": record.name, "serviceEnvironmentArn": record.arn}

    def delete_service_environment(self, request: dict[str, Any]) -> dict[str, Any]:
        """Only when it is disabled and no queue uses it (API:DeleteServiceEnvironment)."""
        record = self._environment(request["serviceEnvironment"])
        if record.detail["state"] != "DISABLED":
            raise ClientException("Cannot delete, service environment must be disabled first")
        if self.model.environments[record.name].queues:
            raise ClientException("Cannot delete, found existing JobQueue relationship")
        del self._environments[record.name]
        self.model.remove_environment(record.name)
        return {}

    def _environment(self, identifier: str) -> _Record:
        record = self._environments.get(identifier.rsplit("/", 1)[-1])
        if record is None:
            raise ClientException(f"Service environment {identifier} does not exist")
        return record

    # Scheduling policies

    def create_policy(self, request: dict[str, Any]) -> dict[str, Any]:
        """A fair-share policy."""
        _no_quota_share(request)
        name = request["name"]
        arn = f"{events.ARN}:scheduling-policy/{name}"
        if arn in self._policies:
            raise ClientException("Object already exists")
        self._policies[arn] = _Record(name, arn, {"fairsharePolicy": _fair_share(request.get("fairsharePolicy") or {})})
        self.tag_resource(arn, request.get("tags") or {})
        return {"name": name, "arn": arn}

    def describe_policies(self, request: dict[str, Any]) -> dict[str, Any]:
        """Those asked for; an ARN that is unknown is left out."""
        found = [self._policies[arn] for arn in request["arns"] if arn in self._policies]
        return {
            "schedulingPolicies": [
                {"name": it.name, "arn": it.arn, **it.detail, "tags": self.list_tags_for_resource(it.arn)}
                for it in found
            ]
        }

    def list_policies(self, request: dict[str, Any]) -> dict[str, Any]:
        """Every policy's ARN."""
        return self._page([{"arn": arn} for arn in self._policies], request, "schedulingPolicies")

    def update_policy(self, request: dict[str, Any]) -> dict[str, Any]:
        """Replace a policy's content; every queue that uses it follows."""
        _no_quota_share(request)
        record = self._policy(request["arn"])
        record.detail["fairsharePolicy"] = _fair_share(request.get("fairsharePolicy") or {})
        for queue in self._queues.values():
            if queue.detail.get("schedulingPolicyArn") == record.arn:
                self.model.update_queue(queue.name, policy=self._share_of(record.arn))
        return {}

    def delete_policy(self, request: dict[str, Any]) -> dict[str, Any]:
        """Not while a queue uses it (API:DeleteSchedulingPolicy)."""
        record = self._policy(request["arn"])
        if any(queue.detail.get("schedulingPolicyArn") == record.arn for queue in self._queues.values()):
            raise ClientException("Cannot delete, found existing JobQueue relationship")
        del self._policies[record.arn]
        return {}

    def _policy(self, arn: str) -> _Record:
        record = self._policies.get(arn)
        if record is None:
            raise ClientException(f"Scheduling policy {arn} does not exist")
        return record

    def _share_of(self, arn: str) -> FairShare:
        policy = self._policy(arn).detail["fairsharePolicy"]
        weights = {share["shareIdentifier"]: share.get("weightFactor", 1.0) for share in policy["shareDistribution"]}
        return FairShare(weights, policy["shareDecaySeconds"], policy["computeReservation"])

    # Job queues

    def find_service_queue(self, identifier: str) -> _Record | None:
        """A SageMaker training queue, by name or ARN."""
        return self._queues.get(identifier.rsplit("/", 1)[-1])

    def create_service_queue(self, request: dict[str, Any]) -> dict[str, Any]:
        """A queue on exactly one service environment (UG:service_limits)."""
        name, order = request["jobQueueName"], request["serviceEnvironmentOrder"]
        if name in self._queues or self.get_job_queue_by_name(name) is not None:
            raise ClientException("Object already exists")
        if request.get("computeEnvironmentOrder"):
            raise ClientException("A job queue has a serviceEnvironmentOrder or a computeEnvironmentOrder, not both")
        if len(order) != 1:
            raise ClientException("A job queue can be associated with exactly one service environment")
        environment = self._environment(order[0]["serviceEnvironment"])
        policy_arn = request.get("schedulingPolicyArn")
        policy = self._share_of(policy_arn) if policy_arn else None
        arn = events.queue_arn(name)
        detail = {
            "jobQueueName": name,
            "jobQueueArn": arn,
            "state": request.get("state", "ENABLED"),
            "status": "VALID",
            "statusReason": "JobQueue Healthy",
            "priority": request["priority"],
            "computeEnvironmentOrder": [],
            "serviceEnvironmentOrder": [{"order": order[0]["order"], "serviceEnvironment": environment.arn}],
            "jobQueueType": "SAGEMAKER_TRAINING",
            "jobStateTimeLimitActions": request.get("jobStateTimeLimitActions") or [],
        }
        if policy_arn:
            detail["schedulingPolicyArn"] = policy_arn
        self._queues[name] = _Record(name, arn, detail)
        self.tag_resource(arn, request.get("tags") or {})
        self.model.add_queue(name, environment.name, policy, request["priority"])
        limits = _time_limits(detail["jobStateTimeLimitActions"])
        self.model.update_queue(name, enabled=detail["state"] == "ENABLED", time_limits=limits)
        return {"jobQueueName": name, "jobQueueArn": arn}

    def describe_queues(self, request: dict[str, Any]) -> dict[str, Any]:
        """Queues of both kinds; a name that is unknown is left out."""
        wanted = request.get("jobQueues")
        ours = [
            {**record.detail, "tags": self.list_tags_for_resource(record.arn)}
            for record in self._queues.values()
            if not wanted or {record.name, record.arn} & set(wanted)
        ]
        theirs = [
            {
                "jobQueueType": "ECS",
                "statusReason": "JobQueue Healthy",
                **{key: value for key, value in queue.items() if value is not None},
            }
            for queue in self.describe_job_queues(wanted or None)
        ]
        return self._page(ours + theirs, request, "jobQueues")

    def update_service_queue(self, request: dict[str, Any]) -> dict[str, Any]:
        """Change state, priority, limits; a policy can be swapped, not added or removed (API:CreateJobQueue)."""
        record = self._queues[request["jobQueue"].rsplit("/", 1)[-1]]
        detail = record.detail
        policy_arn = request.get("schedulingPolicyArn")
        if policy_arn and "schedulingPolicyArn" not in detail:
            raise ClientException("A scheduling policy cannot be added to a job queue that was created without one")
        policy = self._share_of(policy_arn) if policy_arn else None
        for name in ("state", "priority", "schedulingPolicyArn", "jobStateTimeLimitActions"):
            if request.get(name) is not None:
                detail[name] = request[name]
        self.model.update_queue(
            record.name,
            policy=policy,
            priority=request.get("priority"),
            enabled=detail["state"] == "ENABLED",
            time_limits=_time_limits(detail["jobStateTimeLimitActions"]),
        )
        return {"jobQueueName": record.name, "jobQueueArn": record.arn}

    def delete_service_queue(self, request: dict[str, Any]) -> dict[str, Any]:
        """Only when it is disabled; its jobs are terminated."""
        record = self._queues[request["jobQueue"].rsplit("/", 1)[-1]]
        if record.detail["state"] != "DISABLED":
            raise ClientException("Cannot delete, job queue must be disabled first")
        self.model.remove_queue(record.name)
        del self._queues[record.name]
        return {}

    @staticmethod
    def _page(items: list[dict[str, Any]], request: dict[str, Any], name: str) -> dict[str, Any]:
        size = min(request.get("maxResults") or PAGE, PAGE)
        start = int(request.get("nextToken") or 0)
        answer: dict[str, Any] = {name: items[start : start + size]}
        if start + size < len(items):
            answer["nextToken"] = str(start + size)
        return answer


def batch_backend() -> EmulatorBatchBackend:
    """The backend of the emulator's account and region."""
    backend = batch_backends[ACCOUNT][REGION]
    if not isinstance(backend, EmulatorBatchBackend):
        raise TypeError("the emulator is not running")
    return backend


def _limit(limits: list[dict[str, Any]]) -> int:
    if len(limits) != 1 or limits[0].get("capacityUnit") != UNIT:
        raise NotImplementedError("The emulator has service environments with one limit in NUM_INSTANCES only")
    return int(limits[0]["maxCapacity"])


def _no_quota_share(request: dict[str, Any]) -> None:
    if request.get("quotaSharePolicy"):
        raise NotImplementedError("The emulator has no quota-share policies")


def _fair_share(policy: dict[str, Any]) -> dict[str, Any]:
    return {
        "shareDecaySeconds": policy.get("shareDecaySeconds") or 0,
        "computeReservation": policy.get("computeReservation") or 0,
        "shareDistribution": policy.get("shareDistribution") or [],
    }


def _time_limits(actions: list[dict[str, Any]]) -> dict[str, float]:
    return {action["reason"]: float(action["maxTimeSeconds"]) for action in actions}
