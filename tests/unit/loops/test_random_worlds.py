"""Days in a world where events are lost, doubled and late, calls fail, answers are lost, passes die, capacity bounces.

Whatever happens, a pass knows what Batch has, no more than one place is held, and in the end every job has run and
nothing is left of it in the queue's record. Far more of such worlds, with all that may go wrong: `tests/proof/queues`.
"""

import random
from contextlib import suppress
from typing import Any

import pytest

from pointsman.errors import Transient
from pointsman.loops.queue import LEASE
from pointsman.queues.jobs import Stage, Status
from pointsman.queues.moves import RESERVED
from pointsman.queues.standby import LOWEST
from tests.unit.loops.world import QUEUE, World

CAPACITY = 8
NAMES = ("prod-ranker", "explore-ideas", "sweep-lr")
FAULTS = (
    ("batch", "snapshot"), ("batch", "describe_job"), ("batch", "list_jobs"), ("batch", "set_priority"),
    ("jobs", "active"), ("jobs", "save"), ("jobs", "history"), ("control", "record"), ("control", "writes"),
    ("control", "put_writes"), ("control", "effects"),
)  # fmt: skip


class Killed(BaseException):
    """The function was killed."""


class Day:
    """Jobs come and run; passes come and fail."""

    def __init__(self, seed: int, *, trouble: bool, events: float) -> None:
        self.luck = random.Random(seed)
        self.trouble, self.events = trouble, events
        self.world = World(capacity=CAPACITY)
        self.world.apply(classes=[
            {"name": "production", "match": {"job_name": "prod-*"}, "head_start": "2h", "max_wait": "20m"},
            {"name": "research", "match": {"job_name": "explore-*"}, "head_start": "30m"},
        ], reservation={"after": "10m"})  # fmt: skip
        self.ends: dict[str, float] = {}
        self.late: list[str] = []
        self.settled = True

    def tell(self, job_id: str) -> None:
        """The event of the job's state: lost, late, or up to three times."""
        body = self.world.body(job_id)
        if self.luck.random() >= self.events:
            return
        if self.luck.random() < 0.2:
            self.late.append(body)
            return
        times = self.luck.choice((1, 1, 1, 3))
        with suppress(Transient):
            self.world.recorder().record([self.world.message(body) for _ in range(times)])

    def move(self, job_id: str, status: Status) -> None:
        self.world.move(job_id, status, told=False)
        self.tell(job_id)

    def minute(self, arrivals: float) -> None:
        """Half a minute of the world, then a wake."""
        world, luck = self.world, self.luck
        for _ in range(30):
            world.clock.advance(1)
            if luck.random() < arrivals:
                job_id = f"job-{len(world.batch.jobs):03}"
                size = luck.choice((1, 1, 1, 2, 4, 6))
                world.submit(job_id, size=size, name=f"{luck.choice(NAMES)}-{job_id}", told=False)
                self.tell(job_id)
            for job_id, end in list(self.ends.items()):
                if end <= world.clock.now():
                    del self.ends[job_id]
                    bounced = self.trouble and luck.random() < 0.1
                    self.move(job_id, Status.RUNNABLE if bounced else Status.SUCCEEDED)
            for job_id in world.dispatch(told=False):
                self.tell(job_id)
                self.ends[job_id] = world.clock.now() + luck.choice((20.0, 90.0, 400.0))
        if self.late and luck.random() < 0.5:
            luck.shuffle(self.late)
            world.recorder().record([world.message(body) for body in self.late])
            self.late.clear()
        self.wake()

    def wake(self) -> None:
        world, luck = self.world, self.luck
        done = len(world.log.reports)
        if self.trouble and luck.random() < 0.25:
            port, method = luck.choice(FAULTS)
            world_port: Any = getattr(world, port)
            error = luck.choice((Transient("429"), Killed()))
            after = method == "set_priority" and luck.random() < 0.5
            if after:
                self.fail_after(error)
            else:
                world_port.fail_next(method, error)
            with suppress(Killed, Transient):
                world.loop().run(QUEUE)
            world_port._planned.clear()
            vars(world.batch).pop("set_priority", None)
            if isinstance(error, Killed):
                world.clock.advance(LEASE + 1)
        else:
            world.loop().run(QUEUE)
        if len(world.log.reports) > done and not world.record.owner:
            self.check()

    def fail_after(self, error: BaseException) -> None:
        """The next write is carried out, and its answer is lost."""
        batch = self.world.batch
        real = batch.set_priority

        def once(job_id: str, priority: int) -> None:
            del batch.set_priority
            real(job_id, priority)
            raise error

        batch.set_priority = once  # type: ignore[method-assign]

    def check(self) -> None:
        """What a pass that came to its end believes of the jobs that it decided on is what Batch has."""
        world = self.world
        after = {move.job_id: move.after for move, outcome in zip(
            world.report.decision.moves, world.report.outcomes, strict=True) if outcome == "done"}  # fmt: skip
        unknown = {move.job_id for move, outcome in zip(
            world.report.decision.moves, world.report.outcomes, strict=True) if outcome == "deferred"}  # fmt: skip
        for job in world.report.view.waiting:
            assert not job.foreign
            assert job.submitted_priority == 0
            waits = world.batch.jobs[job.job_id].status.stage is Stage.WAITING  # else it started, and no event said so
            if waits and job.job_id not in unknown:
                assert world.priority(job.job_id) == after.get(job.job_id, job.priority), job
        held = [i for i, priority in world.priorities().items() if priority == RESERVED]
        assert len(held) <= 2  # one that we hold, and one more for the pass after a failure

    def calm(self) -> None:
        """No more jobs, no more trouble: everything that waits runs to its end."""
        self.trouble, self.events = False, 1.0
        for _ in range(400):
            self.minute(0.0)
            if all(job.status.stage is Stage.ENDED for job in self.world.batch.jobs.values()):
                return
        raise AssertionError(f"never started: {self.world.priorities()}")


@pytest.mark.parametrize("events", [0.0, 0.7])
def test_a_day_of_trouble_ends_with_every_job_run_and_nobody_left_lifted(events: float) -> None:
    day = Day(0, trouble=True, events=events)
    for _ in range(40):
        day.minute(0.03)
    day.calm()
    for _ in range(15):
        day.minute(0.0)
    world = day.world
    assert {job.status for job in world.batch.jobs.values()} == {Status.SUCCEEDED}
    assert not world.report.view.waiting
    assert world.record.priorities == ()
    assert not [job_id for job_id, priority in world.priorities().items() if priority >= LOWEST]
