"""Passes sum up the day: waits from the jobs, use from the looks, moves from the history."""

from pointsman.errors import Transient
from pointsman.queues.day_sums import DaySums
from pointsman.queues.days import UNSEEN
from pointsman.queues.jobs import Status
from tests.unit.loops.quota_world import QuotaWorld, share
from tests.unit.loops.world import QUEUE, World


def today(world: World) -> DaySums:
    newest = world.days.newest(QUEUE)
    assert newest is not None
    return newest.sums


def test_a_pass_counts_what_started_what_was_in_use_and_what_was_moved() -> None:
    world = World()
    world.apply()
    world.pass_()
    world.submit("prod-1", name="prod-1", size=2, waited=100.0)
    world.submit("sweep-1", name="sweep-1", size=8, waited=300.0)
    world.pass_(after=60)
    world.move("prod-1", Status.RUNNING)
    world.pass_(after=60)
    world.pass_(after=60)

    sums = today(world)

    assert sums.seen == 180
    assert sums.working == 60 * 2
    assert sums.waiting == 60 * 2 + 60 * 1
    assert sums.classes["production"].started == 1
    assert sums.classes["production"].mean == 160
    assert sums.classes["production"].moves == 1


def test_a_job_that_came_and_went_between_two_passes_has_started() -> None:
    world = World()
    world.apply()
    world.pass_()
    world.submit("quick", waited=100.0)
    world.move("quick", Status.RUNNING)
    world.clock.advance(5)
    world.move("quick", Status.SUCCEEDED)
    world.pass_()
    world.pass_()

    assert today(world).classes["sweep"].started == 1


def test_an_eviction_counts_with_its_reason_and_the_work_it_lost() -> None:
    world = QuotaWorld(share())
    world.rule(reservation={"after": "1h", "at_most": 0})
    world.run("sweep", size=4)
    world.run("fixed", size=4, checkpoints=None)
    world.submit("prod", size=4, waited=4000.0, name="prod-ranker")
    world.pass_()
    world.clock.advance(30)
    world.evict("sweep")
    world.tell_of_preemption("sweep")
    world.pass_()
    world.pass_()

    sums = today(world)

    assert sums.evictions == {"evicted": 1}
    assert sums.classes["sweep"].evictions == 1
    saved_before = 60 + 30  # seconds before the first pass
    assert sums.classes["sweep"].lost == (saved_before + 30 + 30) * 4
    assert sums.classes["sweep"].started == 0, "it ran before there were days"


def test_a_queue_that_only_observes_is_summed_up_too() -> None:
    world = World()
    world.apply(mode="observe")
    world.submit("prod-1", name="prod-1")
    world.pass_()
    world.move("prod-1", Status.RUNNING)
    world.pass_()
    world.pass_()

    sums = today(world)

    assert sums.classes["production"].started == 1
    assert sums.classes["production"].moves == 0


def test_a_pass_that_cannot_count_fails_before_it_lets_go_of_what_it_should_have_counted() -> None:
    world = World()
    world.apply()
    world.pass_()
    world.submit("quick")
    world.move("quick", Status.RUNNING)
    world.move("quick", Status.SUCCEEDED)
    world.days.fail_next("save", Transient("DynamoDB is away"))
    world.pass_()
    assert world.record.problem == "DynamoDB is away"

    world.pass_(after=60)

    assert today(world).classes["sweep"].started == 1
    assert world.record.problem == ""


def test_a_queue_that_was_not_looked_at_for_long_says_for_how_long_it_was() -> None:
    world = World()
    world.apply()
    world.pass_()
    world.pass_(after=UNSEEN + 1)
    world.pass_(after=60)

    assert today(world).seen == 60
