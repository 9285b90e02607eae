"""What a quota share may use of its own, and what it may borrow of what others leave."""

import pytest

from pointsman.queues.jobs import BusyJob
from pointsman.queues.quota import QuotaShare, Rooms
from tests.unit.queues.quota_build import GPU, borrowing, lending, runs, share


def rooms(shares: tuple[QuotaShare, ...], *busy: BusyJob, pool: int | None = None) -> Rooms:
    limits = sum(limit for one in shares for _, limit in one.limits)
    return Rooms(shares, ((GPU, limits if pool is None else pool),), busy)


@pytest.mark.parametrize(
    "case, shares, busy, wanted",
    [
        ("its own limit, when nobody runs", (share("a", 4), share("b", 4)), [], 4),
        ("what it has not used of its own", (share("a", 4),), [runs("1", 3, of="a")], 1),
        ("nothing, once its own is used up", (share("a", 4), lending("b", 4)), [runs("1", 4, of="a")], 0),
        ("what a lender leaves, if it borrows", (borrowing("a", 4), lending("b", 4)), [runs("1", 4, of="a")], 4),
        ("nothing of what a reserver leaves", (borrowing("a", 4), share("b", 4)), [runs("1", 4, of="a")], 0),
        ("no more than its borrow limit", (borrowing("a", 2, 100), lending("b", 8)), [], 4),
        ("less what it borrowed already", (borrowing("a", 2, 100), lending("b", 8)), [runs("1", 3, of="a")], 1),
        ("a borrow limit that is no whole number, rounded down", (borrowing("a", 3, 50), lending("b", 8)), [], 4),
        ("nothing that is borrowed by somebody else",
         (borrowing("a", 1), borrowing("b", 1), lending("c", 4)), [runs("1", 5, of="b")], 1),
        ("nothing borrowed of an owner that uses its own", (borrowing("a", 4), lending("b", 4)),
         [runs("1", 4, of="a"), runs("2", 4, of="b")], 0),
        ("of its own only what is not lent out: the rest has to be taken back first",
         (lending("a", 4), borrowing("b", 4)), [runs("1", 6, of="b")], 2),
        ("not what another reserves, when its own is lent out",
         (lending("a", 2), borrowing("b", 2), share("c", 2)), [runs("1", 4, of="b")], 0),
    ],
)  # fmt: skip
def test_a_share_has_room_for(case: str, shares: tuple[QuotaShare, ...], busy: list[BusyJob], wanted: int) -> None:
    assert rooms(shares, *busy).room("a", GPU) == wanted, case


def test_two_shares_of_four_that_may_borrow_twice_as_much_can_reach_eight_and_not_twelve() -> None:
    of = rooms((borrowing("a", 4, 200), borrowing("b", 4, 200)))
    assert of.room("a", GPU) == 8
    assert of.can_ever("a", {GPU: 8})
    assert not of.can_ever("a", {GPU: 9})


def test_a_type_without_a_limit_never_fits() -> None:
    of = rooms((borrowing("a", 4),))
    assert not of.fits("a", {"ml.p5.48xlarge": 1})
    assert not of.can_ever("a", {"ml.p5.48xlarge": 1})


def test_limits_beyond_the_environment_do_not_make_more_of_it() -> None:
    assert rooms((share("a", 4), share("b", 4)), runs("1", 3, of="b"), pool=6).room("a", GPU) == 3


def test_what_victims_leave_is_counted_as_free() -> None:
    victim = runs("v", 3, of="a")
    of = rooms((share("a", 4),), victim, runs("r", 1, of="a"))
    assert not of.fits("a", {GPU: 3})
    assert of.without("a", [victim]).fits("a", {GPU: 3})
    assert of.used("a", GPU) == 4
