"""A day counts everything once: its figures, its ledger, and the turn of the day."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.queues.day_sums import ClassSums, DaySums, Use
from pointsman.queues.days import DAY, LATE, UNSEEN, Day, Look, SeenJob, count

NOON = 20_000 * DAY + DAY / 2
MIDNIGHT = 20_001 * DAY
QUEUE = "search-training"
FULL = Use(capacity=8, held=8, working=6, gpus=6, waiting=3)


def job(job_id: str = "a", **more: object) -> SeenJob:
    known = SeenJob(job_id, "production", created=NOON - 600, moment=NOON + 20, started=NOON + 20, running=True, gpus=2)
    return replace(known, **more)  # type: ignore[arg-type]


def after(*looks: Look) -> list[Day]:
    """Every day as it stands after these looks, the oldest first."""
    stored: dict[str, Day] = {}
    for look in looks:
        newest = stored[max(stored)] if stored else None
        stored |= {day.day: day for day in count(QUEUE, newest, look)}
    return [day for _, day in sorted(stored.items())]


def look(at: float, *jobs: SeenJob, use: Use = FULL, **more: object) -> Look:
    return replace(Look(at, use, jobs), **more)  # type: ignore[arg-type]


def test_what_was_in_use_counts_until_the_next_look() -> None:
    (day,) = after(look(NOON), look(NOON + 60, use=replace(FULL, working=8, waiting=9)), look(NOON + 100))

    assert day.sums.seen == 100
    assert day.sums.working == 60 * 6 + 40 * 8
    assert day.sums.utilisation == pytest.approx((60 * 6 + 40 * 8) / 800)
    assert day.sums.depth == pytest.approx((60 * 3 + 40 * 9) / 100)
    assert day.sums.deepest == 9


def test_time_in_which_nobody_looked_is_not_counted() -> None:
    (day,) = after(look(NOON), look(NOON + UNSEEN), look(NOON + UNSEEN + 60))

    assert day.sums.seen == 60


def test_a_job_that_is_seen_again_and_again_started_once() -> None:
    (day,) = after(look(NOON), *(look(NOON + 30 * n, job()) for n in range(1, 9)))

    assert day.sums.classes["production"] == ClassSums(1, 620.0, {22: 1})


def test_the_same_look_twice_adds_nothing() -> None:
    once = after(look(NOON), look(NOON + 30, job(), moves=["production"]))

    assert after(look(NOON), *[look(NOON + 30, job(), moves=["production"])] * 2) == once


def test_a_job_that_ran_before_the_first_look_or_long_ago_is_not_counted() -> None:
    early = job("early", started=NOON - 60)
    long_ago = job("rebuilt", started=NOON - LATE - 1)

    (day,) = after(look(NOON, early), look(NOON + 30, early, long_ago))

    assert day.sums.classes == {}


def test_a_job_that_the_table_lacks_for_a_while_is_not_counted_again() -> None:
    (day,) = after(look(NOON), look(NOON + 30, job()), look(NOON + 60), look(NOON + 600, job()))

    assert day.sums.all_classes.started == 1


def test_a_job_that_is_not_known_for_sure_is_counted_when_it_is() -> None:
    (day,) = after(look(NOON), look(NOON + 30, job(sure=False)))
    assert day.sums.all_classes.started == 0

    (day,) = after(look(NOON), look(NOON + 30, job(sure=False)), look(NOON + 60, job()))
    assert day.sums.all_classes.started == 1


def test_an_eviction_loses_what_was_not_saved_and_is_no_second_start() -> None:
    runs = job(saved=NOON + 100)
    waits = job(running=False, started=None, moment=NOON + 400, preemptions=1)
    told = {"a": "evicted"}

    (day,) = after(
        look(NOON),
        look(NOON + 390, runs),
        look(NOON + 410, waits, reasons=told),
        look(NOON + 440, waits, reasons=told),
        look(NOON + 470, job(started=NOON + 460, preemptions=1)),
    )

    sums = day.sums.classes["production"]
    assert (sums.started, sums.evictions, sums.lost) == (1, 1, 300.0 * 2)
    assert day.sums.evictions == {"evicted": 1}


def test_at_midnight_use_is_split_and_what_was_before_counts_for_the_day_that_is_over() -> None:
    late = job("late", created=MIDNIGHT - 90, started=MIDNIGHT - 5, moment=MIDNIGHT - 5)
    fresh = job("fresh", created=MIDNIGHT - 90, started=MIDNIGHT + 5, moment=MIDNIGHT + 5)

    over, opened = after(look(MIDNIGHT - 20), look(MIDNIGHT + 10, late, fresh, moves=["production"]))

    assert (over.day, opened.day) == ("2024-10-04", "2024-10-05")
    assert (over.sums.seen, opened.sums.seen) == (20, 10)
    assert over.sums.classes["production"] == replace(ClassSums().with_start(85.0), moves=1)
    assert opened.sums.classes["production"] == ClassSums().with_start(95.0)
    assert over.ledger is None
    assert opened.ledger is not None


def test_a_clock_that_was_ahead_stops_the_count_for_half_an_hour_at_most() -> None:
    (day,) = after(look(NOON), look(NOON + DAY / 4), look(NOON + 60), look(NOON + 120))

    assert day.sums.seen == 60


def test_days_add_up_to_a_week() -> None:
    one = DaySums(evictions={"evicted": 1}).over(FULL, 60).of_class("sweep", ClassSums().with_start(60))
    other = DaySums(deepest=7, evictions={"evicted": 2}).over(FULL, 30).of_class("sweep", ClassSums().with_start(600))

    both = one + other

    assert both.seen == 90
    assert both.deepest == 7
    assert both.evictions == {"evicted": 3}
    assert both.classes["sweep"].started == 2
    assert both.classes["sweep"].mean == 330


@given(st.lists(st.floats(15, 1e6), min_size=1, max_size=40), st.sampled_from([0.5, 0.9]))
def test_a_quantile_is_at_most_a_fifth_above_what_was_waited(waits: Sequence[float], part: float) -> None:
    sums = ClassSums()
    for wait in waits:
        sums = sums.with_start(wait)
    exact = sorted(waits)[max(0, -int(-part * len(waits) // 1) - 1)]

    told = sums.quantile(part)

    assert told is not None
    assert exact * 0.999 <= told <= exact * 1.2


@given(st.sets(st.integers(1, 5000), min_size=2, max_size=20), st.data())
def test_looks_that_are_lost_cost_no_start(times: set[int], data: st.DataObject) -> None:
    jobs = [job(str(n), created=NOON, started=NOON + n, moment=NOON + n) for n in range(0, 5000, 500)]
    looks = [look(NOON + at, *(one for one in jobs if (one.started or 0) <= NOON + at)) for at in sorted(times)]
    kept = [one for one in looks[:-1] if data.draw(st.booleans())]
    some = after(look(NOON - 1), *kept, looks[-1])

    assert some[-1].sums.all_classes.started == len(looks[-1].jobs)
    assert all(here.day < there.day for here, there in pairwise(some))
