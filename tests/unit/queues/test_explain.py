"""Why a job waits, in the words of `queue explain`."""

from dataclasses import replace

import pytest

from pointsman.queues.decide import decide
from pointsman.queues.effects import Effect
from pointsman.queues.explain import AHEAD_SHOWN, Standing, explain, in_order
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.view import QueueView
from tests.unit.queues import quota_build as quota
from tests.unit.queues.build import HOUR, NOW, POLICY, UNLIMITED, after_moves, busy, view, waiting


def standing(of: QueueView, job_id: str) -> Standing:
    found = explain(of, UNLIMITED, decide(of, UNLIMITED), job_id)
    assert found is not None
    return found


BIG = waiting("big", size=6, waited=20 * HOUR)  # long enough to rank first


@pytest.mark.parametrize(
    "case, of, job_id, words",
    [
        ("it can never start", view(waiting("a", size=9), used=8), "a",
         "It can never start: it asks for 9 instances, the queue may use 8."),
        ("nothing can be moved", view(waiting("a"), used=8, movable=False), "a",
         "Nothing is moved in this queue, and it is first: it asks for 1 instance, 0 of 8 are free."),
        ("someone else set it", view(waiting("a", priority=7, foreign=True), used=8), "a",
         "Someone else set its priority to 7"),
        ("it is about to be lifted", view(waiting("a", size=2), used=6), "a", "ranks first and fits what is free."),
        ("it is lifted already", view(waiting("a", size=2, priority=4999), used=6), "a", "It is lifted to the front"),
        ("the place is held for it", view(replace(BIG, priority=4998), used=6), "big", "What is freed is held for it."),
        ("the place is held for another",
         view(replace(BIG, priority=4998), waiting("a", size=2), used=6, busy=[busy("x", 4, ran=3500.0)]), "a",
         "It would fit, but the place is held for sweep-big"),
        ("it stands by", view(waiting("a", priority=4997), used=8), "a", "It takes the next instance that is freed."),
        ("it does not fit", view(waiting("a", size=4), used=6), "a",
         "It does not fit: it asks for 4 instances, 2 of 8 are free."),
        ("others take what is free", view(waiting("a", size=2), waiting("b", size=2, waited=9), used=6), "a",
         "Jobs that rank before it take what is free."),
    ],
)  # fmt: skip
def test_a_waiting_job_is_told(case: str, of: QueueView, job_id: str, words: str) -> None:
    assert words in standing(of, job_id).holds, case


def test_a_job_that_does_not_wait_has_no_standing() -> None:
    of = view(waiting("a"))
    assert explain(of, UNLIMITED, decide(of, UNLIMITED), "b") is None


def test_a_job_knows_its_place_how_long_it_waited_and_who_is_ahead() -> None:
    jobs = [waiting(f"{n:02}", waited=600.0 - n) for n in range(9)]
    last = standing(view(*jobs, used=8), "08")
    assert (last.position, last.waiting, last.waited, last.expected) == (9, 9, 592.0, 3600.0)
    assert [one.job.job_id for one in last.ahead] == ["00", "01", "02", "03", "04"]
    assert len(last.ahead) == AHEAD_SHOWN
    first = standing(view(*jobs, used=8), "00")
    assert (first.position, first.ahead) == (1, ())


def test_the_parts_of_the_score_are_said_with_the_alarm_that_raised_them() -> None:
    drift = Effect("ranker-drift", NOW - 9, "research", 12 * HOUR)
    of = view(waiting("r", "research", size=1, gpus=7, waited=HOUR), used=8, effects=[drift])
    assert standing(of, "r").score_parts == (
        ("waiting since", "1.0 h ago"),
        ("head start", "18.0 h (research, raised by alarm ranker-drift)"),
        ("put back", "18.0 h (expected 7.0 GPU-hours)"),
    )


def test_the_order_shown_is_the_order_in_which_the_front_is_chosen() -> None:
    jobs = [waiting("s", waited=9 * HOUR), waiting("r", "research"), waiting("p", "production", waited=5)]
    of = view(*jobs, used=5)
    assert [c.job.job_id for c in in_order(of, POLICY)] == ["p", "s", "r"]
    lifted = [j.job_id for j in after_moves(of.waiting, decide(of, POLICY).moves) if j.priority == 4999]
    assert set(lifted) == {"p", "s", "r"}


def test_where_nothing_is_moved_the_order_is_batchs_own_and_the_first_holds_all() -> None:
    """Production came last: in a FIFO queue its head start is worth nothing."""
    jobs = (waiting("a", size=6, waited=900), waiting("b", waited=600), waiting("p", "production", waited=60))
    last = standing(view(*jobs, used=4, movable=False), "p")
    assert [(one.job.job_id, one.why) for one in last.ahead] == [
        ("a", "came 14 min before"),
        ("b", "came 9 min before"),
    ]
    assert last.position == 3
    assert last.holds == (
        "Nothing is moved in this queue, so nothing passes the first. That is sweep-a (sweep, 6 instances), which asks "
        "for 6 instances, 4 of 8 are free."
    )
    assert (
        last.head_holds == "Nothing is moved in this queue, and it is first: it asks for 6 instances, 4 of 8 are free."
    )


def test_of_a_container_queue_neither_capacity_nor_an_end_is_claimed() -> None:
    of = replace(view(waiting("a", waited=60), waiting("b"), movable=False), capacity=0)
    second = standing(of, "b")
    assert "which is looked at by Batch's compute environments, of which Pointsman knows nothing" in second.holds
    assert decide(of, UNLIMITED).told == (), "a capacity that is not known is none that a job exceeds"


def why(of: QueueView, job_id: str) -> list[tuple[str, str]]:
    return [(one.job.job_id, one.why) for one in standing(of, job_id).ahead]


def test_each_job_ahead_is_told_with_what_counts_most_for_it() -> None:
    now = waiting("x", waited=60)
    assert why(view(now, waiting("old", waited=7260), used=8), "x") == [("old", "came 2.0 h before")]
    assert why(view(now, waiting("p", "production", waited=30), used=8), "x") == [("p", "has 24.0 h more head start")]
    long = waiting("long", size=8, waited=60)
    assert why(view(long, waiting("short", waited=50), used=8), "long") == [
        ("short", "is put back 13.0 h less, as it is expected to take less")
    ]
    pin = Pin("x", NOW + 60, PinKind.FIRST, "ana", NOW)
    assert why(view(now, waiting("old", waited=9 * HOUR), used=8, pins=(pin,)), "old") == [
        ("x", "was put first by ana")
    ]


def test_what_holds_the_first_is_said_to_all_behind_it() -> None:
    of = view(waiting("a", size=4, waited=9 * HOUR), waiting("b", size=3), used=6)
    assert standing(of, "b").head_holds == standing(of, "a").holds
    assert "for it" in standing(of, "b").head_holds
    assert standing(of, "a").head_holds == ""


def test_where_jobs_can_be_evicted_who_has_waited_its_limit_is_told_to_be_first_as_it_is() -> None:
    limited = replace(quota.POLICY, classes=POLICY.classes)
    late = quota.waits("late", "production", waited=HOUR + 1, size=8)
    of = quota.quota_view(late, quota.waits("due", "sweep", waited=100 * HOUR, size=8), quota.runs("x", 8))
    assert [candidate.overdue for candidate in in_order(of, limited)] == [True, False]
    assert not any(candidate.overdue for candidate in in_order(of, replace(limited, preemption=None)))
