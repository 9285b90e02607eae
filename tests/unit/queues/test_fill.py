"""What starts now: on all that is free, or beside and before the held place; and what then stands idle, by name."""

from dataclasses import replace

import pytest

from pointsman.queues.decide import decide
from pointsman.queues.effects import Effect
from pointsman.queues.fill import fill
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.moves import Hold
from pointsman.queues.ranking import ranks_at
from pointsman.queues.reasons import Idle
from pointsman.queues.view import QueueView
from tests.unit.queues.build import HOUR, NOW, POLICY, UNLIMITED, busy, view, waiting


def chosen(of: QueueView, hold: Hold | None = None) -> list[str]:
    return [c.job.job_id for c, _ in fill(of, ranks_at(POLICY, of.effects, of.now), hold)]


def passed_by(of: QueueView) -> dict[str, str | None]:
    front = fill(of, ranks_at(POLICY, of.effects, of.now), None)
    return {c.job.job_id: passed.job.job_id if passed else None for c, passed in front}


@pytest.mark.parametrize(
    "case, of, wanted",
    [
        ("what fits, best first", view(waiting("a", waited=1), waiting("b", waited=2), waiting("c", waited=3), used=6),
         ["c", "b"]),
        ("nothing, when nothing is free", view(waiting("a"), used=8), []),
        ("nothing, when more is used than there is", view(waiting("a"), used=11), []),
        ("the big one first, when it fits", view(waiting("big", size=4, waited=9, gpus=1), waiting("a"), used=4),
         ["big"]),
        ("a smaller one past a big one that does not fit",
         view(waiting("big", size=4, waited=9, gpus=1), waiting("a"), used=6), ["a"]),
        ("nobody of the size that did not fit",
         view(waiting("big", size=4, waited=9), waiting("big2", size=4, waited=8), used=6), []),
        ("not a job whose priority someone else set",
         view(waiting("x", priority=7, foreign=True, waited=9), waiting("a"), used=7), ["a"]),
        ("nobody for what is bigger than the queue", view(waiting("huge", size=64), waiting("a"), used=0), ["a"]),
    ],
)  # fmt: skip
def test_the_front_is(case: str, of: QueueView, wanted: list[str]) -> None:
    assert chosen(of) == wanted, case


def test_a_job_is_told_whom_it_passes_and_nobody_when_it_passes_nobody() -> None:
    jobs = (waiting("first", waited=9), waiting("big", size=4, waited=8, gpus=1), waiting("last", waited=1))
    assert passed_by(view(*jobs, used=6)) == {"first": None, "last": "big"}


BIG = waiting("big", size=6, waited=20 * HOUR)  # long enough to rank first


@pytest.mark.parametrize(
    "case, until, spare, jobs, wanted",
    [
        ("what ends in time takes all that is free", 3600.0, 0, [waiting("a", waited=2), waiting("b", waited=1)],
         ["a", "b"]),
        ("what ends too late takes only what is spare", 3599.0, 1, [waiting("a", waited=2), waiting("b", waited=1)],
         ["a"]),
        ("a job of two does not fit a spare of one", 10.0, 1, [waiting("two", size=2, waited=3), waiting("a")], ["a"]),
        ("nothing is spare, nothing ends in time: nothing starts", 10.0, 0, [waiting("a")], []),
    ],
)  # fmt: skip
def test_while_a_place_is_held(case: str, until: float, spare: int, jobs: list[WaitingJob], wanted: list[str]) -> None:
    assert chosen(view(BIG, *jobs, used=5), Hold(BIG, NOW + until, spare)) == wanted, case


def test_a_job_that_ranks_before_the_held_one_starts_whatever_it_delays() -> None:
    urgent = waiting("urgent", "production", waited=2)

    assert chosen(view(BIG, urgent, waiting("a"), used=5), Hold(BIG, NOW + 10, 0)) == ["urgent"]


def test_what_ranks_before_the_held_job_starts_whatever_it_delays_and_what_ranks_after_it_does_not() -> None:
    before = waiting("before", "production", size=2)
    after = waiting("after", size=2, waited=HOUR)
    hold = Hold(BIG, NOW + 10.0, 0)
    assert chosen(view(BIG, before, after, used=4), hold) == ["before"]


def test_the_held_job_itself_is_not_filled_in() -> None:
    assert chosen(view(BIG, used=0), Hold(BIG, NOW, 0)) == []


