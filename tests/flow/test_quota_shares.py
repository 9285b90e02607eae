"""Quota shares on the emulated AWS: who is evicted, whatever Batch's own rule is, what is lent, and what is told."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pointsman.aws.share_records import DynamoShareRecords
from pointsman.queues.evictions import Progress
from pointsman_emulator import BatchSettings
from tests.flow.day import HOUR, Day, opened

QUEUE, GPU = "quota-training", "ml.g5.xlarge"
PREEMPTION = {"patience": "20m", "protect": "5m", "at_most_per_job": 2}
POLICY: dict[str, Any] = {
    "share": "team*",
    "classes": [{"name": "production", "match": {"job_name": "prod-*"}, "head_start": "24h"}],
    "default": {"name": "sweep", "preemptible": True},
    "preemption": PREEMPTION,
    "reservation": {"after": "1h", "at_most": 0},
    "on_alarm": [],
}
SHARES = {"team": {"limit": 4, "strategy": "RESERVE"}}


def add_quota_queue(day: Day, shares: dict[str, dict[str, Any]]) -> None:
    """A queue with these shares, its environment as big as their limits together."""
    batch = day.aws.client("batch")
    total = sum(share["limit"] for share in shares.values())
    batch.create_service_environment(
        serviceEnvironmentName=QUEUE,
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=[{"maxCapacity": total, "capacityUnit": GPU}],
    )
    policy = batch.create_scheduling_policy(name=QUEUE, quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})[
        "arn"
    ]
    day.aws.run_for(30)
    batch.create_job_queue(
        jobQueueName=QUEUE,
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy,
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": QUEUE}],
    )
    day.aws.run_for(30)
    for name, share in shares.items():
        sharing = {"strategy": share["strategy"]} | ({"borrowLimit": share["borrow"]} if "borrow" in share else {})
        batch.create_quota_share(
            quotaShareName=name,
            jobQueue=QUEUE,
            capacityLimits=[{"maxCapacity": share["limit"], "capacityUnit": GPU}],
            resourceSharingConfiguration=sharing,
            preemptionConfiguration={"inSharePreemption": share.get("preemption", "ENABLED")},
        )
    day.aws.run_for(30)


@contextmanager
def quota_day(
    settings: BatchSettings | None = None, shares: dict[str, dict[str, Any]] | None = None, **policy: Any
) -> Iterator[Day]:
    with opened(batch=settings) as day:
        day.aws.client("s3").create_bucket(Bucket="checkpoints")
        add_quota_queue(day, shares or SHARES)
        day.apply(QUEUE, **{**POLICY, **policy})
        yield day


def submit(
    day: Day, name: str, size: int = 1, *, resumes: bool = True, share: str = "team", hours: float = 10.0
) -> None:
    """A job of a quota share; one that resumes has saved its work."""
    payload: dict[str, Any] = {
        "ResourceConfig": {"InstanceType": GPU, "InstanceCount": size},
        "Environment": {"EMULATED_SECONDS": str(hours * HOUR)},
    }
    if resumes:
        payload["CheckpointConfig"] = {"S3Uri": f"s3://checkpoints/{name}"}
        day.aws.client("s3").put_object(Bucket="checkpoints", Key=f"{name}/1", Body=b"")
    day.submit(
        name, size, queue=QUEUE, shareIdentifier=None, quotaShareName=share, serviceRequestPayload=json.dumps(payload)
    )


def status(day: Day) -> dict[str, str]:
    return {name: day.job(name).status for name in day.ids}


def told(day: Day) -> list[tuple[str, str, str]]:
    return [(line.move.job_name, line.move.reason.value, line.outcome) for line in day.moves(QUEUE)]


def records(day: Day) -> DynamoShareRecords:
    return DynamoShareRecords(day.aws.client("dynamodb"), day.wiring.settings.control_table)


def share_now(day: Day, name: str = "team") -> dict[str, Any]:
    shares = day.aws.client("batch").list_quota_shares(jobQueue=QUEUE)["quotaShares"]
    return next(share for share in shares if share["quotaShareName"] == name)


def test_production_takes_the_place_of_one_that_resumes_and_of_no_other() -> None:
    with quota_day(BatchSettings(victim_rule="longest", equal_priority_evicts=True)) as day:
        submit(day, "prod-old", resumes=False)
        submit(day, "sweep-fixed", resumes=False)
        submit(day, "sweep-saved", 2)
        day.pass_minutes(10)
        submit(day, "prod-new", 2, resumes=False)
        day.pass_minutes(15)
        assert status(day)["prod-new"] == "RUNNABLE", "its patience has not passed"
        day.pass_minutes(65)
        running = {name for name, state in status(day).items() if state == "RUNNING"}
        assert running == {"prod-old", "sweep-fixed", "prod-new"}
        assert {name: day.job(name).preempted_count for name in day.ids} == {
            "prod-old": 0, "sweep-fixed": 0, "sweep-saved": 1, "prod-new": 0
        }  # fmt: skip
        (eviction,) = records(day).evictions(QUEUE, 0.0)
        assert eviction.progress is Progress.DONE
        lines = told(day)
        assert ("prod-new", "preemptor", "done") in lines
        assert ("sweep-saved", "evicted", "seen") in lines
        assert "unplanned" not in {reason for _, reason, _ in lines}
        assert not day.failed_passes()
        assert not day.aws.failures


def test_where_it_is_switched_preemption_is_off_before_and_after_the_eviction() -> None:
    shares = {"team": {"limit": 4, "strategy": "RESERVE", "preemption": "DISABLED"}}
    with quota_day(None, shares, preemption={**PREEMPTION, "how": "switch"}) as day:
        submit(day, "sweep-fixed", 2, resumes=False)
        submit(day, "sweep-saved", 2)
        day.pass_minutes(10)
        submit(day, "prod-new", 2, resumes=False)
        day.pass_minutes(15)
        assert share_now(day)["preemptionConfiguration"]["inSharePreemption"] == "DISABLED"
        day.pass_minutes(65)
        assert status(day)["prod-new"] == "RUNNING"
        assert status(day)["sweep-fixed"] == "RUNNING"
        assert share_now(day)["preemptionConfiguration"]["inSharePreemption"] == "DISABLED"
        assert records(day).share_changes(QUEUE) == ()
        assert day.aws.count("batch", "UpdateQuotaShare") == 2
        assert not day.failed_passes()


def test_an_alarm_lets_a_share_borrow_more_and_its_end_takes_it_back() -> None:
    shares = {
        "teamA": {"limit": 2, "strategy": "LEND_AND_BORROW", "borrow": 0},
        "teamB": {"limit": 4, "strategy": "LEND"},
    }
    rule = {"alarm": "ranker-drift-*", "share": "teamA", "borrow_limit": 200}
    with quota_day(None, shares, on_alarm=[rule]) as day:
        for n in range(4):
            submit(day, f"sweep-{n}", share="teamA")
        day.drift(10, 40)
        day.pass_minutes(9)
        assert sum(state == "RUNNING" for state in status(day).values()) == 2
        day.pass_minutes(20)
        assert share_now(day, "teamA")["resourceSharingConfiguration"]["borrowLimit"] == 200
        assert sum(state == "RUNNING" for state in status(day).values()) == 4
        day.pass_minutes(40)
        assert share_now(day, "teamA")["resourceSharingConfiguration"]["borrowLimit"] == 0
        assert share_now(day, "teamA")["capacityLimits"] == [{"maxCapacity": 2, "capacityUnit": GPU}]
        assert records(day).share_changes(QUEUE) == ()
        assert not day.failed_passes()


def test_what_an_owner_takes_back_is_counted_as_reclaimed() -> None:
    shares = {"teamA": {"limit": 2, "strategy": "LEND_AND_BORROW"}, "teamB": {"limit": 2, "strategy": "LEND"}}
    with quota_day(None, shares) as day:
        for n in range(4):
            submit(day, f"sweep-{n}", share="teamA")
        day.pass_minutes(5)
        assert sum(state == "RUNNING" for state in status(day).values()) == 4
        submit(day, "owner", 2, share="teamB")
        day.pass_minutes(10)
        assert status(day)["owner"] == "RUNNING"
        reasons = [reason for _, reason, _ in told(day)]
        assert reasons.count("reclaimed") == 2
        assert "unplanned" not in reasons


def test_a_small_job_passes_a_big_one_of_its_own_share_and_hinders_no_other() -> None:
    shares = {"teamA": {"limit": 2, "strategy": "RESERVE"}, "teamB": {"limit": 2, "strategy": "RESERVE"}}
    with quota_day(None, shares) as day:
        submit(day, "first", 1, share="teamA", hours=2)
        submit(day, "big", 2, share="teamA")
        submit(day, "small", 1, share="teamA", hours=0.5)
        submit(day, "other", 2, share="teamB")
        day.pass_minutes(5)
        assert status(day) == {"first": "RUNNING", "big": "RUNNABLE", "small": "RUNNING", "other": "RUNNING"}
