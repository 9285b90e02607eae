"""A world whose queue has quota shares."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pointsman.queues.evictions import Progress
from pointsman.queues.jobs import Sighting, Status
from pointsman.queues.quota import QuotaShare, Strategy
from tests.unit.loops.world import QUEUE, World

GPU = "ml.g5.xlarge"
CLASSES = [{"name": "production", "match": {"job_name": "prod-*"}, "head_start": "24h"}]
PREEMPTION = {"patience": "1h", "protect": "20m", "at_most_per_job": 2}


def share(name: str = "all", limit: int = 8, **more: Any) -> QuotaShare:
    told = {"arn": f"arn:{name}", "limits": ((GPU, limit),), "preempts": True, **more}
    return QuotaShare(name=name, **told)


def borrower(name: str = "all", limit: int = 4, borrow_limit: int = 100) -> QuotaShare:
    return share(name, limit, strategy=Strategy.LEND_AND_BORROW, borrow_limit=borrow_limit)


def size_of(job: Sighting) -> int:
    assert job.detail is not None
    return job.detail.size


class QuotaWorld(World):
    """Everything of one instance type; what runs saved its work a minute ago, unless said."""

    def __init__(self, *shares: QuotaShare, **more: Any) -> None:
        super().__init__(**more)
        self.loses: Callable[[], bool] = lambda: False
        self.batch.add_quota_queue(QUEUE, GPU, *(shares or (share(),)))

    def rule(self, **changes: Any) -> None:
        """Apply a policy under which production may evict sweeps."""
        document = {
            "classes": CLASSES,
            "default": {"name": "sweep", "preemptible": True},
            "preemption": PREEMPTION,
            "on_alarm": [],
            **changes,
        }
        self.apply(**document)

    def submit(self, job_id: str, *, size: int = 1, **more: Any) -> None:  # type: ignore[override]
        super().submit(job_id, size=size, types=((GPU, size),), **more)

    def run(self, job_id: str, *, size: int = 1, ran: float = 7200.0, **more: Any) -> None:  # type: ignore[override]
        began = self.clock.now() - ran
        prefix = f"s3://checkpoints/{job_id}"
        self.checkpoints.written.setdefault(prefix, self.clock.now() - 60)
        told = {"types": ((GPU, size),), "checkpoints": prefix, "started": began, "created": began - 60, **more}
        super().run(job_id, size=size, **told)

    def evict(self, job_id: str) -> None:
        """Batch preempts the job, and its event says that it waits, unless it is lost."""
        self.batch.evict(job_id)
        if not self.loses():
            self.tell(job_id)

    def tell_of_preemption(self, job_id: str) -> None:
        """Deliver the event of a preemption, which names nothing but the job."""
        arn = f"arn:aws:batch:eu-west-1:123456789012:service-job/{job_id}"
        at = datetime.fromtimestamp(self.clock.now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        body = {
            "source": "aws.batch",
            "detail-type": "Batch Service Job Preemption Completed",
            "time": at,
            "detail": {"preemptedJobArn": arn, "status": "RUNNABLE"},
        }
        self.recorder().record([self.message(json.dumps(body))])

    def start(self, job_id: str) -> None:
        self.move(job_id, Status.RUNNING, told=not self.loses())

    def batch_goes_on(self, choose: Callable[[Sighting], Any] | None = None, *, equal: bool = False) -> None:
        """Batch starts the head while it fits, and where it may, evicts whom it outranks: the lowest first, or as said.

        With `equal` also younger jobs of the head's own priority.
        """
        while True:
            waiting = [j for j in self.batch.jobs.values() if j.status is Status.RUNNABLE]
            busy = [j for j in self.batch.jobs.values() if j.status is Status.RUNNING]
            waiting.sort(key=lambda j: (-self.priority(j.job_id), j.created, j.job_id))
            if not waiting:
                return
            head, free = waiting[0], self.now_of().limit(GPU) - sum(size_of(j) for j in busy)
            if size_of(head) <= free:
                self.start(head.job_id)
                continue
            level = self.priority(head.job_id)
            lower = [
                j
                for j in busy
                if self.priority(j.job_id) < level
                or (equal and self.priority(j.job_id) == level and j.created > head.created)
            ]
            lower.sort(key=choose or (lambda j: (self.priority(j.job_id), j.job_id)))
            picked: list[Sighting] = []
            while lower and size_of(head) > free + sum(map(size_of, picked)):
                picked.append(lower.pop(0))
            if not self.now_of().preempts or size_of(head) > free + sum(map(size_of, picked)):
                return
            for job in picked:
                self.evict(job.job_id)

    def now_of(self, name: str = "all") -> QuotaShare:
        """The share as Batch has it."""
        return next(one for one in self.batch.queues[QUEUE].quota_shares if one.name == name)


def pressed(shares: tuple[QuotaShare, ...] = ()) -> QuotaWorld:
    """Production has waited past patience behind a sweep that resumes and one that does not."""
    world = QuotaWorld(*shares)
    world.rule()
    world.run("sweep", size=4)
    world.run("fixed", size=4, checkpoints=None)
    world.submit("prod", size=4, waited=4000.0, name="prod-ranker")
    world.clock.advance(5)
    return world


def evictions(world: QuotaWorld) -> list[Progress]:
    return [e.progress for e in world.shares.evictions(QUEUE, 0.0)]


def switched() -> QuotaWorld:
    """Production has waited past patience in a share in which nobody evicts anybody yet."""
    world = QuotaWorld(share(preempts=False))
    world.rule(preemption={**PREEMPTION, "how": "switch"})
    world.run("sweep", size=4)
    world.run("fixed", size=4, checkpoints=None)
    world.submit("prod", size=4, waited=4000.0, name="prod-ranker")
    world.clock.advance(5)
    return world
