"""AWS Batch's queues and service jobs."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pointsman.aws.faults import Translated
from pointsman.aws.share_settings import AwsShareSettings, weights_of
from pointsman.aws.unreadable import understood
from pointsman.errors import Gone
from pointsman.ports import Clock, InstanceTypes, JobPage, QueueDescription, Snapshot
from pointsman.queues.jobs import REASON_CHARACTERS, Detail, Sighting, Stage, Status, crashes_in, training_job
from pointsman.queues.kinds import QueueKind
from pointsman.queues.quota import ANY_TYPE

PAGE = 100
MOST_INSTANCES = 1_000_000  # of one job: more is no number of instances
MILLISECONDS_FROM = 1e11  # as epoch seconds this is the year 5138: Batch gives milliseconds, some samples seconds
USE_OF_SHARES = (("fairshareUtilization", "shareIdentifier"), ("quotaShareUtilization", "quotaShareName"))
REFUSED = "ClientException"  # Batch's only code for what it does not know, or will not do


class AwsBatchQueues:
    """Batch in one account and region; jobs' GPUs come from their instance types."""

    def __init__(self, batch: Any, instance_types: InstanceTypes, clock: Clock) -> None:
        """Use this client."""
        self._batch = batch
        self._shares = AwsShareSettings(batch)
        self._instance_types = instance_types
        self._clock = clock

    @understood
    def describe_queue(self, name: str) -> QueueDescription:
        """The queue with its kind and capacity; raises `Gone` when there is no such queue."""
        queues = self._queues()
        queue = next((queue for queue in queues if queue["jobQueueName"] == name), None)
        if queue is None:
            raise Gone(f"there is no job queue {name}")
        enabled = queue["state"] == "ENABLED"
        environments, policy = _environments(queue), queue.get("schedulingPolicyArn")
        if not environments:
            return QueueDescription(name, queue["jobQueueArn"], QueueKind.CONTAINER, 0, enabled=enabled)
        limits, open_ = self._limits(environments)
        shared = [other for other in queues if other["jobQueueName"] != name]
        described = QueueDescription(
            name=name,
            arn=queue["jobQueueArn"],
            kind=QueueKind.FIFO,
            capacity=sum(limit for _, limit in limits),
            enabled=enabled and open_,
            limits=limits,
            siblings=tuple(q["jobQueueName"] for q in shared if set(_environments(q)) & set(environments)),
        )
        if not policy:
            return described
        others = tuple(other["jobQueueName"] for other in shared if other.get("schedulingPolicyArn") == policy)
        return self._ordered(replace(described, policy=policy, others=others))

    def _queues(self) -> list[dict[str, Any]]:
        """All the job queues: those that share an environment or a policy are found by what they say of themselves."""
        found: list[dict[str, Any]] = []
        more: dict[str, str] = {}
        while True:
            with Translated():
                answer = self._batch.describe_job_queues(**more)
            found += answer["jobQueues"]
            if not answer.get("nextToken"):
                return found
            more = {"nextToken": answer["nextToken"]}

    def _limits(self, names: list[str]) -> tuple[tuple[tuple[str, int], ...], bool]:
        """Instances that the environments allow, by unit, and whether they take work."""
        with Translated():
            found = self._batch.describe_service_environments(serviceEnvironments=names)["serviceEnvironments"]
        limits = [limit for environment in found for limit in environment["capacityLimits"]]
        by_unit = tuple((limit.get("capacityUnit", ANY_TYPE), limit.get("maxCapacity", 0)) for limit in limits)
        return by_unit, all(environment.get("state") != "DISABLED" for environment in found)

    def _ordered(self, queue: QueueDescription) -> QueueDescription:
        """The queue with what its scheduling policy says."""
        with Translated():
            found = self._batch.describe_scheduling_policies(arns=[queue.policy])["schedulingPolicies"]
        policy = found[0] if found else {}
        if "quotaSharePolicy" in policy:
            shares = self._shares.quota_shares(queue.name)
            return replace(queue, kind=QueueKind.QUOTA_SHARE, quota_shares=shares)
        fair = policy.get("fairsharePolicy", {})
        weights = weights_of(fair)
        return replace(
            queue,
            kind=QueueKind.FAIR_SHARE,
            shares=tuple(share for share, _ in weights),
            weights=weights,
            reservation=fair.get("computeReservation", 0),
        )

    @understood
    def snapshot(self, name: str) -> Snapshot:
        """The front of the queue and its use, as far as Batch takes a snapshot of this kind of queue."""
        now = self._clock.now()
        with Translated(REFUSED):
            answer = self._batch.get_job_queue_snapshot(jobQueue=name)
        front, heads = answer.get("frontOfQueue", {}), answer.get("frontOfQuotaShares", {}).get("quotaShares", {})
        first = [job for jobs in heads.values() for job in jobs]
        use = answer.get("queueUtilization", {})
        stamps = [_seconds(part.get("lastUpdatedAt")) for part in (front, use)]
        return Snapshot(
            front=tuple(_tail(job["jobArn"]) for job in front.get("jobs") or first),
            used=_quantity(use.get("totalCapacityUsage", ())),
            at=min((stamp for stamp in stamps if stamp is not None), default=now),
            shares=tuple(
                (share[name], _quantity(share.get("capacityUsage", ())))
                for part, name in USE_OF_SHARES
                for share in use.get(part, {}).get("topCapacityUtilization", ())
            ),
            whole=bool(front.get("jobs")) or not first,
        )

    @understood
    def list_jobs(self, name: str, status: Status, token: str | None) -> JobPage:
        """One page (at most 100 jobs) of the queue's jobs in this status, the newest first."""
        now = self._clock.now()
        more = {"nextToken": token} if token else {}
        with Translated(REFUSED):
            answer = self._batch.list_service_jobs(jobQueue=name, jobStatus=status.value, maxResults=PAGE, **more)
        jobs = tuple(_sighting(job, name, now, Status(job.get("status", status))) for job in answer["jobSummaryList"])
        return JobPage(jobs, answer.get("nextToken") or None)

    @understood
    def describe_job(self, job_id: str) -> Sighting:
        """The job with its detail, true as of the moment it was asked for; raises `Gone` when Batch lacks it."""
        now = self._clock.now()
        with Translated(REFUSED):
            job = self._batch.describe_service_job(jobId=job_id)
        return _sighting(job, _tail(job["jobQueue"]), now, Status(job["status"]), self._detail(job))

    def set_priority(self, job_id: str, priority: int) -> None:
        """Set a job's scheduling priority (0-9999); raises `Gone` when the job is unknown or has ended."""
        with Translated(REFUSED):
            self._batch.update_service_job(jobId=job_id, schedulingPriority=priority)

    def _detail(self, job: Mapping[str, Any]) -> Detail:
        asked = _instances(job.get("serviceRequestPayload", ""))
        counted = _quantity(job.get("capacityUsage", ()))
        size = counted or sum(count for _, count in asked) or 1
        if len(asked) == 1:
            asked = [(asked[0][0], size)]
        quota_share, budget = job.get("quotaShareName"), job.get("preemptionConfiguration", {})
        return Detail(
            size=size,
            gpus=self._gpus(asked) if asked else size,
            share=job.get("shareIdentifier") or quota_share,
            priority=job.get("schedulingPriority", 0),
            tags=job.get("tags", {}),
            types=_by_type(asked) if quota_share else (),
            checkpoints=_checkpoints(job.get("serviceRequestPayload", "")) if quota_share else None,
            outlives=budget.get("preemptionRetriesBeforeTermination") if quota_share else None,
        )

    def _gpus(self, asked: Iterable[tuple[str, int]]) -> int:
        """GPUs of these instances; one an instance where EC2 does not know the type."""
        total = 0
        for instance_type, count in asked:
            each = self._instance_types.gpus(instance_type) if instance_type else None
            total += count * (1 if each is None else each)
        return total


