"""AWS Batch for SageMaker training jobs, as a model: queues, the head of the line, capacity, states.

>>> model = BatchModel(BatchSettings(), seed=7)
>>> model.add_environment("gpus", 64)
>>> model.add_queue("training", "gpus", FairShare({"all": 1.0}))
>>> job = model.submit("training", "sweep-1", instances=8, seconds=3600, priority=0, share="all")
>>> model.advance(until=7200)
>>> job.status
'SUCCEEDED'
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from math import floor

from pointsman_emulator.models.batch_course import STEP, JobCourse
from pointsman_emulator.models.batch_jobs import ServiceJob
from pointsman_emulator.models.batch_queue import Environment, JobQueue
from pointsman_emulator.models.batch_values import (
    RUNNABLE,
    BatchRefusedError,
    BatchSettings,
    FairShare,
    JobChange,
    Snapshot,
)

__all__ = ["BatchModel", "BatchRefusedError", "BatchSettings", "FairShare", "JobChange", "ServiceJob", "Snapshot"]


class BatchModel(JobCourse):
    """Service environments, their queues and jobs, in a time that the caller advances. Each event costs O(log n)."""

    # Resources

    def add_environment(self, name: str, capacity: int) -> None:
        """Create a service environment of so many instances."""
        self.environments[name] = Environment(name, capacity)

    def add_queue(self, name: str, environment: str, policy: FairShare | None = None, priority: int = 1) -> None:
        """Create a queue; without a policy it is first in, first out."""
        room = self.environments[environment]
        queue = JobQueue(name, room, policy, priority, self.settings, self.now)
        self.queues[name] = queue
        room.queues.append(queue)
        room.queues.sort(key=lambda other: -other.priority)

    def update_queue(
        self,
        name: str,
        *,
        policy: FairShare | None = None,
        priority: int | None = None,
        enabled: bool | None = None,
        time_limits: Mapping[str, float] | None = None,
    ) -> None:
        """Change a queue; what is None stays as it is."""
        queue = self.queues[name]
        if policy is not None:
            queue.policy = policy
        if priority is not None:
            queue.priority = priority
            queue.environment.queues.sort(key=lambda other: -other.priority)
        if enabled is not None:
            queue.enabled = enabled
        if time_limits is not None:
            queue.time_limits = time_limits
        self._touch(queue.environment)

    def update_environment(self, name: str, *, capacity: int | None = None, enabled: bool | None = None) -> None:
        """Change a cap or state; a lower cap stops no job, use may exceed it (UG:updating-service-environments)."""
        environment = self.environments[name]
        if capacity is not None:
            environment.capacity = capacity
        if enabled is not None:
            environment.enabled = enabled
        self._touch(environment)

    def remove_queue(self, name: str) -> None:
        """Delete a queue; its unfinished jobs are terminated."""
        queue = self.queues[name]
        for job in [job for jobs in queue.by_status.values() for job in jobs.values() if not job.finished]:
            self.terminate(job.job_id, "Job Queue deleted")
        queue.environment.queues.remove(queue)
        del self.queues[name]

    def remove_environment(self, name: str) -> None:
        """Delete a service environment that no queue uses."""
        del self.environments[name]

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
        failing_attempts: int = 0,
        max_attempts: int = 1,
        attempt_seconds: float | None = None,
        request: Mapping[str, object] | None = None,
    ) -> ServiceJob:
        """Submit a job, now or at a later time. A fair-share queue needs a share, a queue without policy takes none."""
        place = self.queues.get(queue)
        if place is None:
            raise BatchRefusedError(f"Job queue {queue} does not exist")
        if not place.enabled:
            raise BatchRefusedError(f"JobQueue {queue} is disabled")
        if place.policy is not None and share is None:
            raise BatchRefusedError(
                "shareIdentifier must be specified: the job queue has a fair-share scheduling policy"
            )
        if place.policy is None and share is not None:
            raise BatchRefusedError(
                "shareIdentifier cannot be specified: the job queue has no fair-share scheduling policy"
            )
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
        )
        if at is not None and at > self.now:
            self._push(at, STEP, self._arrive, job, job.step)
        else:
            self._arrive(job)
        return job

    def set_priority(self, job_id: str, priority: int) -> None:
        """UpdateServiceJob: in effect for a waiting job of a queue with a policy, within its share only."""
        job = self.find(job_id)
        queue = self.queues[job.queue]
        if job.finished and self.settings.update_on_terminal == "refuse":
            raise BatchRefusedError(f"Job {job_id} is in a terminal state: {job.status}")
        if queue.policy is None and self.settings.update_on_fifo == "refuse":
            raise BatchRefusedError(f"Job queue {job.queue} has no scheduling policy")
        job.priority = priority
        if job.status == RUNNABLE and queue.policy is not None:
            queue.remove(job)
            queue.add(job)
            self._reordered(queue)

    def jobs_in(self, queue: str, statuses: Iterable[str]) -> list[ServiceJob]:
        """The jobs of a queue that are in one of these states, as ListServiceJobs sees them: newest first."""
        wanted = frozenset(statuses)
        by_status = self.queues[queue].by_status
        if self.settings.list_lag:
            seen_at = self.now - self.settings.list_lag
            found = [job for jobs in by_status.values() for job in jobs.values() if job.status_at(seen_at) in wanted]
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
        seen = place.snapshot
        return Snapshot(queue, seen.front, seen.in_use, seen.shares, updated_at)
