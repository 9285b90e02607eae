"""The Batch backend: moto's for containers, and SageMaker training on the pure model beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from moto.batch.models import BatchBackend, batch_backends

from pointsman_emulator.backends.batch import events
from pointsman_emulator.backends.batch.listings import ServiceJobListings
from pointsman_emulator.backends.batch.resources import Resources
from pointsman_emulator.backends.batch.tags import Tags
from pointsman_emulator.backends.bound import Ticking
from pointsman_emulator.bus import Bus
from pointsman_emulator.clock import Clock
from pointsman_emulator.models.batch import BatchModel, BatchSettings, JobChange


@dataclass(slots=True)
class Training:
    """What the backend works on."""

    settings: BatchSettings
    seed: int
    clock: Clock
    bus: Bus


class EmulatorBatchBackend(Tags, ServiceJobListings, Ticking, BatchBackend):
    """Every operation on service jobs and what they need; each takes a request as it is on the wire."""

    home = batch_backends
    world: ClassVar[Training | None] = None

    def __init__(self, region_name: str, account_id: str) -> None:
        BatchBackend.__init__(self, region_name, account_id)
        Resources.__init__(self)
        world = self.world
        self.settings = world.settings if world else BatchSettings()
        self.clock = world.clock if world else None
        self.model = BatchModel(
            self.settings,
            world.seed if world else 0,
            start=world.clock.now if world else 0.0,
            listener=self._announce if world else None,
        )
        self.tokens = set()

    def catch_up(self) -> None:
        """Let the model reach the clock, but for what is due at this very moment, and end the changes that are due."""
        super().catch_up()
        self.finish_changes()

    def gpu_use(self) -> Iterator[tuple[str, float]]:
        """The hosts of what runs, and what each says of its GPUs: per cent, summed over them.

        Only of jobs whose payload says so (SageMaker Developer Guide, "Amazon SageMaker AI metrics in CloudWatch").
        """
        for job in self.model.jobs.values():
            percent = job.request.get("gpus")
            if percent is not None and job.status == "RUNNING" and job.current is not None:
                for number in range(sum(job.request["types"].values())):
                    yield f"{job.current.name}/algo-{number + 1}", percent

    def _announce(self, change: JobChange) -> None:
        if self.world is not None:
            kind, detail = events.announced(change, self.settings)
            self.world.bus.put("aws.batch", kind, detail, at=change.at, resources=[events.job_arn(change.job)])
