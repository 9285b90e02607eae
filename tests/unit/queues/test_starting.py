"""Whom Batch starts by itself, and that nobody is raised into the places that those take."""

from dataclasses import replace

import pytest

from pointsman.queues.decide import decide
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.levels import IN_LINE, PROTECTED, SHIELD
from pointsman.queues.moves import FRONT
from pointsman.queues.quota import Rooms
from pointsman.queues.starting import starting
from pointsman.queues.waiting import Waiting
from tests.unit.queues.build import HOUR
from tests.unit.queues.quota_build import GPU, POLICY, quota_view, runs, share, waits

CALM = replace(POLICY, preemption=None)


@pytest.mark.parametrize(
    "case, jobs, wanted",
    [
        ("the oldest while they fit", [waits("a", size=3, waited=9), waits("b", waited=8), waits("c", waited=7)], "ab"),
        ("nobody behind the first that does not fit", [waits("a", size=5, waited=9), waits("b", waited=8)], ""),
        ("the raised before the older", [waits("a", size=3, waited=9), waits("b", size=2, priority=IN_LINE)], "b"),
        ("of several of one moment nobody is named where not all fit", [waits("a", size=3), waits("b", size=2)], ""),
        ("where all do, all start", [waits("a", size=2), waits("b", size=2)], "ab"),
    ],
)
def test_it_starts(case: str, jobs: list[WaitingJob], wanted: str) -> None:
    of = quota_view(*jobs, runs("r", 4))
    rooms = Rooms(of.quota_shares, of.pool, of.busy)
    assert "".join(job.job_id for job in starting("team", Waiting(jobs), rooms)) == wanted, case


def test_where_one_of_several_takes_what_is_free_nothing_of_it_is_left() -> None:
    jobs = [waits("a", size=3), waits("b", size=3)]
    of = quota_view(*jobs, runs("r", 4))
    rooms = Rooms(of.quota_shares, of.pool, of.busy)
    starting("team", Waiting(jobs), rooms)
    assert not rooms.fits("team", {"ml.g5.xlarge": 2})


def test_nobody_is_raised_into_a_place_that_the_first_in_line_takes() -> None:
    first, better = waits("first", size=4, waited=HOUR), waits("better", "production", size=4)
    moves = {move.job_id: move.after for move in decide(quota_view(first, better, runs("r", 4)), CALM).moves}
    assert moves == {"first": FRONT}


@pytest.mark.parametrize(
    "case, other, room, wanted",
    [
        ("what is free for both goes to who is first by itself", waits("first", size=2, of="zeta"), 3, {}),
        ("there is enough for both", waits("first", size=1, of="zeta"), 3, {"better": FRONT}),
        ("whose share is full takes nothing", waits("first", size=5, of="zeta"), 3, {"better": FRONT}),
    ],
)
def test_nobody_is_raised_into_a_place_that_another_share_may_take_first(
    case: str, other: WaitingJob, room: int, wanted: dict[str, int]
) -> None:
    shares = share("alpha", 4), share("zeta", 4)
    mine = waits("big", size=4, of="alpha", waited=HOUR), waits("better", size=2, of="alpha")
    of = quota_view(*mine, other, runs("r", 1, of="alpha", priority=SHIELD), shares=shares)
    of = replace(of, capacity=room + 1, pool=((GPU, room + 1),))
    moves = {move.job_id: move.after for move in decide(of, CALM).moves if move.job_id != "first"}
    assert moves == wanted, case


def test_who_starts_by_itself_is_raised_before_those_who_will_wait_above_it() -> None:
    stands, new = waits("stands", waited=HOUR, priority=IN_LINE), waits("new", size=1)
    of = quota_view(stands, new, runs("r", 7, priority=FRONT))
    assert [(move.job_id, move.after) for move in decide(of, CALM).moves] == [("stands", PROTECTED), ("new", IN_LINE)]
