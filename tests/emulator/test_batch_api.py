"""The Batch API of the emulator: what it answers, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.validate import ParamValidator

from pointsman_emulator import BatchSettings
from tests.emulator.worlds import Make


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def valid(client: Any, operation: str, answer: dict[str, Any]) -> None:
    """Botocore's own validator accepts the answer as an output of the operation."""
    method = client.meta.method_to_api_mapping[operation]
    shape = client.meta.service_model.operation_model(method).output_shape
    body = {key: value for key, value in answer.items() if key != "ResponseMetadata"}
    report = ParamValidator().validate(body, shape)
    assert not report.has_errors(), report.generate_report()


def test_every_answer_is_valid_against_the_service_model(world: Make) -> None:
    w = world(batch=BatchSettings(started_at_of_waiting="zero"), instances=2)
    running, waiting = w.submit(instances=2), w.submit()
    w.aws.run_for(10)
    for operation, request in (
        ("describe_service_environments", {}),
        ("describe_job_queues", {}),
        ("list_scheduling_policies", {}),
        ("get_job_queue_snapshot", {"jobQueue": "training"}),
        ("list_service_jobs", {"jobQueue": "training", "jobStatus": "RUNNABLE"}),
        ("describe_service_job", {"jobId": running}),
        ("describe_service_job", {"jobId": waiting}),
        ("update_service_job", {"jobId": waiting, "schedulingPriority": 9}),
    ):
        valid(w.batch, operation, getattr(w.batch, operation)(**request))


def test_a_healthy_queue_describes_itself_as_aws_does(world: Make) -> None:
    w = world()
    (queue,) = w.batch.describe_job_queues(jobQueues=["training"])["jobQueues"]
    assert (queue["status"], queue["statusReason"], queue["state"]) == ("VALID", "JobQueue Healthy", "ENABLED")
    assert queue["computeEnvironmentOrder"] == []
    assert queue["jobQueueType"] == "SAGEMAKER_TRAINING"
    assert queue["serviceEnvironmentOrder"][0]["serviceEnvironment"].endswith(":service-environment/gpus")
    (policy,) = w.batch.describe_scheduling_policies(arns=[queue["schedulingPolicyArn"]])["schedulingPolicies"]
    assert policy["fairsharePolicy"]["shareDistribution"][0]["shareIdentifier"] == "all"


def test_a_queue_that_nobody_made_is_left_out_of_the_description(world: Make) -> None:
    assert world().batch.describe_job_queues(jobQueues=["nobody"])["jobQueues"] == []


def test_a_queue_can_be_made_changed_and_deleted_in_the_order_that_aws_demands(world: Make) -> None:
    w = world()
    limits = [{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 2}]
    w.batch.create_service_environment(
        serviceEnvironmentName="more", serviceEnvironmentType="SAGEMAKER_TRAINING", capacityLimits=limits
    )
    order = [{"order": 1, "serviceEnvironment": "more"}]
    w.batch.create_job_queue(
        jobQueueName="fifo", priority=3, jobQueueType="SAGEMAKER_TRAINING", serviceEnvironmentOrder=order
    )
    with pytest.raises(ClientError, match="Object already exists"):
        w.batch.create_job_queue(jobQueueName="fifo", priority=3, serviceEnvironmentOrder=order)
    with pytest.raises(ClientError, match="must be disabled"):
        w.batch.delete_job_queue(jobQueue="fifo")
    w.batch.update_job_queue(jobQueue="fifo", state="DISABLED")
    with pytest.raises(ClientError, match="disabled"):
        w.batch.submit_service_job(
            jobName="a", jobQueue="fifo", serviceJobType="SAGEMAKER_TRAINING", serviceRequestPayload="{}"
        )
    w.batch.update_service_environment(serviceEnvironment="more", state="DISABLED")
    with pytest.raises(ClientError, match="relationship"):
        w.batch.delete_service_environment(serviceEnvironment="more")
    w.batch.delete_job_queue(jobQueue="fifo")
    w.batch.delete_service_environment(serviceEnvironment="more")
    assert [it["serviceEnvironmentName"] for it in w.batch.describe_service_environments()["serviceEnvironments"]] == [
        "gpus"
    ]


