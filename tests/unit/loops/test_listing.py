"""Walks through Batch's listing: what they find where events are lost, and what they leave to others."""

import json
from dataclasses import asdict

import pytest

from pointsman.errors import Transient
from pointsman.loops import listing
from pointsman.loops.listing import PAGES, REMEMBERED, SWEEP_EVERY, sweep
from pointsman.ports import QueueRecord, Snapshot
from pointsman.queues.jobs import Status
from tests.unit.loops.quota_world import QuotaWorld, share
from tests.unit.loops.world import QUEUE, World


def crowd(running: int, *, told: bool = True, page: int = 100) -> World:
    """So many jobs of one instance run, and the first walk is over."""
    world = World(capacity=2 * running)
    world.batch._page_size = page
    world.apply()
    for n in range(running):
        world.batch.add_job(f"run{n:05}", QUEUE, Status.RUNNING)
    if told:
        world.recorder().record([world.message(world.body(f"run{n:05}")) for n in range(running)])
    world.clock.advance(120)
    return world


def passes(world: World, count: int, *, after: float = 60.0) -> list[int]:
    """How many pages each of these passes listed."""
    pages = []
    for _ in range(count):
        world.pass_(after=after)
        pages.append(world.report.listed)
    return pages


def busy(world: World) -> set[str]:
    return {job.job_id for job in world.report.view.busy}


def test_one_lost_end_among_more_running_jobs_than_a_pass_lists_is_found() -> None:
    world = crowd(45, page=4)
    passes(world, 4)
    world.move("run00003", Status.SUCCEEDED, told=False)
    pages = passes(world, 12)
    assert "run00003" not in busy(world)
    assert len(busy(world)) == 44
    assert pages[-6:] == [0] * 6, "and then nothing is suspicious any more"
    assert world.batch.described.count("run00003") == 2


def test_in_a_share_whose_jobs_evict_each_other_a_lost_end_among_many_keeps_nobody_from_being_lifted() -> None:
    world = QuotaWorld(share(limit=47))
    world.batch._page_size = 4
    world.rule()
    for n in range(45):
        world.run(f"run{n:02}")
    world.clock.advance(120)
    passes(world, 4)
    world.move("run03", Status.SUCCEEDED, told=False)
    world.submit("big", name="sweep-big", size=40, waited=3000)
    world.submit("small", name="prod-1", waited=600)
    passes(world, 12)
    assert world.report.view.settled
    assert world.priority("small") == 4999


def test_behind_many_running_jobs_the_line_is_walked_too() -> None:
    world = crowd(130, page=4)
    for n in range(110):
        world.submit(f"job{n:03}", size=10_000, told=False)
    passes(world, 30)
    assert len(world.report.view.waiting) == 110
    assert min(world.record.walked, world.record.swept) > world.clock.now() - 3 * SWEEP_EVERY


def test_a_short_line_behind_many_running_jobs_is_seen_in_one_pass() -> None:
    world = crowd(30, page=4)
    for n in range(5):
        world.submit(f"job{n}", size=10_000)
    record, seen = sweep(world.batch, world.jobs, QueueRecord(QUEUE), None, world.clock.now(), asked=True)
    assert (seen.pages, seen.complete, seen.line) == (PAGES, True, True)
    assert (record.walk, record.sweep) == (None, None)


def test_with_a_new_walk_through_the_line_one_through_who_runs_begins() -> None:
    world = crowd(3)
    now = world.clock.now()
    record = QueueRecord(QUEUE, walked=now - 30.0, swept=now - SWEEP_EVERY)
    _, seen = sweep(world.batch, world.jobs, record, None, now, asked=False)
    assert seen.line, "where a job is that left the line is in the other"


def test_a_job_that_a_walk_missed_since_its_pages_moved_is_not_described_for_it() -> None:
    world = crowd(45, page=4)
    passes(world, 4)
    described = list(world.batch.described)
    world.clock.advance(SWEEP_EVERY)
    world.pass_()
    assert world.record.walk is not None
    for n in (41, 42, 43):  # on pages that the walk has passed
        world.move(f"run000{n}", Status.SUCCEEDED)
    passes(world, 8)
    assert len(busy(world)) == 42
    assert world.batch.described == described


def test_a_walk_whose_token_is_no_longer_taken_begins_anew() -> None:
    world = crowd(45, page=4)
    world.batch.token_life = 20.0
    world.move("run00003", Status.SUCCEEDED, told=False)
    passes(world, 4)
    assert world.log.failures == []
    world.batch.token_life = 300.0
    passes(world, 8)
    assert "run00003" not in busy(world)


def test_what_a_walk_remembers_is_bounded_and_beyond_that_it_says_of_nobody_that_he_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listing, "PAGES", 2)
    world = World()
    world.batch._page_size = REMEMBERED
    for n in range(REMEMBERED + 1):
        world.batch.add_job(f"0f8fad5b-d9cb-469f-a165-{n:012}", QUEUE, Status.STARTING)
    record, now = QueueRecord(QUEUE), world.clock.now()
    walks = []
    for _ in range(4):
        record, seen = sweep(world.batch, world.jobs, record, Snapshot((), 0, now), now, asked=not walks)
        walks.append((record.walk, len(json.dumps(asdict(record))), seen.complete))
    assert all(size < 120_000 for _, size, _ in walks)
    assert [walk.seen is None for walk, _, _ in walks if walk] == [False, False, True]
    assert (record.walk, record.walked, walks[-1][2]) == (None, now, False)


def test_descriptions_go_before_a_listing() -> None:
    world = World(budget=20)
    world.jobs._rate = 0.0
    world.apply()
    for n in range(12):
        world.submit(f"job{n:02}", size=9)
    world.clock.advance(5)
    world.pass_()
    assert (world.report.described, world.report.listed) == (12, 3)


def test_after_a_pass_that_left_priorities_for_the_next_one_a_page_is_all_that_is_listed() -> None:
    world = crowd(45, page=4)
    world.submit("job", size=2)
    world.clock.advance(SWEEP_EVERY)
    world.batch.fail_next("set_priority", Transient("Too many requests"))
    assert passes(world, 2) == [PAGES // 2, 1]
    assert world.priority("job") == 4999
    assert not world.record.deferred
