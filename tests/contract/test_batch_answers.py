"""What only Batch can answer: requests of every kind, times in two units, queues that we cannot move, throttling."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pointsman.aws.batch import AwsBatchQueues
from pointsman.aws.clients import Clients
from pointsman.errors import Transient
from pointsman.queues.kinds import QueueKind
from pointsman_emulator import Emulator
from tests.contract.batch_worlds import EmulatedWorld
from tests.contract.interference import Interfered
from tests.fakes.clock import FakeClock
from tests.fakes.instance_types import FakeInstanceTypes

QUEUE = "search-training"


@pytest.fixture
def emulated(clients: Clients) -> Iterator[EmulatedWorld]:
    with Emulator(seed=1) as emulator:
        yield EmulatedWorld(emulator, clients)


@pytest.mark.parametrize(
    "resources, size, gpus",
    [
        ({"InstanceType": "ml.g5.xlarge", "InstanceCount": 3}, 3, 3),
        ({"InstanceType": "ml.m5.large", "InstanceCount": 2}, 2, 0),
        ({"InstanceType": "ml.invented.48xlarge", "InstanceCount": 2}, 2, 2),
        (
            {
                "InstanceGroups": [
                    {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2, "InstanceGroupName": "a"},
                    {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1, "InstanceGroupName": "b"},
                ]
            },
            3,
            17,
        ),
        ({}, 1, 1),
    ],
    ids=["one type", "a type without GPUs", "a type that EC2 lacks", "groups of instances", "nothing said"],
)
def test_the_gpus_of_a_job_follow_from_its_request(
    emulated: EmulatedWorld, resources: dict[str, Any], size: int, gpus: int
) -> None:
    emulated.add_queue(QUEUE, 64, QueueKind.FIFO)
    job_id = emulated.submit_raw(QUEUE, "prod-1", {"ResourceConfig": resources})

    detail = emulated.port.describe_job(job_id).detail

    assert detail is not None
    assert (detail.size, detail.gpus) == (size, gpus)


def describing(**fields: Any) -> AwsBatchQueues:
    """Batch, with an answer that the emulator never gives."""
    job = {
        "jobId": "job-1",
        "jobName": "prod-1",
        "jobQueue": f"arn:aws:batch:x:1:job-queue/{QUEUE}",
        "status": "RUNNABLE",
    }

    def describe_service_job(_real: Callable[..., Any], **_request: Any) -> Any:
        return {**job, **fields}

    batch = Interfered(_Nothing(), describe_service_job=describe_service_job)
    return AwsBatchQueues(batch, FakeInstanceTypes(), FakeClock(1_900_000_000.0))


class _Nothing:
    def __getattr__(self, _name: str) -> object:
        return None


@pytest.mark.parametrize(
    "created, seconds",
    [(1_800_000_000_123, 1_800_000_000.123), (1_800_000_000, 1_800_000_000.0), (0, 1_900_000_000.0)],
    ids=["milliseconds", "seconds, as some samples have", "not said, so now"],
)
def test_times_are_seconds_whatever_batch_gives(created: int, seconds: float) -> None:
    assert describing(createdAt=created).describe_job("job-1").created == seconds


@pytest.mark.parametrize(
    "fields, size, gpus",
    [
        ({"serviceRequestPayload": "not JSON"}, 1, 1),
        ({"serviceRequestPayload": '{"ResourceConfig": {"InstanceCount": "many"}}'}, 1, 1),
        ({"serviceRequestPayload": '["a list"]'}, 1, 1),
        ({"capacityUsage": [{"capacityUnit": "ml.g5.xlarge", "quantity": 2.0}, {"quantity": 1.0}]}, 3, 3),
        (
            {"serviceRequestPayload": '{"ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2}}'},
            2,
            16,
        ),
    ],
    ids=["not JSON", "a count that is none", "not an object", "use by type", "no use given"],
)
def test_a_job_has_a_size_whatever_its_request_says(fields: dict[str, Any], size: int, gpus: int) -> None:
    detail = describing(**fields).describe_job("job-1").detail

    assert detail is not None
    assert (detail.size, detail.gpus) == (size, gpus)


def test_a_waiting_job_has_not_started_whatever_is_left_of_its_last_attempt() -> None:
    attempts = [{"startedAt": 1_800_000_000_000, "stoppedAt": 1_800_000_100_000}]
    preempted = {"preemptedAttemptCount": 2, "recentPreemptedAttempts": []}
    batch = describing(startedAt=1_800_000_000_000, attempts=attempts, preemptionSummary=preempted)

    job = batch.describe_job("job-1")

    assert (job.started, job.attempts, job.preemptions, job.crashes) == (None, 1, 2, 1)


def test_a_queue_with_quota_shares_says_so(emulated: EmulatedWorld) -> None:
    emulated.add_queue(QUEUE, 4, QueueKind.FAIR_SHARE)

    def quota(real: Callable[..., Any], **request: Any) -> Any:
        (policy,) = real(**request)["schedulingPolicies"]
        policy.pop("fairsharePolicy")
        return {"schedulingPolicies": [{**policy, "quotaSharePolicy": {"idleResourceAssignmentStrategy": "FIFO"}}]}

    batch = Interfered(emulated.clients.batch, describe_scheduling_policies=quota)

    assert AwsBatchQueues(batch, FakeInstanceTypes(), emulated).describe_queue(QUEUE).kind is QueueKind.QUOTA_SHARE


def test_a_queue_that_is_switched_off_says_so(emulated: EmulatedWorld) -> None:
    emulated.add_queue(QUEUE, 4, QueueKind.FAIR_SHARE)
    emulated.clients.batch.update_job_queue(jobQueue=QUEUE, state="DISABLED")

    assert not emulated.port.describe_queue(QUEUE).enabled


@pytest.mark.parametrize("code, status", [("TooManyRequestsException", 429), ("ServerException", 500)])
def test_throttling_and_faults_are_transient_once_the_client_has_tried_enough(
    emulated: EmulatedWorld, code: str, status: int
) -> None:
    emulated.add_queue(QUEUE, 4, QueueKind.FAIR_SHARE)
    job_id = emulated.submit(QUEUE, "prod-1", 1, "all")
    emulated.emulator.fail_next("batch", "DescribeServiceJob", code, 3, status=status)

    with pytest.raises(Transient):
        emulated.port.describe_job(job_id)
    assert emulated.port.describe_job(job_id).job_id == job_id


def test_a_throttled_call_goes_through_when_the_client_tries_again(emulated: EmulatedWorld) -> None:
    emulated.add_queue(QUEUE, 4, QueueKind.FAIR_SHARE)
    job_id = emulated.submit(QUEUE, "prod-1", 1, "all")
    emulated.emulator.fail_next("batch", "UpdateServiceJob", "TooManyRequestsException", 2, status=429)

    emulated.port.set_priority(job_id, 4999)

    detail = emulated.port.describe_job(job_id).detail
    assert detail is not None
    assert detail.priority == 4999
