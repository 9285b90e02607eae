"""Quota shares and their jobs for the tests of the core; everything is of one instance type unless said."""

from dataclasses import replace
from typing import Any

from pointsman.queues.evictions import Eviction, Party
from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.policy import Preemption
from pointsman.queues.quota import QuotaShare, Strategy
from pointsman.queues.view import QueueView
from tests.unit.queues import build
from tests.unit.queues.build import NOW

GPU = "ml.g5.xlarge"
PATIENT = Preemption(patience=3600.0, protect=1200.0, at_most_per_job=2)
CLASSES = tuple(replace(c, max_wait=None, preemptible=c.name == "sweep") for c in build.POLICY.classes)
POLICY = replace(build.POLICY, classes=CLASSES, share="*", preemption=PATIENT, reservation=None)


def share(name: str = "team", limit: int = 8, **more: Any) -> QuotaShare:
    """A quota share with in-share preemption on."""
    return QuotaShare(
        **{"name": name, "arn": f"arn:{name}", "limits": ((GPU, limit),), "preempts": True, **more}  # type: ignore[arg-type]
    )


def lending(name: str, limit: int, **more: Any) -> QuotaShare:
    return share(name, limit, strategy=Strategy.LEND, **more)


def borrowing(name: str, limit: int, borrow_limit: int = -1, **more: Any) -> QuotaShare:
    return share(name, limit, strategy=Strategy.LEND_AND_BORROW, borrow_limit=borrow_limit, **more)


def waits(job_id: str, job_class: str = "sweep", *, size: int = 1, of: str = "team", **more: Any) -> WaitingJob:
    """A job that waits in a quota share."""
    job = build.waiting(job_id, job_class, size=size, share=of, **more)
    return replace(job, kind=replace(job.kind, types=((GPU, size),)))


def runs(
    job_id: str, size: int = 1, *, job_class: str = "sweep", ran: float = 7200.0, of: str = "team", **more: Any
) -> BusyJob:
    """A job that runs in a quota share, was submitted a minute before it started, and saved its work a minute ago."""
    job = build.busy(job_id, size, ran=ran, job_class=job_class)
    told = {"submitted": NOW - ran - 60, "saved": NOW - 60.0, **more}
    return replace(job, kind=replace(job.kind, types=((GPU, size),)), share=of, **told)


def quota_view(*jobs: WaitingJob | BusyJob, shares: tuple[QuotaShare, ...] = (share(),), **more: Any) -> QueueView:
    """A queue at NOW whose service environment allows what its shares add up to."""
    capacity = sum(limit for one in shares for _, limit in one.limits)
    busy = [job for job in jobs if isinstance(job, BusyJob)]
    return replace(
        build.view(*(job for job in jobs if isinstance(job, WaitingJob)), capacity=capacity),
        used=sum(job.size for job in busy),
        busy=busy,
        quota_shares=shares,
        pool=((GPU, capacity),),
        **more,
    )


def party(job: WaitingJob | BusyJob) -> Party:
    preempted = job.preempted if isinstance(job, BusyJob) else 0
    return Party(job.job_id, job.name, job.kind.job_class, job.size, preempted)


def eviction(evictor: WaitingJob, *victims: BusyJob, **more: Any) -> Eviction:
    """An eviction that was asked for a minute ago."""
    told = {"share": evictor.share, "asked": NOW - 60, "evictor": party(evictor), "victims": tuple(map(party, victims))}
    return Eviction(**{**told, **more})
