"""Job events into the table: poison, faults, doubles and disorder."""

import json
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from pointsman.errors import Conflict, Transient
from pointsman.inbound import Message
from pointsman.queues.jobs import NO_QUEUE, Status
from tests.unit.loops.world import QUEUE, World, event_of


def world_with(*job_ids: str) -> World:
    world = World()
    for job_id in job_ids:
        world.submit(job_id, told=False)
    return world


def course(world: World, job_id: str = "a") -> list[str]:
    """The events of a job from its arrival to its end."""
    bodies = []
    for status in (
        Status.RUNNABLE,
        Status.SCHEDULED,
        Status.RUNNING,
        Status.RUNNABLE,
        Status.RUNNING,
        Status.SUCCEEDED,
    ):
        world.clock.advance(7)
        world.batch.move_job(job_id, status)
        bodies.append(world.body(job_id))
    return bodies


def record(world: World, *bodies: str) -> tuple[str, ...]:
    return world.recorder().record([Message(str(n), body) for n, body in enumerate(bodies)])


def known(world: World) -> dict[str, Any]:
    return {job_id: replace(row, version=0) for job_id, row in world.jobs.jobs.items()}


def test_an_event_makes_a_record_and_wakes_the_queue() -> None:
    world = world_with("a")
    assert record(world, world.body("a")) == ()
    assert world.jobs.jobs["a"].status is Status.RUNNABLE
    assert world.wakes.queues == [QUEUE]
    assert world.log.recordings == [(1, 1, 0)]


def test_many_events_of_one_queue_are_one_wake() -> None:
    world = world_with("a", "b", "c")
    record(world, *(world.body(job_id) for job_id in ("a", "b", "c")))
    assert world.wakes.queues == [QUEUE]


def test_poison_among_good_ones_is_buried_with_its_reason_and_place_and_the_rest_goes_on() -> None:
    world = world_with("a", "b")
    odd = json.dumps({**json.loads(world.body("a")), "detail-type": "Batch Service Job Moved"})
    again = record(world, world.body("a"), "{broken", odd, world.body("b"))
    assert again == ()
    assert set(world.jobs.jobs) == {"a", "b"}
    assert [(b.body, b.place) for b in world.dead_letters.buried] == [("{broken", "body"), (odd, "detail-type")]
    assert all(b.reason for b in world.dead_letters.buried)
    assert [place for _, place in world.log.poison] == ["body", "detail-type"]


def test_poison_that_cannot_be_buried_is_delivered_again_alone() -> None:
    world = world_with("a")
    world.dead_letters.fail_next("bury", Transient("500"))
    assert record(world, world.body("a"), "{broken") == ("1",)
    assert set(world.jobs.jobs) == {"a"}


def test_a_transient_fault_returns_only_the_messages_that_it_touched() -> None:
    world = world_with("a", "b")
    world.jobs.fail_next("save", Transient("throttled"))
    assert record(world, world.body("a"), world.body("a"), world.body("b")) == ("0", "1")
    assert set(world.jobs.jobs) == {"b"}
    assert record(world, world.body("a")) == ()
    assert set(world.jobs.jobs) == {"a", "b"}


def test_a_table_that_cannot_be_read_returns_the_good_messages_and_not_the_buried_ones() -> None:
    world = world_with("a")
    world.jobs.fail_next("load", Transient("throttled"))
    assert record(world, "{broken", world.body("a")) == ("1",)
    assert len(world.dead_letters.buried) == 1


def test_a_wake_that_could_not_be_sent_is_sent_when_its_message_comes_again() -> None:
    world = world_with("a")
    world.wakes.fail_next("wake", Transient("500"))
    assert record(world, world.body("a")) == ("0",)
    assert record(world, world.body("a")) == ()
    assert world.wakes.queues == [QUEUE]


def test_someone_else_writing_the_same_job_is_read_again() -> None:
    world = world_with("a")
    world.jobs.fail_next("save", Conflict("late"), times=2)
    assert record(world, world.body("a")) == ()
    assert "a" in world.jobs.jobs


def test_a_job_that_others_write_all_the_time_is_tried_again_later() -> None:
    world = world_with("a", "b")
    world.jobs.fail_next("save", Conflict("late"), times=3)
    assert record(world, world.body("a"), world.body("b")) == ("0",)


def test_a_conflict_with_a_pass_keeps_what_both_knew() -> None:
    world = world_with("a")
    record(world, world.body("a"))
    real = world.jobs.save

    def described_meanwhile(row: Any) -> Any:
        world.jobs.save = real  # type: ignore[method-assign]
        detail = world.batch.jobs["a"].detail
        real(replace(world.jobs.jobs["a"], detail=detail))
        return real(row)

    world.clock.advance(5)
    world.batch.move_job("a", Status.SCHEDULED)
    world.jobs.save = described_meanwhile  # type: ignore[method-assign]
    assert record(world, world.body("a")) == ()
    row = world.jobs.jobs["a"]
    assert (row.status, row.detail) == (Status.SCHEDULED, world.batch.jobs["a"].detail)


@pytest.mark.parametrize("together", [True, False])
def test_doubled_and_reordered_events_give_the_same_table(together: bool) -> None:
    plain = world_with("a")
    events = course(plain)
    for body in events:
        record(plain, body)
    for n, order in enumerate(permutations(events)):
        if n % 60:  # a dozen of the 720
            continue
        mixed = world_with("a")
        mixed.clock.set(plain.clock.now())
        bodies = [*order, *order[::2], order[0]]
        for batch in [bodies] if together else [[body] for body in bodies]:
            record(mixed, *batch)
        assert known(mixed) == known(plain)


def test_two_states_in_one_second_make_the_job_doubtful() -> None:
    world = world_with("a")
    first = world.body("a")
    world.batch.move_job("a", Status.SCHEDULED)
    record(world, first, world.body("a"))
    assert world.jobs.jobs["a"].doubtful


def test_a_preemption_makes_a_job_doubtful_and_an_unknown_one_is_kept_to_be_described() -> None:
    world = world_with("a")
    record(world, world.body("a"))
    arn = "arn:aws:batch:eu-west-1:123456789012:service-job/"
    for job_id in ("a", "never-seen"):
        body = json.dumps({
            "source": "aws.batch", "detail-type": "Batch Service Job Preemption Completed",
            "time": "2027-01-15T08:00:09Z", "detail": {"preemptedJobArn": arn + job_id, "status": "RUNNABLE"},
        })  # fmt: skip
        assert record(world, body, body) == ()
    assert world.jobs.jobs["a"].doubtful
    stray = world.jobs.jobs["never-seen"]
    assert (stray.queue, stray.doubtful) == (NO_QUEUE, True)
    assert NO_QUEUE not in world.wakes.queues


def test_a_batch_of_nothing_is_no_fault() -> None:
    world = World()
    assert record(world) == ()
    assert world.wakes.queues == []


def test_a_job_of_another_queue_wakes_its_own_queue() -> None:
    world = World()
    world.batch.add_job("x", "other-queue")
    record(world, event_of(world.batch.jobs["x"], world.clock.now()))
    assert world.wakes.queues == ["other-queue"]
