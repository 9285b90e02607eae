"""The simulator's figures, worked by hand."""

import pytest

from pointsman_simulator.measures import JobRun, Run, figures, waits

HOUR = 3600.0


def ran(
    submitted: float, *spans: tuple[float, float], instances: int = 1, evictions: int = 0, lost: float = 0.0
) -> JobRun:
    """A job whose times are in hours."""
    hours = tuple((start * HOUR, stop * HOUR) for start, stop in spans)
    return JobRun("job", "sweep", "team", instances, submitted * HOUR, hours, evictions, lost * HOUR)


def test_an_evicted_job_waits_before_each_of_its_runs() -> None:
    assert ran(0, (1, 2), (5, 6), evictions=1).waited == (1 + 3) * HOUR


def test_waits_are_means_and_quantiles_in_hours() -> None:
    figured = waits([ran(0, (wait, wait + 1)) for wait in range(1, 101)])
    assert figured == {"mean": 50.5, "p50": 50, "p95": 95, "max": 100}


def test_utilisation_counts_what_runs_inside_the_window() -> None:
    jobs = (ran(0, (1, 3), instances=2), ran(0, (0, 9)))
    one = figures(Run("fifo_strict", jobs, 2, capacity=4, window=4 * HOUR), work=13 * HOUR)
    assert one["utilisation"] == pytest.approx((2 * 2 + 4) / 16)


def test_what_evictions_cost_is_repeated_run_time_on_every_instance() -> None:
    jobs = (ran(0, (0, 1), (2, 4), instances=8, evictions=1, lost=0.5), ran(0, (0, 2)))
    one = figures(Run("pointsman_quota", jobs, 3, 16, 10 * HOUR), work=100 * HOUR)
    assert (one["evictions"], one["lost_gpu_hours"], one["lost_fraction"]) == (1, 4.0, 0.04)
    assert (one["jobs"], one["finished"]) == (3, 2)


def test_a_replay_without_big_jobs_has_no_wait_of_big_jobs() -> None:
    assert figures(Run("sesf", (ran(0, (1, 2)),), 1, 4, HOUR), work=HOUR)["big_wait_hours"] == {"mean": None}


def test_of_a_run_in_which_no_job_fits_nothing_is_known() -> None:
    one = figures(Run("pools_equal", (), 3, 2, HOUR), work=27.0)
    assert (one["jobs"], one["finished"], one["utilisation"]) == (3, 0, 0.0)
    assert one["wait_hours"] == {"all": {"mean": None, "p50": None, "p95": None, "max": None}}
    assert (one["jct_hours"], one["big_wait_hours"]) == ({"mean": None}, {"mean": None})


def test_of_jobs_without_work_nothing_is_lost() -> None:
    assert figures(Run("sesf", (ran(0, (1, 1)),), 1, 4, HOUR), work=0.0)["lost_fraction"] == 0.0
