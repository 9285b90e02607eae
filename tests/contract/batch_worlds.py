"""Two Batches to hold the port's contract to: the fake, and the adapter on the emulator."""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from pointsman.aws.batch import AwsBatchQueues
from pointsman.aws.clients import Clients
from pointsman.aws.instance_types import Ec2InstanceTypes
from pointsman.ports import BatchQueues
from pointsman.queues.jobs import Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.quota import QuotaShare
from pointsman_emulator import Emulator
from tests.fakes.batch import FakeBatchQueues
from tests.fakes.clock import FakeClock

TOKEN_LIFE = 60.0


class BatchWorld(Protocol):
    """What a test can make happen in Batch, and the port to look at it."""

    port: BatchQueues

    def now(self) -> float: ...
    def pass_time(self, seconds: float) -> None: ...
    def add_queue(self, name: str, capacity: int, kind: QueueKind, shares: tuple[str, ...] = ()) -> None: ...
    def submit(
        self,
        queue: str,
        name: str,
        size: int = 1,
        share: str | None = None,
        priority: int | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> str:
        """A job that takes its instances if they are free, and otherwise waits."""
        ...  # fmt: skip

    def end(self, job_id: str) -> None: ...


class FakeWorld:
    """The fake, with just enough of a scheduler."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.batch = FakeBatchQueues(self.clock)
        self.batch.token_life = TOKEN_LIFE
        self.port: BatchQueues = self.batch
        self._jobs = 0

    def now(self) -> float:
        return self.clock.now()

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def add_queue(self, name: str, capacity: int, kind: QueueKind, shares: tuple[str, ...] = ()) -> None:
        self.batch.add_queue(name, capacity, kind, shares)

    def submit(
        self, queue: str, name: str, size: int = 1, share: str | None = None, priority: int | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> str:  # fmt: skip
        self._jobs += 1
        job_id = f"job-{self._jobs:05d}"
        fits = self.batch.snapshot(queue).used + size <= self.batch.queues[queue].capacity
        status = Status.RUNNING if fits else Status.RUNNABLE
        self.batch.add_job(job_id, queue, status, name=name, size=size, share=share, priority=priority or 0, tags=tags)
        return job_id

    def end(self, job_id: str) -> None:
        self.batch.move_job(job_id, Status.FAILED)


class EmulatedWorld:
    """The adapter on the emulator, through the same API that AWS has."""

    def __init__(self, emulator: Emulator, clients: Clients) -> None:
        self.emulator = emulator
        self.clients = clients
        self.port: BatchQueues = AwsBatchQueues(clients.batch, Ec2InstanceTypes(clients.ec2), self)

    def now(self) -> float:
        return self.emulator.now

    def pass_time(self, seconds: float) -> None:
        self.emulator.run_for(seconds)

    def add_queue(self, name: str, capacity: int, kind: QueueKind, shares: tuple[str, ...] = ()) -> None:
        batch = self.clients.batch
        if kind is QueueKind.CONTAINER:
            self._add_container_queue(name)
            return
        batch.create_service_environment(
            serviceEnvironmentName=f"{name}-environment",
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=[{"capacityUnit": "NUM_INSTANCES", "maxCapacity": capacity}],
        )
        policy = {}
        if kind is QueueKind.FAIR_SHARE:
            distribution = [{"shareIdentifier": share} for share in shares]
            fair = {"shareDistribution": distribution}
            arn = batch.create_scheduling_policy(name=f"{name}-policy", fairsharePolicy=fair)["arn"]
            policy = {"schedulingPolicyArn": arn}
        batch.create_job_queue(
            jobQueueName=name,
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": f"{name}-environment"}],
            **policy,
        )

    def add_quota_queue(self, name: str, *shares: QuotaShare) -> None:
        """A queue with these quota shares, its environment as big as their limits together."""
        batch = self.clients.batch
        total: dict[str, int] = {}
        for unit, limit in (pair for share in shares for pair in share.limits):
            total[unit] = total.get(unit, 0) + limit
        batch.create_service_environment(
            serviceEnvironmentName=name,
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=[{"capacityUnit": unit, "maxCapacity": limit} for unit, limit in total.items()],
        )
        quota = {"idleResourceAssignmentStrategy": "FIFO"}
        policy = batch.create_scheduling_policy(name=f"{name}-quota", quotaSharePolicy=quota)["arn"]
        self.emulator.run_for(30)
        batch.create_job_queue(
            jobQueueName=name,
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=policy,
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": name}],
        )
        self.emulator.run_for(30)
        for share in shares:
            sharing: dict[str, Any] = {"strategy": share.strategy.value}
            if share.borrows:
                sharing["borrowLimit"] = share.borrow_limit
            batch.create_quota_share(
                quotaShareName=share.name,
                jobQueue=name,
                capacityLimits=[{"capacityUnit": unit, "maxCapacity": limit} for unit, limit in share.limits],
                resourceSharingConfiguration=sharing,
                preemptionConfiguration={"inSharePreemption": "ENABLED" if share.preempts else "DISABLED"},
            )
        self.emulator.run_for(30)

    def _add_container_queue(self, name: str) -> None:
        batch = self.clients.batch
        role = self.emulator.client("iam").create_role(RoleName="batch", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        batch.create_compute_environment(computeEnvironmentName=name, type="UNMANAGED", serviceRole=role)
        order = [{"order": 1, "computeEnvironment": name}]
        batch.create_job_queue(jobQueueName=name, priority=1, state="ENABLED", computeEnvironmentOrder=order)

    def submit(
        self, queue: str, name: str, size: int = 1, share: str | None = None, priority: int | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> str:  # fmt: skip
        resources = {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": size}
        return self.submit_raw(queue, name, {"ResourceConfig": resources}, share, priority, tags)

    def submit_raw(
        self, queue: str, name: str, payload: dict[str, Any], share: str | None = None, priority: int | None = None,
        tags: Mapping[str, str] | None = None, **more: Any,
    ) -> str:  # fmt: skip
        """A job with any training request; `more` is of the submission."""
        said = {"shareIdentifier": share, "schedulingPriority": priority, "tags": dict(tags) if tags else None} | more
        job_id: str = self.clients.batch.submit_service_job(
            jobName=name,
            jobQueue=queue,
            serviceJobType="SAGEMAKER_TRAINING",
            serviceRequestPayload=json.dumps({"Environment": {"EMULATED_SECONDS": "86400"}, **payload}),
            **{key: value for key, value in said.items() if value is not None},
        )["jobId"]
        self.emulator.run_for(1)
        return job_id

    def end(self, job_id: str) -> None:
        self.clients.batch.terminate_service_job(jobId=job_id, reason="enough")
        self.emulator.run_for(1)
