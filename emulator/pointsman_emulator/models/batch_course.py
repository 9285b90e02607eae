"""How service jobs move: the events of the model, the look at the heads of queues, and the way of one job."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from itertools import count
from math import floor

from pointsman_emulator.models.batch_environment import Environment
from pointsman_emulator.models.batch_jobs import Attempt, ServiceJob
from pointsman_emulator.models.batch_preemption import PREFIX
from pointsman_emulator.models.batch_queue import JobQueue
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

    def _reordered(self, queue: JobQueue, *, look: bool = True) -> None:
        queue.changed_at = self.now
        if look:
            self._touch(queue.environment)
        self._show(queue)

    def _show(self, queue: JobQueue) -> None:
        """See to it that the next snapshot shows what changed now."""
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

    # The look at the heads

    def _dispatch(self, environment: Environment) -> None:
        environment.dirty = False
        if not environment.enabled:
            return
        waiting = environment.queues
        if self.settings.queue_cycle == "one":
            while any([self._start_next(queue) for queue in waiting]):  # noqa: C419 - each queue has its turn
                pass
        for queue in waiting:
            while self._start_next(queue):
                pass
            for head in queue.heads:
                self._examine(queue, head)
            for victim, cause in queue.evict(self.now):
                self._preempt(victim, cause)

    def _start_next(self, queue: JobQueue) -> bool:
        job = queue.choose(self.now)
        if job is not None:
            self._start(job, queue)
        return job is not None

    def _examine(self, queue: JobQueue, head: ServiceJob) -> None:
        """Find a head stuck, and tell it once; no other job is looked at (UG:sm_job_stuck_in_runnable)."""
        if head.status != RUNNABLE:
            return
        reason = queue.stuck_reason(head)
        if reason is not None and head.stuck != reason.code:
            self._mark(queue, head, reason.code, reason.sentence)
            self._watch(queue, head)
        elif reason is None and head.stuck not in {None, NO_CAPACITY}:
            self._unmark(queue, head)
            head.status_reason = None
        if head.stuck is not None and head.told != head.stuck and head.status == RUNNABLE:
            head.told = head.stuck
            if self.listener:
                self.listener(JobChange("blocked", self.now, head, head.status))

    def _mark(self, queue: JobQueue, job: ServiceJob, code: str, sentence: str) -> None:
        job.stuck = code
        job.stuck_since = self.now
        job.status_reason = f"{code} - {sentence}"
        queue.stuck[job.job_id] = job

    def _unmark(self, queue: JobQueue, job: ServiceJob) -> None:
        job.stuck = None
        queue.stuck.pop(job.job_id, None)

    def _watch(self, queue: JobQueue, job: ServiceJob) -> None:
        """See to the queue's time limit for the reason that a job is stuck for, now or when it is reached.

        For lack of capacity the time counts that it spent SCHEDULED in vain (UG:sm_job_stuck_in_runnable_capacity).
        """
        limit = queue.time_limits.get(job.stuck or "")
        if limit is None or job.status != RUNNABLE:
            return
        reached = job.stuck_since + limit <= self.now
        if job.stuck == NO_CAPACITY:
            reached = job.capacity_wait >= limit
        if reached:
            self.terminate(job.job_id, f"{LIMIT_ACTION}{job.stuck}")
        elif job.stuck != NO_CAPACITY:
            self._push(job.stuck_since + limit, STEP, lambda it: self._watch(queue, it), job, job.step)

    # The way of a job

    def find(self, job_id: str) -> ServiceJob:
        """The job of this id."""
        job = self.jobs.get(job_id)
        if job is None:
            raise BatchRefusedError(f"Job {job_id} does not exist")
        return job

    def terminate(self, job_id: str, reason: str) -> None:
        """Fail a job that has not ended; one that has stays as it is (UG:terminate-service-jobs)."""
        job = self.find(job_id)
        if job.finished:
            return
        job.terminated = True
        if job.status == RUNNABLE:
            queue = self.queues[job.queue]
            look = queue.is_head(job)
            queue.remove(job)
            self._reordered(queue, look=look)
        elif job.holding:
            self._release(job, reason)
        self._end(job, FAILED, reason)

    def _arrive(self, job: ServiceJob) -> None:
        self.jobs[job.job_id] = job
        queue = self.queues[job.queue]
        queue.arrive(job)
        queue.by_status[SUBMITTED][job.job_id] = job
        job.history.append((self.now, SUBMITTED))
        self._after(job, self.settings.submitted_dwell, self._become_runnable)

    def _become_runnable(self, job: ServiceJob, reason: str | None = None) -> None:
        queue = self.queues[job.queue]
        queue.add(job)
        self._enter(job, RUNNABLE, reason)
        self._reordered(queue, look=queue.is_head(job))

    def _start(self, job: ServiceJob, queue: JobQueue) -> None:
        queue.remove(job)
        job.scheduled_at = self.now
        job.started_at = None
        queue.occupy(job, self.now)
        attempt = job.current = Attempt(f"AWSBatch{job.name[:23]}{self._ids.getrandbits(128):032x}")
        self._unmark(queue, job)
        self._enter(job, SCHEDULED)
        self._reordered(queue, look=False)
        settings = self.settings
        if job.attempt_seconds is not None and settings.timeout_from == "scheduled":
            self._push(self.now + job.attempt_seconds, STEP, lambda it: self._overrun(job, it), attempt)
        rate = settings.bounce_rate(job) if callable(settings.bounce_rate) else settings.bounce_rate
        if rate and self._luck.random() < rate:
            dwell = settings.scheduled_dwell if settings.bounce_dwell is None else settings.bounce_dwell
            self._after(job, dwell, self._bounce)
        else:
            self._after(job, settings.scheduled_dwell, self._become_starting)

    def _bounce(self, job: ServiceJob) -> None:
        queue = self.queues[job.queue]
        if job.scheduled_at is not None:
            job.capacity_wait += self.now - job.scheduled_at
        self._release(job, None, counts=False)
        pause = self.settings.bounce_pause
        job.not_before = self.now + (pause(job) if callable(pause) else pause)
        if job.not_before > self.now:
            self._push(job.not_before, _DISPATCH, self._touch, queue.environment)
        self._mark(queue, job, NO_CAPACITY, "SageMaker had no instances for the training job.")
        self._become_runnable(job, job.status_reason)
        self._watch(queue, job)

    def _become_starting(self, job: ServiceJob) -> None:
        job.told = None
        self._enter(job, STARTING)
        self._after(job, self.settings.starting_dwell, self._become_running)

    def _become_running(self, job: ServiceJob) -> None:
        job.started_at = self.now
        if job.current is not None:
            job.current.started_at = self.now
        self._enter(job, RUNNING)
        work, limit = job.seconds - job.work_done, job.attempt_seconds
        if limit is not None and limit < work and self.settings.timeout_from == "started":
            self._push(self.now + limit, STEP, lambda it: self._overrun(it, it.current), job, job.step)
        else:
            self._push(self.now + work, STEP, self._stop, job, job.step)

    def _overrun(self, job: ServiceJob, attempt: Attempt | None) -> None:
        if job.holding and job.current is attempt and job.preempting is None:
            self._fail_attempt(job, "Job attempt duration exceeded timeout", again=self.settings.timed_out == "retry")

    def _stop(self, job: ServiceJob) -> None:
        if len(job.attempts) < job.failing_attempts:
            self._fail_attempt(job, job.failure_reason, again=True)
        else:
            self._release(job, None)
            self._end(job, SUCCEEDED, None)

    def _fail_attempt(self, job: ServiceJob, reason: str, *, again: bool) -> None:
        self._release(job, reason)
        if again and len(job.attempts) < job.max_attempts and self._retries(job, reason):
            self._become_runnable(job, reason)
        else:
            self._end(job, FAILED, reason)

    def _retries(self, job: ServiceJob, reason: str) -> bool:
        if not job.retry_rules:
            return True
        matching = [rule for rule in job.retry_rules if rule.matches(reason)]
        if not matching:
            return self.settings.exit_no_match == "retry"
        return matching[0 if self.settings.exit_rules == "first" else -1].retries

    # Preemption

    def _preempt(self, job: ServiceJob, cause: str) -> None:
        """Begin to preempt a job; it holds its instances until it has stopped (UG:preemption)."""
        stop = self.settings.preemption_stop
        ends = self.now + (stop(job) if callable(stop) else stop)
        action = self._preempted
        if job.started_at is not None:
            ran = self.now - job.started_at
            left = job.seconds - job.work_done - ran
            if self.settings.stopping_run == "ends" and self.now + left <= ends:
                ends, action = self.now + left, self._stop
            if job.checkpoint_seconds:
                job.work_done += floor(ran / job.checkpoint_seconds) * job.checkpoint_seconds
        job.preempting = cause
        job.status_reason = PREFIX + cause
        job.step += 1
        if self.listener:
            self.listener(JobChange("preempting", self.now, job, job.status))
        self._after(job, ends - self.now, action)

    def _preempted(self, job: ServiceJob) -> None:
        cause, previous, attempt = job.preempting, job.status, job.current
        self._release(job, cause, counts=False)
        if attempt is not None:
            attempt.stopped_at, attempt.status_reason = self.now, cause
            job.preempted_attempts.appendleft(attempt)
            while len(job.preempted_attempts) > self.settings.preempted_attempts_kept:
                job.preempted_attempts.pop()
        job.preempted_count += 1
        if job.preemption_retries is not None and job.preempted_count > job.preemption_retries:
            self._end(job, FAILED, cause)
        else:
            self._become_runnable(job, cause)
        if self.listener:
            self.listener(JobChange("preempted", self.now, job, previous))

    def _release(self, job: ServiceJob, reason: str | None, *, counts: bool = True) -> None:
        queue = self.queues[job.queue]
        queue.vacate(job, self.now)
        job.preempting = None
        attempt = job.current
        if attempt is not None and counts:
            attempt.stopped_at = self.now
            attempt.status_reason = reason
            job.attempts.append(attempt)
        self._touch(queue.environment)
        self._show(queue)

    def _end(self, job: ServiceJob, status: str, reason: str | None) -> None:
        queue = self.queues[job.queue]
        queue.leave(job, self.now)
        self._unmark(queue, job)
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
