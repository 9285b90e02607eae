"""The order in which jobs should start."""

from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.queues.estimates import History
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.ranking import Candidate, Lines, Ranks, ranks_at
from tests.unit.queues.build import HOUR, NOW, POLICY, UNLIMITED, lasting, waiting

NO_SPREAD = Ranks({"production": 24 * HOUR, "research": 6 * HOUR, "sweep": 0.0}, dict.fromkeys(
    ("production", "research", "sweep"), float("inf")), 0.0)  # fmt: skip


def in_order(jobs: list[WaitingJob], ranks: Ranks, history: History | None = None) -> list[Candidate]:
    lines = Lines(jobs, ranks, history or History(), NOW)
    order = []
    for candidate in lines:
        order.append(candidate)
        lines.take()
    return order


def ids(candidates: list[Candidate]) -> list[str]:
    return [candidate.job.job_id for candidate in candidates]


@pytest.mark.parametrize(
    "case, job, expected, score",
    [
        ("a sweep of no GPU scores its submission", waiting("a", gpus=0, waited=100), 7200, NOW - 100),
        ("one GPU-hour puts a sweep back by one spread", waiting("a", gpus=1), 3600, NOW + 6 * HOUR),
        ("three GPU-hours put it back by two", waiting("a", gpus=3), 3600, NOW + 12 * HOUR),
        ("seven GPUs for an hour put it back by three", waiting("a", gpus=7), 3600, NOW + 18 * HOUR),
        ("run time counts as GPUs do", waiting("a", gpus=1), 7 * 3600, NOW + 18 * HOUR),
        ("production starts a day ahead", waiting("a", "production", gpus=1, waited=HOUR), 3600, NOW - 19 * HOUR),
        ("research starts six hours ahead", waiting("a", "research", gpus=1, waited=HOUR), 3600, NOW - HOUR),
    ],
)
def test_the_score_is_submission_less_head_start_plus_the_spread_of_the_gpu_hours(
    case: str, job: WaitingJob, expected: float, score: float
) -> None:
    candidate = ranks_at(UNLIMITED, (), NOW).candidate(job, expected, NOW)
    assert candidate.score == pytest.approx(score), case


@pytest.mark.parametrize(
    "case, jobs, wanted",
    [
        ("older first within a kind", [waiting("b", waited=1), waiting("a", waited=2)], "ab"),
        ("the id breaks a tie of one second", [waiting("b"), waiting("a")], "ab"),
        ("production before an older sweep", [waiting("s", waited=23 * HOUR), waiting("p", "production")], "ps"),
        ("a sweep a head start older goes first", [waiting("p", "production"), waiting("s", waited=25 * HOUR)], "sp"),
        ("research is overtaken by production", [waiting("r", "research", waited=HOUR), waiting("p", "production")],
         "pr"),
        ("at equal scores the older goes first",
         [waiting("p", "production"), waiting("s", waited=24 * HOUR)], "sp"),
        ("teams of one class share one order",
         [waiting("a", team="x", waited=1), waiting("b", team="y", waited=3), waiting("c", team="x", waited=2)], "bca"),
    ],
)  # fmt: skip
def test_jobs_are_ordered_by_score(case: str, jobs: list[WaitingJob], wanted: str) -> None:
    assert "".join(ids(in_order(jobs, NO_SPREAD))) == wanted, case
    assert "".join(ids(in_order(jobs[::-1], NO_SPREAD))) == wanted, f"{case}, whatever the order of arrival"


def test_short_jobs_go_ahead_of_long_ones_submitted_a_little_earlier() -> None:
    long, short = waiting("long", team="slow", waited=HOUR), waiting("short", team="quick")
    history = lasting(24 * HOUR, long.kind)
    known = {**history.circles, **lasting(300.0, short.kind).circles}
    ranks = ranks_at(POLICY, (), NOW)
    assert ids(in_order([long, short], ranks, History(known))) == ["short", "long"]


def test_a_job_past_twice_its_max_wait_goes_before_all_that_are_not() -> None:
    ranks = ranks_at(POLICY, (), NOW)  # nothing can be evicted, so max_wait counts double
    late = waiting("late", "production", waited=2 * HOUR + 1, gpus=64)
    fresh = waiting("fresh", "production", waited=2 * HOUR, gpus=0, team="other")
    order = in_order([fresh, late], ranks)
    assert ids(order) == ["late", "fresh"]
    assert [candidate.overdue for candidate in order] == [True, False]


def test_a_closed_line_is_not_seen_again_and_the_others_go_on() -> None:
    jobs = [waiting("big", size=4, waited=9), waiting("big2", size=4, waited=8), waiting("small", waited=1)]
    lines = Lines(jobs, NO_SPREAD, History(), NOW)
    seen = []
    for candidate in lines:
        seen.append(candidate.job.job_id)
        if candidate.job.size == 4:
            lines.close()
        else:
            lines.take()
    assert seen == ["big", "small"]


classes = st.sampled_from(["production", "research", "sweep"])
jobs_of_any_kind = st.lists(
    st.tuples(classes, st.integers(0, 4 * 86400), st.integers(0, 64), st.sampled_from(["x", "y"])), max_size=30
)


@settings(max_examples=60, deadline=None)
@given(jobs_of_any_kind)
def test_a_job_is_overtaken_only_by_jobs_submitted_within_a_head_start_and_its_spread(
    drawn: list[tuple[str, int, int, str]],
) -> None:
    jobs = [waiting(f"{n:02}", c, waited=w, gpus=g, team=f"{t}{g}") for n, (c, w, g, t) in enumerate(drawn)]
    ranks = ranks_at(UNLIMITED, (), NOW)
    order = in_order(jobs, ranks)
    for place, behind in enumerate(order):
        allowance = 24 * HOUR + ranks.spread * log2(1 + behind.expected * behind.job.gpus / 3600)
        for ahead in order[:place]:
            assert ahead.job.submitted - behind.job.submitted <= allowance + 1e-3


@settings(max_examples=60, deadline=None)
@given(jobs_of_any_kind)
def test_lines_give_the_order_of_sorting_all_jobs(drawn: list[tuple[str, int, int, str]]) -> None:
    jobs = [waiting(f"{n:02}", c, waited=w, gpus=g, team=f"{t}{g}") for n, (c, w, g, t) in enumerate(drawn)]
    ranks = ranks_at(POLICY, (), NOW)
    order = in_order(jobs, ranks)
    assert [c.order for c in order] == sorted(ranks.candidate(j, 3600.0, NOW).order for j in jobs)
