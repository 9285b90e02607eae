"""What AWS's services measure of themselves, as far as our template's alarms and dashboard look at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from moto.core.utils import unix_time_millis
from moto.sqs.models import Queue, sqs_backends

from pointsman_emulator.backends.batch.models import EmulatorBatchBackend
from pointsman_emulator.backends.cloudwatch.models import EmulatorCloudWatchBackend
from pointsman_emulator.backends.sqs.models import ROUNDING
from pointsman_emulator.clock import Clock
from pointsman_emulator.environment import ACCOUNT, REGION

MINUTE = 60.0
BEFORE = 1.0
"""Seconds before the end of a minute: what is measured belongs to the minute that ends."""


def measure(namespace: str, name: str, value: float, dimensions: dict[str, str]) -> None:
    """One datum of a service's own metric, now."""
    EmulatorCloudWatchBackend.here().measure(namespace, name, value, dimensions)


@dataclass(slots=True)
class EachMinute:
    """What services measure once a minute: SQS its queues, SageMaker the hosts of training jobs.

    (SQS Developer Guide, "Available CloudWatch metrics for Amazon SQS".)
    """

    clock: Clock

    def start(self) -> None:
        """Begin at the end of this minute."""
        end = (self.clock.now // MINUTE + 1) * MINUTE - BEFORE
        self.clock.at(end if end > self.clock.now else end + MINUTE, self._tick)

    def _tick(self) -> None:
        self.clock.at(self.clock.now + MINUTE, self._tick)
        now = unix_time_millis()
        for queue in sqs_backends[ACCOUNT][REGION].queues.values():
            _measure_queue(queue, now)
        for host, percent in EmulatorBatchBackend.here().gpu_use():
            measure("/aws/sagemaker/TrainingJobs", "GPUUtilization", percent, {"Host": host})


def _measure_queue(queue: Queue, now: float) -> None:
    dimensions = {"QueueName": queue.name}
    visible = sum(max(it.visible_at, it.delayed_until) <= now + ROUNDING for it in queue._messages)
    sent: list[Any] = [it.sent_timestamp for it in queue._messages]
    measure("AWS/SQS", "ApproximateNumberOfMessagesVisible", visible, dimensions)
    measure("AWS/SQS", "ApproximateAgeOfOldestMessage", (now - min(sent, default=now)) / 1000, dimensions)
