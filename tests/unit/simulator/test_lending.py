"""A week in quota shares that reserve, and in the same shares when they lend: what is promised of it."""

from functools import cache

import pytest

from pointsman_simulator.lending import DEMAND, LOAD, QUOTA, Lent, delay, delays, lent, play, week
from pointsman_simulator.measures import JobRun, utilisation
from pointsman_simulator.replay import World

SEEDS = (4, 5, 19)  # the demo's own, and two of the narrowest of 1 to 20


@cache
def played(seed: int) -> Lent:
    return lent(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_at_most_half_is_in_use_before_and_four_fifths_after_and_no_team_waits_longer(seed: int) -> None:
    one = played(seed)
    assert one.broken == ()
    assert utilisation(one.before) <= 0.5
    assert utilisation(one.after) >= 0.8
    before, after = delays(one.before), delays(one.after)
    assert set(before) == set(DEMAND)
    assert all(after[team] <= before[team] for team in DEMAND)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_work_offered_is_nine_tenths_and_more_and_every_team_could_run_all_of_it_alone(seed: int) -> None:
    one = week(seed)
    assert one.load == pytest.approx(LOAD)
    assert LOAD >= 0.9
    assert max(job.gpus for job in one.jobs) <= QUOTA
    assert {job.team for job in one.jobs} == set(DEMAND)
    assert all(0 <= job.submit <= one.seconds for job in one.jobs)


def test_every_job_ends_both_ways_and_what_evictions_repeat_is_counted() -> None:
    one = played(SEEDS[0])
    assert len(one.before.jobs) == len(one.after.jobs) == len(one.week.jobs)
    assert sum(job.evictions for job in one.before.jobs) == 0
    evicted = [job for job in one.after.jobs if job.evictions]
    assert evicted
    world = World()
    for job in evicted:
        most = job.evictions * (world.checkpoint + world.stop + world.restart)
        assert 0 < job.lost <= most
    assert all(job.lost == pytest.approx(0.0, abs=1e-3) for job in one.after.jobs if not job.evictions)


def test_the_same_seed_is_the_same_week_and_another_seed_another() -> None:
    assert week(4) == week(4)
    assert week(4) != week(5)


def test_run_time_that_is_repeated_counts_as_waited() -> None:
    hour = 3600.0
    job = JobRun("job", "sweep", "labs", 1, 0.0, ((hour, 2 * hour), (3 * hour, 5 * hour)), evictions=1, lost=hour)
    assert delay(job) == 1 + 1 + 1


def test_a_promise_that_is_broken_is_said_with_its_figures() -> None:
    """Lending that is none: the same week twice in shares that reserve."""
    one = played(SEEDS[0])
    twice = Lent(one.seed, one.week, one.before, play(one.week, "RESERVE"))
    assert twice.broken == (f"{utilisation(one.before):.1%} of the capacity is in use after, not 80% at least",)
