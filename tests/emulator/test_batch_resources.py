"""Batch's resources through the API: their lives, what is fixed and what is refused; every answer fits the model."""

from __future__ import annotations

import time
from typing import Any

import pytest
from botocore.exceptions import ClientError

from pointsman_emulator import BatchSettings, Emulator
from tests.emulator.batch_stacks import TYPE, Managed, refused

# Service environments


@pytest.mark.parametrize(
    "limits,message",
    [
        ([], "must not be empty"),
        ([{"maxCapacity": 1}], "capacityUnit"),
        ([{"capacityUnit": "NUM_INSTANCES", "maxCapacity": -1}], "negative"),
        ([{"capacityUnit": TYPE, "maxCapacity": 1}] * 2, "more than once"),
        (
            [{"capacityUnit": TYPE, "maxCapacity": 1}, {"capacityUnit": "NUM_INSTANCES", "maxCapacity": 1}],
            "not both",
        ),
        ([{"capacityUnit": f"ml.g{n}.xlarge", "maxCapacity": 1} for n in range(6)], "Between 1 and 5"),
    ],
    ids=["none", "no unit", "less than none", "a unit twice", "both kinds of units", "six types"],
)
def test_limits_of_an_environment_that_cannot_be_are_refused(
    managed: Managed, limits: list[dict[str, Any]], message: str
) -> None:
    refused(
        managed.batch.create_service_environment,
        message,
        serviceEnvironmentName="other",
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=limits,
    )
    assert len(managed.batch.describe_service_environments()["serviceEnvironments"]) == 1


@pytest.mark.parametrize("name", ["", "a b", "x" * 129, "a/b"])
def test_a_name_is_of_letters_digits_hyphens_and_underscores(managed: Managed, name: str) -> None:
    refused(
        managed.batch.create_service_environment,
        "1 to 128 characters",
        serviceEnvironmentName=name,
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=[{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 1}],
    )


def test_an_enumeration_takes_its_own_values_only(managed: Managed) -> None:
    refused(managed.batch.update_service_environment, "ENABLED", serviceEnvironment="gpus", state="ON")
    refused(
        managed.batch.create_service_environment,
        "SAGEMAKER_TRAINING",
        serviceEnvironmentName="other",
        serviceEnvironmentType="EC2",
        capacityLimits=[{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 1}],
    )


def test_an_environment_of_quota_management_feeds_one_queue_and_counts_types(managed: Managed) -> None:
    order = [{"order": 1, "serviceEnvironment": "gpus"}]
    policy = managed.policy
    create = managed.batch.create_job_queue
    refused(create, "one job queue only", jobQueueName="b", priority=1, schedulingPolicyArn=policy,
            serviceEnvironmentOrder=order)  # fmt: skip
    refused(create, "quota-share", jobQueueName="b", priority=1, serviceEnvironmentOrder=order)
    managed.environment("plain", "NUM_INSTANCES")
    plain = [{"order": 1, "serviceEnvironment": "plain"}]
    refused(create, "instance type", jobQueueName="b", priority=1, schedulingPolicyArn=policy,
            serviceEnvironmentOrder=plain)  # fmt: skip


# Scheduling policies