def test_a_policy_in_use_cannot_be_deleted_and_none_can_be_added_later(world: Make) -> None:
    w = world()
    arn = w.batch.describe_job_queues()["jobQueues"][0]["schedulingPolicyArn"]
    with pytest.raises(ClientError, match="relationship"):
        w.batch.delete_scheduling_policy(arn=arn)
    w.batch.create_job_queue(
        jobQueueName="fifo", priority=1, serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "gpus"}]
    )
    with pytest.raises(ClientError, match="cannot be added"):
        w.batch.update_job_queue(jobQueue="fifo", schedulingPolicyArn=arn)


@pytest.mark.parametrize(
    "operation,request_",
    [
        ("submit_job", {"jobName": "a", "jobQueue": "q", "jobDefinition": "d"}),
        ("terminate_jobs", {"jobs": ["a"], "reason": "b"}),
        ("create_consumable_resource", {"consumableResourceName": "a"}),
    ],
)
def test_what_is_not_built_is_refused_by_name(world: Make, operation: str, request_: dict[str, Any]) -> None:
    w = world()
    with pytest.raises(ClientError) as error:
        getattr(w.batch, operation)(**request_)
    assert code(error) == "NotImplemented"
    assert w.batch.meta.method_to_api_mapping[operation] in str(error.value)


def test_a_payload_is_not_looked_at_until_the_job_is_tried(world: Make) -> None:
    w = world()
    job = w.submit(serviceRequestPayload="this is no JSON")
    w.aws.run_for(1)
    assert w.describe(job)["status"] == "FAILED"


def test_a_payload_of_more_than_ten_kibibytes_is_refused(world: Make) -> None:
    with pytest.raises(ClientError, match="10 KiB"):
        world().submit(serviceRequestPayload=json.dumps({"x": "y" * 11_000}))


def test_a_token_is_taken_once(world: Make) -> None:
    w = world()
    w.submit(clientToken="t")
    with pytest.raises(ClientError) as error:
        w.submit(clientToken="t")
    assert code(error) == "ClientException"


def test_a_job_is_found_by_its_arn_too_and_an_unknown_one_is_a_client_exception(world: Make) -> None:
    w = world()
    arn = w.describe(w.submit())["jobArn"]
    assert w.describe(arn)["jobArn"] == arn
    with pytest.raises(ClientError) as error:
        w.describe("00000000-0000-4000-8000-000000000000")
    assert code(error) == "ClientException"


@pytest.mark.parametrize("setting,present", [("absent", False), ("zero", True)])
def test_the_start_of_a_waiting_job_is_absent_or_zero(world: Make, setting: Any, *, present: bool) -> None:
    w = world(batch=BatchSettings(started_at_of_waiting=setting))
    assert ("startedAt" in w.describe(w.submit())) is present


@pytest.mark.parametrize("unit,shown", [("NUM_INSTANCES", "NUM_INSTANCES"), ("instance_type", "ml.g5.xlarge")])
def test_capacity_is_told_in_either_unit(world: Make, unit: Any, shown: str) -> None:
    w = world(batch=BatchSettings(usage_unit=unit))
    assert w.describe(w.submit(instances=3))["capacityUsage"] == [{"capacityUnit": shown, "quantity": 3.0}]


def test_instance_groups_are_summed(world: Make) -> None:
    w = world()
    groups = [{"InstanceGroupName": "a", "InstanceCount": 1}, {"InstanceGroupName": "b", "InstanceCount": 2}]
    job = w.submit(serviceRequestPayload=json.dumps({"ResourceConfig": {"InstanceGroups": groups}}))
    assert w.describe(job)["capacityUsage"][0]["quantity"] == 3.0


