"""Parts of the pool: what a class is entitled to, and what it may not pass."""

from dataclasses import replace

import pytest

from pointsman.queues.cases import cases_of
from pointsman.queues.decide import decide
from pointsman.queues.explain import explain
from pointsman.queues.moves import FRONT
from pointsman.queues.pins import PinKind
from pointsman.queues.reasons import Idle
from pointsman.queues.usage import LONG, Usage
from pointsman.queues.view import Share
from tests.unit.queues.build import HOUR, NOW, UNLIMITED, busy, view, waiting
from tests.unit.queues.case_build import NEW, OLD, PROD, first, lifted, with_class


def test_a_class_at_its_ceiling_gets_no_more_and_no_other_waits_behind_it() -> None:
    policy = with_class("sweep", ceiling=0.5)
    of = view(OLD, NEW, waiting("prod", "production", size=2), capacity=8, used=4, busy=[busy("b", 3)])
    assert lifted(of, policy) == ["prod", "old"]
    decision = decide(of, policy)
    assert decision.idle == ((Idle.CEILING, 1),)
    assert decision.backfills == 0, "nobody passes a job that is not to have more"
    assert lifted(of) == ["prod", "old", "new"]


def test_a_class_above_its_ceiling_stands_by_no_more_and_is_given_no_place() -> None:
    policy = with_class("sweep", ceiling=0.5)
    of = view(OLD, waiting("s", priority=4700, waited=HOUR), PROD, used=8, busy=[busy("b", 5)])
    moves = {move.job_id: move.after for move in decide(of, policy).moves}
    assert set(moves) == {"s", "prod"}
    assert moves["s"] == 0
    big = view(waiting("big", size=4, waited=9 * HOUR), used=6, busy=[busy("b", 1)])
    assert decide(big, UNLIMITED).hold is not None
    assert decide(big, policy).hold is None


def test_the_standby_list_takes_no_more_of_a_class_than_its_ceiling_leaves() -> None:
    policy = with_class("sweep", ceiling=0.5)
    of = view(*(waiting(f"s{n}", waited=HOUR) for n in range(9)), used=8, busy=[busy("b", 2)])
    assert len(decide(of, policy).moves) == 2
    assert len(decide(of, UNLIMITED).moves) == 9


def test_what_is_lifted_leaves_the_standby_list_less_of_a_ceiling() -> None:
    policy = with_class("sweep", ceiling=0.5)
    of = view(*(waiting(f"s{n}", waited=HOUR) for n in range(9)), used=6, busy=[busy("b", 1)])
    after = sorted((move.after for move in decide(of, policy).moves), reverse=True)
    assert len([number for number in after if number == FRONT]) == 2
    assert len(after) == 3


def test_the_lists_of_several_shares_together_stay_below_a_ceiling() -> None:
    policy = with_class("sweep", ceiling=0.5)
    jobs = [replace(waiting(f"{share}{n}", waited=HOUR), share=share) for share in "xyz" for n in range(9)]
    of = view(*jobs, used=8, busy=[busy("b", 2)], shares=[Share("x", 1.0, 6), Share("y"), Share("z")])
    assert len(decide(of, policy).moves) == 2


def test_a_class_that_holds_its_entitlement_jumps_no_more() -> None:
    policy = with_class("production", entitlement=0.5)
    of = view(PROD, OLD, capacity=8, used=7, busy=[busy("b", 4, job_class="production")])
    assert lifted(of, policy) == ["old"]
    assert lifted(of) == ["prod"]
    less = replace(of, busy=[busy("b", 3, job_class="production")])
    assert lifted(less, policy) == ["prod"]
    assert cases_of(of, policy).satisfied == {"production"}


def since(ago: float, part: float) -> Usage:
    """What is known when production was first looked at so long ago, and held this part of the pool."""
    return Usage().seen({"production": part}, NOW - ago)


@pytest.mark.parametrize(
    "case, past, holds, satisfied",
    [
        ("what it holds, when nothing is known of before", Usage(), 2, True),
        ("not a burst, after days in which it held little", since(LONG, 0.125), 8, False),
        ("what it has held for days", since(LONG, 0.5), 2, True),
        ("not when it holds less now, whatever it held", since(60.0, 1.0), 1, False),
        ("what it holds, though the clock went back", since(-LONG, 0.5), 2, True),
    ],
)
def test_a_class_holds_its_entitlement_by_what_it_holds_now_and_on_average(
    case: str, past: Usage, holds: int, satisfied: bool
) -> None:
    of = view(PROD, used=holds, busy=[busy("p", holds, job_class="production")], past=past)
    policy = with_class("production", entitlement=0.25)
    assert (cases_of(of, policy).satisfied == {"production"}) is satisfied, case


def test_what_a_pass_saw_in_use_counts_in_the_next() -> None:
    of = view(used=4, busy=[busy("p", 4, job_class="production")])
    later = replace(of, now=NOW + LONG, busy=(), used=0, past=decide(of, UNLIMITED).usage)
    assert dict(decide(later, UNLIMITED).usage.average)["production"] == pytest.approx(0.5)


def test_a_class_that_holds_its_entitlement_holds_no_place() -> None:
    policy = with_class("production", entitlement=0.5)
    big = waiting("p", "production", size=4, waited=9 * HOUR)
    of = view(big, used=7, busy=[busy("b", 4, job_class="production")])
    assert decide(of, policy).hold is None
    assert decide(of, UNLIMITED).hold is not None


def test_why_a_job_waits_is_said_of_ceilings_entitlements_and_what_goes_last() -> None:
    policy = with_class("production", with_class("sweep", ceiling=0.5), entitlement=0.25)
    of = view(PROD, OLD, used=7, busy=[busy("b", 4), busy("p", 2, job_class="production")])
    decision = decide(of, policy)
    standing = explain(of, policy, decision, "old")
    assert standing is not None
    assert "sweep is at its ceiling" in standing.holds
    standing = explain(of, policy, decision, "prod")
    assert standing is not None
    assert (
        dict(standing.score_parts)["head start"] == "0 s (production, which holds its entitlement, now and on average)"
    )
    of = view(OLD, PROD, capacity=1, pins=[first("old", kind=PinKind.LAST)])
    standing = explain(of, policy, decide(of, policy), "old")
    assert standing is not None
    assert standing.holds.startswith("ana put it behind all others")