def _quantity(usage: Iterable[Mapping[str, Any]]) -> int:
    """Instances in use, of whatever unit."""
    return round(sum(float(each.get("quantity", 0)) for each in usage))


def _instances(payload: str) -> list[tuple[str, int]]:
    """Instance types and how many of each a training request asks for; empty when it cannot be read."""
    try:
        config = json.loads(payload)["ResourceConfig"]
        groups = config.get("InstanceGroups") or [config]
        asked = [(str(group.get("InstanceType", "")), int(group.get("InstanceCount", 1))) for group in groups]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return []
    return asked if all(0 < count <= MOST_INSTANCES for _, count in asked) else []


def _environments(queue: Mapping[str, Any]) -> list[str]:
    return [entry["serviceEnvironment"] for entry in queue.get("serviceEnvironmentOrder", ())]


def _by_type(asked: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Instances by type, the groups of one type added up."""
    total: dict[str, int] = {}
    for instance_type, count in asked:
        total[instance_type] = total.get(instance_type, 0) + count
    return tuple(sorted(total.items()))


def _checkpoints(payload: str) -> str | None:
    """Where a training request saves its work; None when it does not, and then it begins anew after a preemption."""
    try:
        place = json.loads(payload)["CheckpointConfig"]["S3Uri"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return place if isinstance(place, str) and place else None


def _sighting(job: Mapping[str, Any], queue: str, at: float, status: Status, detail: Detail | None = None) -> Sighting:
    attempts = job.get("attempts", ())
    return Sighting(
        job_id=job["jobId"],
        status=status,
        at=at,
        queue=queue,
        name=job["jobName"],
        created=_seconds(job.get("createdAt")) or at,
        attempts=len(attempts),
        crashes=crashes_in((_seconds(a.get("startedAt")), _seconds(a.get("stoppedAt"))) for a in attempts),
        preemptions=job.get("preemptionSummary", {}).get("preemptedAttemptCount", 0),
        started=None if status.stage is Stage.WAITING else _seconds(job.get("startedAt")),
        stopped=_seconds(job.get("stoppedAt")) if status.stage is Stage.ENDED else None,
        detail=detail,
        reason=job.get("statusReason", "")[:REASON_CHARACTERS] or None,
        training=training_job(job.get("latestAttempt", {}).get("serviceResourceId", {}).get("value")),
    )


def _seconds(moment: float | None) -> float | None:
    """Epoch seconds; None for the 0 that Batch gives for what has not happened."""
    if not moment:
        return None
    return moment / 1000 if moment >= MILLISECONDS_FROM else float(moment)


def _tail(arn: str) -> str:
    return arn.rsplit("/", 1)[-1]