def test_a_listing_has_a_hundred_to_a_page_newest_first_and_no_priorities(world: Make) -> None:
    w = world(instances=1)
    jobs = [w.submit(f"job-{n}", schedulingPriority=7) for n in range(130)]
    w.aws.run_for(1)
    first = w.batch.list_service_jobs(jobQueue="training", jobStatus="RUNNABLE")
    rest = w.batch.list_service_jobs(jobQueue="training", jobStatus="RUNNABLE", nextToken=first["nextToken"])
    listed = [job["jobId"] for job in first["jobSummaryList"] + rest["jobSummaryList"]]
    assert len(first["jobSummaryList"]) == 100
    assert "nextToken" not in rest
    assert listed == jobs[:0:-1]
    assert "schedulingPriority" not in first["jobSummaryList"][0]


def test_a_token_of_a_listing_is_taken_for_as_long_as_the_setting_says(world: Make) -> None:
    w = world(batch=BatchSettings(token_life=60.0), instances=1)
    for n in range(102):
        w.submit(f"job-{n}")
    w.aws.run_for(1)
    line = {"jobQueue": "training", "jobStatus": "RUNNABLE"}
    token = w.batch.list_service_jobs(**line)["nextToken"]
    w.aws.run_for(59)
    assert len(w.batch.list_service_jobs(**line, nextToken=token)["jobSummaryList"]) == 1
    w.aws.run_for(2)
    with pytest.raises(ClientError) as error:
        w.batch.list_service_jobs(**line, nextToken=token)
    assert code(error) == "ClientException"


def test_a_listing_without_a_status_shows_running_jobs_only(world: Make) -> None:
    w = world(instances=1)
    running, _ = w.submit(), w.submit()
    w.aws.run_for(1)
    listed = w.batch.list_service_jobs(jobQueue="training")["jobSummaryList"]
    assert [job["jobId"] for job in listed] == [running]


def test_a_filter_by_name_ignores_the_status_and_the_case(world: Make) -> None:
    w = world(instances=1)
    w.submit("Prod-1"), w.submit("prod-2"), w.submit("sweep-1")
    w.aws.run_for(1)
    filters = [{"name": "JOB_NAME", "values": ["PROD-*"]}]
    listed = w.batch.list_service_jobs(jobQueue="training", jobStatus="SUCCEEDED", filters=filters)["jobSummaryList"]
    assert {job["jobName"] for job in listed} == {"Prod-1", "prod-2"}


def test_a_filter_by_share_combines_with_the_status(world: Make) -> None:
    w = world(instances=1)
    w.submit("a", shareIdentifier="x"), w.submit("b", shareIdentifier="x"), w.submit("c", shareIdentifier="y")
    w.aws.run_for(1)
    filters = [{"name": "SHARE_IDENTIFIER", "values": ["x"]}]
    listed = w.batch.list_service_jobs(jobQueue="training", jobStatus="RUNNABLE", filters=filters)["jobSummaryList"]
    assert [job["jobName"] for job in listed] == ["b"]


def test_two_filters_at_once_are_refused(world: Make) -> None:
    filters = [{"name": "JOB_NAME", "values": ["a"]}, {"name": "SHARE_IDENTIFIER", "values": ["x"]}]
    with pytest.raises(ClientError, match="one filter"):
        world().batch.list_service_jobs(jobQueue="training", filters=filters)


def test_a_snapshot_tells_the_front_and_the_use_per_share(world: Make) -> None:
    w = world(instances=3)
    w.submit(instances=3)
    w.aws.run_for(1)
    low, high = w.submit(), w.submit(schedulingPriority=5)
    w.aws.run_for(1)
    snapshot = w.batch.get_job_queue_snapshot(jobQueue="training")
    front = [job["jobArn"].rsplit("/")[-1] for job in snapshot["frontOfQueue"]["jobs"]]
    use = snapshot["queueUtilization"]
    assert front == [high, low]
    assert use["totalCapacityUsage"] == [{"capacityUnit": "NUM_INSTANCES", "quantity": 3.0}]
    assert use["fairshareUtilization"]["activeShareCount"] == 1
    assert snapshot["frontOfQueue"]["lastUpdatedAt"] == int(w.aws.now * 1000)


