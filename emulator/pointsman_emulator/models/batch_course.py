"""How service jobs move: the events of the model, the look at the head of a queue, and the way of one job."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from itertools import count
from math import floor

from pointsman_emulator.models.batch_jobs import Attempt, ServiceJob
from pointsman_emulator.models.batch_queue import Environment, JobQueue
from pointsman_emulator.models.batch_values import (
    FAILED,
    RUNNABLE,
    RUNNING,
    SCHEDULED,
    STARTING,
    SUBMITTED,
    SUCCEEDED,
    BatchRefusedError,
    BatchSettings,
    Dwell,
    JobChange,
)

TOO_LARGE = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
NO_CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
LIMIT_ACTION = "Terminated by JobStateTimeLimit action due to reason: "
STEP, _DISPATCH, _LOOK = 0, 1, 2

Action = Callable[[ServiceJob], None]


class JobCourse:
    """Jobs on their way through the states, in a time that the caller advances. Each event costs O(log n)."""

    def __init__(
        self,
        settings: BatchSettings | None = None,
        seed: int = 0,
        *,
        start: float = 0.0,
        listener: Callable[[JobChange], None] | None = None,
    ) -> None:
        self.settings = settings or BatchSettings()
        self.now = start
        self.jobs: dict[str, ServiceJob] = {}
        self.queues: dict[str, JobQueue] = {}
        self.environments: dict[str, Environment] = {}
        self.listener = listener
        self._ids = random.Random(f"{seed} ids")
        self._luck = random.Random(f"{seed} luck")
        self._order = count()
        self._sequence = count()
        self._heap: list[tuple[float, int, int, Callable[..., None], object, int]] = []

    # Time

    @property
    def next_event_at(self) -> float | None:
        """When something happens next by itself; None when nothing will."""
        heap = self._heap
        while heap and isinstance(heap[0][4], ServiceJob) and heap[0][5] != heap[0][4].step:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def advance(self, until: float) -> None:
        """Let everything happen that happens by then; at one moment, ends and arrivals before the look at the head."""
        heap = self._heap
        while heap and heap[0][0] <= until:
            at, _, _, action, subject, step = heapq.heappop(heap)
            if isinstance(subject, ServiceJob) and step != subject.step:
                continue
            self.now = max(self.now, at)
            action(subject)
        self.now = max(self.now, until)

    def catch_up(self, now: float) -> None:
        """Let everything happen that should have happened before now; what is due now waits for `advance`."""
        at = self.next_event_at
        while at is not None and at < now:
            self.advance(at)
            at = self.next_event_at
        self.now = max(self.now, now)

    def _push(self, at: float, rank: int, action: Callable[..., None], subject: object, step: int = 0) -> None:
        heapq.heappush(self._heap, (at, rank, next(self._sequence), action, subject, step))

    def _touch(self, environment: Environment) -> None:
        if not environment.dirty:
            environment.dirty = True
            self._push(self.now + self.settings.dispatch_delay, _DISPATCH, self._dispatch, environment)

    def _reordered(self, queue: JobQueue) -> None:
        queue.changed_at = self.now
        self._touch(queue.environment)
        lag = self.settings.snapshot_lag
        if lag and not queue.refresh_pending:
            queue.refresh_pending = True
            self._push((floor(self.now / lag) + 1) * lag, _LOOK, self._refresh, queue)

    def _refresh(self, queue: JobQueue) -> None:
        queue.refresh_pending = False
        queue.snapshot = queue.look(self.now, self.now)

    def _after(self, job: ServiceJob, dwell: Dwell, action: Action) -> None:
        seconds = dwell(job) if callable(dwell) else dwell
        if seconds > 0:
            self._push(self.now + seconds, STEP, action, job, job.step)
        else:
            action(job)

    # The way of a job

    def terminate(self, job_id: str, reason: str) -> None:
        """Fail a job that has not ended; one that has stays as it is (UG:terminate-service-jobs)."""
        job = self.find(job_id)
        if job.finished:
            return
        job.terminated = True
        if job.status == RUNNABLE:
            self.queues[job.queue].remove(job)
            self._reordered(self.queues[job.queue])
        elif job.holding:
            self._release(job, reason)
        self._end(job, FAILED, reason)

    def find(self, job_id: str) -> ServiceJob:
        """The job of this id."""
        job = self.jobs.get(job_id)
        if job is None:
            raise BatchRefusedError(f"Job {job_id} does not exist")
        return job

    def _arrive(self, job: ServiceJob) -> None:
        self.jobs[job.job_id] = job
        queue = self.queues[job.queue]
        queue.share(job).unfinished += 1
        queue.by_status[SUBMITTED][job.job_id] = job
        job.history.append((self.now, SUBMITTED))
        self._after(job, self.settings.submitted_dwell, self._become_runnable)

    def _become_runnable(self, job: ServiceJob, reason: str | None = None) -> None:
        queue = self.queues[job.queue]
        queue.add(job)
        self._enter(job, RUNNABLE, reason)
        self._reordered(queue)

    def _dispatch(self, environment: Environment) -> None:
        environment.dirty = False
        if not environment.enabled:
            return
        for queue in environment.queues:
            while True:
                room = queue.room(self.now)
                job = queue.head(self.now, room)
                if job is None or job.instances > room:
                    self._examine(queue, job)
                    break
                self._start(job, queue)

    def _examine(self, queue: JobQueue, head: ServiceJob | None) -> None:
        """Find a head that can never fit blocked, once; no other job is looked at (UG:sm_job_stuck_in_runnable)."""
        if head is None:
            return
        stuck = (head.status_reason or "").startswith(TOO_LARGE)
        if head.instances <= queue.environment.capacity:
            if stuck:
                head.status_reason = None
        elif not stuck:
            head.status_reason = f"{TOO_LARGE} - The job requires more than the service environment's maximum capacity."
            if self.listener:
                self.listener(JobChange("blocked", self.now, head, head.status))
            limit = queue.time_limits.get(TOO_LARGE)
            if limit is not None:
                self._push(self.now + limit, STEP, self._time_out, head, head.step)

    def _time_out(self, job: ServiceJob) -> None:
        if (job.status_reason or "").startswith(TOO_LARGE):
            self.terminate(job.job_id, LIMIT_ACTION + TOO_LARGE)

    def _start(self, job: ServiceJob, queue: JobQueue) -> None:
        queue.remove(job)
        queue.environment.in_use += job.instances
        queue.occupy(job, self.now, job.instances)
        suffix = f"{self._ids.getrandbits(128):032x}"
        job.current = Attempt(f"AWSBatch{job.name[:23]}{suffix}")
        job.scheduled_at = self.now
        job.started_at = None
        self._enter(job, SCHEDULED)
        self._reordered(queue)
        self._after(job, self.settings.scheduled_dwell, self._become_starting)

    def _become_starting(self, job: ServiceJob) -> None:
        if self.settings.bounce_rate and self._luck.random() < self.settings.bounce_rate:
            self._release(job, None, keep_attempt=False)
            self._become_runnable(job, f"{NO_CAPACITY} - SageMaker had no capacity for the training job.")
            return
        self._enter(job, STARTING)
        self._after(job, self.settings.starting_dwell, self._become_running)

    def _become_running(self, job: ServiceJob) -> None:
        job.started_at = self.now
        if job.current is not None:
            job.current.started_at = self.now
        self._enter(job, RUNNING)
        limit = job.attempt_seconds
        seconds = job.seconds if limit is None else min(job.seconds, limit)
        self._push(self.now + seconds, STEP, self._stop, job, job.step)

    def _stop(self, job: ServiceJob) -> None:
        reason = None
        if job.attempt_seconds is not None and job.seconds > job.attempt_seconds:
            reason = "Job attempt duration exceeded timeout"
        elif len(job.attempts) < job.failing_attempts:
            reason = "Received status from SageMaker: AlgorithmError: the training job failed"
        self._release(job, reason)
        if reason is None:
            self._end(job, SUCCEEDED, None)
        elif len(job.attempts) < job.max_attempts:
            self._become_runnable(job, reason)
        else:
            self._end(job, FAILED, reason)

    def _release(self, job: ServiceJob, reason: str | None, *, keep_attempt: bool = True) -> None:
        queue = self.queues[job.queue]
        queue.environment.in_use -= job.instances
        queue.occupy(job, self.now, -job.instances)
        attempt = job.current
        if attempt is not None and keep_attempt:
            attempt.stopped_at = self.now
            attempt.status_reason = reason
            job.attempts.append(attempt)
        self._touch(queue.environment)

    def _end(self, job: ServiceJob, status: str, reason: str | None) -> None:
        self.queues[job.queue].share(job).unfinished -= 1
        job.stopped_at = self.now
        self._enter(job, status, reason)

    def _enter(self, job: ServiceJob, status: str, reason: str | None = None) -> None:
        previous = job.status
        by_status = self.queues[job.queue].by_status
        by_status[previous].pop(job.job_id, None)
        by_status[status][job.job_id] = job
        job.status = status
        job.status_reason = reason
        job.step += 1
        job.history.append((self.now, status))
        if self.listener:
            self.listener(JobChange("state", self.now, job, previous))
