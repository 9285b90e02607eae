"""The place that is held for a big job that has waited long."""

from dataclasses import replace

import pytest

from pointsman.queues.effects import Effect
from pointsman.queues.moves import Hold
from pointsman.queues.policy import Policy, Reservation
from pointsman.queues.ranking import ranks_at
from pointsman.queues.reserve import reserve
from pointsman.queues.view import QueueView
from tests.unit.queues import quota_build as quota
from tests.unit.queues.build import HOUR, NOW, POLICY, UNLIMITED, busy, lasting, view, waiting

LONG = 3 * HOUR


def held(of: QueueView, policy: Policy = POLICY) -> Hold | None:
    return reserve(of, policy, ranks_at(policy, of.effects, of.now))


@pytest.mark.parametrize(
    "case, of, wanted",
    [
        ("the oldest of a class",
         view(waiting("a", size=4, waited=LONG), waiting("b", size=8, waited=LONG + 1), used=6), "b"),
        ("of the highest class, though another is older",
         view(waiting("s", size=4, waited=9 * LONG), waiting("r", "research", size=4, waited=LONG), used=6), "r"),
        ("the overdue before the highest class",
         view(waiting("p", "production", size=4, waited=LONG), waiting("r", "research", size=4, waited=9 * LONG),
              used=6), "p"),
        ("the id breaks a tie",
         view(waiting("b", size=4, waited=LONG), waiting("a", size=4, waited=LONG), used=6), "a"),
        ("exactly `after` is long enough", view(waiting("a", size=4, waited=2 * HOUR), used=6), "a"),
        ("a second less is not", view(waiting("a", size=4, waited=2 * HOUR - 1), used=6), None),
        ("not for what fits now", view(waiting("a", size=2, waited=LONG), used=6), None),
        ("not for what can never fit", view(waiting("a", size=9, waited=LONG), used=6), None),
        ("for what needs the whole queue", view(waiting("a", size=8, waited=LONG), used=6), "a"),
        ("not for one instance, which fits whatever is freed", view(waiting("a", waited=LONG), used=8), None),
        ("not for a job whose priority someone else set",
         view(waiting("a", size=4, waited=LONG, priority=7, foreign=True), used=6), None),
        ("nobody, when nobody waits", view(used=8), None),
    ],
)  # fmt: skip
def test_a_place_is_held_for(case: str, of: QueueView, wanted: str | None) -> None:
    hold = held(of)
    assert (hold.job.job_id if hold else None) == wanted, case


def test_an_overdue_research_job_goes_before_production_that_is_not() -> None:
    late = replace(POLICY, classes=tuple(replace(c, max_wait=4 * HOUR) for c in POLICY.classes))
    jobs = (waiting("p", "production", size=4, waited=LONG), waiting("s", size=4, waited=9 * HOUR))
    hold = held(view(*jobs, used=6), late)
    assert hold is not None
    assert hold.job.job_id == "s"


@pytest.mark.parametrize("rule", [None, Reservation(after=0.0, at_most=0)])
def test_without_a_rule_nothing_is_held(rule: Reservation | None) -> None:
    assert held(view(waiting("a", size=4, waited=LONG), used=8), replace(POLICY, reservation=rule)) is None


@pytest.mark.parametrize(
    "case, running, used, until, spare",
    [
        ("the first end that frees enough", [busy("x", 1, ran=1000), busy("y", 4, ran=600)], 6, 3000.0, 3),
        ("the ends add up", [busy("x", 1, ran=1000), busy("y", 1, ran=600), busy("z", 5, ran=0)], 7, 3600.0, 4),
        ("what is free now counts", [busy("x", 1, ran=1000), busy("y", 4, ran=600)], 5, 2600.0, 0),
        ("a job that does not run yet has all its time before it", [busy("x", 6, ran=None)], 6, 3600.0, 4),
        ("ends that are not known give no time", [], 6, float("inf"), 0),
    ],
)
def test_the_held_job_is_expected_to_fit_when_running_jobs_end(
    case: str, running: list[object], used: int, until: float, spare: int
) -> None:
    hold = held(view(waiting("big", size=4, waited=LONG), used=used, busy=running))
    assert hold is not None
    assert (hold.until, hold.spare) == (NOW + until, spare), case


def test_ends_are_expected_by_what_was_learned_of_jobs_alike() -> None:
    short = busy("x", 8, ran=100.0)
    hold = held(view(waiting("big", size=4, waited=LONG), used=8, busy=[short], history=lasting(400.0, short.kind)))
    assert hold is not None
    assert hold.until == NOW + 300.0


def test_a_boost_counts_as_time_waited_and_ends_with_its_effect() -> None:
    drift = Effect("drift", NOW - 60, "research", HOUR, NOW + 60)
    of = view(waiting("r", "research", size=4, waited=HOUR), used=6)
    assert held(of) is None
    hold = held(replace(of, effects=[drift]))
    assert hold is not None
    assert hold.job.job_id == "r"
    assert held(replace(of, effects=[replace(drift, ended=NOW)])) is None


YIELDING = replace(POLICY, classes=tuple(replace(c, preemptible=c.name == "sweep") for c in UNLIMITED.classes))


def test_for_a_class_that_makes_way_no_place_is_held_before_it_is_overdue() -> None:
    sweep = view(waiting("s", size=4, waited=9 * LONG), used=6)
    assert held(sweep, YIELDING) is None
    limited = replace(YIELDING, classes=tuple(replace(c, max_wait=4 * LONG) for c in YIELDING.classes))
    found = held(sweep, limited)
    assert found is not None
    assert found.job.job_id == "s"


def test_where_jobs_can_be_evicted_who_may_evict_is_held_a_place_at_once() -> None:
    rule = replace(YIELDING, share="*", preemption=quota.PATIENT)
    new = quota.waits("new", "production", size=4, waited=60.0)
    of = quota.quota_view(new, quota.runs("r", 6))
    assert held(of, replace(rule, preemption=None)) is None
    found = held(of, rule)
    assert found is not None
    assert found.job.job_id == "new"
    sweep = quota.waits("s", size=4, waited=9 * LONG)
    assert held(quota.quota_view(sweep, quota.runs("r", 6)), rule) is None


def test_a_job_that_ran_and_came_back_has_waited_since_then() -> None:
    back = replace(waiting("back", size=4, waited=9 * LONG), again=NOW - 60.0)
    newer = waiting("newer", size=4, waited=LONG)
    of = view(back, newer, used=6)
    assert held(view(back, used=6)) is None
    found = held(of)
    assert found is not None
    assert found.job.job_id == "newer"


def test_an_overdue_job_that_came_back_has_waited_long_enough() -> None:
    back = replace(waiting("back", "production", size=4, waited=3 * HOUR), again=NOW - 60.0)
    found = held(view(back, used=6))
    assert found is not None
    assert found.job.job_id == "back"
