"""Job queues: of type SAGEMAKER_TRAINING ours, of containers moto's."""

from __future__ import annotations

from typing import Any

from moto.batch.exceptions import ClientException

from pointsman_emulator.backends.batch.environments import ServiceEnvironments
from pointsman_emulator.backends.batch.policies import SchedulingPolicies
from pointsman_emulator.backends.batch.records import (
    ARN,
    CREATING,
    DELETING,
    ENABLED,
    UPDATING,
    Record,
    found,
    named,
    one_of,
    paged,
    settled,
    state_of,
    tagged,
    within,
)

KIND = "SAGEMAKER_TRAINING"
MOST = 50
"""Job queues of a Region (UG:service_limits)."""
HIGHEST_PRIORITY = 1000
REASONS = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE",
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
)
"""What can be found to block a queue of service jobs (UG:sm_job_stuck_in_runnable)."""
SHORTEST_LIMIT, LONGEST_LIMIT = 600, 86_400
"""API:JobStateTimeLimitAction."""


class JobQueues(ServiceEnvironments, SchedulingPolicies):
    """A queue is FIFO, fair-share or quota-managed for life (API:CreateJobQueueRequest)."""

    def get_job_queue_by_name(self, name: str) -> Any:
        """A container queue; moto knows them."""
        return super().get_job_queue_by_name(name)  # type: ignore[misc]

    def describe_job_queues(self, names: list[str] | None = None) -> list[dict[str, Any]]:
        """The container queues; moto describes them."""
        return list(super().describe_job_queues(names))  # type: ignore[misc]

    def service_queue(self, identifier: str) -> Record | None:
        """The SageMaker training queue of a name or ARN; None when there is none."""
        return found(self.queues, identifier)

    def queue(self, identifier: str) -> Record:
        """The same, where it must be there."""
        record = self.service_queue(identifier)
        if record is not None:
            return record
        if self.get_job_queue_by_name(identifier.rsplit("/", 1)[-1]) is not None:
            raise ClientException(f"Job queue {identifier} must have the type {KIND}")
        raise ClientException(f"Job queue {identifier} does not exist")

    def create_service_queue(self, request: dict[str, Any]) -> dict[str, Any]:
        """A queue on exactly one service environment (UG:service_limits)."""
        name = named(request["jobQueueName"], "jobQueueName")
        arn = f"{ARN}:job-queue/{name}"
        if arn in self.queues or self.get_job_queue_by_name(name) is not None:
            raise ClientException("Object already exists")
        if len(self.queues) >= MOST:
            raise ClientException(f"Limit of {MOST} job queues exceeded")
        one_of(request.get("jobQueueType") or KIND, (KIND,), "jobQueueType of a queue with a serviceEnvironmentOrder")
        order = self._order_of(request)
        within(request["priority"], 0, HIGHEST_PRIORITY, "priority")
        actions = request.get("jobStateTimeLimitActions") or []
        limits = _time_limits(actions)
        environment = self.valid_environment(order["serviceEnvironment"])
        policy = self.policy(request["schedulingPolicyArn"]) if request.get("schedulingPolicyArn") else None
        detail = {
            "jobQueueName": name,
            "jobQueueArn": arn,
            "state": state_of(request),
            "statusReason": "JobQueue Healthy",
            "priority": request["priority"],
            "computeEnvironmentOrder": [],
            "serviceEnvironmentOrder": [{"order": order["order"], "serviceEnvironment": environment.arn}],
            "jobQueueType": KIND,
            "jobStateTimeLimitActions": actions,
        }
        if policy is not None:
            detail["schedulingPolicyArn"] = policy.arn
        record = Record(name, arn, detail, tagged(request.get("tags")))
        self.model.add_queue(name, environment.name, self.policy_of(policy) if policy else None, request["priority"])
        self.queues[arn] = record
        self.model.update_queue(name, enabled=record.enabled, time_limits=limits)
        self.begin(record, CREATING)
        return {"jobQueueName": name, "jobQueueArn": arn}

    def describe_queues(self, request: dict[str, Any]) -> dict[str, Any]:
        """Queues of both kinds; a name that is unknown is left out."""
        wanted = request.get("jobQueues")
        ours = [
            {**record.detail, "status": record.status, "tags": record.tags}
            for record in self.queues.values()
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
        return paged(ours + theirs, request, "jobQueues")

    def update_service_queue(self, request: dict[str, Any]) -> dict[str, Any]:
        """Change all but name and type; a policy can be swapped, not added or removed (API:CreateJobQueue)."""
        record = settled(self.queue(request["jobQueue"]), "update")
        detail = record.detail
        policy = self._swapped(record, request.get("schedulingPolicyArn"))
        if request.get("priority") is not None:
            within(request["priority"], 0, HIGHEST_PRIORITY, "priority")
        actions = request.get("jobStateTimeLimitActions")
        limits = _time_limits(detail["jobStateTimeLimitActions"] if actions is None else actions)
        state = state_of(request, detail["state"])
        if request.get("computeEnvironmentOrder") or request.get("serviceEnvironmentOrder"):
            order = self._order_of(request)
            environment = self.valid_environment(order["serviceEnvironment"])
            self.model.move_queue(record.name, environment.name)
            detail["serviceEnvironmentOrder"] = [{"order": order["order"], "serviceEnvironment": environment.arn}]
        self.model.update_queue(
            record.name,
            policy=self.policy_of(policy) if policy else None,
            priority=request.get("priority"),
            enabled=state == ENABLED,
            time_limits=limits,
        )
        detail["state"] = state
        for name in ("priority", "jobStateTimeLimitActions"):
            if request.get(name) is not None:
                detail[name] = request[name]
        if policy is not None:
            detail["schedulingPolicyArn"] = policy.arn
        self.begin(record, UPDATING)
        return {"jobQueueName": record.name, "jobQueueArn": record.arn}

    def delete_service_queue(self, request: dict[str, Any]) -> dict[str, Any]:
        """Only when it is disabled; its jobs are terminated."""
        record = settled(self.queue(request["jobQueue"]), "delete")
        if record.enabled:
            raise ClientException("Cannot delete, job queue must be disabled first")
        shares = [share for share in self.shares.values() if share.detail["jobQueueArn"] == record.arn]
        if shares and self.settings.queue_with_shares == "refuse":
            raise ClientException("Cannot delete, found existing QuotaShare relationship")

        def remove() -> None:
            self.model.remove_queue(record.name)
            for share in shares:
                self.shares.pop(share.arn, None)
            del self.queues[record.arn]

        self.begin(record, DELETING, remove)
        return {}

    def is_quota_managed(self, queue: Record) -> bool:
        """Whether a queue's policy is one of quota shares."""
        arn = queue.detail.get("schedulingPolicyArn")
        return arn is not None and "quotaSharePolicy" in self.policy(arn).detail

    @staticmethod
    def _order_of(request: dict[str, Any]) -> dict[str, Any]:
        if request.get("computeEnvironmentOrder"):
            raise ClientException("A job queue has a serviceEnvironmentOrder or a computeEnvironmentOrder, not both")
        order: list[dict[str, Any]] = request.get("serviceEnvironmentOrder") or []
        if len(order) != 1:
            raise ClientException("A job queue can be associated with exactly one service environment")
        return order[0]

    def _swapped(self, record: Record, arn: str | None) -> Record | None:
        if arn is None:
            return None
        before = record.detail.get("schedulingPolicyArn")
        if before is None:
            raise ClientException("A scheduling policy cannot be added to a job queue that was created without one")
        if not arn:
            raise ClientException("The scheduling policy of a job queue can be replaced but not removed")
        return self.policy(arn)


def _time_limits(actions: list[dict[str, Any]]) -> dict[str, float]:
    for action in actions:
        one_of(action["state"], ("RUNNABLE",), "state of a jobStateTimeLimitAction")
        one_of(action["action"], ("TERMINATE",), f"action of a jobStateTimeLimitAction of a {KIND} queue")
        one_of(action["reason"], REASONS, "reason of a jobStateTimeLimitAction")
        within(action["maxTimeSeconds"], SHORTEST_LIMIT, LONGEST_LIMIT, "maxTimeSeconds")
    return {action["reason"]: float(action["maxTimeSeconds"]) for action in actions}
