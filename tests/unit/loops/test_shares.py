"""Several shares in one fair-share queue: each in its own order, as far as Batch's choice of the share lets it."""

from typing import Any

from pointsman.queues.jobs import Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.view import Share
from tests.unit.loops.world import QUEUE, World

POLICY: dict[str, Any] = {"share": "team*", "reservation": None, "on_alarm": []}


def two_teams(**weights: float) -> World:
    world = World()
    told = {"teamA": 1.0, "teamB": 1.0, **weights}
    world.batch.add_queue(QUEUE, 8, QueueKind.FAIR_SHARE, tuple(told), weights=tuple(told.items()))
    world.apply(**POLICY)
    return world


def settle(world: World, passes: int = 3) -> None:
    world.clock.advance(5)
    for _ in range(passes):
        world.pass_()
        world.dispatch()


def running(world: World) -> set[str]:
    return {job_id for job_id, job in world.batch.jobs.items() if job.status is Status.RUNNING}


def test_the_view_knows_each_shares_use_and_weight_and_whose_turn_it_is() -> None:
    world = two_teams(teamB=0.5)
    world.run("r", size=4, share="teamA")
    world.submit("a", size=8, share="teamA")
    world.submit("b", size=8, share="teamB")
    world.clock.advance(5)
    world.pass_()
    assert world.report.view.shares == (Share("teamB", 0.5, 0), Share("teamA", 1.0, 4))


def test_small_jobs_pass_the_big_ones_of_their_own_shares() -> None:
    world = two_teams(guests=1.0)
    world.run("r", size=4, share="guests")
    for team in ("teamA", "teamB"):
        world.submit(f"big-{team}", size=8, share=team, waited=600.0)
        world.submit(f"small-{team}", size=2, share=team)
    settle(world)
    assert running(world) == {"r", "small-teamA", "small-teamB"}


def test_a_share_without_a_small_job_stops_the_queue_and_people_are_told_whose_job_it_is() -> None:
    world = two_teams()
    world.run("r", size=4, share="teamA")
    world.submit("big", size=8, share="teamB", waited=600.0)
    world.submit("small", size=2, share="teamA")
    settle(world)
    assert running(world) == {"r"}
    blocker = world.report.decision.blocker
    assert blocker is not None
    assert (blocker.job_id, blocker.share) == ("big", "teamB")


def test_a_share_that_is_not_ruled_is_left_alone_and_still_counted() -> None:
    world = two_teams(guests=1.0)
    world.submit("guest", size=8, share="guests", waited=600.0)
    world.submit("a", size=2, share="teamA")
    world.clock.advance(5)
    world.pass_()
    assert world.priority("guest") == 0
    assert "which the policy does not rule" in world.record.problem
    assert [job.job_id for job in world.report.view.strangers] == ["guest"]
