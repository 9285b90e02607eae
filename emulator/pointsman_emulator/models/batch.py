"""AWS Batch for SageMaker training jobs, as a model: queues, shares, order, capacity, states, preemption.

>>> model = BatchModel(BatchSettings(), seed=7)
>>> model.add_environment("gpus", 64)
>>> model.add_queue("training", "gpus", FairShare({"all": 1.0}))
>>> job = model.submit("training", "sweep-1", instances=8, seconds=3600, priority=0, share="all")
>>> model.advance(until=7200)
>>> job.status
'SUCCEEDED'

Under quota management an environment has limits by instance type and feeds one queue; its shares lend and borrow:

>>> model.add_environment("a10g", {"ml.g5.xlarge": 3})
>>> model.add_queue("managed", "a10g", QuotaSharePolicy())
>>> model.add_share("managed", "research", QuotaShare({"ml.g5.xlarge": 1}, "LEND_AND_BORROW", borrow_limit=200))
>>> model.add_share("managed", "product", QuotaShare({"ml.g5.xlarge": 2}, "LEND"))
>>> sweep = model.submit("managed", "sweep-2", 3, 60, quota_share="research", instance_type="ml.g5.xlarge")
>>> model.advance(until=7200)
>>> sweep.status, sweep.borrowed
('RUNNING', 2)
>>> ranker = model.submit("managed", "ranker", 1, 60, quota_share="product", instance_type="ml.g5.xlarge")
>>> model.advance(until=7200)
>>> sweep.status, sweep.status_reason
('RUNNING', 'PREEMPTION_IN_PROGRESS: Capacity that was lent is reclaimed by quota share product')
>>> model.advance(until=7220)
>>> sweep.status, sweep.preempted_count, ranker.status
('RUNNABLE', 1, 'RUNNING')

What a listener is told is in `JobChange`, what is open in `BatchSettings`. What the service would refuse raises
`BatchRefusedError`. The parts: `batch_values` (settings, what is told), `batch_policies` (fair share, quota shares,
rules of retry), `batch_jobs` (a job), `batch_line` and `batch_usage` (order and use of one share), `batch_queue`,
`batch_fair`, `batch_quota` (who is next), `batch_shares` and `batch_preemption` (loans and victims), `batch_course`
(how jobs move).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from math import floor

from pointsman_emulator.models.batch_course import STEP, JobCourse
from pointsman_emulator.models.batch_environment import Environment
from pointsman_emulator.models.batch_fair import FairQueue
from pointsman_emulator.models.batch_jobs import ALGORITHM_ERROR, ServiceJob
from pointsman_emulator.models.batch_policies import (
    FairShare,
    Policy,
    QuotaShare,
    QuotaSharePolicy,
    RetryRule,
    check_limits,
)
from pointsman_emulator.models.batch_queue import FifoQueue, JobQueue
from pointsman_emulator.models.batch_quota import QuotaQueue
from pointsman_emulator.models.batch_values import (
    ANY_TYPE,
    RUNNABLE,
    TERMINAL,
    BatchRefusedError,
    BatchSettings,
    JobChange,
    Snapshot,
)

__all__ = [
    "BatchModel",
    "BatchRefusedError",
    "BatchSettings",
    "FairShare",
    "JobChange",
    "QuotaShare",
    "QuotaSharePolicy",
    "RetryRule",
    "ServiceJob",
    "Snapshot",
]


class BatchModel(JobCourse):
    """Service environments, their queues and jobs, in a time that the caller advances. Each event costs O(log n)."""

    # Resources

    def add_environment(self, name: str, capacity: int | Mapping[str, int]) -> None:
        """Create a service environment of so many instances of any type, or of so many of each of some types.

        A number is the same as that number of `NUM_INSTANCES`.
        """
        self.environments[name] = Environment(name, _caps(capacity))

    def add_queue(self, name: str, environment: str, policy: Policy | None = None, priority: int = 1) -> None:
        """Create a queue; without a policy it is first in, first out.

        Quota management needs an environment with limits by instance type, for itself; others need one without.
        """
        room = self.environments[environment]
        self._check_room(room, managed=isinstance(policy, QuotaSharePolicy))
        queue: JobQueue
        match policy:
            case None:
                queue = FifoQueue(name, room, priority, self.settings, self.now)
            case FairShare():
                queue = FairQueue(name, room, policy, priority, self.settings, self.now)
            case QuotaSharePolicy():
                queue = QuotaQueue(name, room, policy, priority, self.settings, self.now, self._luck)
        self.queues[name] = queue
        room.queues.append(queue)
        room.queues.sort(key=lambda other: -other.priority)

    @staticmethod
    def _check_room(room: Environment, *, managed: bool) -> None:
        if room.by_type != managed:
            raise BatchRefusedError(
                "Quota management needs a service environment with limits by instance type"
                if managed
                else "A service environment with limits by instance type needs a quota-share scheduling policy"
            )
        if room.by_type and room.queues:
            raise BatchRefusedError("A service environment under quota management can be used by one job queue only")

    def move_queue(self, name: str, environment: str) -> None:
        """Put a queue on another environment. Only one that holds no instances: where those would count is open."""
        queue, room = self.queues[name], self.environments[environment]
        if queue.environment is room:
            return
        self._check_room(room, managed=isinstance(queue, QuotaQueue))
        if queue.in_use:
            raise NotImplementedError("The emulator moves no job queue to another environment while its jobs run")
        queue.environment.queues.remove(queue)
        queue.environment = room
        room.queues.append(queue)
        room.queues.sort(key=lambda other: -other.priority)
        self._touch(room)

    def update_queue(
        self,
        name: str,
        *,
        policy: Policy | None = None,
        priority: int | None = None,
        enabled: bool | None = None,
        time_limits: Mapping[str, float] | None = None,
    ) -> None:
        """Change a queue; what is None stays as it is. A policy can be replaced by one of its kind only."""
        queue = self.queues[name]
        if policy is not None:
            if not isinstance(queue, FairQueue | QuotaQueue):
                raise BatchRefusedError("A scheduling policy cannot be added to a queue that was created without one")
            queue.replace(policy)
        if priority is not None:
            queue.priority = priority
            queue.environment.queues.sort(key=lambda other: -other.priority)
        if enabled is not None:
            queue.enabled = enabled
        if time_limits is not None:
            queue.time_limits = time_limits
            for job in list(queue.stuck.values()):
                self._watch(queue, job)
        self._touch(queue.environment)

    def update_environment(
        self, name: str, *, capacity: int | Mapping[str, int] | None = None, enabled: bool | None = None
    ) -> None:
        """Change a cap or state; a lower cap stops no job, use may exceed it (UG:updating-service-environments)."""
        environment = self.environments[name]
        if capacity is not None:
            limits = _caps(capacity)
            if environment.by_type == (ANY_TYPE in limits):
                raise BatchRefusedError(f"A service environment cannot change between {ANY_TYPE} and instance types")
            environment.limits = limits
        if enabled is not None:
            environment.enabled = enabled
        self._touch(environment)

    def remove_queue(self, name: str) -> None:
        """Delete a queue; its unfinished jobs are terminated."""
        queue = self.queues[name]
        self._terminate_all(queue, "Job Queue deleted")
        queue.environment.queues.remove(queue)
        del self.queues[name]

    def remove_environment(self, name: str) -> None:
        """Delete a service environment that no queue uses."""
        del self.environments[name]

    # Quota shares

    def add_share(self, queue: str, name: str, share: QuotaShare) -> None:
        """Create a quota share of a queue under quota management; 20 at most."""
        self._managed(queue).add_share(name, share)

    def update_share(self, queue: str, name: str, share: QuotaShare) -> None:
        """Replace a quota share's values.

        Jobs above lower limits may be preempted, whatever the strategy (UG:quota-shares). A disabled share takes no
        jobs and finishes what it has.
        """
        place = self._managed(queue)
        place.update_share(name, share)
        self._touch(place.environment)

    def remove_share(self, queue: str, name: str) -> None:
        """Delete a disabled quota share; its unfinished jobs are terminated (API:DeleteQuotaShare)."""
        place = self._managed(queue)
        if place.share(name).value.enabled:
            raise BatchRefusedError(f"Quota share {name} must be disabled before it is deleted")
        self._terminate_all(place, "Quota share deleted", name)
        place.remove_share(name)
        self._touch(place.environment)

    def _managed(self, name: str) -> QuotaQueue:
        queue = self.queues.get(name)
        if not isinstance(queue, QuotaQueue):
            raise BatchRefusedError(f"Job queue {name} has no quota-share scheduling policy")
        return queue

    def _terminate_all(self, queue: JobQueue, reason: str, share: str | None = None) -> None:
        for job in [job for jobs in queue.by_status.values() for job in jobs.values() if not job.finished]:
            if share is None or job.quota_share == share:
                self.terminate(job.job_id, reason)

    # Jobs

    def submit(  # noqa: PLR0913 - as many as a submission has
        self,
        queue: str,
        name: str,
        instances: int,
        seconds: float,
        priority: int | None = None,
        share: str | None = None,
        at: float | None = None,
        *,
        quota_share: str | None = None,
        instance_type: str | None = None,
        instance_groups: Mapping[str, int] | None = None,
        failing_attempts: int = 0,
        failure_reason: str = ALGORITHM_ERROR,
        max_attempts: int = 1,
        retry_rules: Sequence[RetryRule] = (),
        attempt_seconds: float | None = None,
        preemption_retries: int | None = None,
        checkpoint_seconds: float | None = None,
        request: Mapping[str, object] | None = None,
    ) -> ServiceJob:
        """Submit a job, now or at a later time.

        A fair-share queue needs a share, one under quota management a quota share, one without policy takes neither.
        `instance_groups` are instances by type, where a job has several; else all are of `instance_type`.
        """
        place = self.queues.get(queue)
        if place is None:
            raise BatchRefusedError(f"Job queue {queue} does not exist")
        if not place.enabled:
            raise BatchRefusedError(f"JobQueue {queue} is disabled")
        self._admit(place, share, quota_share)
        job = ServiceJob(
            job_id=str(uuid.UUID(int=self._ids.getrandbits(128), version=4)),
            name=name,
            queue=queue,
            instances=instances,
            seconds=seconds,
            priority=self.settings.priority_when_absent if priority is None else priority,
            share=share,
            created_at=self.now if at is None else max(at, self.now),
            order=next(self._order),
            tie=self._ids.random(),
            failing_attempts=failing_attempts,
            max_attempts=max_attempts,
            attempt_seconds=attempt_seconds,
            request=dict(request or {}),
            quota_share=quota_share,
            needs=place.needs(instances, dict(instance_groups or {instance_type or "": instances})),
            retry_rules=tuple(retry_rules),
            failure_reason=failure_reason,
            preemption_retries=preemption_retries,
            checkpoint_seconds=checkpoint_seconds,
        )
        if at is not None and at > self.now:
            self._push(at, STEP, self._arrive, job, job.step)
        else:
            self._arrive(job)
        return job

    def _admit(self, queue: JobQueue, share: str | None, quota_share: str | None) -> None:
        match queue.policy:
            case None:
                kind, takes = "no scheduling policy", None
            case FairShare():
                kind, takes = "a fair-share scheduling policy", "shareIdentifier"
            case QuotaSharePolicy():
                kind, takes = "a quota-share scheduling policy", "quotaShareName"
        for member, value in (("shareIdentifier", share), ("quotaShareName", quota_share)):
            if (value is not None) != (member == takes):
                must = "must" if member == takes else "cannot"
                raise BatchRefusedError(f"{member} {must} be specified: the job queue has {kind}")
        if isinstance(queue, FairQueue) and share is not None:
            queue.admit(share, self.now)
        if isinstance(queue, QuotaQueue) and quota_share is not None:
            queue.admit(quota_share)

    def terminate_many(self, job_ids: Iterable[str], reason: str) -> None:
        """Terminate jobs; an id that is unknown counts as done (API:TerminateServiceJobs)."""
        for job_id in job_ids:
            if job_id in self.jobs:
                self.terminate(job_id, reason)

    def set_priority(self, job_id: str, priority: int) -> None:
        """UpdateServiceJob: in effect in a queue with a policy, within the job's share only.

        It moves a waiting job; under quota management it also makes one that holds instances a likelier or less likely
        victim (UG:preemption).
        """
        job = self.find(job_id)
        queue = self.queues[job.queue]
        if job.finished and self.settings.update_on_terminal == "refuse":
            raise BatchRefusedError(f"Job {job_id} is in a terminal state: {job.status}")
        if queue.policy is None and self.settings.update_on_fifo == "refuse":
            raise BatchRefusedError(f"Job queue {job.queue} has no scheduling policy")
        if queue.policy is None:
            job.priority = priority
            return
        waits = job.status == RUNNABLE
        look = waits and queue.is_head(job)
        queue.reprioritise(job, priority)
        if waits:
            self._reordered(queue, look=look or queue.is_head(job))
        elif job.holding:
            self._touch(queue.environment)

    def jobs_in(self, queue: str, statuses: Iterable[str]) -> list[ServiceJob]:
        """The jobs of a queue that are in one of these states, as ListServiceJobs sees them: newest first."""
        wanted = frozenset(statuses)
        by_status = self.queues[queue].by_status
        if self.settings.list_lag:
            seen_at = self.now - self.settings.list_lag
            found = [job for job in _seen_by(by_status, wanted, seen_at) if job.status_at(seen_at) in wanted]
        else:
            found = [job for status in wanted for job in by_status.get(status, {}).values()]
        found.sort(key=lambda job: (-job.created_at, -job.order))
        return found

    def capacity_in_use(self, queue: str) -> int:
        """Instances that the queue's SCHEDULED, STARTING and RUNNING jobs hold."""
        return self.queues[queue].in_use

    def snapshot(self, queue: str) -> Snapshot:
        """The front of a queue, as fresh as the settings let it be."""
        place = self.queues[queue]
        lag = self.settings.snapshot_lag
        if not lag:
            return place.look(self.now, self.now)
        updated_at = floor(self.now / lag) * lag
        if place.snapshot is None:
            return Snapshot(queue, (), 0, (), updated_at)
        return replace(place.snapshot, updated_at=updated_at)


def _caps(capacity: int | Mapping[str, int]) -> dict[str, int]:
    if isinstance(capacity, int):
        return {ANY_TYPE: capacity}
    if set(capacity) != {ANY_TYPE}:
        check_limits(capacity)
    return dict(capacity)


def _seen_by(
    by_status: dict[str, dict[str, ServiceJob]], wanted: frozenset[str], seen_at: float
) -> Iterator[ServiceJob]:
    """The jobs that may have had one of these states then: of those that have ended, the latest, if no others count."""
    for status, jobs in by_status.items():
        if status in TERMINAL and not wanted & TERMINAL:
            yield from takewhile(lambda job: job.history[-1][0] > seen_at, reversed(jobs.values()))
        else:
            yield from jobs.values()
