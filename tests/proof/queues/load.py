"""A million job events through the recorder's core, one in a hundred of them poison.

Arrays of jobs of many queues go through their states all at once. Events come in batches of any size that SQS gives,
out of order, some twice, some late, and calls fail: what is to come again comes again. All poison ends as dead letters
with a reason and a place, nothing else does, every job ends as it ended and in its queue, every queue is woken, and
what the recorder holds meanwhile does not grow with what it was told.
"""

import argparse
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random

from pointsman.errors import Transient
from pointsman.inbound import Message, messages
from pointsman.loops.recorder import Recorder
from pointsman.queues.jobs import Status
from tests.fakes.clock import FakeClock
from tests.fakes.job_table import FakeJobTable
from tests.fakes.messages import FakeDeadLetters, FakeWakes
from tests.unit.loops.world import Log

BATCH, POISONED, TWICE, LATE, FAULTY = 1000, 0.01, 0.05, 0.02, 0.0002
QUEUES, ARRAYS = 30, 6  # queues that there are, and arrays of jobs that are on their way at once
NEAR, FAR = 40, 20_000  # by how many events one is out of order, and late, at most
DONE_WITH = 4 * FAR  # events after which nothing of an array comes any more
GROWTH = 32_000_000  # bytes, at most, from the time on when as many jobs are known as there ever are
ROUNDS = 8  # in which what came again at the end is delivered
WARM = 2 * DONE_WITH
STATES = ("SUBMITTED", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING")
ARN = "arn:aws:batch:eu-west-1:123456789012"
KIND = "Batch Service Job State Change"
POISON = (
    "{",
    "null",
    "[" * 100_000,
    '{"source": "aws.batch", "detail-type": "Batch Service Job State Change", "time": "soon", "detail": {}}',
    '{"source": "someone", "detail-type": "x", "time": "2027-01-01T00:00:00Z", "detail": {}}',
    (
        '{"source": "aws.batch", "detail-type": "Batch Service Job State Change", "time": "2027-01-01T00:00:00Z", '
        '"detail": {"jobId": 7, "jobName": "x", "jobQueue": "job-queue/q", "status": "LOST", "createdAt": 1}}'
    ),
)
Coming = Callable[[int, str], None]  # puts an event on its way, by how many events it is late


class Quiet(Log):
    """Keeps nothing."""

    def poisoned(self, reason: str, place: str) -> None:
        """Nothing."""

    def recorded(self, *, messages: int, jobs: int, again: int) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Told:
    """What came of it; `held` are the bytes that the process grew by once it was warm."""

    events: int
    jobs: int
    poison: int
    again: int
    seconds: float
    peak: int
    held: int
    wrong: tuple[str, ...]

    def line(self) -> str:
        """The sum."""
        return (
            f"load: {self.events} events of {self.jobs} jobs, {self.poison} dead letters, {self.again} came again, "
            f"{self.events / self.seconds:.0f} events/s, {self.peak / 1e6:.0f} MB at most, {self.held / 1e6:.1f} MB "
            f"more since it was warm: {'; '.join(self.wrong) or 'nothing lost'}"
        )


@dataclass
class Array:
    """Jobs of one queue that go through their states together."""

    queue: str
    jobs: range
    created: float
    left: list[tuple[int, str]]

    def event(self, job: int, state: str, at: float) -> str:
        """What Batch tells of one of them."""
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        detail = {"jobArn": f"{ARN}:service-job/job-{job}", "jobId": f"job-{job}", "jobName": f"sweep-{job}",
                  "jobQueue": f"{ARN}:job-queue/{self.queue}", "status": state, "createdAt": int(self.created * 1000),
                  "attempts": [], "serviceJobType": "SAGEMAKER_TRAINING"}  # fmt: skip
        return json.dumps({"source": "aws.batch", "detail-type": KIND, "time": when, "detail": detail})


@dataclass
class Storm:
    """Events as they come, and how the jobs must have ended once nothing of them comes any more."""

    luck: Random
    clock: FakeClock
    queues: set[str] = field(default_factory=set)
    poison: int = 0
    jobs: int = 0
    _coming: list[tuple[int, int, str]] = field(default_factory=list)
    _done: list[tuple[int, Array]] = field(default_factory=list)
    _number: int = 0

    def comes(self, late: int, body: str) -> None:
        """One that comes after so many others."""
        heappush(self._coming, (self._number + late, self._number, body))
        self._number += 1

    def bodies(self, events: int) -> Iterator[str]:
        """So many events, and then what is still on its way."""
        arrays = [self._array() for _ in range(ARRAYS)]
        while self._number < events:
            place = self.luck.randrange(ARRAYS)
            self._next(arrays[place])
            if not arrays[place].left:
                self._done.append((self._number, arrays[place]))
                arrays[place] = self._array()
            while self._coming and self._coming[0][0] <= self._number - NEAR:
                yield heappop(self._coming)[2]
        for array in arrays:
            while array.left:
                self._next(array)
            self._done.append((self._number, array))
        while self._coming:
            yield heappop(self._coming)[2]

    def rest(self) -> list[str]:
        """What is still on its way."""
        rest = [body for _, _, body in self._coming]
        self._coming.clear()
        return rest

    def _array(self) -> Array:
        first, self.jobs = self.jobs, self.jobs + self.luck.randint(1, 400)
        queue = f"queue-{self.luck.randrange(QUEUES)}"
        self.queues.add(queue)
        jobs = range(first, self.jobs)
        left = [(job, state) for state in STATES for job in jobs] + [(job, ends(job)) for job in jobs]
        return Array(queue, jobs, self.clock.now(), left[::-1])

    def _next(self, array: Array) -> None:
        """One event of the array, and what goes wrong with it."""
        luck, (job, state) = self.luck, array.left.pop()
        self.clock.advance(1.0)
        body = array.event(job, state, self.clock.now())
        self.comes(luck.randint(0, FAR) if luck.random() < LATE else luck.randint(0, NEAR), body)
        if luck.random() < TWICE:
            self.comes(luck.randint(0, FAR), body)
        if luck.random() < POISONED * (1 + TWICE) / (1 - POISONED):
            self.poison += 1
            self.comes(0, luck.choice(POISON))

    def over(self, *, all_of_them: bool = False) -> Iterator[Array]:
        """Arrays of which nothing comes any more."""
        while self._done and (all_of_them or self._done[0][0] < self._number - DONE_WITH):
            yield self._done.pop(0)[1]


def ends(job: int) -> str:
    """How a job ends."""
    return "FAILED" if job % 7 == 0 else "SUCCEEDED"


def _peak() -> int:
    """Bytes of memory that the process has ever had at once."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@dataclass
class Load:
    """The recorder, and what it is told."""

    luck: Random
    clock: FakeClock = field(default_factory=FakeClock)
    table: FakeJobTable = field(default_factory=FakeJobTable)
    letters: FakeDeadLetters = field(default_factory=FakeDeadLetters)
    wakes: FakeWakes = field(default_factory=FakeWakes)
    seconds: float = 0.0
    again: int = 0
    woken: set[str] = field(default_factory=set)
    wrong: Counter[str] = field(default_factory=Counter)
    buried: int = 0

    def __post_init__(self) -> None:
        """The recorder as it is deployed, on tables in memory."""
        self.recorder = Recorder(self.clock, self.table, self.wakes, self.letters, Quiet())

    def hand_over(self, batch: list[str], storm: Storm) -> None:
        """One batch, as the function gets it; what is to come again is on its way again."""
        for fake, call in ((self.table, "load"), (self.table, "save"), (self.wakes, "wake"), (self.letters, "bury")):
            if self.luck.random() < FAULTY * len(batch) / 10:
                fake.fail_next(call, Transient("throttled"))
        event = {"Records": [{"messageId": str(n), "body": body} for n, body in enumerate(batch)]}
        told: tuple[Message, ...] = messages(event)
        began = time.perf_counter()
        failed = self.recorder.record(told)
        self.seconds += time.perf_counter() - began
        for message_id in failed:
            storm.comes(NEAR, batch[int(message_id)])
        self.again += len(failed)
        self.woken |= set(self.wakes.queues)
        self.wakes.sent.clear()
        for letter in self.letters.buried:
            self.buried += 1
            self.wrong["dead letters are without a reason or a place"] += not (letter.reason and letter.place)
            self.wrong["dead letters are no poison"] += letter.body not in POISON
        self.letters.buried.clear()

    def look_at(self, array: Array) -> None:
        """Whether all of its jobs have ended as they did; then they are forgotten."""
        for job in array.jobs:
            record = self.table.jobs.pop(f"job-{job}", None)
            if record is None:
                self.wrong["jobs were lost"] += 1
            else:
                self.wrong["jobs did not end as they did"] += record.status is not Status(ends(job))
                self.wrong["jobs are in another queue"] += record.queue != array.queue


def load(events: int, seed: int = 1) -> Told:
    """Record so many events, and some more."""
    luck = Random(seed)
    play = Load(luck)
    storm = Storm(luck, play.clock)
    batch: list[str] = []
    size, told, early = luck.randint(1, BATCH), 0, 0
    for body in storm.bodies(events):
        told += 1
        batch.append(body)
        if len(batch) < size:
            continue
        play.hand_over(batch, storm)
        batch, size = [], luck.choice((1, 10, BATCH, luck.randint(1, BATCH)))
        for array in storm.over():
            play.look_at(array)
        early = early if early or told < WARM else _peak()
    play.hand_over(batch, storm)
    for _ in range(ROUNDS):
        play.hand_over(storm.rest(), storm)
    for array in storm.over(all_of_them=True):
        play.look_at(array)
    return _judged(play, storm, told, _peak() - (early or _peak()))


def _judged(play: Load, storm: Storm, told: int, held: int) -> Told:
    wrong = [f"{number} {what}" for what, number in sorted(play.wrong.items()) if number]
    if play.buried != storm.poison:
        wrong.append(f"{storm.poison} were poison, {play.buried} were buried")
    if coming := storm.rest():
        wrong.append(f"{len(coming)} messages come again, again and again")
    if play.table.jobs:
        wrong.append(f"{len(play.table.jobs)} jobs are known that nobody submitted")
    if storm.queues - play.woken:
        wrong.append(f"{len(storm.queues - play.woken)} queues were never woken")
    if held > GROWTH:
        wrong.append(f"{held} bytes more were held")
    return Told(told, storm.jobs, storm.poison, play.again, play.seconds, _peak(), held, tuple(wrong))


def main() -> int:
    """Print what came of it; 1 where anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof.queues.load", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    told = load(parser.parse_args().events)
    sys.stdout.write(f"{told.line()}\n")
    return 1 if told.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
