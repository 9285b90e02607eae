"""Pointsman on the model of Batch: the production decisions, with events late and calls counted."""

from dataclasses import replace
from functools import cache

import pytest

from pointsman.queues.policy import JobClass, Policy, Preemption, Reservation
from pointsman_simulator.ablations import ABLATIONS, without
from pointsman_simulator.baselines import fifo_strict
from pointsman_simulator.measures import Run, waits
from pointsman_simulator.replay import Replay, World, classes_by
from pointsman_simulator.steered import pointsman
from pointsman_simulator.traces import TraceError, TraceJob
from pointsman_simulator.workload import DEMO_CAPACITY, generate

HOUR = 3600.0
POLICY = Policy(
    queue="search-training",
    classes=(
        JobClass("production", head_start=6 * HOUR),
        JobClass("research", head_start=2 * HOUR),
        JobClass("batch-inference"),
        JobClass("sweep"),
    ),
    share="all",
    spread=2 * HOUR,
    reservation=Reservation(3 * HOUR),
)


@cache
def day(seed: int = 4) -> Replay:
    return Replay(tuple(generate(seed)), 0, DEMO_CAPACITY, 24 * HOUR)


@cache
def steered(world: World = World()) -> Run:  # noqa: B008 - a frozen value
    return pointsman(day(), world, POLICY)


def mean(run: Run, job_class: str) -> float:
    return waits([job for job in run.jobs if job.job_class == job_class])["mean"]


def test_every_job_runs_once_to_its_end() -> None:
    run = steered()
    assert sorted(job.name for job in run.jobs) == sorted(job.name for job in day().jobs)
    ran = {job.name: [stop - start for start, stop in job.spans] for job in run.jobs}
    assert all(ran[job.name] == [pytest.approx(job.seconds)] for job in day().jobs)


def test_no_class_waits_longer_than_in_a_plain_queue() -> None:
    fifo = fifo_strict(day())
    assert all(mean(steered(), name) <= mean(fifo, name) for name in day().classes)


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    assert pointsman(day(), World(), POLICY) == steered()
    assert pointsman(day(), World(seed=1), POLICY) != steered()


def test_calls_are_counted_and_bounded() -> None:
    calls = steered().calls
    assert 0 < calls["describe"] <= len(day().jobs)
    assert 0 < calls["update"] <= len(day().jobs)
    assert calls["quota"] == 0


def test_late_events_and_rare_passes_make_jobs_wait() -> None:
    slow = steered(World(event_delay=900.0, pass_every=1800.0))
    assert waits(slow.jobs)["mean"] > waits(steered().jobs)["mean"]


def test_a_budget_of_no_calls_leaves_the_queue_to_itself() -> None:
    idle = pointsman(day(), World(calls=0.0, saved=0.0), POLICY)
    assert idle.jobs == replace(fifo_strict(day()), name="").jobs


@pytest.mark.parametrize("mechanism", sorted(ABLATIONS))
def test_a_mechanism_taken_away_is_not_there(mechanism: str) -> None:
    whole = Policy(
        queue="q",
        classes=(JobClass("all", head_start=1.0, max_wait=1.0, entitlement=0.5, preemptible=True),),
        spread=1.0,
        reservation=Reservation(),
        preemption=Preemption(),
    )
    left = without(mechanism, whole, World())
    assert left != (whole, World())
    assert without(mechanism, *left) == left


@pytest.mark.parametrize("mechanism", ["estimates", "standby"])
def test_what_pointsman_does_by_itself_can_be_taken_away(mechanism: str) -> None:
    policy, world = without(mechanism, POLICY, World())
    assert pointsman(day(), world, policy).jobs != steered().jobs


def test_teams_name_the_first_class_and_sweeps_are_of_the_last() -> None:
    label = classes_by("teams:ranking, vision", ("release", "study", "score", "rest"))
    jobs = [TraceJob("j", 0, 1, 1, team, "sweep") for team in ("ranking", "speech")]
    jobs += [TraceJob("j", 0, 1, 8, "speech", label) for label in ("production", "rest")]
    assert [label(job) for job in jobs] == ["release", "rest", "study", "rest"]


def test_teams_of_a_policy_with_two_classes_are_the_first_and_the_rest() -> None:
    label = classes_by("teams:a", ("urgent", "rest"))
    assert [label(TraceJob("j", 0, 1, 1, team, "production")) for team in "ab"] == ["urgent", "rest"]


@pytest.mark.parametrize("rule", ["teams:", "teams", "classes:a", ""])
def test_a_rule_for_classes_that_is_none_is_refused_with_the_remedy(rule: str) -> None:
    with pytest.raises(TraceError, match="write derived_class, or teams:A,B"):
        classes_by(rule, ("production", "sweep"))