@pytest.mark.parametrize(
    "case, of, wanted",
    [
        ("a full queue idles nothing", view(waiting("a"), used=8), ()),
        ("a queue that is filled idles nothing", view(waiting("a", size=2), used=6), ()),
        ("no work", view(used=3), ((Idle.NO_WORK, 5),)),
        ("nothing fits", view(waiting("big", size=4, waited=60), used=6), ((Idle.NOTHING_FITS, 2),)),
        ("what is left beside the front", view(waiting("a", size=5, waited=60), waiting("b", size=5), used=0),
         ((Idle.NOTHING_FITS, 3),)),
        ("a reservation", view(BIG, waiting("a"), used=6, busy=[busy("x", 4, ran=3000.0)]),
         ((Idle.RESERVATION, 2),)),
        ("a reservation is not to blame for what is left once all have started",
         view(BIG, waiting("a"), used=6, busy=[busy("x", 6, ran=3000.0)]), ((Idle.NOTHING_FITS, 1),)),
        ("a reservation is not to blame where nothing else would fit", view(BIG, used=6, busy=[busy("x", 6)]),
         ((Idle.NOTHING_FITS, 2),)),
        ("a queue that nobody can move", view(waiting("a"), used=6, movable=False), ((Idle.NOT_RULED, 2),)),
    ],
)  # fmt: skip
def test_instances_idle_by_name(case: str, of: QueueView, wanted: tuple[tuple[Idle, int], ...]) -> None:
    assert decide(of, POLICY).idle == wanted, case


@pytest.mark.parametrize(
    "case, of, seconds",
    [
        ("an empty queue is looked at every five minutes", view(), 300.0),
        ("one in which jobs only run is as well", view(used=1, busy=[busy("x", 1)]), 300.0),
        ("a queue with waiting jobs every minute", view(waiting("a"), used=8), 60.0),
        ("when a job has waited for the reservation", view(waiting("a", waited=2 * HOUR - 40), used=8), 40.0),
        ("when a job is past its limit", view(waiting("p", "production", waited=2 * HOUR - 45), used=8), 45.0),
        ("not sooner than the least gap", view(waiting("a", waited=2 * HOUR - 2), used=8), 30.0),
        ("a moment that is past does not count", view(waiting("a", waited=2 * HOUR + 5), used=8), 60.0),
        ("when an alarm's effect ends",
         view(waiting("a"), used=8, effects=[Effect("drift", NOW - 9, "sweep", HOUR, NOW + 50)]), 50.0),
        ("an effect that is over does not count",
         view(waiting("a"), used=8, effects=[Effect("drift", NOW - 99, "sweep", HOUR, NOW + 50, NOW - 50)]), 60.0),
    ],
)  # fmt: skip
def test_the_next_wake_is(case: str, of: QueueView, seconds: float) -> None:
    assert decide(of, POLICY).next_wake == NOW + seconds, case


def test_a_queue_that_cannot_be_moved_gives_no_moves_and_holds_nothing() -> None:
    decision = decide(view(BIG, waiting("a"), used=6, movable=False), POLICY)
    assert (decision.moves, decision.hold, decision.backfills) == ((), None, 0)


def test_a_backfill_is_counted_when_it_is_lifted_and_not_again_after() -> None:
    big, small = waiting("big", size=4, waited=9, gpus=1), waiting("a")
    assert decide(view(big, small, used=6), UNLIMITED).backfills == 1
    assert decide(view(big, replace(small, priority=4999), used=6), UNLIMITED).backfills == 0


@pytest.mark.parametrize(
    "case, hours, wanted",
    [
        ("no job goes before it merely for being small", 3.0, []),
        ("one does that has waited so much longer", 6.0, ["small"]),
    ],
)
def test_however_wide_the_spread_while_a_place_is_held(case: str, hours: float, wanted: list[str]) -> None:
    """The held job asks for 6 GPU-hours: at 1.5 h a doubling it stands 2.7 h behind one of 1 GPU-hour."""
    wide = replace(UNLIMITED, spread=100 * HOUR)
    held = waiting("held", "sweep", size=6, waited=6 * HOUR)
    of = view(held, waiting("small", waited=hours * HOUR), used=6)
    front = fill(of, ranks_at(wide, (), NOW), Hold(held, NOW + 60.0, 0))
    assert [c.job.job_id for c, _ in front] == wanted, case
