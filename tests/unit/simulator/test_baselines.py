"""What each yardstick does with a morning small enough to work out by hand. Times are in hours."""

from collections.abc import Mapping

import pytest

from pointsman.queues.policy import JobClass, Policy
from pointsman_simulator.baselines import BASELINES
from pointsman_simulator.replay import Replay
from pointsman_simulator.traces import TraceJob

HOUR = 3600.0
POLICY = Policy("q", tuple(map(JobClass, ("production", "research", "sweep"))))


def job(name: str, submit: float, hours: float, gpus: int, team: str = "a", job_class: str = "sweep") -> TraceJob:
    return TraceJob(name, submit * HOUR, hours * HOUR, gpus, team, job_class)


MORNING = (
    job("running", 0, 2, 3),
    job("wide", 0.1, 1, 4, "b", "production"),
    job("small", 0.2, 0.5, 1, "a", "research"),
    job("long", 0.3, 3, 1, "b"),
)


def starts(
    name: str, jobs: tuple[TraceJob, ...] = MORNING, capacity: int = 4, policy: Policy = POLICY
) -> Mapping[str, float]:
    """When each job started, in hours."""
    run = BASELINES[name](Replay(jobs, 0, capacity, 4 * HOUR), policy)
    return {one.name: round(one.spans[0][0] / HOUR, 9) for one in run.jobs}


CASES = {
    "the head of a strict queue holds up whoever would fit": (
        "fifo_strict",
        {"running": 0, "wide": 2, "small": 3, "long": 3},
    ),
    "a queue that skips starts whoever fits": ("fifo_skip", {"running": 0, "small": 0.2, "long": 0.7, "wide": 3.7}),
    "strict classes put production first, and then research": (
        "class_strict",
        {"running": 0, "wide": 2, "small": 3, "long": 3},
    ),
    "who knows run times starts the least work first, of what fits": (
        "sjf_oracle",
        {"running": 0, "small": 0.2, "long": 0.7, "wide": 3.7},
    ),
}


@pytest.mark.parametrize("name, expected", CASES.values(), ids=CASES)
def test_who_starts_when(name: str, expected: dict[str, float]) -> None:
    assert starts(name) == expected


def test_classes_overtake_in_a_strict_queue() -> None:
    late = (job("running", 0, 1, 4), job("sweep", 0.1, 1, 4), job("release", 0.2, 1, 4, job_class="production"))
    assert starts("class_strict", late) == {"running": 0, "release": 1, "sweep": 2}
    assert starts("fifo_strict", late) == {"running": 0, "sweep": 1, "release": 2}


def test_strict_classes_are_those_of_the_policy_in_its_order() -> None:
    policy = Policy("q", tuple(map(JobClass, ("release", "study", "rest"))))
    jobs = tuple(job(name, n / 10, 1, 4, job_class=name) for n, name in enumerate(("rest", "study", "release")))
    first = job("running", 0, 1, 4, job_class="rest")
    assert starts("class_strict", (first, *jobs), policy=policy) == {"running": 0, "release": 1, "study": 2, "rest": 3}


def test_the_least_expected_work_is_learned_from_jobs_that_ended() -> None:
    past = tuple(job(f"{team}{n}", n, hours, 4, team) for n, (team, hours) in enumerate([("a", 1.0), ("b", 0.1)] * 4))
    rivals = (job("blocker", 30, 1, 4, "c"), job("a-late", 30.1, 1, 4, "a"), job("b-later", 30.2, 0.1, 4, "b"))
    found = starts("sesf", past + rivals)
    assert (found["b-later"], found["a-late"]) == (31, 31.1)


def test_equal_pools_leave_idle_what_does_not_divide_and_leave_out_what_is_larger_than_a_pool() -> None:
    assert starts("pools_equal", capacity=7) == {"running": 0, "small": 2, "long": 0.3}


def test_pools_sized_by_demand_add_up_to_the_capacity() -> None:
    """Of 28 instances for 13 and 14 GPU-hours a gets 13 and b 15: what is left goes to the largest remainder."""
    fits = (job("a13", 0, 1, 13), job("b14", 0, 1, 14, "b"))
    assert starts("pools_demand", fits, capacity=28) == {"a13": 0, "b14": 0}


def test_pools_for_jobs_without_work_are_of_one_size() -> None:
    assert starts("pools_demand", (job("a", 0, 0, 1), job("b", 0, 0, 1, "b")), capacity=2) == {"a": 0, "b": 0}


def test_a_share_for_each_team_lets_the_team_that_used_least_go_first() -> None:
    greedy = tuple(job(f"a{n}", 0, 1, 4) for n in range(3))
    assert starts("fair_static", (*greedy, job("b", 0.1, 1, 4, "b")))["b"] == 1
