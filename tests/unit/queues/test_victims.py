"""Whom an eviction takes: only whom the policy lets it, those who lose least, and none needlessly."""

from dataclasses import replace

import pytest

from pointsman.queues.jobs import BusyJob
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.quota import Rooms
from pointsman.queues.ranking import ranks_of
from pointsman.queues.victims import choose
from pointsman.queues.view import QueueView
from tests.unit.queues.build import HOUR, NOW
from tests.unit.queues.quota_build import POLICY, eviction, quota_view, runs, share, waits

PROD = waits("prod", "production", size=4, waited=1.5 * HOUR)


def victims(of: QueueView) -> set[str]:
    rooms = Rooms(of.quota_shares, of.pool, of.busy)
    runs_here = [job for job in of.busy if job.share == "team"]
    chosen = choose(of, POLICY, ranks_of(of, POLICY), rooms, of.waiting, runs_here)
    return {victim.job_id for victim in chosen.victims} if chosen else set()


@pytest.mark.parametrize(
    "case, job",
    [
        ("of the same class", runs("v", 8, job_class="production")),
        ("of a class that may not be evicted", runs("v", 8, job_class="research")),
        ("younger than what is protected", runs("v", 8, ran=600.0)),
        ("that does not resume, or of which that is not known", runs("v", 8, saved=None)),
        ("that was evicted twice already", runs("v", 8, preempted=2)),
        ("that would fail at its next preemption", runs("v", 8, outlives=0)),
        ("that does not run yet", replace(runs("v", 8), started=None)),
        ("whose last checkpoint is long ago", runs("v", 8, saved=NOW - 1800)),
    ],
)
def test_never_a_job(case: str, job: BusyJob) -> None:
    assert victims(quota_view(PROD, job)) == set(), case


def test_never_a_job_that_a_person_put_first() -> None:
    view = quota_view(PROD, runs("v", 8))
    assert victims(view) == {"v"}
    pinned = [Pin("v", NOW + 60, PinKind.FIRST, "ana")]
    assert victims(replace(view, pins=pinned)) == set()
    assert victims(replace(view, pins=[replace(pinned[0], until=NOW - 60)])) == {"v"}
    assert victims(replace(view, pins=[replace(pinned[0], kind=PinKind.LAST)])) == {"v"}


def test_once_patience_has_passed_three_times_any_moment_will_do() -> None:
    late = waits("prod", "production", size=4, waited=3.5 * HOUR)
    assert victims(quota_view(late, runs("v", 8, saved=NOW - 1800))) == {"v"}


def test_those_who_lose_least_of_what_they_did_go() -> None:
    busy = [runs(f"v{n}", 4, saved=NOW - 30.0 - 60 * n) for n in (2, 0, 1)]
    assert victims(quota_view(PROD, *busy, shares=(share(limit=12),))) == {"v0"}


def test_no_more_go_than_are_needed() -> None:
    small, big = runs("small", 1, saved=NOW - 1.0), runs("big", 4, saved=NOW - 60.0)
    assert victims(quota_view(PROD, small, big, shares=(share(limit=5),))) == {"big"}


def test_what_is_free_counts() -> None:
    busy = [runs(f"v{n}", 2, saved=NOW - 10.0 * n) for n in range(3)]
    assert victims(quota_view(PROD, *busy)) == {"v0"}


def test_nobody_goes_when_all_who_may_are_not_enough() -> None:
    busy = (runs("v", 2), runs("r", 6, job_class="production"))
    assert victims(quota_view(PROD, *busy)) == set()


def test_jobs_of_other_shares_are_not_ours_to_evict() -> None:
    of = quota_view(PROD, runs("v", 4, of="other"), shares=(share(limit=3), share("other", 4)))
    assert victims(of) == set()


def test_a_job_whose_eviction_came_to_nothing_waits_its_patience_again() -> None:
    victim = runs("v", 8)
    failed = replace(eviction(PROD, victim, asked=NOW - 2000), ended=NOW - 1000)
    assert victims(quota_view(PROD, victim, evictions=(failed,))) == set()


def test_a_job_that_was_evicted_itself_waits_its_patience_since_then() -> None:
    victim = runs("v", 8)
    back = replace(PROD, again=NOW - 60.0)
    assert victims(quota_view(back, victim)) == set()
    assert victims(quota_view(replace(back, again=NOW - 1.5 * HOUR), victim)) == {"v"}


def test_a_job_that_may_be_evicted_evicts_nobody_before_it_is_overdue() -> None:
    yielding = tuple(
        replace(c, preemptible=c.name != "production", max_wait=9 * HOUR if c.name == "research" else None)
        for c in POLICY.classes
    )
    policy = replace(POLICY, classes=yielding)

    def victim_of(waited: float) -> set[str]:
        of = quota_view(waits("r", "research", size=4, waited=waited), runs("v", 8))
        ranks = ranks_of(of, policy)
        chosen = choose(of, policy, ranks, Rooms(of.quota_shares, of.pool, of.busy), of.waiting, list(of.busy))
        return {victim.job_id for victim in chosen.victims} if chosen else set()

    assert victim_of(8 * HOUR) == set()
    assert victim_of(9 * HOUR) == {"v"}
