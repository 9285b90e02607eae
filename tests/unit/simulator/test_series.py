"""What is plotted of a run, worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.queues.policy import JobClass, Policy
from pointsman_simulator.measures import JobRun, Run, utilisation
from pointsman_simulator.series import FACTORS, buckets, depth, distribution, in_use, means, scaled

HOUR = 3600.0


def ran(submitted: float, *spans: tuple[float, float], instances: int = 1) -> JobRun:
    """A job whose times are in hours."""
    hours = tuple((start * HOUR, stop * HOUR) for start, stop in spans)
    return JobRun("job", "sweep", "team", instances, submitted * HOUR, hours)


def test_an_evicted_job_waits_twice_and_holds_its_instances_twice() -> None:
    run = Run("fifo", (ran(0, (1, 2), (3, 4), instances=2),), 1, capacity=4, window=4 * HOUR)
    each_hour = buckets(run.window) // 4
    assert depth(run)[::each_hour] == [1.0, 0.0, 1.0, 0.0]
    assert in_use(run)[::each_hour] == [0.0, 0.5, 0.0, 0.5]


def test_a_short_window_has_a_point_for_ten_minutes_and_a_long_one_no_more_than_can_be_seen() -> None:
    assert [buckets(seconds) for seconds in (60, HOUR, 28 * 24 * HOUR)] == [1, 6, 240]


@given(
    st.lists(st.tuples(st.floats(-50, 150), st.floats(0, 120), st.floats(0, 9)), max_size=30),
    st.integers(1, 40),
)
def test_the_mean_of_the_means_is_the_weight_over_the_whole(
    parts: list[tuple[float, float, float]], count: int
) -> None:
    intervals = [(start, start + length, weight) for start, length, weight in parts]
    inside = sum(weight * max(0.0, min(stop, 100.0) - max(start, 0.0)) for start, stop, weight in intervals)
    made = means(intervals, 100.0, count)
    assert len(made) == count
    assert sum(made) / count == pytest.approx(inside / 100.0, abs=1e-6)


def test_use_over_time_is_utilisation_on_average() -> None:
    run = Run("fifo", (ran(0, (0.3, 2.7)), ran(1, (2, 9), instances=3)), 2, capacity=4, window=5 * HOUR)
    points = in_use(run)
    assert sum(points) / len(points) == pytest.approx(utilisation(run))


def test_a_distribution_rises_to_all_of_the_jobs() -> None:
    hours, parts = distribution([ran(0, (wait, wait + 1)) for wait in (4, 1, 2, 3)])
    assert (hours, parts) == ([1.0, 2.0, 3.0, 4.0], [0.25, 0.5, 0.75, 1.0])
    many = [ran(0, (n / 100, n / 100 + 1)) for n in range(1000)]
    assert [len(each) for each in distribution(many)] == [200, 200]


def test_head_starts_are_scaled_and_nothing_else_is() -> None:
    policy = Policy("q", (JobClass("a", head_start=6.0, max_wait=1.0), JobClass("b")))
    assert [one.head_start for one in scaled(policy, 2.0).classes] == [12.0, 0.0]
    assert scaled(policy, 1.0) == policy
    assert 1.0 in FACTORS
