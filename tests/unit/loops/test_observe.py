"""What a pass sees where events are lost, late or wrong, and what it costs."""

from itertools import count

import pytest

from pointsman.errors import Gone, Transient, UserMistake
from pointsman.loops.inspect import Inspector
from pointsman.ports import JobPage, QueueRecord
from pointsman.queues.jobs import Sighting, Status
from tests.unit.loops.world import QUEUE, World


def passes(world: World, count: int = 3) -> None:
    for _ in range(count):
        world.pass_(after=60.0)


def long_line() -> World:
    """Behind a job that holds all, 250 wait; no event told of any, and passes have found them."""
    world = World(capacity=8)
    world.apply()
    world.run("running", size=8, told=False)
    for n in range(250):
        world.submit(f"job{n:03}", told=False, waited=float(n))
    passes(world, 12)
    return world


@pytest.mark.parametrize("told", [True, False])
def test_with_events_or_without_any_the_queue_ends_in_the_wanted_order(told: bool) -> None:
    world = World()
    world.apply()
    world.run("running", size=6, told=told)
    world.submit("big", size=4, waited=600.0, told=told)
    world.submit("small", size=2, name="prod-small", told=told)
    passes(world)
    assert world.priorities() == {"big": 0, "small": 4999}
    assert world.dispatch(told=told) == ["small"]
    world.clock.advance(600)
    world.move("running", Status.SUCCEEDED, told=told)
    passes(world)
    assert world.priority("big") == 4999
    world.dispatch(told=told)
    world.clock.advance(600)
    for job_id in ("small", "big"):
        world.move(job_id, Status.SUCCEEDED, told=told)
    passes(world, 12)
    assert not world.report.view.waiting
    assert not world.report.view.busy
    assert {row.status for row in world.jobs.jobs.values()} == {Status.SUCCEEDED}


def test_a_hundred_waiting_jobs_and_more_are_found_without_any_event() -> None:
    world = long_line()
    assert len(world.report.view.waiting) == 250
    assert world.record.sweep is None


def test_a_job_that_ended_far_behind_in_the_line_is_let_go_without_any_event() -> None:
    world = long_line()
    world.move("job000", Status.FAILED, told=False)
    passes(world, 12)
    assert len(world.report.view.waiting) == 249


def test_jobs_that_run_and_were_never_told_of_are_found_when_the_use_does_not_add_up() -> None:
    world = World()
    world.apply()
    world.submit("told", size=2)
    world.pass_()
    world.run("untold", size=6, told=False)
    passes(world, 2)
    assert {job.job_id for job in world.report.view.busy} == {"untold"}


def test_a_running_job_whose_end_was_not_told_is_looked_up_and_let_go() -> None:
    world = World()
    world.apply()
    world.run("a", size=6)
    world.submit("b", size=8)
    world.clock.advance(120)
    passes(world, 1)
    world.move("a", Status.SUCCEEDED, told=False)
    passes(world, 3)
    assert world.report.view.busy == ()
    assert world.priority("b") == 4999


def test_a_job_whose_start_was_not_told_is_seen_running_by_the_next_listing() -> None:
    world = World()
    world.apply()
    world.submit("a", size=2)
    passes(world, 1)
    world.clock.advance(5)
    world.move("a", Status.SCHEDULED)
    world.clock.advance(5)
    world.move("a", Status.RUNNING, told=False)
    started = world.clock.now()
    passes(world, 12)
    (job,) = world.report.view.busy
    assert job.started == started, "or what is held would be held for ever later"
    assert world.batch.described == ["a"]


def test_a_listing_that_the_budget_cut_short_is_taken_up_again() -> None:
    world = World(budget=4)
    world.jobs._rate = 0.0
    world.apply()
    world.run("untold", size=6, told=False)
    world.pass_()  # the queue's description takes three calls, the snapshot one
    assert world.report.listed == 0
    world.jobs._tokens = 100.0
    world.pass_()
    assert world.report.listed > 0


