"""When waiting jobs are expected to start."""

from dataclasses import replace

from pointsman.queues.effects import Effect
from pointsman.queues.estimates import Finished, History, Kind
from pointsman.queues.forecast import LAG, MOST_WAITING, expected_start, forecast
from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.policy import JobClass, Policy, Reservation
from pointsman.queues.view import QueueView

HOUR, NOW = 3600.0, 1_800_000_000.0
POLICY = Policy("q", (JobClass("production", head_start=24 * HOUR), JobClass("sweep")), share="all")
HISTORY = History().learn(Finished(Kind("a", "s", 1, "sweep"), HOUR * (1 + n / 20)) for n in range(20))


def kind(size: int = 1, job_class: str = "sweep") -> Kind:
    return Kind("a", "s", size, job_class)


def waits(name: str, *, size: int = 1, waited: float = 60.0, job_class: str = "sweep", priority: int = 0) -> WaitingJob:
    return WaitingJob(name, name, kind(size, job_class), size, NOW - waited, priority)


def runs(name: str, *, size: int = 1, elapsed: float = 60.0) -> BusyJob:
    return BusyJob(name, name, kind(size), size, NOW - elapsed, submitted=NOW - 9 * HOUR)


def view(
    *waiting: WaitingJob, busy: tuple[BusyJob, ...] = (), capacity: int = 2, history: History = HISTORY
) -> QueueView:
    used = sum(job.size for job in busy)
    return QueueView("q", NOW, capacity, used, movable=True, waiting=waiting, busy=busy, history=history)


FULL = (runs("r1"), runs("r2", elapsed=0.9 * HOUR))


def test_what_fits_starts_at_once() -> None:
    found = forecast(view(waits("a"), waits("b")), POLICY)
    assert {(e.p50, e.p90) for e in found.values()} == {(0.0, 0.0)}


def test_a_job_waits_for_the_end_of_what_runs_and_the_tail_is_later_than_the_middle() -> None:
    found = forecast(view(waits("a"), busy=FULL), POLICY)["a"]
    assert LAG < found.p50 < HOUR
    assert found.p50 < found.p90 < 3 * HOUR


def test_who_ranks_later_starts_later() -> None:
    found = forecast(view(*(waits(f"j{n}", waited=600 - n) for n in range(8)), busy=FULL), POLICY)
    medians = [found[f"j{n}"].p50 for n in range(8)]
    assert medians == sorted(medians)
    assert medians[7] > medians[0] + 2 * HOUR


def test_a_class_with_a_head_start_starts_first_though_it_came_last() -> None:
    found = forecast(
        view(waits("old", waited=HOUR), waits("prod", waited=1, job_class="production"), busy=FULL), POLICY
    )
    assert found["prod"].p50 < found["old"].p50


def test_a_big_job_waits_until_enough_is_free_at_once_and_one_beyond_the_pool_for_ever() -> None:
    found = forecast(view(waits("big", size=2), waits("huge", size=3), busy=FULL), POLICY)
    assert found["big"].p50 > HOUR / 2
    assert found["huge"].p50 == found["huge"].p90 == float("inf")


def test_where_nothing_is_moved_nobody_passes_the_first() -> None:
    seen = view(waits("big", size=2, waited=90), waits("small"), busy=(runs("r1"),))
    assert forecast(seen, POLICY)["small"].p50 == 0.0
    left = forecast(seen, POLICY, acts=False)
    assert left["small"].p50 >= left["big"].p50 > 0
    still = forecast(replace(seen, movable=False), POLICY)
    assert still == left


def test_the_same_view_gives_the_same_forecast() -> None:
    seen = view(*(waits(f"j{n}") for n in range(9)), busy=FULL)
    assert forecast(seen, POLICY) == forecast(seen, POLICY)


def test_jobs_that_outlive_what_has_ended_make_the_forecast_later() -> None:
    """A history of short jobs only is no promise while twenty jobs alike run for much longer."""
    short = History().learn(Finished(kind(), 600.0) for _ in range(5))
    queue = tuple(waits(f"j{n:02d}") for n in range(30))

    def last(elapsed: float) -> float:
        running = tuple(runs(f"r{n}", elapsed=elapsed) for n in range(20))
        return forecast(view(*queue, busy=running, capacity=20, history=short), POLICY)["j29"].p90

    assert last(60.0) < HOUR
    assert last(5 * HOUR) > 5 * HOUR


def test_without_any_history_there_is_a_forecast_and_a_wide_one() -> None:
    found = forecast(view(waits("a"), busy=FULL, history=History()), POLICY)["a"]
    assert 0 < found.p50 < found.p90 < float("inf")


def test_what_arrives_and_outranks_a_job_makes_it_later() -> None:
    quiet = view(waits("old", waited=12 * HOUR), busy=FULL)
    rush = tuple(replace(runs(f"p{n}"), kind=kind(1, "production"), submitted=NOW - HOUR) for n in range(2))
    busy = view(waits("old", waited=12 * HOUR), busy=rush)
    assert forecast(busy, POLICY)["old"].p90 >= forecast(quiet, POLICY)["old"].p50


def test_while_a_place_is_held_what_fits_waits_too() -> None:
    """An alarm counts as time waited, so that the place is held at once."""
    ruling = replace(POLICY, reservation=Reservation(3 * HOUR))
    jobs = (waits("big", size=3, waited=600, job_class="production"), waits("small"))
    seen = view(*jobs, busy=(runs("r1"), runs("r2")), capacity=3)
    assert forecast(seen, ruling)["small"].p90 == 0.0
    drift = Effect("drift", NOW - 60, "production", 12 * HOUR)
    held = forecast(replace(seen, effects=(drift,)), ruling)
    assert held["small"].p50 > held["big"].p50 > 0


def test_of_a_job_in_a_very_long_queue_no_start_is_told() -> None:
    kind = Kind("x", "a-#", 1, "sweep")
    jobs = [WaitingJob(f"{n:04}", f"a-{n}", kind, 1, float(n)) for n in range(MOST_WAITING + 1)]
    policy = Policy("q", (JobClass("sweep"),))
    assert expected_start(QueueView("q", 1e6, 8, 0, movable=True, waiting=jobs), policy, "0000") is None
