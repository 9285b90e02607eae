"""The demo's figures, worked by hand."""

import pytest

from pointsman_cli.demo.day import JobTimes, Pass, Played
from pointsman_cli.demo.measures import idle_hours, utilisation, waits_by_class

HOUR = 3600.0


def job(
    name: str, instances: int, submitted: float, started: float, stopped: float, job_class: str = "sweep"
) -> JobTimes:
    """A job whose times are in hours; it holds its instances from the moment it starts."""
    return JobTimes(
        name=name,
        job_class=job_class,
        instances=instances,
        submitted=submitted * HOUR,
        held=started * HOUR,
        started=started * HOUR,
        stopped=stopped * HOUR,
        attempts=1,
        succeeded=True,
    )


def test_waits_run_from_submission_to_the_start_of_training() -> None:
    figures = waits_by_class([job("a", 1, 0, 1, 2), job("b", 1, 0, 3, 4), job("c", 1, 1, 1, 2, "production")])

    assert (figures["sweep"].mean, figures["sweep"].median, figures["sweep"].longest) == (2.0, 2.0, 3.0)
    assert figures["production"].mean == 0.0
    assert figures["all"].jobs == 3


def test_utilisation_counts_what_runs_inside_the_window_only() -> None:
    jobs = [job("a", 2, 0, 1, 3), job("before and after", 1, 0, 0, 9)]

    assert utilisation(jobs, capacity=4, window=4 * HOUR) == pytest.approx((2 * 2 + 1 * 4) / 16)


IDLE_CASES = {
    "idle with nobody waiting is no work": (
        Played("ours", (job("a", 1, 1, 1, 2),), 0, passes=(Pass(0, {"no_work": 2}, 0, 0),)),
        {"no_work": 2 * 3 - 1},
    ),
    "a reservation idles what its decision left": (
        Played(
            "ours",
            (job("runs", 1, 0, 0, 3), job("waits", 2, 0, 3, 4)),
            0,
            passes=(Pass(0, {"reservation": 1}, 0, 1),),
        ),
        {"reservation": 3.0},
    ),
    "what is freed after the last decision idles between passes": (
        Played(
            "ours",
            (job("short", 1, 0, 0, 1), job("waits", 2, 0, 3, 4), job("long", 1, 0, 0, 3)),
            0,
            passes=(Pass(0, {}, 0, 1), Pass(2 * HOUR, {"nothing_fits": 1}, 0, 1)),
        ),
        {"between_passes": 1.0, "nothing_fits": 1.0},
    ),
    "without decisions the head of the line is to blame": (
        Played("FIFO", (job("runs", 1, 0, 0, 3), job("waits", 2, 0, 3, 4)), 0),
        {"head_of_line": 3.0},
    ),
}


@pytest.mark.parametrize("case", IDLE_CASES, ids=list(IDLE_CASES))
def test_idle_gpu_hours_are_named(case: str) -> None:
    played, expected = IDLE_CASES[case]
    window = 3 * HOUR if "no work" in case else 4 * HOUR

    assert idle_hours(played, capacity=2, window=window) == pytest.approx(expected)
