"""What the recorder takes in: batches of events as SQS hands them over, into the table by the product's own adapter."""

import json
from datetime import UTC, datetime
from typing import Any

from bench.dynamodb import TABLE, StandIn
from bench.load import NOW, QUEUE
from bench.measuring import timed
from pointsman.aws.job_table import DynamoJobTable
from pointsman.inbound import Message
from pointsman.loops.recorder import Recorder

BATCH = 1000  # as the template has it


class _Clock:
    def now(self) -> float:
        return NOW


class _Nobody:
    """Wakes that nobody waits for, and a log that nobody reads."""

    def wake(self, *_: Any) -> None:
        pass

    def recorded(self, **_: Any) -> None:
        pass


def recording(events: int) -> dict[str, Any]:
    """Events a second, of one process that waits for nobody."""
    stand_in = StandIn()
    nobody: Any = _Nobody()
    recorder = Recorder(_Clock(), DynamoJobTable(stand_in.client, TABLE), nobody, nobody, nobody)
    recorder.record([Message("warm", _event(0))])
    stand_in.seconds, seconds = 0.0, 0.0
    for start in range(1, events, BATCH):
        batch = [Message(str(n), _event(n)) for n in range(start, start + BATCH)]
        again, took = timed(lambda batch=batch: recorder.record(batch))  # type: ignore[misc]
        assert not again  # noqa: S101 - else it was not done
        seconds += took
    return {"events": events, "events_a_second": events / (seconds - stand_in.seconds), "puts": stand_in.puts}


def _event(n: int) -> str:
    arn = "arn:aws:batch:eu-west-1:123456789012"
    job_id = f"{n:08x}-4e5f-4a6b-8c7d-{n:012x}"
    detail = {
        "jobArn": f"{arn}:service-job/{job_id}",
        "jobId": job_id,
        "jobName": f"sweep-refresh-eu-2027-01-15-{n:06}",
        "jobQueue": f"{arn}:job-queue/{QUEUE}",
        "status": "RUNNABLE",
        "createdAt": round(NOW * 1000) + n,
        "attempts": [],
        "serviceJobType": "SAGEMAKER_TRAINING",
    }
    return json.dumps(
        {
            "version": "0",
            "detail-type": "Batch Service Job State Change",
            "source": "aws.batch",
            "time": datetime.fromtimestamp(int(NOW), UTC).isoformat(),
            "detail": detail,
        }
    )
