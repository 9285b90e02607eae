"""Batch's ports on its behaviour model: what Batch would answer, with all that is undocumented as the world drew it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pointsman.errors import Gone, Unreadable
from pointsman.ports import JobPage, QueueDescription, Snapshot
from pointsman.queues.jobs import Detail, Sighting, Stage, Status, crashes_in
from pointsman.queues.kinds import QueueKind
from pointsman.queues.quota import QuotaShare, Strategy
from pointsman_emulator.backends.batch.events import announced
from pointsman_emulator.models import batch_policies as batch
from pointsman_emulator.models.batch import BatchModel, BatchRefusedError, JobChange, ServiceJob
from pointsman_emulator.models.batch_fair import FairQueue
from pointsman_emulator.models.batch_quota import QuotaQueue
from tests.unit.loops.quota_world import GPU
from tests.unit.loops.world import QUEUE

POOL, PAGE, POLICY = "pool", 100, "arn:policy"
CHECKPOINTS = "s3://checkpoints/"


@dataclass
class ModelClock:
    """Batch's time as the functions' clock shows it: `skew` seconds off."""

    model: BatchModel
    skew: float = 0.0

    def now(self) -> float:
        """Epoch seconds."""
        return self.model.now + self.skew


@dataclass
class ModelBatch:
    """`BatchQueues` and `ShareSettings`; `fresh` shows this moment in snapshots and listings, whatever their lag.

    `whole` is whether a snapshot of quota shares names more than the first job of each: that is not documented. A
    listing has so many jobs to a `page`. What Batch `refuses` to describe this once it has all the same.
    """

    model: BatchModel
    clock: ModelClock
    whole: bool = True
    fresh: bool = False
    told: Callable[..., None] = lambda *_, **__: None
    page: int = PAGE
    refuses: Callable[[], bool] = lambda: False

    def describe_queue(self, name: str) -> QueueDescription:
        """The queue."""
        queue = self.model.queues[name]
        limits = tuple(queue.environment.limits.items())
        told = QueueDescription(
            name, f"arn:{name}", QueueKind.FIFO, sum(limit for _, limit in limits), limits=limits, policy=POLICY
        )
        if isinstance(queue, QuotaQueue):
            return replace(told, kind=QueueKind.QUOTA_SHARE, quota_shares=self.quota_shares(name))
        assert isinstance(queue, FairQueue)
        weights = tuple(queue.policy.weights.items())
        kept = int(queue.policy.compute_reservation)
        shares = tuple(share for share, _ in weights)
        return replace(told, kind=QueueKind.FAIR_SHARE, shares=shares, weights=weights, reservation=kept)

    def snapshot(self, name: str) -> Snapshot:
        """The front of the queue and its use, as old as Batch shows it."""
        queue = self.model.queues[name]
        seen = queue.look(self.model.now, self.clock.now()) if self.fresh else self.model.snapshot(name)
        front = tuple(place.job.job_id for place in seen.front)
        whole = self.whole or isinstance(queue, FairQueue)
        if not whole:
            front = tuple(place.job.job_id for place in seen.front_of_shares.values())
        return Snapshot(front, seen.in_use, seen.updated_at, seen.shares, whole or not front)

    def list_jobs(self, name: str, status: Status, token: str | None) -> JobPage:
        """A page of a listing, with neither attempts nor detail."""
        now_in = self.model.queues[name].by_status.get(status.value, {})
        jobs = list(now_in.values()) if self.fresh else self.model.jobs_in(name, [status.value])
        place, _, given = (token or "0").partition("@")
        life = self.model.settings.token_life
        if given and life is not None and self.model.now - float(given) > life:
            raise Gone("the token of a listing is no longer taken")
        end = int(place) + self.page
        page = jobs[int(place) : end]
        more = f"{end}@{self.model.now}" if end < len(jobs) else None
        now = self.clock.now()
        for job in page if status.stage is Stage.BUSY else ():
            self.told(job, self.model.now - self.model.settings.list_lag)
        return JobPage(tuple(replace(sighting(job, now), status=status, detail=None, attempts=0,
                                     preemptions=0, crashes=0) for job in page), more)  # fmt: skip

    def describe_job(self, job_id: str) -> Sighting:
        """The job as it is."""
        job = self.model.jobs.get(job_id)
        if job is None or self.refuses():
            raise Gone(f"there is no job {job_id}")
        self.told(job, self.model.now, ended=job.finished)
        return sighting(job, self.clock.now())

    def set_priority(self, job_id: str, priority: int) -> None:
        """UpdateServiceJob."""
        try:
            self.model.set_priority(job_id, priority)
        except BatchRefusedError as refused:
            raise Gone(str(refused)) from None

    def quota_shares(self, queue: str) -> tuple[QuotaShare, ...]:
        """The quota shares as they are."""
        place = self.model.queues[queue]
        shares = place._shares if isinstance(place, QuotaQueue) else {}
        return tuple(
            QuotaShare(
                name,
                name,
                tuple(share.value.limits.items()),
                Strategy(share.value.strategy),
                share.value.borrow_limit,
                share.value.in_share_preemption,
                share.value.enabled,
            )
            for name, share in shares.items()
        )

    def set_borrow_limit(self, share: QuotaShare, limit: int) -> None:
        """UpdateQuotaShare."""
        self._update(share, borrow_limit=limit)

    def set_preemption(self, share: QuotaShare, *, on: bool) -> None:
        """UpdateQuotaShare."""
        self._update(share, in_share_preemption=on)

    def _update(self, share: QuotaShare, **changes: object) -> None:
        place = self.model.queues[QUEUE]
        assert isinstance(place, QuotaQueue)
        try:
            self.model.update_share(QUEUE, share.arn, replace(place.share(share.arn).value, **changes))
        except BatchRefusedError as refused:
            raise Gone(str(refused)) from None

    def weights(self, policy: str) -> tuple[tuple[str, float], ...]:  # noqa: ARG002 - there is one
        """The weights of the scheduling policy."""
        return tuple(self._fair().items())

    def set_weights(self, policy: str, weights: tuple[tuple[str, float], ...]) -> None:  # noqa: ARG002 - there is one
        """UpdateSchedulingPolicy."""
        place = self.model.queues[QUEUE]
        assert isinstance(place, FairQueue)
        self.model.update_queue(QUEUE, policy=replace(place.policy, weights=dict(weights)))

    def _fair(self) -> Mapping[str, float]:
        place = self.model.queues[QUEUE]
        return place.policy.weights if isinstance(place, FairQueue) else {}


def sighting(job: ServiceJob, now: float) -> Sighting:
    """The job as DescribeServiceJob tells of it."""
    status = Status(job.status)
    types = tuple(job.needs.items()) if job.quota_share else ()
    saves = job.quota_share is not None and job.request.get("saves", False)
    detail = Detail(
        job.instances,
        job.instances,
        job.share or job.quota_share,
        job.priority,
        types=types,
        checkpoints=f"{CHECKPOINTS}{job.job_id}" if saves else None,
        outlives=job.preemption_retries,
    )
    return Sighting(
        job.job_id,
        status,
        now,
        job.queue,
        job.name,
        job.created_at,
        len(job.attempts),
        job.preempted_count,
        None if status.stage is Stage.WAITING else job.started_at,
        job.stopped_at if job.finished else None,
        detail,
        crashes_in((a.started_at, a.stopped_at) for a in job.attempts),
        job.status_reason or None,
        job.current.name if job.current else None,
    )


def body_of(change: JobChange, model: BatchModel) -> str:
    """The event as EventBridge hands it on, its time in whole seconds."""
    kind, detail = announced(change, model.settings)
    at = datetime.fromtimestamp(int(change.at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps({"version": "0", "source": "aws.batch", "detail-type": kind, "time": at, "detail": detail})


@dataclass
class ModelCheckpoints:
    """When running jobs last saved their work, by the model's own account of it."""

    model: BatchModel

    def newest(self, prefix: str) -> float | None:
        """Epoch seconds; 0 where nothing was written. Of a place that is `odd` there is no reading any answer."""
        job = self.model.jobs.get(prefix.removeprefix(CHECKPOINTS))
        if job is not None and job.request.get("odd"):
            raise Unreadable(f"what AWS answered to newest of {prefix!r} cannot be read")
        if job is None or job.started_at is None or not job.checkpoint_seconds:
            return 0.0
        ran = self.model.now - job.started_at
        return job.started_at + ran // job.checkpoint_seconds * job.checkpoint_seconds


def quota_share(limit: int, **more: object) -> batch.QuotaShare:
    """A quota share of so many instances of the one type."""
    return batch.QuotaShare({GPU: limit}, **more)  # type: ignore[arg-type]
