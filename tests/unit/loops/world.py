"""A small world for the loops: Batch, alarms and tables in memory, a clock, and hands to move it all."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from pointsman.errors import Transient
from pointsman.inbound import Message
from pointsman.log_ports import PassReport
from pointsman.loops.days import DayBook
from pointsman.loops.due import DueQueues
from pointsman.loops.gpus import GpuGauge
from pointsman.loops.notices import QueueTeller
from pointsman.loops.observe import Observer
from pointsman.loops.passes import Passes
from pointsman.loops.queue import QueueLoop
from pointsman.loops.quota import Shares
from pointsman.loops.recorder import Recorder
from pointsman.loops.relay import AlarmRelay
from pointsman.loops.rollout_wakers import RolloutRelay
from pointsman.ports import QueueRecord
from pointsman.queues.jobs import Sighting, Stage, Status
from tests.fakes.alarms import FakeAlarms
from tests.fakes.batch import FakeBatchQueues
from tests.fakes.clock import FakeClock
from tests.fakes.control import FakeControl
from tests.fakes.day_table import FakeDayTable
from tests.fakes.gpu_series import FakeGpuSeries
from tests.fakes.job_table import FakeJobTable
from tests.fakes.log import FakeLog
from tests.fakes.messages import FakeDeadLetters, FakeQueueNotices, FakeWakes
from tests.fakes.rollout_table import FakeRolloutTable
from tests.fakes.share_records import FakeCheckpoints, FakeShareRecords

QUEUE = "search-training"
POLICY: dict[str, Any] = {
    "version": 1,
    "queue": QUEUE,
    "mode": "act",
    "share": "all",
    "classes": [
        {"name": "production", "match": {"job_name": "prod-*"}, "head_start": "24h"},
        {"name": "research", "match": {"tag": {"purpose": "explore"}}, "head_start": "6h"},
    ],
    "default": {"name": "sweep"},
    "reservation": {"after": "2h"},
    "on_alarm": [{"alarm": "drift-*", "boost": "research", "by": "48h", "for": "2h"}],
}


@dataclass
class Log(FakeLog):
    """What the loops tell."""

    reports: list[PassReport] = field(default_factory=list)
    skips: list[str] = field(default_factory=list)
    failures: list[tuple[str, bool]] = field(default_factory=list)
    poison: list[tuple[str, str]] = field(default_factory=list)
    recordings: list[tuple[int, int, int]] = field(default_factory=list)
    wakes: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    untold_: list[tuple[str, str]] = field(default_factory=list)

    def passed(self, report: PassReport) -> None:
        self.reports.append(report)

    def skipped(self, queue: str, why: str) -> None:  # noqa: ARG002
        self.skips.append(why)

    def failed(self, queue: str, why: str, *, known: bool) -> None:  # noqa: ARG002
        self.failures.append((why, known))

    def poisoned(self, reason: str, place: str) -> None:
        self.poison.append((reason, place))

    def recorded(self, *, messages: int, jobs: int, again: int) -> None:
        self.recordings.append((messages, jobs, again))

    def untold(self, queue: str, why: str) -> None:
        self.untold_.append((queue, why))

    def woken(self, queues: tuple[str, ...], *, because: str, rollouts: tuple[str, ...] = ()) -> None:
        self.wakes.append((queues + rollouts, because))


def plain(port: Any, name: str) -> Any:  # noqa: ARG001
    """The port itself."""
    return port


class World:
    """One queue and everything around it; `wrap` stands between the loops and their ports."""

    def __init__(self, *, capacity: int = 8, wrap: Callable[[Any, str], Any] = plain, budget: int = 10_000) -> None:
        self.clock = FakeClock()
        self.batch = FakeBatchQueues(self.clock)
        self.batch.add_queue(QUEUE, capacity, shares=("all",))
        self.alarms = FakeAlarms()
        self.jobs = FakeJobTable(saved_calls=budget, calls_a_second=2.0)
        self.control = FakeControl()
        self.days = FakeDayTable()
        self.shares = FakeShareRecords()
        self.checkpoints = FakeCheckpoints()
        self.wakes = FakeWakes()
        self.notices = FakeQueueNotices()
        self.dead_letters = FakeDeadLetters()
        self.gpus = FakeGpuSeries()
        self.log = Log()
        self.wrap = wrap
        self._owners = count(1)
        self._messages = count(1)

    def observer(self, *, keep: bool = True) -> Observer:
        wrap = self.wrap
        return Observer(
            self.clock,
            wrap(self.batch, "batch"),
            wrap(self.alarms, "alarms"),
            wrap(self.jobs, "jobs"),
            wrap(self.control, "control"),
            Shares(wrap(self.batch, "shares"), wrap(self.shares, "records"), wrap(self.checkpoints, "checkpoints")),
            keep,
        )

    def loop(self) -> QueueLoop:
        wrap = self.wrap
        return QueueLoop(
            self.clock,
            self.observer(),
            wrap(self.batch, "batch"),
            wrap(self.jobs, "jobs"),
            wrap(self.control, "control"),
            wrap(self.wakes, "wakes"),
            self.log,
            self.teller(),
            DayBook(wrap(self.days, "days"), wrap(self.control, "control")),
            GpuGauge(wrap(self.gpus, "gpus")),
            lambda: f"pass-{next(self._owners)}",
        )

    def passes(self) -> Passes:
        return Passes(self.loop(), self.dead_letters)

    def recorder(self) -> Recorder:
        return Recorder(self.clock, self.jobs, self.wakes, self.dead_letters, self.log)

    def relay(self) -> AlarmRelay:
        none: Any = None  # there is no rollout to wake
        rollouts = RolloutRelay(FakeRolloutTable(), none, none)
        return AlarmRelay(self.clock, self.control, self.wakes, rollouts, self.dead_letters, self.log)

    def due(self) -> DueQueues:
        return DueQueues(self.clock, self.control, self.jobs, self.wakes, self.log, self.teller())

    def teller(self) -> QueueTeller:
        return QueueTeller(self.wrap(self.control, "control"), self.wrap(self.notices, "notices"), self.log)

    # What people do

    def apply(self, **changes: Any) -> None:
        """Apply the policy with these keys changed."""
        self.control.put_policy(QUEUE, json.dumps({**POLICY, **changes}), self.clock.now(), "someone")

    def submit(self, job_id: str, *, size: int = 1, waited: float = 0.0, told: bool = True, **more: Any) -> None:
        """A job that waits, and the event that says so."""
        self.batch.add_job(job_id, QUEUE, size=size, created=self.clock.now() - waited, **more)
        if told:
            self.tell(job_id)

    def run(self, job_id: str, *, size: int = 1, told: bool = True, **more: Any) -> None:
        """A job that runs already."""
        self.batch.add_job(job_id, QUEUE, Status.RUNNING, size=size, **more)
        if told:
            self.tell(job_id)

    def move(self, job_id: str, status: Status, *, told: bool = True) -> None:
        """Batch moves the job to this status."""
        self.batch.move_job(job_id, status)
        if told:
            self.tell(job_id)

    def set_by_hand(self, job_id: str, priority: int) -> None:
        """Someone else sets a priority."""
        self.batch.set_priority(job_id, priority)
        del self.batch.priorities[-1]

    # Time

    def lose_the_next_answer(self) -> None:
        """The next priority that is set is set, and the answer to that is lost."""
        real = self.batch.set_priority

        def lost(job_id: str, priority: int) -> None:
            self.batch.set_priority = real  # type: ignore[method-assign]
            real(job_id, priority)
            raise Transient("503")

        self.batch.set_priority = lost  # type: ignore[method-assign]

    def pass_(self, *, after: float = 30.0) -> None:
        """One pass, a while later."""
        self.clock.advance(after)
        self.loop().run(QUEUE)

    def dispatch(self, *, told: bool = True) -> list[str]:
        """Batch starts the head while it fits, and looks at nothing behind one that does not."""
        snapshot = self.batch.snapshot(QUEUE)
        free = self.batch.queues[QUEUE].capacity - snapshot.used
        started: list[str] = []
        for job_id in snapshot.front:
            job = self.batch.jobs[job_id]
            assert job.detail is not None
            if job.detail.size > free:
                break
            free -= job.detail.size
            self.move(job_id, Status.RUNNING, told=told)
            started.append(job_id)
        return started

    # Messages

    def body(self, job_id: str, *, at: float | None = None) -> str:
        """The event of the job's present state, its time in whole seconds."""
        job = self.batch.jobs[job_id]
        return event_of(job, self.clock.now() if at is None else at)

    def message(self, body: str) -> Message:
        return Message(f"m{next(self._messages)}", body)

    def tell(self, *job_ids: str) -> None:
        """Deliver the events of these jobs."""
        self.recorder().record([self.message(self.body(job_id)) for job_id in job_ids])

    # What one can see

    def priority(self, job_id: str) -> int:
        """What Batch has for the job."""
        detail = self.batch.jobs[job_id].detail
        assert detail is not None
        return detail.priority

    def priorities(self) -> dict[str, int]:
        """What Batch has for every waiting job."""
        return {i: self.priority(i) for i, job in self.batch.jobs.items() if job.status.stage is Stage.WAITING}

    @property
    def record(self) -> QueueRecord:
        return self.jobs.queue(QUEUE)

    @property
    def report(self) -> PassReport:
        return self.log.reports[-1]

    def history(self) -> list[tuple[str, int, str, str]]:
        """The queue's history, oldest first: job, priority, reason, outcome."""
        lines = self.control.moves(QUEUE, 0.0, 1000)[::-1]
        return [(line.move.job_id, line.move.after, line.move.reason.value, line.outcome) for line in lines]


def event_of(job: Sighting, at: float) -> str:
    """A state change of this job as Batch sends it."""
    arn = "arn:aws:batch:eu-west-1:123456789012"
    detail: dict[str, Any] = {
        "jobArn": f"{arn}:service-job/{job.job_id}",
        "jobId": job.job_id,
        "jobName": job.name,
        "jobQueue": f"{arn}:job-queue/{job.queue}",
        "status": job.status.value,
        "createdAt": round(job.created * 1000),
        "attempts": [{}] * job.attempts,
        "serviceJobType": "SAGEMAKER_TRAINING",
    }
    if job.reason:
        detail["statusReason"] = job.reason
    if job.started is not None:
        detail["startedAt"] = round(job.started * 1000)
    if job.stopped is not None:
        detail["stoppedAt"] = round(job.stopped * 1000)
    return json.dumps(
        {
            "version": "0",
            "detail-type": "Batch Service Job State Change",
            "source": "aws.batch",
            "time": datetime.fromtimestamp(int(at), UTC).isoformat(),
            "detail": detail,
        }
    )