def test_a_walk_whose_token_is_no_longer_taken_begins_anew_and_no_pass_fails_of_it() -> None:
    world = World()
    world.apply()
    world.batch.token_life = 60.0
    world.run("running", size=6)
    for n in range(1500):
        world.submit(f"job{n:04}", size=4, waited=6000.0 - n, told=False)
    world.clock.advance(120)
    world.pass_()
    assert world.record.sweep is not None
    for _ in range(3):
        world.pass_(after=600.0)
    assert world.log.failures == []
    for _ in range(4):
        world.pass_()
    assert world.record.sweep is None
    assert sum(row.status is Status.RUNNABLE for row in world.jobs.jobs.values()) == 1500


def test_doubtful_jobs_are_described_before_they_are_used() -> None:
    world = World()
    world.apply()
    world.submit("a", size=2)
    world.move("a", Status.SCHEDULED)  # in the same second
    world.pass_()
    assert not world.report.view.waiting
    assert [job.job_id for job in world.report.view.busy] == ["a"]


def test_a_job_that_could_not_be_described_yet_is_not_decided_on() -> None:
    world = World(budget=4)
    world.jobs._rate = 0.0
    world.apply()
    world.submit("a", size=2)
    world.pass_()
    assert ([*world.report.view.waiting], world.batch.priorities) == ([], [])
    assert world.wakes.queues[-1] == QUEUE


def test_what_was_described_before_batch_refused_a_call_counts_and_the_rest_is_described_later() -> None:
    world = World()
    world.apply()
    world.run("running", size=6)
    for n in range(4):
        world.submit(f"job{n}", size=2, waited=60.0 - n)
    refuse_from(world, 3, times=1)
    passes(world, 1)
    assert world.log.failures == []
    assert world.batch.described == ["job0", "job1"]
    assert world.priority("job0") == 4999
    assert world.record.problem == "3 jobs are described in a later pass: Too many requests"
    assert world.wakes.sent
    passes(world, 1)
    assert world.batch.described == ["job0", "job1", "job2", "job3", "running"]
    assert world.record.problem == ""


def refuse_from(world: World, call: int, times: int) -> None:
    """Batch refuses these calls to describe a job."""
    real, calls = world.batch.describe_job, count(1)

    def describe(job_id: str) -> Sighting:
        if call <= next(calls) < call + times:
            raise Transient("Too many requests")
        return real(job_id)

    world.batch.describe_job = describe  # type: ignore[method-assign]


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("job_id", ["running", "behind"])
def test_a_job_that_batch_says_it_does_not_know_and_that_goes_on_is_not_lost(job_id: str, times: int) -> None:
    world = World()
    world.apply()
    world.run("running", size=2, name="prod-1")
    for n in range(110):
        world.submit(f"job{n:03}", size=9, waited=9000.0 - n)
    world.submit("behind", size=9)
    real, refused = world.batch.describe_job, count(1)

    def describe(asked: str) -> Sighting:
        if asked == job_id and next(refused) <= times:
            raise Gone("ClientException")
        return real(asked)

    world.batch.describe_job = describe  # type: ignore[method-assign]
    passes(world, 20)
    row = world.jobs.jobs[job_id]
    assert (row.status, row.folded, row.needs_describe) == (world.batch.jobs[job_id].status, False, False)
    if job_id == "running":
        world.move("running", Status.FAILED)
        passes(world)
        assert [kind for kind in world.notices.kinds if "failed" in kind]


def test_pages_that_were_listed_before_batch_refused_one_count() -> None:
    world = World()
    world.apply()
    for n in range(4):
        world.submit(f"job{n}", told=False)
    real = world.batch.list_jobs

    def list_jobs(name: str, status: Status, token: str | None) -> JobPage:
        if status is Status.STARTING:
            raise Transient("Too many requests")
        return real(name, status, token)

    world.batch.list_jobs = list_jobs  # type: ignore[method-assign]
    world.run("running", told=False)
    world.batch.move_job("running", Status.SCHEDULED)
    passes(world, 1)
    assert world.log.failures == []
    assert "running" in {job.job_id for job in world.report.view.busy}


