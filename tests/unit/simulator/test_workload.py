"""The generated day has the shape of the cited cluster, for every seed, and gives a queue something to order."""

import heapq
from dataclasses import asdict, fields
from statistics import fmean, median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman_simulator.traces import CLASSES, TraceJob
from pointsman_simulator.workload import (
    BUSY_HOURS,
    DEMO_CAPACITY,
    HOUR,
    ITP,
    LONGEST_HOURS,
    TEAMS,
    Shape,
    generate,
    measure,
    offered_load,
)

FIGURES = [field.name for field in fields(Shape)]
POOLED_SEEDS = range(100, 130)
SINGLE_SEEDS = range(1, 21)


@pytest.fixture(scope="module")
def days() -> dict[int, tuple[TraceJob, ...]]:
    return {seed: generate(seed) for seed in (*SINGLE_SEEDS, *POOLED_SEEDS)}


@pytest.mark.parametrize("figure", FIGURES)
def test_over_thirty_days_each_figure_lies_within_a_fifth_of_the_cited_one(
    figure: str, days: dict[int, tuple[TraceJob, ...]]
) -> None:
    measured = fmean(asdict(measure(days[seed]))[figure] for seed in POOLED_SEEDS)
    assert measured == pytest.approx(asdict(ITP)[figure], rel=0.2)


def test_run_times_of_thirty_days_pooled_have_the_cited_median_and_ninetieth_percentile(
    days: dict[int, tuple[TraceJob, ...]],
) -> None:
    pooled = sorted(job.seconds for seed in POOLED_SEEDS for job in days[seed])
    assert pooled[len(pooled) // 2] == pytest.approx(ITP.median_seconds, rel=0.05)
    assert pooled[len(pooled) * 9 // 10] == pytest.approx(ITP.p90_seconds, rel=0.05)


@pytest.mark.parametrize("seed", SINGLE_SEEDS)
def test_every_single_day_has_its_jobs_teams_classes_and_shape(
    seed: int, days: dict[int, tuple[TraceJob, ...]]
) -> None:
    day = days[seed]
    assert len(day) >= 250
    assert {job.team for job in day} == set(TEAMS)
    assert len(TEAMS) == 5
    assert {job.job_class for job in day} == set(CLASSES)
    measured = asdict(measure(day))
    for figure in set(FIGURES) - {"arrival_variation"}:  # a day has some 60 gaps that count: only many days pin it down
        assert measured[figure] == pytest.approx(asdict(ITP)[figure], rel=0.2), figure


def test_a_day_is_made_again_by_its_seed_and_by_no_other() -> None:
    assert generate(7) == generate(7)
    assert generate(7) != generate(8)


def test_jobs_come_in_order_within_the_day_under_names_that_tell_class_and_team(
    days: dict[int, tuple[TraceJob, ...]],
) -> None:
    for day in days.values():
        assert [job.submit for job in day] == sorted(job.submit for job in day)
        assert all(0.0 <= job.submit <= 24 * HOUR for job in day)
        assert len({job.name for job in day}) == len(day)
        for job in day:
            assert job.name.startswith(f"{CLASSES[job.job_class].prefix}-{job.team}-")
            assert job.tags == {"team": job.team, "purpose": CLASSES[job.job_class].purpose}
            assert job.instances == job.gpus <= DEMO_CAPACITY


def test_the_demo_capacity_is_offered_about_what_it_can_do_in_the_busy_hours(
    days: dict[int, tuple[TraceJob, ...]],
) -> None:
    assert 0.9 <= median(offered_load(day, DEMO_CAPACITY, BUSY_HOURS) for day in days.values()) <= 1.3


def test_jobs_queue_under_first_come_first_served_and_the_day_ends_within_two(
    days: dict[int, tuple[TraceJob, ...]],
) -> None:
    ends, waits = zip(*(first_come_first_served(day, DEMO_CAPACITY) for day in days.values()), strict=True)
    assert max(ends) <= 48 * HOUR
    assert fmean(waits) >= 0.5 * HOUR


def test_only_the_tail_is_cut() -> None:
    runs = sorted(job.seconds for job in generate(3))
    longest = LONGEST_HOURS * HOUR
    assert runs[-1] == longest
    assert sum(run == longest for run in runs) < 0.02 * len(runs)


def test_load_is_the_work_submitted_between_two_hours_over_what_the_capacity_does_in_them() -> None:
    inside = [TraceJob("prod-a-1", 8 * HOUR, 3 * HOUR, 4, "a", "production")] * 2
    outside = [TraceJob("prod-a-2", 20 * HOUR, 90 * HOUR, 4, "a", "production")]
    assert offered_load(inside + outside, 12, (8.0, 20.0)) == pytest.approx(24 / 144)


def test_eight_equal_submissions_of_a_team_in_fifteen_minutes_are_a_burst_and_seven_are_not() -> None:
    def sweep(count: int, gap: float, team: str = "a", gpus: int = 1) -> list[TraceJob]:
        return [TraceJob(f"sweep-{team}-{i}", i * gap, 60.0, gpus, team, "sweep") for i in range(count)]

    assert measure(sweep(8, 128.0)).burst_share == 1.0
    assert measure(sweep(7, 60.0)).burst_share == 0.0
    assert measure(sweep(8, 129.0)).burst_share == 0.0
    assert measure(sweep(4, 60.0) + sweep(4, 61.0, team="b")).burst_share == 0.0
    assert measure(sweep(8, 60.0, gpus=2)).burst_share == 0.0


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(), jobs=st.integers(min_value=100, max_value=900), hours=st.floats(min_value=4, max_value=48))
def test_days_of_any_length_hold_exactly_the_jobs_asked_for(seed: int, jobs: int, hours: float) -> None:
    day = generate(seed, jobs=jobs, hours=hours)
    assert len(day) == jobs
    assert {job.job_class for job in day} == set(CLASSES)
    assert all(0.0 <= job.submit <= hours * HOUR for job in day)
    assert measure(day).median_seconds == pytest.approx(ITP.median_seconds, rel=0.1)


@pytest.mark.parametrize("jobs,hours,teams", [(99, 24.0, TEAMS), (300, 0.5, TEAMS), (300, 24.0, {})])
def test_a_day_too_small_for_its_shape_is_refused_with_what_would_do(
    jobs: int, hours: float, teams: dict[str, float]
) -> None:
    with pytest.raises(ValueError, match="too small; give at least 100 jobs, 1 team and 1 hour"):
        generate(1, jobs=jobs, hours=hours, teams=teams)


def first_come_first_served(day: tuple[TraceJob, ...], capacity: int) -> tuple[float, float]:
    """When the last job ends, and the mean wait, if nobody overtakes; both in seconds."""
    running: list[tuple[float, int]] = []
    free, now, waited = capacity, 0.0, 0.0
    for job in day:
        now = max(now, job.submit)
        while running and (running[0][0] <= now or free < job.gpus):
            end, gpus = heapq.heappop(running)
            now, free = max(now, end), free + gpus
        free -= job.gpus
        waited += now - job.submit
        heapq.heappush(running, (now + job.seconds, job.gpus))
    return max(end for end, _ in running), waited / len(day)
