"""Several shares in one fair-share queue: Batch chooses the share, Pointsman the order within it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.queues.decide import decide
from pointsman.queues.explain import explain
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.reasons import Idle
from pointsman.queues.view import QueueView, Share
from tests.unit.queues.build import HOUR, UNLIMITED, after_moves, busy, view, waiting
from tests.unit.queues.build import POLICY as BOUND

POLICY = replace(UNLIMITED, share="team-*")
A, B = Share("team-a"), Share("team-b")


def lifted(of: QueueView) -> dict[str, int]:
    return {move.job_id: move.after for move in decide(of, POLICY).moves}


def of_a(job_id: str, **more: Any) -> WaitingJob:
    return waiting(job_id, share="team-a", **more)


def of_b(job_id: str, **more: Any) -> WaitingJob:
    return waiting(job_id, share="team-b", **more)


def test_the_front_of_each_share_is_lifted_and_together_they_fit() -> None:
    jobs = [of_a(f"a{n}", size=2, waited=9.0 - n) for n in range(3)] + [of_b("b", size=2)]
    of = view(*jobs, capacity=4, shares=(A, B))
    assert lifted(of) == {"a0": 4999, "b": 4999}


def test_the_share_with_the_lowest_weighted_use_has_the_first_turn() -> None:
    jobs = (of_a("a", size=2), of_a("a2", size=2), of_b("b", size=2), of_b("b2", size=2))
    of = view(*jobs, capacity=5, used=1, shares=(replace(B, used=0), replace(A, used=1)))
    assert sorted(lifted(of)) == ["a", "b"]
    assert sorted(lifted(replace(of, shares=(replace(B, used=0), replace(A, used=9))))) == ["a", "b", "b2"]


def test_a_share_whose_turn_comes_later_still_has_a_head_that_would_fit() -> None:
    jobs = (of_a("big", size=9, waited=9.0), of_a("a", size=2), of_b("b", size=2))
    of = view(*jobs, capacity=2, shares=(B, A))
    assert lifted(of) == {"b": 4999, "a": 4999}


def test_a_lower_weight_earns_more_turns() -> None:
    jobs = [of_a(f"a{n}", size=2, waited=9.0 - n) for n in range(4)] + [of_b(f"b{n}", size=2) for n in range(4)]
    of = view(*jobs, capacity=8, shares=(replace(A, weight=0.25), B))
    assert sorted(lifted(of)) == ["a0", "a1", "a2", "b0"]


def test_each_share_has_a_standby_list_so_that_its_head_takes_what_is_freed() -> None:
    jobs = [of_a(f"a{n:02}", waited=99.0 - n) for n in range(40)] + [of_b(f"b{n}") for n in range(3)]
    of = view(*jobs, capacity=8, used=8, shares=(A, B))
    standing = [job_id for job_id, after in lifted(of).items() if 4000 <= after <= 4997]
    assert sum(job_id.startswith("a") for job_id in standing) == 15
    assert sum(job_id.startswith("b") for job_id in standing) == 3


def test_who_stands_first_in_its_share_and_fits_keeps_its_number_whatever_the_list_of_another_share_has() -> None:
    ours = [of_a("a", waited=9.0, priority=4736), of_a("a2", waited=8.0, priority=4734)]
    theirs = [of_b("b", waited=9.0, priority=4899), of_b("b2", waited=8.0, priority=4897)]
    of = view(*ours, *theirs, capacity=4, used=2, shares=(replace(A, used=0), replace(B, used=9)))
    assert lifted(of) == {}


def test_who_has_waited_too_long_keeps_its_number_whoever_is_lifted_in_another_share() -> None:
    late = of_a("late", job_class="production", waited=3 * HOUR, priority=4798)
    of = view(late, of_b("b", size=2), capacity=4, used=1, shares=(A, B))
    policy = replace(BOUND, share="team-*")
    assert [(move.job_id, move.after) for move in decide(of, policy).moves] == [("b", 4999)]


def test_a_place_is_held_only_for_the_share_whose_turn_it_is() -> None:
    big = of_a("big", size=6, waited=5 * HOUR)
    running = (busy("r", 6, ran=10.0),)
    later = view(big, of_b("b", size=6), used=6, busy=running, shares=(B, A))
    assert decide(later, POLICY).hold is None
    first = view(big, of_b("b", size=6), used=6, busy=running, shares=(A, B))
    hold = decide(first, POLICY).hold
    assert hold is not None
    assert hold.job.job_id == "big"


def test_of_shares_with_the_same_use_the_one_in_which_a_place_is_held_keeps_it() -> None:
    jobs = (of_a("a", size=7, waited=9 * HOUR, priority=4998), of_b("b", size=7, waited=10 * HOUR))
    of = view(*jobs, busy=(busy("r", 4),), capacity=8, used=4, shares=(B, A))
    assert lifted(of) == {}
    assert lifted(replace(of, shares=(B, replace(A, used=1)))) == {"a": 0, "b": 4998}


def test_a_place_is_held_where_only_one_share_has_jobs_that_wait() -> None:
    big = of_a("big", size=6, waited=5 * HOUR)
    of = view(big, used=6, busy=(busy("r", 6, ran=10.0),), shares=(B, A))
    assert decide(of, POLICY).hold is not None


@pytest.mark.parametrize("ruled", [True, False])
def test_a_big_head_of_another_share_cannot_be_jumped_and_explain_says_whose_it_is(ruled: bool) -> None:
    big = waiting("big", size=6, waited=HOUR, share="team-b" if ruled else "others")
    small = of_a("small")
    other = replace(B, name=big.share)
    more: dict[str, Any] = {} if ruled else {"strangers": (big,)}
    jobs = (small, big) if ruled else (small,)
    of = view(*jobs, used=4, shares=(other, replace(A, used=4)), **more)
    decision = decide(of, POLICY)
    assert decision.idle[0][0] is Idle.OTHER_SHARE
    told = explain(of, POLICY, decision, "small")
    assert told is not None
    assert f"Share {big.share} is next by its weighted use" in told.holds
    assert "sweep-big (sweep, 6 instances)" in told.holds


def test_what_a_share_that_is_not_ruled_takes_first_is_not_given_out_twice() -> None:
    stranger = waiting("s", size=2, share="others")
    jobs = (of_a("a", size=2, waited=9.0), of_a("a2", size=2))
    assert sorted(lifted(view(*jobs, strangers=(stranger,), capacity=4, shares=(Share("others"), A)))) == ["a"]
    assert sorted(lifted(view(*jobs, capacity=4, shares=(A,)))) == ["a", "a2"]


def test_a_position_counts_within_the_share() -> None:
    jobs = (of_b("b0", waited=3 * HOUR), of_b("b1", waited=2 * HOUR), of_a("a", waited=HOUR))
    of = view(*jobs, used=8, shares=(A, B))
    told = explain(of, POLICY, decide(of, POLICY), "a")
    assert told is not None
    assert (told.position, told.waiting) == (1, 1)


@given(
    st.lists(
        st.tuples(st.sampled_from(("team-a", "team-b", "others")), st.integers(1, 6), st.integers(0, 20000)),
        max_size=10,
    ),
    st.lists(st.sampled_from((0.25, 1.0, 4.0)), min_size=3, max_size=3),
    st.integers(0, 8),
)
@settings(max_examples=200, deadline=None)
def test_whatever_waits_in_whichever_share_nothing_is_lifted_that_does_not_fit_and_no_stranger_is_moved(
    drawn: list[tuple[str, int, int]], weights: list[float], used: int
) -> None:
    jobs = [waiting(f"{n:02}", size=size, waited=float(w), share=name) for n, (name, size, w) in enumerate(drawn)]
    shares = tuple(
        Share(name, weight, used if name == "others" else 0)
        for name, weight in zip(("others", "team-a", "team-b"), weights, strict=True)
    )
    ours = [job for job in jobs if job.share != "others"]
    strangers = tuple(job for job in jobs if job.share == "others")
    of = view(*ours, used=used, shares=shares, strangers=strangers)
    decision = decide(of, POLICY)
    sizes = {job.job_id: job.size for job in ours}
    front = [move for move in decision.moves if move.after == 4999]
    assert {move.job_id for move in decision.moves} <= sizes.keys()
    assert all(sizes[move.job_id] <= of.free for move in front)
    again = replace(of, waiting=after_moves(ours, decision.moves))
    assert decide(again, POLICY).moves == (), "what was set stands"
