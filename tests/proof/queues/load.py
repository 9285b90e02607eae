"""A million job events through the recorder's core, one in a hundred of them poison.

All poison ends as dead letters with a reason and a place, nothing else does, every job's end is recorded, and what the
recorder holds meanwhile does not grow with what it was told.
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from pointsman.inbound import Message
from pointsman.loops.recorder import Recorder
from pointsman.queues.jobs import JobRecord, Stage
from tests.fakes.clock import FakeClock
from tests.fakes.job_table import FakeJobTable
from tests.fakes.messages import FakeWakes
from tests.unit.loops.world import QUEUE, Log

BATCH, PART = 1000, 0.01
GROWTH = 32_000_000  # bytes, at most, from the first batch to the last
STATES = ("RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED")
ARN = "arn:aws:batch:eu-west-1:123456789012"
POISON = (
    "{",
    "null",
    '{"source": "aws.batch", "detail-type": "Batch Service Job State Change", "time": "soon", "detail": {}}',
    '{"source": "someone", "detail-type": "x", "time": "2027-01-01T00:00:00Z", "detail": {}}',
    (
        '{"source": "aws.batch", "detail-type": "Batch Service Job State Change", "time": "2027-01-01T00:00:00Z", '
        '"detail": {"jobId": 7, "jobName": "x", "jobQueue": "job-queue/q", "status": "LOST", "createdAt": 1}}'
    ),
)


@dataclass
class Ended(FakeJobTable):
    """A table that counts the jobs that have ended, and forgets them."""

    ended: int = 0
    most: int = 0

    def __post_init__(self) -> None:
        """As the fake."""
        super().__init__()

    def save(self, record: JobRecord) -> JobRecord:
        """Store, or count."""
        stored = super().save(record)
        self.most = max(self.most, len(self.jobs))
        if stored.stage is Stage.ENDED:
            self.ended += 1
            del self.jobs[stored.job_id]
        return stored


@dataclass
class Letters:
    """Counts dead letters, and those without a reason or a place."""

    buried: int = 0
    bare: int = 0
    bodies: set[str] = field(default_factory=set)

    def bury(self, body: str, reason: str, place: str) -> None:
        """As the port says."""
        self.buried += 1
        self.bare += not (reason and place)
        self.bodies.add(body)


class _Quiet(Log):
    """Keeps nothing."""

    def poisoned(self, reason: str, place: str) -> None:
        """Nothing."""

    def recorded(self, *, messages: int, jobs: int, again: int) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Told:
    """What came of it."""

    events: int
    jobs: int
    poison: int
    seconds: float
    held: int
    wrong: tuple[str, ...]


def bodies(events: int, luck: Random, clock: FakeClock) -> Iterator[tuple[str, bool]]:
    """Events of jobs in waves of 200, each job through all of its states; True for poison."""
    job = 0
    while events > 0:
        for state in STATES:
            for n in range(200):
                if events > 0:
                    yield _event(job + n, state, clock.now()), False
                    events -= 1
                if luck.random() < PART / (1 - PART) and events > 0:
                    yield luck.choice(POISON), True
                    events -= 1
            clock.advance(60)
        job += 200


def _event(job: int, state: str, at: float) -> str:
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    detail = {"jobArn": f"{ARN}:service-job/job-{job}", "jobId": f"job-{job}", "jobName": f"sweep-{job}",
              "jobQueue": f"{ARN}:job-queue/{QUEUE}", "status": state, "createdAt": 1_800_000_000_000,
              "attempts": [], "serviceJobType": "SAGEMAKER_TRAINING"}  # fmt: skip
    kind = "Batch Service Job State Change"
    return json.dumps({"source": "aws.batch", "detail-type": kind, "time": when, "detail": detail})


def _peak() -> int:
    """Bytes of memory that the process has ever had at once."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def load(events: int, seed: int = 1) -> Told:
    """Record so many events."""
    clock, table, letters, wakes = FakeClock(), Ended(), Letters(), FakeWakes()
    recorder = Recorder(clock, table, wakes, letters, _Quiet())
    batch: list[Message] = []
    poison = ends = told = 0
    again, seconds = 0, 0.0
    early = 0

    def hand_over() -> None:
        nonlocal again, seconds, early
        began = time.perf_counter()
        again += len(recorder.record(batch))
        seconds += time.perf_counter() - began
        batch.clear()
        wakes.sent.clear()
        early = early or _peak()

    for body, bad in bodies(events, Random(seed), clock):
        told += 1
        poison += bad
        ends += not bad and '"SUCCEEDED"' in body
        batch.append(Message(f"m{told}", body))
        if len(batch) == BATCH:
            hand_over()
    hand_over()
    held = _peak() - early
    wrong = []
    if letters.buried != poison or letters.bare or not letters.bodies <= set(POISON):
        wrong.append(f"{poison} were poison, {letters.buried} were buried, {letters.bare} without a reason or a place")
    if table.ended != ends or again:
        wrong.append(f"{ends} jobs ended, {table.ended} were recorded; {again} messages are to come again")
    if held > GROWTH or table.most > 1000:
        wrong.append(f"{held} bytes more were held at the peak, {table.most} jobs at once")
    return Told(told, ends, poison, seconds, held, tuple(wrong))


def main() -> int:
    """Print what came of it; 1 where anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof.queues.load", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    told = load(parser.parse_args().events)
    rate = told.events / told.seconds
    sys.stdout.write(f"load: {told.events} events, {told.poison} poison, {told.jobs} jobs ended, {rate:.0f} events/s, "
                     f"{told.held} bytes more at the end: {'; '.join(told.wrong) or 'nothing lost'}\n")  # fmt: skip
    return 1 if told.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
