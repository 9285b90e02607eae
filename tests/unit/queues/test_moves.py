"""From what should start to what is written, and why."""

from dataclasses import replace

import pytest

from pointsman.queues.decide import decide
from pointsman.queues.effects import Effect
from pointsman.queues.estimates import Finished, Kind
from pointsman.queues.moves import FRONT, RESERVED
from pointsman.queues.reasons import Move, Reason
from pointsman.queues.view import QueueView
from tests.unit.queues.build import HOUR, NOW, POLICY, UNLIMITED, after_moves, busy, lasting, view, waiting
from tests.unit.queues.case_build import due, first


def moves(of: QueueView) -> list[Move]:
    return list(decide(of, UNLIMITED).moves)


def written(of: QueueView) -> dict[str, tuple[int, Reason]]:
    return {move.job_id: (move.after, move.reason) for move in moves(of)}


BIG = waiting("big", size=6, waited=3 * HOUR)


@pytest.mark.parametrize(
    "case, of, wanted",
    [
        ("the front is lifted", view(waiting("a", size=2), used=6), {"a": (FRONT, Reason.FRONT)}),
        ("what passes a big one is a backfill",
         view(waiting("big", size=4, waited=9, gpus=1), waiting("a", size=2), used=6), {"a": (FRONT, Reason.BACKFILL)}),
        ("a place is held, and the front beside it is lifted above",
         view(BIG, waiting("a", size=2), used=6, busy=[busy("x", 6)]),
         {"big": (RESERVED, Reason.RESERVED), "a": (FRONT, Reason.FRONT)}),
        ("what no longer fits goes back to what it was submitted with",
         view(waiting("a", size=2, priority=FRONT, submitted_priority=12), used=7), {"a": (12, Reason.RETURNED)}),
        ("a place that is held no longer is given back",
         view(waiting("a", size=2, priority=RESERVED, waited=60), used=7), {"a": (0, Reason.RETURNED)}),
        ("what has its number already is not written", view(waiting("a", size=2, priority=FRONT), used=6), {}),
        ("the held job keeps its number", view(replace(BIG, priority=RESERVED), used=6), {}),
        ("a foreign job is left, fits or not",
         view(waiting("a", priority=FRONT, foreign=True), waiting("b", priority=3, foreign=True, size=8), used=7), {}),
        ("a job submitted at the front's own number needs no write",
         view(waiting("a", size=2, priority=FRONT, submitted_priority=FRONT), used=6), {}),
        ("deep jobs keep what they were submitted with",
         view(waiting("a", size=2, waited=9), waiting("deep", size=2, priority=5, submitted_priority=5), used=6),
         {"a": (FRONT, Reason.FRONT)}),
    ],
)  # fmt: skip
def test_what_is_written(case: str, of: QueueView, wanted: dict[str, tuple[int, Reason]]) -> None:
    assert written(of) == wanted, case


def test_an_overdue_job_is_lifted_as_overdue() -> None:
    of = view(waiting("p", "production", waited=2 * HOUR + 1, size=2), used=6)
    assert [move.reason for move in decide(of, POLICY).moves] == [Reason.OVERDUE]


def test_who_stands_by_and_fits_is_lifted_where_a_new_list_would_pass_it() -> None:
    stands, full = waiting("stands", waited=9, priority=4672), [waiting(f"w{n}") for n in range(3)]
    after = written(view(stands, *full, used=7))
    assert after["stands"] == (FRONT, Reason.FRONT)
    assert all(priority < FRONT for job_id, (priority, _) in after.items() if job_id != "stands")


LATE = waiting("late", "production", waited=2 * HOUR + 1, priority=4798)


@pytest.mark.parametrize(
    "case, of",
    [
        ("one who has waited too long", view(LATE)),
        ("one whom a person put first", view(replace(LATE, submitted=NOW), pins=[first("late")])),
        ("one who must start to meet a deadline", view(due(replace(LATE, submitted=NOW), HOUR))),
    ],
)
def test_who_stands_by_and_goes_first_is_lifted_where_one_behind_it_is_lifted_off_the_list(
    case: str, of: QueueView
) -> None:
    behind, tops = waiting("behind", waited=60.0, priority=4600), waiting("tops", waited=30.0, priority=4700)
    after = [
        (move.job_id, move.after)
        for move in decide(replace(of, waiting=[*of.waiting, behind, tops], used=6), POLICY).moves
    ]
    assert after == [("late", FRONT), ("behind", FRONT)], case


