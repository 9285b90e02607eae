"""Small Batch models for the tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pointsman_emulator.models.batch import (
    BatchModel,
    BatchSettings,
    FairShare,
    QuotaShare,
    QuotaSharePolicy,
    ServiceJob,
)

A10G, H100 = "ml.g5.xlarge", "ml.p5.48xlarge"


def fair(capacity: int = 4, settings: BatchSettings | None = None, **policy: Any) -> BatchModel:
    model = BatchModel(settings or BatchSettings(), seed=7)
    model.add_environment("gpus", capacity)
    model.add_queue("q", "gpus", FairShare(**policy))
    return model


def fifo(capacity: int = 4, settings: BatchSettings | None = None) -> BatchModel:
    model = BatchModel(settings or BatchSettings(), seed=7)
    model.add_environment("gpus", capacity)
    model.add_queue("q", "gpus")
    return model


def quota(
    capacity: int | Mapping[str, int], shares: Mapping[str, QuotaShare], settings: BatchSettings | None = None
) -> BatchModel:
    model = BatchModel(settings or BatchSettings(), seed=7)
    model.add_environment("gpus", {A10G: capacity} if isinstance(capacity, int) else capacity)
    model.add_queue("q", "gpus", QuotaSharePolicy())
    for name, share in shares.items():
        model.add_share("q", name, share)
    return model


def reserve(limit: int, **more: Any) -> QuotaShare:
    return QuotaShare({A10G: limit}, "RESERVE", **more)


def lend(limit: int, **more: Any) -> QuotaShare:
    return QuotaShare({A10G: limit}, "LEND", **more)


def borrow(limit: int, **more: Any) -> QuotaShare:
    return QuotaShare({A10G: limit}, "LEND_AND_BORROW", **more)


def put(model: BatchModel, share: str, name: str, instances: int = 1, priority: int = 0, **more: Any) -> ServiceJob:
    """A job of a quota share that runs for an hour, unless it is told otherwise."""
    more = {"instance_type": A10G, "seconds": 3600, **more}
    return model.submit("q", name, instances, priority=priority, quota_share=share, **more)


def started(*jobs: ServiceJob) -> list[str]:
    begun = [(job.started_at, job.order, job.name) for job in jobs if job.started_at is not None]
    return [name for _, _, name in sorted(begun)]


def in_state(status: str, *jobs: ServiceJob) -> list[str]:
    return [job.name for job in jobs if job.status == status]


def evicted(*jobs: ServiceJob) -> list[str]:
    return [job.name for job in jobs if job.preempted_count or job.preempting]


def one_share(capacity: int, settings: BatchSettings | None = None) -> BatchModel:
    """A queue whose only quota share has all there is, with in-share preemption."""
    return quota(capacity, {"a": reserve(capacity, in_share_preemption=True)}, settings)
