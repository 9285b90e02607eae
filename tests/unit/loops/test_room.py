"""Capacity that is not a queue's own: other queues on its environment, and what a policy keeps back for others."""

import pytest

from pointsman.errors import Transient
from pointsman.loops.room import SIBLINGS
from pointsman.queues.jobs import Status
from pointsman.queues.kinds import QueueKind
from tests.unit.loops.world import QUEUE, World


def shared(**described: object) -> World:
    """A queue of eight instances with one job of six that waits; another queue on the same environment uses four."""
    world = World()
    world.batch.add_queue("other", 8)
    world.batch.add_job("theirs", "other", Status.RUNNING, size=4)
    world.batch.change_queue(QUEUE, siblings=("other",), **described)
    world.apply()
    world.submit("big", size=6, waited=60.0)
    world.submit("small", size=4)
    world.clock.advance(5)
    world.pass_()
    return world


def test_what_another_queue_of_the_same_environment_uses_is_not_free() -> None:
    world = shared()
    view = world.report.view
    assert (view.used, view.elsewhere, view.free) == (0, 4, 4)
    assert world.priority("small") == 4999
    assert world.priority("big") == 0
    assert world.record.problem == ""


def test_without_a_snapshot_of_the_other_the_table_answers_and_it_is_said_that_it_may_be_more() -> None:
    world = shared()
    world.tell("theirs")
    real = world.batch.snapshot

    def only_ours(name: str) -> object:
        if name == "other":
            raise Transient("429")
        return real(name)

    world.batch.snapshot = only_ours  # type: ignore[method-assign, assignment]
    world.pass_()
    assert world.report.view.elsewhere == 1, "a job that nobody described counts one"
    assert "other use the same service environment" in world.record.problem
    assert "at most what is shown is free" in world.record.problem


def test_of_many_queues_of_an_environment_a_pass_takes_only_some_snapshots() -> None:
    world = World()
    others = tuple(f"other-{n}" for n in range(SIBLINGS + 4))
    for name in others:
        world.batch.add_queue(name, 8)
        world.batch.add_job(f"{name}-runs", name, Status.RUNNING, size=1)
        world.tell(f"{name}-runs")
    world.batch.change_queue(QUEUE, capacity=32, siblings=others)
    world.apply()
    looked: list[str] = []
    real = world.batch.snapshot
    world.batch.snapshot = lambda name: (looked.append(name), real(name))[1]  # type: ignore[method-assign, func-returns-value]
    world.pass_()
    assert len(looked) == 1 + SIBLINGS
    assert world.report.view.elsewhere == len(others)


@pytest.mark.parametrize(
    "reservation, shares, free", [(50, ("all",), 4), (50, ("all", "b"), 6), (25, ("all",), 6), (10, ("all",), 7)]
)
def test_what_the_policy_keeps_back_for_shares_without_jobs_is_not_free(
    reservation: int, shares: tuple[str, ...], free: int
) -> None:
    world = World()
    world.batch.change_queue(QUEUE, reservation=reservation)
    world.apply()
    for share in shares:
        world.submit(f"job-{share}", size=8, share=share)
    world.clock.advance(5)
    world.pass_()
    assert world.report.view.free == free
    assert "computeReservation" in world.record.problem


def test_an_environment_that_shrinks_under_use_is_said_once_and_moves_nothing_to_and_fro() -> None:
    world = World()
    world.apply()
    world.run("running", size=6)
    for n in range(3):
        world.submit(f"small{n}", waited=60.0 + n)
    world.clock.advance(5)
    world.pass_()
    world.batch.change_queue(QUEUE, capacity=4)
    world.pass_(after=400)
    assert "6 instances are in use and its service environment allows 4" in world.record.problem
    written = len(world.batch.priorities)
    for _ in range(4):
        world.pass_(after=400)
    assert len(world.batch.priorities) == written
    assert world.report.view.free == 0


def test_a_disabled_queue_is_said_and_nothing_in_it_is_written() -> None:
    world = World()
    world.apply()
    world.submit("a", size=2)
    world.batch.add_queue(QUEUE, 8, shares=("all",), enabled=False)
    world.clock.advance(5)
    for _ in range(3):
        world.pass_()
    assert world.batch.priorities == []
    assert "is disabled: enable it" in world.record.problem


def test_a_fifo_queue_says_the_steps_to_one_that_can_be_moved() -> None:
    world = World()
    world.batch.add_queue(QUEUE, 8, QueueKind.FIFO)
    world.apply(mode="observe")
    world.pass_()
    assert "a second queue with it on the same service environment" in world.record.problem
