"""What a job's payload asks for: a JSON text of CreateTrainingJob, which Batch passes on unread until it is tried."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from pointsman_emulator.models.batch import BatchSettings

UNSAID = "ml.m5.large"
"""The instance type of a payload that names none."""


@dataclass(frozen=True, slots=True)
class Work:
    """A training job's instances by type; and, for this emulator only, how long it runs and whether it fails."""

    types: dict[str, int] = field(default_factory=lambda: {UNSAID: 1})
    seconds: float = 0.0
    fails: bool = True
    checkpoint_seconds: float | None = None
    gpu_percent: float | None = None
    """What each host says of its GPUs, added up; None: nothing."""

    @property
    def instances(self) -> int:
        """Instances of any type (API:CreateServiceEnvironmentRequest)."""
        return sum(self.types.values())


def work_of(payload: str, settings: BatchSettings) -> Work:
    """The work of a payload. One that cannot be read is queued like any other, and fails when it is tried.

    `Environment: {"EMULATED_SECONDS": "3600"}` is read here and by nothing of the product; so are `EMULATED_EXIT`,
    `EMULATED_CHECKPOINT_SECONDS` and `EMULATED_GPU_PERCENT`.
    """
    try:
        body = json.loads(payload)
        environment = body.get("Environment") or {}
        checkpoint = environment.get("EMULATED_CHECKPOINT_SECONDS")
        gpus = environment.get("EMULATED_GPU_PERCENT")
        return Work(
            types=_types(body.get("ResourceConfig") or {}),
            seconds=float(environment.get("EMULATED_SECONDS", settings.job_seconds)),
            fails=environment.get("EMULATED_EXIT") == "fail",
            checkpoint_seconds=None if checkpoint is None else float(checkpoint),
            gpu_percent=None if gpus is None else float(gpus),
        )
    except (ValueError, AttributeError, TypeError, KeyError):
        return Work()


def _types(resources: dict[str, Any]) -> dict[str, int]:
    """Instance groups are summed, by type (SM:InstanceGroup)."""
    types: dict[str, int] = {}
    groups = resources.get("InstanceGroups") or [{"InstanceCount": resources.get("InstanceCount", 1), **resources}]
    for group in groups:
        kind = str(group.get("InstanceType") or UNSAID)
        types[kind] = types.get(kind, 0) + int(group["InstanceCount"])
    return types
