"""Batch in memory: queues and jobs as a test puts them there; nothing moves by itself."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pointsman.errors import Gone
from pointsman.ports import Clock, JobPage, QueueDescription, Snapshot
from pointsman.queues.jobs import Detail, Sighting, Stage, Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.quota import QuotaShare
from tests.fakes.faults import Faulty, can_fail


class FakeBatchQueues(Faulty):
    """`priorities` has every priority that was set, in order; `described` every job that was described.

    `token_life` is how many seconds the token of a listing is taken.
    """

    def __init__(self, clock: Clock, *, page_size: int = 100) -> None:
        super().__init__()
        self._clock = clock
        self._page_size = page_size
        self.token_life = float("inf")
        self.queues: dict[str, QueueDescription] = {}
        self.jobs: dict[str, Sighting] = {}
        self.priorities: list[tuple[str, int]] = []
        self.described: list[str] = []
        self.shares_set: list[QuotaShare] = []
        self.weights_set: list[tuple[tuple[str, float], ...]] = []

    def add_queue(
        self,
        name: str,
        capacity: int = 8,
        kind: QueueKind = QueueKind.FAIR_SHARE,
        shares: tuple[str, ...] = (),
        *,
        enabled: bool = True,
        weights: tuple[tuple[str, float], ...] = (),
    ) -> QueueDescription:
        """A queue, or another description of one."""
        arn = f"arn:aws:batch:eu-west-1:123456789012:job-queue/{name}"
        self.queues[name] = QueueDescription(name, arn, kind, capacity, shares, enabled, weights)
        return self.queues[name]

    def add_quota_queue(self, name: str, instance_type: str, *shares: QuotaShare) -> QueueDescription:
        """A queue with these quota shares, its environment as big as their limits together."""
        capacity = sum(limit for share in shares for _, limit in share.limits)
        queue = self.add_queue(name, capacity, QueueKind.QUOTA_SHARE)
        self.queues[name] = replace(queue, quota_shares=shares, limits=((instance_type, capacity),))
        return self.queues[name]

    def change_queue(self, name: str, **changes: Any) -> None:
        """Change what the queue is described with."""
        self.queues[name] = replace(self.queues[name], **changes)

    def add_job(
        self,
        job_id: str,
        queue: str,
        status: Status = Status.RUNNABLE,
        *,
        name: str = "",
        size: int = 1,
        gpus: int | None = None,
        share: str | None = "all",
        priority: int = 0,
        tags: Mapping[str, str] | None = None,
        created: float | None = None,
        started: float | None = None,
        **detail: Any,
    ) -> Sighting:
        """A job as Batch has it now, its detail included; `detail` is more of it."""
        now = self._clock.now()
        self.jobs[job_id] = Sighting(
            job_id=job_id,
            status=status,
            at=now,
            queue=queue,
            name=name or job_id,
            created=now if created is None else created,
            started=now if started is None and status is Status.RUNNING else started,
            detail=Detail(size, size if gpus is None else gpus, share, priority, dict(tags or {}), **detail),
        )
        return self.jobs[job_id]

    def move_job(self, job_id: str, status: Status) -> Sighting:
        """Put the job in this status now; RUNNING starts it, an end stops it."""
        job, now = self.jobs[job_id], self._clock.now()
        started = None if status.stage is Stage.WAITING else now if status is Status.RUNNING else job.started
        stopped = now if status.stage is Stage.ENDED else None
        self.jobs[job_id] = replace(job, status=status, at=now, started=started, stopped=stopped)
        return self.jobs[job_id]

    def evict(self, job_id: str) -> Sighting:
        """Batch preempts the job: it waits again."""
        job = self.jobs[job_id]
        self.jobs[job_id] = replace(
            job, status=Status.RUNNABLE, at=self._clock.now(), started=None, preemptions=job.preemptions + 1
        )
        return self.jobs[job_id]

    @can_fail
    def quota_shares(self, queue: str) -> tuple[QuotaShare, ...]:
        if queue not in self.queues:
            raise Gone(f"there is no job queue {queue}")
        return self.queues[queue].quota_shares

    @can_fail
    def set_borrow_limit(self, share: QuotaShare, limit: int) -> None:
        self.change_share(share.arn, borrow_limit=limit)

    @can_fail
    def set_preemption(self, share: QuotaShare, *, on: bool) -> None:
        self.change_share(share.arn, preempts=on)

    def change_share(self, arn: str, **changes: Any) -> None:
        """Change a quota share, as anybody may."""
        for name, queue in self.queues.items():
            if any(one.arn == arn for one in queue.quota_shares):
                shares = tuple(replace(one, **changes) if one.arn == arn else one for one in queue.quota_shares)
                self.queues[name] = replace(queue, quota_shares=shares)
                self.shares_set.append(next(one for one in shares if one.arn == arn))
                return
        raise Gone(f"there is no quota share {arn}")

    @can_fail
    def weights(self, policy: str) -> tuple[tuple[str, float], ...]:
        for queue in self.queues.values():
            if queue.policy == policy:
                return queue.weights
        raise Gone(f"there is no scheduling policy {policy}")

    @can_fail
    def set_weights(self, policy: str, weights: tuple[tuple[str, float], ...]) -> None:
        self.weights(policy)
        self.weights_set.append(weights)
        for name, queue in self.queues.items():
            if queue.policy == policy:
                self.queues[name] = replace(queue, weights=weights, shares=tuple(share for share, _ in weights))

    @can_fail
    def describe_queue(self, name: str) -> QueueDescription:
        if name not in self.queues:
            raise Gone(f"there is no job queue {name}")
        return self.queues[name]

    @can_fail
    def snapshot(self, name: str) -> Snapshot:
        if name not in self.queues:
            raise Gone(f"there is no job queue {name}")
        ordered = self.queues[name].kind in (QueueKind.FAIR_SHARE, QueueKind.QUOTA_SHARE)
        waiting = [j for j in self.jobs.values() if j.queue == name and j.status is Status.RUNNABLE]
        waiting.sort(key=lambda j: (-_detail(j).priority if ordered else 0, j.created, j.job_id))
        busy = [j for j in self.jobs.values() if j.queue == name and j.status.stage is Stage.BUSY]
        used: dict[str, int] = {}
        for job in busy:
            used[_detail(job).share or ""] = used.get(_detail(job).share or "", 0) + _detail(job).size
        front = tuple(j.job_id for j in self._by_turns(waiting, used, dict(self.queues[name].weights))[:100])
        return Snapshot(front, sum(used.values()), self._clock.now(), tuple(used.items()) if ordered else ())

    @staticmethod
    def _by_turns(waiting: list[Sighting], used: Mapping[str, int], weights: Mapping[str, float]) -> list[Sighting]:
        """The jobs as their shares take turns: the next comes from the share with the lowest use times weight."""
        lines: dict[str, list[Sighting]] = {}
        for job in waiting:
            lines.setdefault(_detail(job).share or "", []).append(job)
        counted, front = dict(used), list[Sighting]()
        while lines:
            share = min(lines, key=lambda s: (counted.get(s, 0) * weights.get(s, 1.0), lines[s][0].created))
            job = lines[share].pop(0)
            counted[share] = counted.get(share, 0) + _detail(job).size
            front.append(job)
            if not lines[share]:
                del lines[share]
        return front

    @can_fail
    def list_jobs(self, name: str, status: Status, token: str | None) -> JobPage:
        if name not in self.queues:
            raise Gone(f"there is no job queue {name}")
        jobs = [j for j in self.jobs.values() if j.queue == name and j.status is status]
        jobs.sort(key=lambda j: (-j.created, j.job_id))
        place, _, given = (token or "0").partition("@")
        if given and self._clock.now() - float(given) > self.token_life:
            raise Gone("the token of a listing is no longer taken")
        start = int(place)
        end = start + self._page_size
        # A listing has neither attempts nor preemptions, and no detail.
        page = (replace(j, at=self._clock.now(), attempts=0, preemptions=0, detail=None) for j in jobs[start:end])
        return JobPage(tuple(page), f"{end}@{self._clock.now()}" if end < len(jobs) else None)

    @can_fail
    def describe_job(self, job_id: str) -> Sighting:
        self.described.append(job_id)
        if job_id not in self.jobs:
            raise Gone(f"there is no job {job_id}")
        return replace(self.jobs[job_id], at=self._clock.now())

    @can_fail
    def set_priority(self, job_id: str, priority: int) -> None:
        job = self.jobs.get(job_id)
        if job is None or job.status.stage is Stage.ENDED:
            raise Gone(f"there is no job {job_id} whose priority can be set")
        self.jobs[job_id] = replace(job, detail=replace(_detail(job), priority=priority))
        self.priorities.append((job_id, priority))


def _detail(job: Sighting) -> Detail:
    assert job.detail is not None
    return job.detail
