"""Service jobs through the API: submissions, descriptions, listings, snapshots, preemption."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from pointsman_emulator import BatchSettings, Emulator
from tests.emulator.batch_stacks import TYPE, Managed
from tests.emulator.worlds import Make

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def managed() -> Iterator[Managed]:
    with Emulator(seed=7, batch=BatchSettings(scheduled_dwell=5, starting_dwell=5)) as aws:
        yield Managed(aws)


# Submissions


@pytest.mark.parametrize(
    "change,message",
    [
        ({"jobName": "a b"}, "1 to 128 characters"),
        ({"jobName": "x" * 129}, "1 to 128 characters"),
        ({"serviceJobType": "EC2"}, "SAGEMAKER_TRAINING"),
        ({"jobQueue": "nobody"}, "does not exist"),
        ({"quotaShareName": "nobody"}, "nobody"),
        ({"shareIdentifier": "all"}, "shareIdentifier cannot be specified"),
        ({"schedulingPriority": 10_000}, "between 0 and 9999"),
        ({"schedulingPriority": -1}, "between 0 and 9999"),
        ({"retryStrategy": {"attempts": 0}}, "between 1 and 10"),
        ({"retryStrategy": {"attempts": 11}}, "between 1 and 10"),
        ({"retryStrategy": {"attempts": 2, "evaluateOnExit": [{"action": "STOP", "onStatusReason": "*"}]}}, "RETRY"),
        ({"retryStrategy": {"attempts": 2, "evaluateOnExit": [{"action": "EXIT"}]}}, "1 to 512 characters"),
        (
            {"retryStrategy": {"attempts": 2, "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "x" * 513}]}},
            "1 to 512 characters",
        ),
        (
            {"retryStrategy": {"attempts": 2, "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "*"}] * 6}},
            "at most 5",
        ),
        ({"timeoutConfig": {"attemptDurationSeconds": 0}}, "at least 1"),
        ({"preemptionConfiguration": {"preemptionRetriesBeforeTermination": -1}}, "negative"),
        ({"tags": {"k": "v" * 257}}, "256"),
        ({"serviceRequestPayload": "x" * 10_241}, "10 KiB"),
        (
            {
                "tags": {f"{n:0128}": "v" * 256 for n in range(50)},
                "serviceRequestPayload": "x" * 10_240,
                "retryStrategy": {
                    "attempts": 2,
                    "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "x" * 512}] * 5,
                },
            },
            "30 KiB",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_submission_that_cannot_be_is_refused(managed: Managed, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match=message) as error:
        managed.submit("search", **change)
    assert error.value.response["Error"]["Code"] == "ClientException"
    assert managed.aws.batch_model.jobs == {}


@pytest.mark.parametrize(
    "share,message",
    [("quotaShareName", "quotaShareName cannot be specified"), ("", "shareIdentifier must be specified")],
    ids=["a quota share", "none"],
)
def test_a_fair_share_queue_takes_share_identifiers_only(world: Make, share: str, message: str) -> None:
    w = world()
    with pytest.raises(ClientError, match=message):
        w.batch.submit_service_job(
            jobName="a",
            jobQueue="training",
            serviceJobType="SAGEMAKER_TRAINING",
            serviceRequestPayload="{}",
            **({share: "search", "shareIdentifier": "all"} if share else {}),
        )


def test_a_share_identifier_is_alphanumeric(world: Make) -> None:
    with pytest.raises(ClientError, match="alphanumeric"):
        world().submit(shareIdentifier="team-a")


def test_a_token_refuses_the_same_request_and_no_other(managed: Managed) -> None:
    managed.submit("search", clientToken="t")
    with pytest.raises(ClientError, match="already accepted"):
        managed.submit("search", clientToken="t")
    managed.submit("search", priority=1, clientToken="t")
    managed.submit("search", clientToken="u")
    assert len(managed.aws.batch_model.jobs) == 3


def test_a_rule_of_retry_may_be_spelled_in_any_case(managed: Managed) -> None:
    rule = {"action": "Retry", "onStatusReason": "Received status from SageMaker: *"}
    job = managed.submit("search", retryStrategy={"attempts": 2, "evaluateOnExit": [rule]})
    (told,) = managed.batch.describe_service_job(jobId=job)["retryStrategy"]["evaluateOnExit"]
    assert told == {**rule, "action": "RETRY"}


# Descriptions


def test_a_description_has_all_that_was_submitted(managed: Managed) -> None:
    sent = {
        "retryStrategy": {"attempts": 3, "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "Capacity*"}]},
        "timeoutConfig": {"attemptDurationSeconds": 7200},
        "preemptionConfiguration": {"preemptionRetriesBeforeTermination": 2},
        "tags": {"team": "search"},
    }
    job = managed.submit("search", priority=7, **sent)
    managed.aws.run_for(60)
    told = managed.batch.describe_service_job(jobId=job)
    assert {name: told[name] for name in sent} == sent
    assert (told["status"], told["schedulingPriority"], told["quotaShareName"]) == ("RUNNING", 7, "search")
    assert told["capacityUsage"] == [{"capacityUnit": TYPE, "quantity": 1.0}]
    assert json.loads(told["serviceRequestPayload"])["ResourceConfig"]["InstanceType"] == TYPE
    assert told["createdAt"] <= told["scheduledAt"] <= told["startedAt"]
    assert ":training-job/AWSBatch" in told["latestAttempt"]["serviceResourceId"]["value"]
    assert "preemptionSummary" not in told
    assert told["isTerminated"] is False


# Termination


def test_jobs_are_terminated_in_bulk_and_each_is_answered_for(managed: Managed) -> None:
    jobs = [managed.submit("search"), managed.submit("ads")]
    arn = managed.batch.describe_service_job(jobId=jobs[1])["jobArn"]
    told = managed.batch.terminate_service_jobs(jobs=[jobs[0], arn, UNKNOWN, "no id"], reason="enough")
    assert told["successful"] == [jobs[0], arn, UNKNOWN]
    assert [(error["job"], error["code"]) for error in told["errors"]] == [("no id", "ValidationException")]
    managed.aws.run_for(1)
    for job in jobs:
        described = managed.batch.describe_service_job(jobId=job)
        assert (described["status"], described["statusReason"], described["isTerminated"]) == ("FAILED", "enough", True)


def test_fifty_jobs_can_be_terminated_at_a_time_and_no_more(managed: Managed) -> None:
    assert len(managed.batch.terminate_service_jobs(jobs=[UNKNOWN] * 50, reason="r")["successful"]) == 50
    with pytest.raises(ClientError, match="50"):
        managed.batch.terminate_service_jobs(jobs=[UNKNOWN] * 51, reason="r")


# Listings and snapshots


def test_a_listing_can_be_of_one_quota_share(managed: Managed) -> None:
    for share in ("search", "search", "ads"):
        managed.submit(share)
    managed.aws.run_for(60)
    filters = [{"name": "QUOTA_SHARE_NAME", "values": ["ads"]}]
    (job,) = managed.batch.list_service_jobs(jobQueue="training", filters=filters)["jobSummaryList"]
    assert (job["quotaShareName"], job["status"]) == ("ads", "RUNNING")
    assert "schedulingPriority" not in job


@pytest.mark.parametrize(
    "request_,message",
    [
        ({"jobStatus": "DONE"}, "jobStatus"),
        ({"filters": [{"name": "OWNER", "values": ["a"]}]}, "name of a filter"),
        ({"filters": [{"name": "JOB_NAME", "values": []}]}, "needs a value"),
        ({"filters": [{"name": "BEFORE_CREATED_AT", "values": ["yesterday"]}]}, "milliseconds"),
        ({"nextToken": "x"}, "nextToken"),
        ({"jobQueue": "nobody"}, "does not exist"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_listing_that_cannot_be_is_refused(managed: Managed, request_: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match=message):
        managed.batch.list_service_jobs(**{"jobQueue": "training", **request_})


def test_a_snapshot_tells_the_front_and_the_use_of_each_quota_share(managed: Managed) -> None:
    managed.submit("search", priority=3), managed.submit("ads")
    low, high = managed.submit("search", priority=0), managed.submit("search", priority=1)
    managed.aws.run_for(120)
    told = managed.batch.get_job_queue_snapshot(jobQueue="training")
    (front,) = told["frontOfQuotaShares"]["quotaShares"]["search"]
    assert front["jobArn"].endswith(high)
    assert [job["jobArn"].rsplit("/")[-1] for job in told["frontOfQueue"]["jobs"]][:2] == [high, low]
    use = told["queueUtilization"]
    assert use["totalCapacityUsage"] == [{"capacityUnit": TYPE, "quantity": 2.0}]
    top = use["quotaShareUtilization"]["topCapacityUtilization"]
    assert {it["quotaShareName"]: it["capacityUsage"][0]["quantity"] for it in top} == {"search": 1.0, "ads": 1.0}


# Throttling


def test_each_operation_has_a_rate_of_its_own(world: Make) -> None:
    w = world(batch=BatchSettings(rates={"DescribeServiceJob": 1, "SubmitServiceJob": 100}, submits_per_second=1))
    job = w.submit()
    for n in range(20):
        w.submit(f"job-{n}")
    once = w.aws.client("batch").meta.config.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}))

    impatient = boto3.client("batch", region_name="us-east-1", config=once)
    impatient.describe_service_job(jobId=job)
    with pytest.raises(ClientError) as error:
        impatient.describe_service_job(jobId=job)
    assert error.value.response["Error"]["Code"] == "TooManyRequestsException"
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 429


# Preemption


def test_a_preempted_job_says_so_and_how_often(managed: Managed) -> None:
    low = managed.submit("ads", priority=1)
    managed.batch.update_quota_share(
        quotaShareArn=managed.shares["ads"], preemptionConfiguration={"inSharePreemption": "ENABLED"}
    )
    managed.aws.run_for(60)
    events: list[dict[str, Any]] = []
    managed.aws.watch(lambda event: events.append(dict(event)))
    managed.submit("ads", priority=5)
    managed.aws.run_for(1)
    assert managed.batch.describe_service_job(jobId=low)["statusReason"].startswith("PREEMPTION_IN_PROGRESS: ")
    managed.aws.run_for(60)
    told = managed.batch.describe_service_job(jobId=low)
    summary = told["preemptionSummary"]
    (attempt,) = summary["recentPreemptedAttempts"]
    assert (told["status"], told["attempts"], summary["preemptedAttemptCount"]) == ("RUNNABLE", [], 1)
    assert set(attempt) == {"serviceResourceId", "startedAt", "stoppedAt", "statusReason"}
    begun, ended = (event for event in events if "Preemption" in event["detail-type"])
    assert begun["detail-type"] == "Batch Service Job Preemption Started"
    assert ended["detail-type"] == "Batch Service Job Preemption Completed"
    assert begun["resources"] == ended["resources"] == [told["jobArn"]]
    assert begun["detail"] == {
        "preemptedJobArn": told["jobArn"],
        "status": "RUNNING",
        "statusReason": f"PREEMPTION_IN_PROGRESS: {attempt['statusReason']}",
    }
    assert ended["detail"] == {"preemptedJobArn": told["jobArn"], "status": "RUNNABLE", "preemptionSummary": summary}
