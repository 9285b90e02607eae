"""A share per team on the emulated AWS: Batch chooses the share, Pointsman the order within it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.flow.day import Day, opened

QUEUE = "teams"
POLICY: dict[str, Any] = {
    "share": "team*",
    "across_shares": "weights",
    "classes": [
        {"name": "a-production", "match": {"share": "teamA", "job_name": "prod-*"}, "head_start": "24h", "weight": 1},
        {"name": "b-production", "match": {"share": "teamB", "job_name": "prod-*"}, "head_start": "24h", "weight": 2},
    ],
    "default": {"name": "sweep"},
    "on_alarm": [],
}


@pytest.fixture(scope="module")
def day() -> Iterator[Day]:
    """Two teams on what a guest leaves of a pool of four; each has a big job first, then small ones of two classes."""
    with opened() as day:
        batch = day.aws.client("batch")
        shares = [{"shareIdentifier": team, "weightFactor": 1.0} for team in ("teamA", "teamB")]
        fair = {"shareDistribution": shares, "shareDecaySeconds": 900}
        day.add_queue(QUEUE, 4, share="teamA")
        policy = batch.describe_job_queues(jobQueues=[QUEUE])["jobQueues"][0]["schedulingPolicyArn"]
        batch.update_scheduling_policy(arn=policy, fairsharePolicy=fair)
        day.apply(QUEUE, **POLICY)
        day.submit("hold", 3, queue=QUEUE, shareIdentifier="guests", minutes=120)
        for team in ("teamA", "teamB"):
            day.submit(f"big-{team}", 4, queue=QUEUE, shareIdentifier=team, minutes=30)
            day.submit(f"sweep-{team}", queue=QUEUE, shareIdentifier=team, minutes=20)
            day.submit(f"prod-{team}", queue=QUEUE, shareIdentifier=team, minutes=20)
        day.pass_minutes(50)
        yield day


def test_small_jobs_pass_the_big_ones_of_their_own_share_production_first(day: Day) -> None:
    began = day.in_order_of_start()
    for team in ("teamA", "teamB"):
        assert f"prod-{team}" in began, "one instance was free all the time"
        if f"sweep-{team}" in began:
            assert began.index(f"prod-{team}") < began.index(f"sweep-{team}")
    assert not {"big-teamA", "big-teamB"} & set(began)


def test_the_weights_that_the_policy_states_are_in_the_scheduling_policy_and_all_else_of_it_is_kept(day: Day) -> None:
    batch = day.aws.client("batch")
    arn = batch.describe_job_queues(jobQueues=[QUEUE])["jobQueues"][0]["schedulingPolicyArn"]
    told = batch.describe_scheduling_policies(arns=[arn])["schedulingPolicies"][0]["fairsharePolicy"]
    assert {s["shareIdentifier"]: s["weightFactor"] for s in told["shareDistribution"]} == {"teamA": 1.0, "teamB": 2.0}
    assert told["shareDecaySeconds"] == 900
    assert day.aws.count("batch", "UpdateSchedulingPolicy") == 2, "the test's own, and one"


def test_nothing_failed(day: Day) -> None:
    assert not day.failed_passes()
    assert not day.aws.failures
