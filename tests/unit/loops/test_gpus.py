"""Passes measure how busy the GPUs are, now and then, and go on when they cannot."""

from dataclasses import replace

import pytest

from pointsman.errors import Misconfigured, Transient
from pointsman.queues.jobs import Status
from tests.unit.loops.world import QUEUE, World


@pytest.fixture
def world() -> World:
    """One job of two instances runs; six are idle."""
    world = World(capacity=8)
    world.apply()
    world.run("a", size=2, created=world.clock.now() - 600, started=world.clock.now() - 500)
    world.batch.jobs["a"] = replace(world.batch.jobs["a"], training="AWSBatchsweep0f")
    world.clock.advance(60)
    world.pass_()
    return world


def use(world: World) -> float | None:
    gpus = world.log.reports[-1].gpus
    return gpus.queue if gpus else None


def test_the_hosts_of_what_runs_are_asked_for_by_their_training_job(world: World) -> None:
    world.gpus.told = {"AWSBatchsweep0f/algo-1": 100.0, "AWSBatchsweep0f/algo-2": 60.0}
    world.pass_(after=301)
    assert world.gpus.asked[-1] == ("AWSBatchsweep0f/algo-1", "AWSBatchsweep0f/algo-2")
    assert use(world) == pytest.approx(1.6 / 8)


def test_it_is_measured_every_five_minutes_and_not_in_every_pass(world: World) -> None:
    world.gpus.told = {"AWSBatchsweep0f/algo-1": 100.0, "AWSBatchsweep0f/algo-2": 100.0}
    world.pass_(after=301)
    assert use(world) == 0.25
    asked = len(world.gpus.asked)
    for _ in range(9):
        world.pass_(after=31)
        assert use(world) is None, "what was not measured is not put again"
    assert len(world.gpus.asked) == asked
    world.pass_(after=31)
    assert (use(world), len(world.gpus.asked)) == (0.25, asked + 1)


def test_hosts_that_say_nothing_are_unknown_and_not_idle(world: World) -> None:
    world.pass_(after=301)
    gpus = world.log.reports[-1].gpus
    assert gpus is not None
    assert (gpus.queue, gpus.unmeasured) == (None, 2)


def test_a_refusal_is_told_and_a_throttled_call_is_made_again_and_neither_fails_the_pass(world: World) -> None:
    world.gpus.fail_next("latest", Misconfigured("not authorized: cloudwatch:GetMetricData"))
    world.pass_(after=301)
    assert "the use of GPUs cannot be read: not authorized" in world.jobs.queue(QUEUE).problem
    world.gpus.fail_next("latest", Transient("throttled"))
    world.pass_(after=301)
    assert world.jobs.queue(QUEUE).problem == ""
    asked = len(world.gpus.asked)
    world.pass_(after=31)
    assert len(world.gpus.asked) == asked + 1
    assert world.log.failures == []


def test_a_job_that_was_evicted_is_asked_for_no_more(world: World) -> None:
    world.move("a", Status.RUNNABLE)
    asked = len(world.gpus.asked)
    world.pass_(after=301)
    assert (use(world), len(world.gpus.asked)) == (0.0, asked)
