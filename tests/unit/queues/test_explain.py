"""Why a job waits, in the words of `queue explain`."""

from dataclasses import replace

import pytest

from pointsman.queues.decide import decide
from pointsman.queues.effects import Effect
from pointsman.queues.explain import AHEAD_SHOWN, Standing, explain, in_order
from pointsman.queues.view import QueueView
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
        ("nothing can be moved", view(waiting("a"), used=8, movable=False), "a", "Nothing in this kind of queue can"),
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
    assert [job.job_id for job in last.ahead] == ["00", "01", "02", "03", "04"]
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