def test_who_stands_by_and_has_waited_too_long_keeps_its_place_where_one_before_it_is_lifted() -> None:
    before = waiting("before", "production", waited=3 * HOUR)
    of = view(before, LATE, used=6)
    assert [(move.job_id, move.after) for move in decide(of, POLICY).moves] == [("before", FRONT)]


def test_what_blocks_is_returned_before_anything_is_lifted() -> None:
    blocked = waiting("blocks", size=4, priority=FRONT, gpus=64)
    assert [move.job_id for move in moves(view(blocked, waiting("a", size=2), used=6))] == ["blocks", "a"]


def test_what_blocks_the_most_is_returned_first_whatever_the_order_of_the_waiting() -> None:
    blocked = [waiting("held", size=4, priority=RESERVED), waiting("b", size=4, priority=FRONT),
               waiting("a", size=4, priority=FRONT), waiting("old", size=4, priority=FRONT, waited=9)]  # fmt: skip
    for jobs in (blocked, blocked[::-1]):
        assert [move.job_id for move in moves(view(*jobs, used=8))] == ["old", "a", "b", "held"]


def test_every_move_says_why_and_names_both_parties() -> None:
    big = waiting("big", size=4, waited=9, gpus=1)
    (move,) = moves(view(big, waiting("a", size=2), used=6))
    assert (move.before, move.after, move.job_name, move.job_class) == (0, FRONT, "sweep-a", "sweep")
    assert move.sentence == (
        "sweep-a (sweep, 2 instances) fits what is free; sweep-big (sweep, 4 instances) ranks before it and does not."
    )


def test_what_passes_another_although_a_place_is_held_says_whom_it_does_not_delay_and_who_would() -> None:
    soon = Kind("ranker", "short-#", 2, "sweep")
    short = replace(waiting("short", size=2), kind=soon)
    late = waiting("long", size=2, waited=16 * HOUR)
    big = waiting("big", size=8, waited=30 * HOUR)
    known = lasting(60.0, soon).learn(Finished(late.kind, 9000.0) for _ in range(3))
    of = view(big, late, short, used=6, busy=[busy("x", 6, ran=1800.0)], history=known)
    lifted = next(move for move in moves(of) if move.job_id == "short")
    assert lifted.sentence == (
        "sweep-short (sweep, 2 instances) does not delay sweep-big (sweep, 8 instances), for which a place is held; "
        "sweep-long (sweep, 2 instances) ranks before it and would."
    )


def test_a_held_place_says_how_long_the_job_waited_and_when_it_will_fit() -> None:
    (move,) = moves(view(BIG, used=6, busy=[busy("x", 6, ran=1800.0)]))
    assert move.sentence == (
        "sweep-big (sweep, 6 instances) has waited 3.0 h; what is freed is held for it, it is expected to fit "
        "about 30 min from now."
    )


DRIFT = Effect("ranker-drift", NOW - 60, "research", 12 * HOUR, NOW + HOUR)


def test_a_move_that_an_alarm_causes_names_the_alarm() -> None:
    older, boosted = waiting("s", size=2, waited=10 * HOUR), waiting("r", "research", size=2)
    calm = view(older, boosted, used=6)
    assert written(calm) == {"s": (FRONT, Reason.FRONT)}
    (move,) = moves(replace(calm, effects=[DRIFT]))
    assert (move.job_id, move.reason) == ("r", Reason.BOOSTED)
    assert move.sentence.endswith("Alarm ranker-drift gives research 12.0 h more head start.")


def test_a_move_that_would_be_made_without_the_alarm_does_not_name_it() -> None:
    boosted = waiting("r", "research", size=2)
    assert written(view(boosted, used=6, effects=[DRIFT])) == {"r": (FRONT, Reason.FRONT)}


def test_once_the_effect_has_ended_the_same_jobs_go_back() -> None:
    older, boosted = waiting("s", size=2, waited=10 * HOUR), waiting("r", "research", size=2)
    during = view(older, boosted, used=6, effects=[DRIFT])
    lifted = after_moves(during.waiting, moves(during))
    over = replace(during, waiting=lifted, effects=[replace(DRIFT, ended=NOW)])
    assert written(over) == {"r": (0, Reason.RETURNED), "s": (FRONT, Reason.FRONT)}
