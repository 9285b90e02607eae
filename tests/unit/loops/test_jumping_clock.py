"""A clock that jumps: a queue is looked at all the same, and its line ends as if it had not."""

import pytest

from pointsman.errors import Transient
from pointsman.queues.jobs import Status
from tests.unit.loops.world import QUEUE, World

HOUR = 3600.0
DAY = 24 * HOUR


def settled() -> World:
    world = World()
    world.apply()
    world.run("running", size=6)
    world.submit("big", size=4, waited=600)
    world.submit("small", size=2, waited=300)
    world.clock.advance(5)
    for _ in range(3):
        world.pass_()
    assert world.priorities() == {"big": 0, "small": 4999}
    return world


@pytest.mark.parametrize("jump", [-DAY, -HOUR, -10.0, HOUR, DAY])
def test_after_a_jump_and_after_its_return_passes_go_on_and_the_line_settles(jump: float) -> None:
    world = settled()
    for there in (jump, -jump):
        world.clock.advance(there)
        before = len(world.log.reports)
        for _ in range(5):
            world.pass_()
        assert len(world.log.reports) >= before + 4
        written = len(world.batch.priorities)
        for _ in range(3):
            world.pass_()
        assert len(world.batch.priorities) == written, "nothing is moved to and fro"
    assert world.priorities() == {"big": 0, "small": 4999}
    assert world.log.failures == []


@pytest.mark.parametrize("jump", [-DAY, -HOUR, HOUR])
def test_the_minute_wakes_a_queue_whatever_its_next_time_was_by_a_clock_that_was_wrong(jump: float) -> None:
    world = settled()
    world.clock.advance(jump)
    world.wakes.sent.clear()
    world.due().wake()
    assert world.wakes.queues == [QUEUE]


def test_a_lease_from_a_clock_that_was_a_day_ahead_blocks_nobody() -> None:
    world = settled()
    world.clock.advance(DAY)
    world.jobs.fail_next("active", KeyboardInterrupt())  # type: ignore[arg-type]  # as a kill: nothing catches it
    with pytest.raises(KeyboardInterrupt):
        world.pass_()
    world.clock.advance(-DAY)
    before = len(world.log.reports)
    world.pass_()
    assert len(world.log.reports) == before + 1


@pytest.mark.parametrize("told", [True, False])
def test_what_a_clock_that_was_a_day_ahead_has_described_is_not_believed_for_a_day(told: bool) -> None:
    world = World()
    world.apply()
    world.clock.advance(DAY)
    world.submit("a", size=8)
    world.pass_()
    world.clock.advance(-DAY)
    world.move("a", Status.RUNNING, told=told)
    for _ in range(3):
        world.pass_()
    assert [job.job_id for job in world.report.view.busy] == ["a"]


def test_a_job_that_was_let_go_by_a_clock_that_was_a_day_ahead_is_not_gone_for_a_day() -> None:
    world = World()
    world.apply()
    world.run("running", size=8)
    world.clock.advance(DAY)
    world.submit("a")
    unknown = world.batch.jobs.pop("a")
    for _ in range(4):
        world.pass_()
    assert world.jobs.jobs["a"].folded
    world.batch.jobs["a"] = unknown
    world.clock.advance(-DAY)
    for _ in range(4):
        world.pass_(after=60.0)
    assert [job.job_id for job in world.report.view.waiting] == ["a"]


def test_what_a_pass_doubts_after_another_died_is_still_in_doubt_by_a_clock_that_is_right_again() -> None:
    world = settled()
    world.run("other", size=2)
    world.pass_()
    assert world.priority("small") == 0
    world.clock.advance(-HOUR)
    world.jobs.fail_next("active", Transient("503"))
    world.pass_()
    world.batch.fail_next("describe_job", Transient("503"))
    world.pass_()
    world.clock.advance(HOUR)
    world.pass_()
    assert {job.job_id: job.priority for job in world.report.view.waiting} == world.priorities()
