"""Small Batch models for the tests."""

from __future__ import annotations

from typing import Any

from pointsman_emulator.models.batch import BatchModel, BatchSettings, FairShare, ServiceJob


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


def started(*jobs: ServiceJob) -> list[str]:
    begun = [(job.started_at, job.order, job.name) for job in jobs if job.started_at is not None]
    return [name for _, _, name in sorted(begun)]
