"""What running jobs have saved of their work: looked up in turns, and remembered from pass to pass."""

import pytest

from pointsman.errors import Misconfigured, Transient, Unreadable
from pointsman.loops.saved import LOOKUPS
from pointsman.queues.evictions import Progress
from tests.unit.loops.quota_world import QuotaWorld, evictions, pressed, share
from tests.unit.loops.world import QUEUE


def test_what_a_job_saved_is_looked_up_and_what_cannot_be_known_is_said() -> None:
    world = pressed()
    world.checkpoints.written.clear()
    world.pass_()
    assert evictions(world) == []
    assert "2 jobs count as not resumable and are not evicted" in world.record.problem
    assert "s3://checkpoints/sweep cannot be read" in world.record.problem


def test_of_many_jobs_the_one_that_saved_last_is_found_within_some_passes() -> None:
    world = QuotaWorld(share(limit=3 * LOOKUPS + 1))
    world.rule(reservation={"after": "1h", "at_most": 0})
    began = world.clock.now()
    for n in range(3 * LOOKUPS):
        world.checkpoints.written[f"s3://checkpoints/sweep-{n:02}"] = began - 2000
        world.run(f"sweep-{n:02}")
    world.run("sweep-zz")
    world.submit("prod", size=1, waited=4000.0, name="prod-ranker")
    world.clock.advance(5)
    looks = []
    for _ in range(4):
        looked = len(world.checkpoints.asked)
        world.checkpoints.written["s3://checkpoints/sweep-zz"] = world.clock.now()
        world.pass_()
        looks.append(len(world.checkpoints.asked) - looked)
    assert looks == [LOOKUPS] * 4
    (eviction,) = world.shares.evictions(QUEUE, 0.0)
    assert [victim.job_id for victim in eviction.victims] == ["sweep-zz"]


def test_many_small_jobs_make_room_for_a_big_one_though_few_are_looked_up_in_one_pass() -> None:
    size = 2 * LOOKUPS
    world = QuotaWorld(share(limit=size))
    world.rule(reservation={"after": "1h", "at_most": 0})
    for n in range(size):
        world.run(f"sweep-{n:02}")
    world.submit("prod", size=size, waited=9000.0, name="prod-ranker")
    world.clock.advance(5)
    for _ in range(3):
        world.pass_()
    (eviction,) = world.shares.evictions(QUEUE, 0.0)
    assert len(eviction.victims) == size


def test_a_fault_of_the_store_of_checkpoints_leaves_what_was_known_and_fails_no_pass() -> None:
    world = pressed()
    world.checkpoints.fail_next("newest", Transient("503"), times=9)
    world.pass_()
    assert evictions(world) == []
    assert not world.log.failures
    assert "s3://checkpoints/sweep cannot be read" in world.record.problem
    world.checkpoints._planned.clear()
    world.pass_()
    assert evictions(world) == [Progress.ASKED]


@pytest.mark.parametrize("fault", [Unreadable("an answer"), Misconfigured("no credentials")])
def test_a_place_that_nobody_can_look_at_is_one_jobs_matter_and_fails_no_pass(fault: Exception) -> None:
    world = pressed()
    world.checkpoints.fail_next("newest", fault, times=9)
    world.pass_()
    assert (evictions(world), world.log.failures) == ([], [])
    assert "s3://checkpoints/sweep cannot be read" in world.record.problem


def test_what_was_seen_of_a_job_stands_while_its_place_cannot_be_read() -> None:
    world = pressed()
    world.checkpoints.written["s3://checkpoints/sweep"] -= 2000
    world.pass_()
    assert evictions(world) == [], "its last checkpoint is long ago"
    world.checkpoints.fail_next("newest", Transient("503"))
    world.pass_(after=7000)
    assert evictions(world) == [Progress.ASKED], "now any moment will do"
