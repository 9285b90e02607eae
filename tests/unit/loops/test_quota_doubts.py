"""A queue with quota shares: nobody is evicted on what is not sure."""

from dataclasses import replace

import pytest

from pointsman.errors import Gone, Transient
from pointsman.queues.evictions import Progress
from pointsman.queues.jobs import Sighting, Status
from tests.unit.loops.quota_world import QuotaWorld, evictions, pressed, share, switched


def unknown(world: QuotaWorld, *job_ids: str) -> None:
    """Batch says of these jobs, when they are described, that it does not know them."""
    real = type(world.batch).describe_job.__get__(world.batch)

    def describe(job_id: str) -> Sighting:
        if job_id in job_ids:
            raise Gone("ClientException")
        sighting: Sighting = real(job_id)
        return sighting

    world.batch.describe_job = describe  # type: ignore[method-assign]


def test_preemption_is_not_switched_on_before_all_priorities_are_set() -> None:
    world = switched()
    world.batch.fail_next("set_priority", Transient("429"))
    world.pass_()
    assert evictions(world) == [Progress.ASKED]
    assert not world.now_of().preempts
    world.pass_()
    assert world.priority("fixed") == 5001
    assert world.now_of().preempts


def test_preemption_is_not_switched_on_while_it_is_not_known_that_who_evicts_waits() -> None:
    world = switched()
    world.batch.fail_next("set_priority", Transient("429"))
    world.pass_()
    unknown(world, "prod")
    for _ in range(3):
        world.pass_()
        assert not world.now_of().preempts
    assert evictions(world) == [Progress.ASKED]
    unknown(world)
    for _ in range(2):
        world.pass_()
    assert (world.priority("fixed"), world.priority("prod"), world.now_of().preempts) == (5001, 5000, True)


@pytest.mark.parametrize("job_id", ["prod", "fixed"])
def test_preemption_is_not_switched_on_where_a_priority_that_it_needs_was_refused(job_id: str) -> None:
    world = switched()
    real = world.batch.set_priority

    def set_priority(asked: str, priority: int) -> None:
        if asked == job_id:
            raise Gone("it is not there")
        real(asked, priority)

    world.batch.set_priority = set_priority  # type: ignore[method-assign]
    for _ in range(3):
        world.pass_()
        assert not world.now_of().preempts


@pytest.mark.parametrize("how", ["switch", "levels"])
def test_nobody_is_raised_to_evict_while_one_is_in_doubt_who_may_hold_capacity(how: str) -> None:
    world = switched() if how == "switch" else pressed()
    world.batch.fail_next("set_priority", Transient("429"))
    world.pass_()
    unknown(world, "fixed")
    for _ in range(3):
        world.pass_()
        assert world.priority("prod") < 4999
    assert world.now_of().preempts is (how == "levels")
    unknown(world)
    for _ in range(3):
        world.pass_()
    assert (world.priority("fixed"), world.priority("prod"), world.now_of().preempts) == (5001, 5000, True)


def test_it_is_sure_what_runs_when_the_snapshot_shows_it_or_the_events_are_newer() -> None:
    world = QuotaWorld()
    world.rule()
    world.run("sweep", size=4)
    world.clock.advance(60)
    at, real = world.clock.now(), world.batch.snapshot
    world.batch.snapshot = lambda name: replace(real(name), used=0, at=at - 120)  # type: ignore[method-assign]
    world.pass_()
    assert world.report.view.settled, "it is older than the events"
    world.batch.snapshot = lambda name: replace(real(name), used=0)  # type: ignore[method-assign]
    world.pass_()
    assert not world.report.view.settled, "somebody has gone"


def test_who_holds_capacity_is_in_doubt_and_not_gone_while_a_listing_has_it_whatever_a_describe_says() -> None:
    world = QuotaWorld(share(limit=8))
    world.rule()
    world.run("runs", size=4)
    world.submit("waits", size=2)
    world.clock.advance(120)
    unknown(world, "runs")
    for _ in range(4):
        world.pass_()
        assert (world.report.view.settled, world.priorities()) == (False, {"waits": 0})
    unknown(world)
    for _ in range(2):
        world.pass_()
    assert world.report.view.settled
    assert world.priorities() == {"waits": 4999}


@pytest.mark.parametrize("after", [29.0, 60.0])
def test_who_started_unseen_is_not_gone_while_a_listing_has_it_whatever_a_describe_says(after: float) -> None:
    world = QuotaWorld(share(limit=8))
    world.rule()
    world.submit("unseen", size=4)
    world.submit("waits", size=2)
    world.move("unseen", Status.RUNNING, told=False)
    unknown(world, "unseen")
    for _ in range(6):
        world.pass_(after=after)
        assert (world.report.view.settled, world.priorities()) == (False, {"waits": 0})
    unknown(world)
    for _ in range(2):
        world.pass_()
    assert "unseen" in {job.job_id for job in world.report.view.busy}


def test_who_waited_and_was_deleted_unseen_is_let_go_once_no_listing_has_it() -> None:
    world = QuotaWorld(share(limit=8))
    world.rule()
    world.submit("deleted", size=4)
    world.submit("waits", size=2)
    del world.batch.jobs["deleted"]
    for _ in range(4):
        world.pass_()
    assert world.report.view.settled
    assert world.priorities() == {"waits": 4999}
    assert world.jobs.jobs["deleted"].folded
