"""How long a job will run, by those alike that have finished."""

import pytest

from pointsman.queues.estimates import (
    CIRCLES_KEPT,
    CRASHES_KEPT,
    KEPT,
    UNKNOWN_SECONDS,
    Finished,
    History,
    Kind,
    name_pattern,
)

KIND = Kind("ranker", "prod-#", 2, "production")


def learned(*durations: float, kind: Kind = KIND) -> History:
    return History().learn(Finished(kind, seconds) for seconds in durations)


@pytest.mark.parametrize(
    "name, pattern",
    [
        ("sweep-lr-0.001-trial-17", "sweep-lr-#.#-trial-#"),
        ("train-20261201093000", "train-#"),
        ("ranker-9f86d081884c7d65", "ranker-#"),
        ("bert-base", "bert-base"),
        ("decade", "decade"),
        ("", ""),
    ],
)
def test_a_pattern_is_the_name_without_counters_dates_and_hashes(name: str, pattern: str) -> None:
    assert name_pattern(name) == pattern


def test_nothing_finished_means_an_hour() -> None:
    assert History().predict(KIND) == UNKNOWN_SECONDS == 3600.0


@pytest.mark.parametrize(
    "durations, wanted",
    [((), UNKNOWN_SECONDS), ((60.0, 600.0, 900.0), 900.0), (tuple(map(float, range(1, 21))), 18.0)],
)
def test_a_careful_estimate_is_one_that_nine_of_ten_do_not_exceed(durations: tuple[float, ...], wanted: float) -> None:
    assert learned(*durations).careful(KIND) == wanted


def test_jobs_that_failed_soon_are_counted_until_one_runs_to_its_end_and_teach_no_run_time() -> None:
    other = Kind("vision", "else", 2, "production")
    history = History().learn([Finished(KIND, 5.0, crashed=True)] * 3 + [Finished(other, 5.0, crashed=True)])
    assert (history.crashed(KIND), history.crashed(other), history.circles) == (3, 1, {})
    history = history.learn([Finished(KIND, 900.0)])
    assert (history.crashed(KIND), history.crashed(other)) == (0, 1)


def test_of_kinds_that_fail_the_oldest_are_forgotten() -> None:
    kinds = [Kind(f"team-{n}", "x", 1, "sweep") for n in range(CRASHES_KEPT + 5)]
    history = History().learn(Finished(kind, 1.0, crashed=True) for kind in kinds)
    assert (len(history.crashes), history.crashed(kinds[4]), history.crashed(kinds[5])) == (CRASHES_KEPT, 0, 1)


@pytest.mark.parametrize(
    "case, other",
    [
        ("the same kind", KIND),
        ("the same team, size and class", Kind("ranker", "else", 2, "production")),
        ("the same size and class", Kind("vision", "else", 2, "production")),
        ("the same class", Kind("vision", "else", 16, "production")),
    ],
)
def test_three_finished_jobs_of_a_circle_are_trusted(case: str, other: Kind) -> None:
    assert learned(60.0, 600.0, 900.0, kind=other).predict(KIND) == 600.0, case
    assert learned(60.0, 600.0, kind=other).predict(KIND) == UNKNOWN_SECONDS, f"{case}, but two are too few"


def test_a_job_of_another_class_teaches_nothing() -> None:
    assert learned(60.0, 60.0, 60.0, kind=Kind("ranker", "prod-#", 2, "sweep")).predict(KIND) == UNKNOWN_SECONDS


def test_the_narrowest_circle_with_enough_jobs_answers() -> None:
    wide = [Finished(Kind("vision", "else", 2, "production"), 9000.0)] * 9
    narrow = [Finished(KIND, 60.0)] * 3
    assert History().learn([*narrow, *wide]).predict(KIND) == 60.0
    assert History().learn([*narrow[:2], *wide]).predict(KIND) == 9000.0


def test_only_the_newest_durations_count() -> None:
    history = learned(*[9000.0] * KEPT, *[60.0] * KEPT)
    assert history.alike(KIND) == (60.0,) * KEPT


def test_learning_leaves_the_earlier_history_as_it_was() -> None:
    before = learned(60.0, 60.0, 60.0)
    before.learn([Finished(KIND, 9000.0)] * 20)
    assert before.predict(KIND) == 60.0


def test_circles_unused_for_longest_are_forgotten_first() -> None:
    many = History({f"old-{n}": (1.0,) for n in range(CIRCLES_KEPT)}).learn([Finished(KIND, 60.0)])
    assert len(many.circles) == CIRCLES_KEPT
    assert "old-3" not in many.circles
    assert "old-4" in many.circles
    assert KIND.circles()[0] in many.circles


@pytest.mark.parametrize(
    "case, elapsed, left",
    [
        ("not started: the median of all", 0.0, 600.0),
        ("the median of those that ran longer", 500.0, 250.0),
        ("one that ran exactly so long has not run longer", 600.0, 300.0),
        ("one that outlives all runs as long again", 7200.0, 7200.0),
        ("exactly as long as the longest", 900.0, 900.0),
    ],
)
def test_what_is_left_of_a_running_job_is(case: str, elapsed: float, left: float) -> None:
    assert learned(60.0, 600.0, 900.0).remaining(KIND, elapsed) == left, case


def test_what_is_left_of_a_job_of_no_known_kind_is_the_rest_of_an_hour_and_never_nothing() -> None:
    assert History().remaining(KIND, 600.0) == 3000.0
    assert History().remaining(KIND, 4000.0) == 4000.0
    assert learned(1.0, 1.0, 1.0).remaining(KIND, 10.0) == 60.0