@pytest.mark.parametrize(
    "fair,message",
    [
        ({"shareDecaySeconds": 604_801}, "shareDecaySeconds"),
        ({"computeReservation": 100}, "computeReservation"),
        ({"shareDistribution": [{"shareIdentifier": "a", "weightFactor": 0.00001}]}, "weightFactor"),
        ({"shareDistribution": [{"shareIdentifier": "a", "weightFactor": 1000.0}]}, "weightFactor"),
        ({"shareDistribution": [{"shareIdentifier": "a-b"}]}, "alphanumeric"),
        ({"shareDistribution": [{"shareIdentifier": "*"}]}, "alphanumeric"),
        ({"shareDistribution": [{"shareIdentifier": "a*b"}]}, "alphanumeric"),
        ({"shareDistribution": [{"shareIdentifier": "x" * 256}]}, "alphanumeric"),
        ({"shareDistribution": [{"shareIdentifier": "UserA*"}, {"shareIdentifier": "UserA1"}]}, "overlap"),
        ({"shareDistribution": [{"shareIdentifier": "UserA1*"}, {"shareIdentifier": "UserA*"}]}, "overlap"),
        ({"shareDistribution": [{"shareIdentifier": "a"}, {"shareIdentifier": "a"}]}, "overlap"),
        ({"shareDistribution": [{"shareIdentifier": "a"}, {"shareIdentifier": "a*"}]}, "overlap"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fair_share_policy_out_of_bounds_is_refused(managed: Managed, fair: dict[str, Any], message: str) -> None:
    refused(managed.batch.create_scheduling_policy, message, name="fair", fairsharePolicy=fair)


@pytest.mark.parametrize(
    "entries",
    [
        ["UserA", "UserA1"],
        ["UserA*", "UserB*", "User"],
        ["a" * 255 + "*", "b"],
    ],
    ids=["one begins with the other but is no prefix", "prefixes beside each other", "the longest"],
)
def test_entries_that_do_not_overlap_are_taken(managed: Managed, entries: list[str]) -> None:
    distribution = [{"shareIdentifier": entry, "weightFactor": 999.9999} for entry in entries]
    arn = managed.batch.create_scheduling_policy(name="f", fairsharePolicy={"shareDistribution": distribution})["arn"]
    (told,) = managed.batch.describe_scheduling_policies(arns=[arn])["schedulingPolicies"]
    assert [share["shareIdentifier"] for share in told["fairsharePolicy"]["shareDistribution"]] == entries


def test_a_policy_has_one_kind_for_life(managed: Managed) -> None:
    quota, fair = {"idleResourceAssignmentStrategy": "FIFO"}, {"shareDecaySeconds": 600}
    refused(
        managed.batch.create_scheduling_policy, "Only one", name="both", fairsharePolicy=fair, quotaSharePolicy=quota
    )
    refused(managed.batch.update_scheduling_policy, "changed", arn=managed.policy, fairsharePolicy=fair)
    plain = managed.batch.create_scheduling_policy(name="fair", fairsharePolicy=fair)["arn"]
    refused(managed.batch.update_scheduling_policy, "changed", arn=plain, quotaSharePolicy=quota)
    refused(managed.batch.create_scheduling_policy, "already exists", name="fair")
    managed.batch.delete_scheduling_policy(arn=plain)
    refused(managed.batch.delete_scheduling_policy, "does not exist", arn=plain)


def test_a_queue_takes_a_policy_of_its_own_kind_only_and_never_none(managed: Managed) -> None:
    fair = managed.batch.create_scheduling_policy(name="fair")["arn"]
    update = managed.batch.update_job_queue
    refused(update, "kind|quota", jobQueue="training", schedulingPolicyArn=fair)
    refused(update, "not removed", jobQueue="training", schedulingPolicyArn="")
    quota = {"idleResourceAssignmentStrategy": "FIFO"}
    other = managed.batch.create_scheduling_policy(name="other", quotaSharePolicy=quota)["arn"]
    update(jobQueue="training", schedulingPolicyArn=other)
    managed.batch.delete_scheduling_policy(arn=managed.policy)


# Job queues


@pytest.mark.parametrize(
    "change,message",
    [
        ({"action": "CANCEL"}, "TERMINATE"),
        ({"state": "RUNNING"}, "RUNNABLE"),
        ({"reason": "CAPACITY"}, "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"),
        ({"maxTimeSeconds": 599}, "between 600 and 86400"),
        ({"maxTimeSeconds": 86_401}, "between 600 and 86400"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_time_limit_that_service_jobs_do_not_have_is_refused(
    managed: Managed, change: dict[str, Any], message: str
) -> None:
    action = {
        "reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
        "state": "RUNNABLE",
        "maxTimeSeconds": 600,
        "action": "TERMINATE",
    }
    refused(
        managed.batch.update_job_queue, message, jobQueue="training", jobStateTimeLimitActions=[{**action, **change}]
    )
    managed.batch.update_job_queue(jobQueue="training", jobStateTimeLimitActions=[action], priority=1000)
    (queue,) = managed.batch.describe_job_queues(jobQueues=["training"])["jobQueues"]
    assert (queue["jobStateTimeLimitActions"], queue["priority"]) == ([action], 1000)


@pytest.mark.parametrize(
    "request_,message",
    [
        ({"priority": 1001}, "priority"),
        ({"serviceEnvironmentOrder": [{"order": n, "serviceEnvironment": "gpus"} for n in (1, 2)]}, "exactly one"),
        ({"computeEnvironmentOrder": [{"order": 1, "computeEnvironment": "c"}]}, "not both"),
        ({"serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "nobody"}]}, "does not exist"),
        ({"schedulingPolicyArn": "arn:aws:batch:us-east-1:123456789012:scheduling-policy/nobody"}, "does not exist"),
        ({"jobQueueType": "ECS"}, "SAGEMAKER_TRAINING"),
        ({"jobQueueName": "training"}, "Object already exists"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_queue_that_cannot_be_is_refused(managed: Managed, request_: dict[str, Any], message: str) -> None:
    managed.environment("plain", "NUM_INSTANCES")
    whole = {
        "jobQueueName": "fifo",
        "priority": 1,
        "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "plain"}],
    }
    refused(managed.batch.create_job_queue, message, **{**whole, **request_})


def test_a_queue_moves_to_another_environment_while_none_of_its_jobs_runs(managed: Managed) -> None:
    managed.environment("more", TYPE, 5)
    managed.environment("plain", "NUM_INSTANCES")

    def move(environment: str) -> None:
        order = [{"order": 1, "serviceEnvironment": environment}]
        managed.batch.update_job_queue(jobQueue="training", serviceEnvironmentOrder=order)

    with pytest.raises(ClientError, match="instance type"):
        move("plain")
    move("more")
    job = managed.submit("search")
    managed.aws.run_for(1)
    assert managed.batch.describe_service_job(jobId=job)["status"] == "RUNNING"
    with pytest.raises(ClientError, match=r"NotImplemented.*while its jobs run"):
        move("gpus")
    managed.batch.update_service_environment(serviceEnvironment="gpus", state="DISABLED")
    managed.batch.delete_service_environment(serviceEnvironment="gpus")


def test_there_are_fifty_environments_at_most(managed: Managed) -> None:
    for n in range(49):
        managed.environment(f"e{n}", "NUM_INSTANCES")
    with pytest.raises(ClientError, match="Limit of 50"):
        managed.environment("e50", "NUM_INSTANCES")


# Quota shares


def test_a_quota_share_is_made_described_listed_changed_and_deleted(managed: Managed) -> None:
    arn = managed.shares["search"]
    assert arn.endswith(":job-queue/training/quota-share/search")
    told = managed.batch.describe_quota_share(quotaShareArn=arn)
    assert (told["status"], told["state"], told["tags"]) == ("VALID", "ENABLED", {})
    assert told["capacityLimits"] == [{"capacityUnit": TYPE, "maxCapacity": 1}]
    assert told["jobQueueArn"].endswith(":job-queue/training")
    managed.batch.update_quota_share(quotaShareArn=arn, resourceSharingConfiguration={"strategy": "RESERVE"})
    listed = managed.batch.list_quota_shares(jobQueue="training")["quotaShares"]
    assert [(it["quotaShareName"], it["resourceSharingConfiguration"]["strategy"]) for it in listed] == [
        ("search", "RESERVE"),
        ("ads", "LEND"),
    ]
    assert "tags" not in listed[0]
    refused(managed.batch.delete_quota_share, "disabled first", quotaShareArn=arn)
    managed.batch.update_quota_share(quotaShareArn=arn, state="DISABLED")
    managed.batch.delete_quota_share(quotaShareArn=arn)
    refused(managed.batch.describe_quota_share, "does not exist", quotaShareArn=arn)


def test_a_listing_of_quota_shares_comes_in_pages(managed: Managed) -> None:
    first = managed.batch.list_quota_shares(jobQueue="training", maxResults=1)
    rest = managed.batch.list_quota_shares(jobQueue="training", nextToken=first["nextToken"])
    assert [it["quotaShareName"] for it in (*first["quotaShares"], *rest["quotaShares"])] == ["search", "ads"]
    refused(managed.batch.list_quota_shares, "nextToken", jobQueue="training", nextToken="x")


@pytest.mark.parametrize(
    "change,message",
    [
        ({"quotaShareName": "search"}, "already exists"),
        ({"quotaShareName": "a b"}, "1 to 128 characters"),
        ({"jobQueue": "nobody"}, "does not exist"),
        ({"jobQueue": "fifo"}, "no quota-share scheduling policy"),
        ({"capacityLimits": [{"capacityUnit": TYPE, "maxCapacity": 0}]}, "at least 1"),
        ({"capacityLimits": [{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 1}]}, "instance types"),
        ({"resourceSharingConfiguration": {"strategy": "LEND", "borrowLimit": 10}}, "LEND_AND_BORROW"),
        ({"resourceSharingConfiguration": {"strategy": "LEND_AND_BORROW", "borrowLimit": -2}}, "-1 or more"),
        ({"resourceSharingConfiguration": {"strategy": "BORROW"}}, "RESERVE, LEND, LEND_AND_BORROW"),
        ({"preemptionConfiguration": {"inSharePreemption": "ON"}}, "ENABLED, DISABLED"),
        ({"state": "ON"}, "ENABLED, DISABLED"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_quota_share_that_cannot_be_is_refused(managed: Managed, change: dict[str, Any], message: str) -> None:
    managed.environment("plain", "NUM_INSTANCES")
    managed.batch.create_job_queue(
        jobQueueName="fifo", priority=1, serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "plain"}]
    )
    refused(managed.batch.create_quota_share, message, **{**managed.share_request("maps"), **change})
    assert len(managed.batch.list_quota_shares(jobQueue="training")["quotaShares"]) == 2


def test_a_queue_has_twenty_quota_shares_at_most(managed: Managed) -> None:
    for n in range(18):
        managed.batch.create_quota_share(**managed.share_request(f"s{n}"))
    refused(managed.batch.create_quota_share, "20", **managed.share_request("s20"))


def test_a_disabled_share_takes_no_jobs_and_finishes_what_it_has(managed: Managed) -> None:
    job = managed.submit("search", seconds=60)
    managed.batch.update_quota_share(quotaShareArn=managed.shares["search"], state="DISABLED")
    with pytest.raises(ClientError, match="disabled"):
        managed.submit("search")
    managed.aws.run_for(120)
    assert managed.batch.describe_service_job(jobId=job)["status"] == "SUCCEEDED"


def test_a_deleted_share_ends_its_jobs(managed: Managed) -> None:
    job = managed.submit("search")
    managed.batch.update_quota_share(quotaShareArn=managed.shares["search"], state="DISABLED")
    managed.batch.delete_quota_share(quotaShareArn=managed.shares["search"])
    managed.aws.run_for(1)
    assert managed.batch.describe_service_job(jobId=job)["status"] == "FAILED"


@pytest.mark.parametrize("setting", ["refuse", "delete"])
def test_a_queue_with_quota_shares_is_not_deleted_or_takes_them_along(setting: Any) -> None:
    with Emulator(seed=7, batch=BatchSettings(queue_with_shares=setting)) as aws:
        managed = Managed(aws)
        managed.batch.update_job_queue(jobQueue="training", state="DISABLED")
        if setting == "refuse":
            refused(managed.batch.delete_job_queue, "QuotaShare relationship", jobQueue="training")
        else:
            managed.batch.delete_job_queue(jobQueue="training")
            refused(managed.batch.describe_quota_share, "not exist", quotaShareArn=managed.shares["ads"])


# The time that changes take


def test_while_a_change_is_under_way_a_resource_is_not_valid_and_takes_no_other() -> None:
    with Emulator(seed=7, batch=BatchSettings(resource_delay=10)) as aws:
        batch = aws.client("batch")

        def status() -> str:
            return str(batch.describe_service_environments()["serviceEnvironments"][0]["status"])

        batch.create_service_environment(
            serviceEnvironmentName="gpus",
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=[{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 1}],
        )
        order = [{"order": 1, "serviceEnvironment": "gpus"}]
        assert status() == "CREATING"
        refused(batch.create_job_queue, "not VALID", jobQueueName="q", priority=1, serviceEnvironmentOrder=order)
        refused(batch.update_service_environment, "being modified", serviceEnvironment="gpus", state="DISABLED")
        time.sleep(10)
        assert status() == "VALID"
        batch.update_service_environment(serviceEnvironment="gpus", state="DISABLED")
        assert status() == "UPDATING"
        aws.run_for(10)
        batch.delete_service_environment(serviceEnvironment="gpus")
        assert status() == "DELETING"
        refused(batch.delete_service_environment, "being modified", serviceEnvironment="gpus")
        aws.run_for(10)
        assert batch.describe_service_environments()["serviceEnvironments"] == []


def test_a_queue_that_is_not_valid_yet_takes_neither_jobs_nor_shares() -> None:
    with Emulator(seed=7, batch=BatchSettings(resource_delay=10)) as aws:
        managed = Managed(aws, settle=10)
        managed.batch.update_job_queue(jobQueue="training", priority=5)
        with pytest.raises(ClientError, match="not VALID"):
            managed.submit("search")
        refused(managed.batch.create_quota_share, "not VALID", **managed.share_request("maps"))
        aws.run_for(10)
        managed.submit("search")