def test_no_more_than_forty_jobs_are_described_in_a_pass_the_front_of_the_queue_first() -> None:
    world = World(capacity=60)
    world.apply()
    for n in range(60):
        world.submit(f"job{n:02}", waited=float(n))
    world.clock.advance(5)
    world.pass_()
    assert sorted(world.batch.described) == [f"job{n:02}" for n in range(20, 60)]
    world.pass_()
    assert len(set(world.batch.described)) == len(world.batch.described) == 60


def behind_a_flood(*, sweeps: int, **job: str) -> World:
    """So many sweeps have been submitted at once, and then one more job."""
    world = World()
    world.apply(reservation=None)
    world.run("running", size=6)
    for n in range(sweeps):
        world.submit(f"sweep{n:04}", size=2, waited=sweeps - float(n), told=False)
    world.recorder().record([world.message(world.body(f"sweep{n:04}")) for n in range(sweeps)])
    world.clock.advance(5)
    world.submit("new", size=2, tags={"purpose": "explore"}, **job)
    world.clock.advance(5)
    return world


def test_behind_a_flood_of_jobs_one_whose_name_says_that_it_is_urgent_is_described_first() -> None:
    world = behind_a_flood(sweeps=1000, name="prod-1")
    passes(world, 4)
    assert world.priority("new") == 4999
    assert world.batch.described.index("new") == 100, "as soon as the front is known"


def test_where_only_a_describe_tells_what_jobs_are_the_newest_and_the_oldest_take_turns() -> None:
    world = behind_a_flood(sweeps=300)
    passes(world, 4)
    assert world.batch.described[100:104] == ["sweep0100", "new", "sweep0101", "sweep0299"]
    assert world.priority("new") == 4999


def test_run_times_of_jobs_that_ended_are_learned_once() -> None:
    world = World()
    world.apply()
    for n in range(3):
        world.run(f"job-{n}")
    world.clock.advance(60)
    world.pass_()
    world.clock.advance(540)
    for n in range(3):
        world.move(f"job-{n}", Status.SUCCEEDED)
    passes(world)
    (durations,) = {world.jobs.histories[QUEUE].circles[key] for key in world.jobs.histories[QUEUE].circles}
    assert durations == (630.0, 630.0, 630.0)
    assert all(row.folded for row in world.jobs.jobs.values())


def test_a_job_that_failed_teaches_no_run_time() -> None:
    world = World()
    world.apply()
    world.run("job")
    world.clock.advance(60)
    world.move("job", Status.FAILED)
    passes(world)
    assert QUEUE not in world.jobs.histories or world.jobs.histories[QUEUE].circles == {}
    assert world.jobs.jobs["job"].folded


def test_the_queue_is_described_again_after_a_while_and_a_new_capacity_counts() -> None:
    world = World(capacity=2)
    world.apply()
    world.submit("a", size=4)
    world.pass_()
    world.batch.add_queue(QUEUE, 8)
    world.pass_()
    assert world.priority("a") == 0
    world.pass_(after=300.0)
    assert world.priority("a") == 4999


def test_a_look_decides_as_a_pass_would_and_changes_nothing() -> None:
    world = World()
    world.apply()
    world.run("running", size=6)
    world.submit("a", size=2)
    world.clock.advance(30)
    before = (dict(world.jobs.jobs), dict(world.jobs.queues), dict(world.jobs.histories), list(world.batch.priorities))
    look = Inspector(world.observer(keep=False), world.jobs, world.control).look(QUEUE)
    assert [(move.job_id, move.after) for move in look.decision.moves] == [("a", 4999)]
    after = (dict(world.jobs.jobs), dict(world.jobs.queues), dict(world.jobs.histories), list(world.batch.priorities))
    assert before == after
    assert look.record == QueueRecord(QUEUE)


def test_a_look_at_a_queue_without_a_policy_says_which_queues_have_one() -> None:
    world = World()
    world.apply()
    with pytest.raises(UserMistake, match=f"queues with one: {QUEUE}"):
        Inspector(world.observer(keep=False), world.jobs, world.control).look("other")