def test_terminating_by_the_api_fails_the_job_and_says_why(world: Make) -> None:
    w = world()
    job = w.submit()
    w.batch.terminate_service_job(jobId=job, reason="not wanted")
    told = w.describe(job)
    assert (told["status"], told["statusReason"], told["isTerminated"]) == ("FAILED", "not wanted", True)


def test_an_exit_that_fails_uses_the_attempts_up(world: Make) -> None:
    w = world()
    job = w.submit(seconds=60, environment={"EMULATED_EXIT": "fail"}, retryStrategy={"attempts": 2})
    w.aws.run_for(300)
    told = w.describe(job)
    assert (told["status"], len(told["attempts"])) == ("FAILED", 2)
    assert told["statusReason"].startswith("Received status from SageMaker: ")


def test_a_rate_is_a_429_that_botocore_tries_again_in_virtual_time(world: Make) -> None:
    w = world(batch=BatchSettings(calls_per_second=5))
    job = w.submit()
    before = w.aws.now
    for _ in range(6):
        w.describe(job)
    assert w.aws.now > before
    assert w.aws.count("batch", "DescribeServiceJob") > 6


def test_without_a_rate_nothing_is_throttled(world: Make) -> None:
    w = world()
    job = w.submit()
    for _ in range(20):
        w.describe(job)
    assert w.aws.count("batch", "DescribeServiceJob") == 20


def test_a_container_queue_is_motos_and_is_described_beside_ours(world: Make) -> None:
    w = world()
    role = w.aws.client("iam").create_role(RoleName="batch", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    w.batch.create_compute_environment(
        computeEnvironmentName="containers", type="UNMANAGED", state="ENABLED", serviceRole=role
    )
    order = [{"order": 1, "computeEnvironment": "containers"}]
    w.batch.create_job_queue(jobQueueName="jobs", priority=1, state="ENABLED", computeEnvironmentOrder=order)
    (queue,) = w.batch.describe_job_queues(jobQueues=["jobs"])["jobQueues"]
    assert queue["jobQueueType"] == "ECS"
    assert "serviceEnvironmentOrder" not in queue
    assert len(w.batch.describe_job_queues()["jobQueues"]) == 2
    assert w.batch.get_job_queue_snapshot(jobQueue="jobs")["frontOfQueue"]["jobs"] == []
    assert w.batch.list_service_jobs(jobQueue="jobs")["jobSummaryList"] == []
    with pytest.raises(ClientError, match="does not exist"):
        w.batch.get_job_queue_snapshot(jobQueue="nobody")


def test_submissions_have_a_rate_of_their_own(world: Make) -> None:
    w = world(batch=BatchSettings(submits_per_second=5))
    before = w.aws.now
    for n in range(5):
        w.submit(f"{n}")
    assert w.aws.now == before
    w.submit("one-too-many")
    assert w.aws.now > before


def test_a_job_that_says_nothing_runs_as_long_as_the_setting_says(world: Make) -> None:
    w = world(batch=BatchSettings(job_seconds=120))
    job = w.submit(serviceRequestPayload="{}")
    w.aws.run_for(119)
    assert w.describe(job)["status"] == "RUNNING"
    w.aws.run_for(1)
    assert w.describe(job)["status"] == "SUCCEEDED"


def test_jobs_are_found_by_the_time_of_their_creation(world: Make) -> None:
    w = world()
    early = w.submit()
    w.aws.run_for(60)
    between = str(int((w.aws.now - 30) * 1000))
    late = w.submit()
    for name, job in (("BEFORE_CREATED_AT", early), ("AFTER_CREATED_AT", late)):
        filters = [{"name": name, "values": [between]}]
        listed = w.batch.list_service_jobs(jobQueue="training", filters=filters)["jobSummaryList"]
        assert [it["jobId"] for it in listed] == [job]
