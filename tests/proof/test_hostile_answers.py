"""Whatever AWS answers and whatever is stored, nearly right or damaged: a value, or one error that names it."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.config import Config
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.aws import job_items
from pointsman.aws.alarms import CloudWatchAlarms
from pointsman.aws.batch import AwsBatchQueues
from pointsman.aws.checkpoints import S3Checkpoints
from pointsman.aws.gauges import CloudWatchGauges
from pointsman.aws.gpu_series import CloudWatchGpuSeries
from pointsman.aws.instance_shapes import Ec2Shapes
from pointsman.aws.sagemaker import SageMakerFleet
from pointsman.aws.scaling import ApplicationAutoScaling
from pointsman.aws.share_settings import AwsShareSettings
from pointsman.aws.stored_values import pack, unpack
from pointsman.aws.unreadable import BROKEN, read
from pointsman.errors import Gone, PointsmanError, Transient, Unreadable
from pointsman.ports import QueueRecord
from pointsman.queues.evictions import Eviction, Party
from pointsman.queues.jobs import Status
from pointsman.queues.policy import How
from pointsman.queues.share_changes import Setting, ShareChange
from pointsman.queues.usage import Usage
from pointsman.rollout_documents import parse_request
from pointsman.rollout_ports import AlarmQuery
from pointsman.rollouts.request import Request
from tests.contract.answers import T0, Client, at
from tests.contract.jobs import job
from tests.contract.test_sagemaker_answers import described
from tests.fakes.clock import FakeClock
from tests.fakes.instance_types import FakeInstanceTypes
from tests.proof.hostile import nearly, nearly_text
from tests.proof.test_hostile_messages import REQUEST

EXAMPLES = 60
NOWHERE = boto3.client(
    "s3", region_name="eu-west-1", endpoint_url="http://127.0.0.1:9", aws_access_key_id="a", aws_secret_access_key="b",
    config=Config(retries={"total_max_attempts": 1}),
)  # fmt: skip
ARN = "arn:aws:batch:eu-west-1:123456789012"
PAYLOAD = {
    "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 2},
    "CheckpointConfig": {"S3Uri": "s3://b/p"},
}
JOB = {
    "jobId": "j-1", "jobName": "prod-1", "jobQueue": f"{ARN}:job-queue/q", "status": "RUNNING", "createdAt": 1.8e12,
    "startedAt": 1.8e12, "attempts": [{"startedAt": 1.8e12, "stoppedAt": 1.8e12, "statusReason": "x"}],
    "shareIdentifier": "all", "schedulingPriority": 7, "tags": {"team": "a"}, "serviceJobType": "SAGEMAKER_TRAINING",
    "serviceRequestPayload": json.dumps(PAYLOAD), "capacityUsage": [{"quantity": 2.0, "capacityUnit": "NUM_INSTANCES"}],
    "preemptionSummary": {"preemptedAttemptCount": 1}, "statusReason": "why", "quotaShareName": "a",
    "latestAttempt": {"serviceResourceId": {"value": "arn:aws:sagemaker:eu-west-1:1:training-job/x"}},
    "preemptionConfiguration": {"preemptionRetriesBeforeTermination": 3},
}  # fmt: skip
QUEUE = {
    "jobQueueName": "q", "jobQueueArn": f"{ARN}:job-queue/q", "state": "ENABLED", "schedulingPolicyArn": "p",
    "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "e"}],
}  # fmt: skip
ENVIRONMENTS = {
    "serviceEnvironments": [
        {"state": "ENABLED", "capacityLimits": [{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 8}]}
    ]
}
FAIR = {"shareDistribution": [{"shareIdentifier": "a", "weightFactor": 1.0}], "computeReservation": 5}
POLICIES = {"schedulingPolicies": [{"fairsharePolicy": FAIR}]}
SNAPSHOT = {
    "frontOfQueue": {"jobs": [{"jobArn": f"{ARN}:service-job/j-1"}], "lastUpdatedAt": 1.8e12},
    "queueUtilization": {
        "totalCapacityUsage": [{"quantity": 2.0}], "lastUpdatedAt": 1.8e12,
        "fairshareUtilization": {"topCapacityUtilization": [{"shareIdentifier": "a", "capacityUsage": [{"quantity": 1}]}
        ]},
    },
}  # fmt: skip
SHARES = {
    "quotaShares": [
        {
            "quotaShareName": "a", "quotaShareArn": "x", "state": "ENABLED", "status": "VALID",
            "capacityLimits": [{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 2}],
            "resourceSharingConfiguration": {"strategy": "LEND_AND_BORROW", "borrowLimit": 50},
            "preemptionConfiguration": {"inSharePreemption": "ENABLED"},
        }
    ]
}  # fmt: skip
ALARMS = {
    "MetricAlarms": [
        {
            "AlarmName": "drift", "StateValue": "ALARM", "StateTransitionedTimestamp": at(T0), "Period": 60,
            "EvaluationPeriods": 2, "MetricName": "m", "Namespace": "n", "Statistic": "Sum", "Dimensions": [],
        }
    ],
    "CompositeAlarms": [{"AlarmName": "drift-all", "StateValue": "OK", "StateUpdatedTimestamp": at(T0)}],
}  # fmt: skip
MOVE = {"oldState": {"stateValue": "OK"}, "newState": {"stateValue": "ALARM"}}
HISTORY = {"AlarmHistoryItems": [{"Timestamp": at(T0 + 5), "HistoryData": json.dumps(MOVE)}]}
DATA = {"MetricDataResults": [{"Id": "m0", "Timestamps": [at(T0)], "Values": [3.0], "StatusCode": "Complete"}]}
TYPES = {
    "InstanceTypes": [
        {"VCpuInfo": {"DefaultVCpus": 4}, "MemoryInfo": {"SizeInMiB": 16384}, "GpuInfo": {"Gpus": [{"Count": 1}]}}
    ]
}
ENDPOINT = {
    "EndpointConfigName": "c", "EndpointStatus": "InService",
    "ProductionVariants": [
        {"VariantName": "v", "CurrentInstanceCount": 2,
         "ManagedInstanceScaling": {"Status": "ENABLED", "MaxInstanceCount": 4}}
    ],
}  # fmt: skip
CONFIG = {"ProductionVariants": [{"VariantName": "v", "InstanceType": "ml.g5.xlarge"}], "ExecutionRoleArn": "r"}
MODEL = {"PrimaryContainer": {"Image": "i", "ModelDataUrl": "s3://b/k"}, "ExecutionRoleArn": "r"}
TARGETS = {
    "ScalableTargets": [
        {"ResourceId": "inference-component/llm", "MinCapacity": 1, "MaxCapacity": 4,
         "SuspendedState": {"DynamicScalingInSuspended": True}}
    ]
}  # fmt: skip
ASKED = [AlarmQuery(name, T0 - 60, settled=T0 - 60) for name in ("drift", "drift-all")]
COMPONENTS = {"InferenceComponents": [{"InferenceComponentName": "llm"}]}


def batch(client: Client) -> AwsBatchQueues:
    return AwsBatchQueues(client, FakeInstanceTypes(), FakeClock())


def fleet(client: Client) -> SageMakerFleet:
    return SageMakerFleet(client, client, Ec2Shapes(client))


ANSWERS: dict[str, Any] = {
    "describe_service_job": JOB, "describe_job_queues": {"jobQueues": [QUEUE]},
    "describe_service_environments": ENVIRONMENTS, "describe_scheduling_policies": POLICIES,
    "get_job_queue_snapshot": SNAPSHOT, "list_service_jobs": {"jobSummaryList": [JOB]}, "list_quota_shares": SHARES,
    "describe_alarms": ALARMS, "describe_alarm_history": HISTORY, "get_metric_data": DATA,
    "describe_instance_types": TYPES, "describe_endpoint": ENDPOINT, "describe_endpoint_config": CONFIG,
    "describe_model": MODEL, "describe_scalable_targets": TARGETS, "list_inference_components": COMPONENTS,
    "describe_inference_component": described(),
}  # fmt: skip
CALLS: list[tuple[str, Callable[[Client], object]]] = [
    ("describe_service_job", lambda aws: batch(aws).describe_job("j-1")),
    ("describe_job_queues", lambda aws: batch(aws).describe_queue("q")),
    ("describe_service_environments", lambda aws: batch(aws).describe_queue("q")),
    ("describe_scheduling_policies", lambda aws: batch(aws).describe_queue("q")),
    ("get_job_queue_snapshot", lambda aws: batch(aws).snapshot("q")),
    ("list_service_jobs", lambda aws: batch(aws).list_jobs("q", Status.RUNNING, None)),
    ("list_quota_shares", lambda aws: AwsShareSettings(aws).quota_shares("q")),
    ("describe_scheduling_policies", lambda aws: AwsShareSettings(aws).weights("p")),
    ("describe_alarms", lambda aws: CloudWatchAlarms(aws).transitions("drift*", T0 - 60)),
    ("describe_alarm_history", lambda aws: CloudWatchAlarms(aws).transitions("drift*", T0 - 60)),
    ("describe_alarms", lambda aws: CloudWatchGauges(aws).read(ASKED, T0)),
    ("get_metric_data", lambda aws: CloudWatchGauges(aws).read(ASKED, T0)),
    ("get_metric_data", lambda aws: CloudWatchGpuSeries(aws).latest(["h"], T0)),
    ("describe_instance_types", lambda aws: Ec2Shapes(aws).shape("ml.g5.xlarge")),
    ("describe_endpoint", lambda aws: fleet(aws).endpoint("chat")),
    ("describe_endpoint_config", lambda aws: fleet(aws).endpoint("chat")),
    ("describe_model", lambda aws: fleet(aws).model("m")),
    ("describe_scalable_targets", lambda aws: ApplicationAutoScaling(aws).describe(["llm"])),
    ("list_inference_components", lambda aws: fleet(aws).components(endpoint="chat")),
    ("describe_inference_component", lambda aws: fleet(aws).component("llm")),
]


def client(**odd: Any) -> Client:
    """A client with these answers in the place of the good ones."""

    def answering(answer: Any) -> Callable[..., Any]:
        answers = iter([answer] * 3)
        return lambda **_: next(answers, {})  # an odd answer may always say that there is another page

    return Client(**{name: answering(answer) for name, answer in {**ANSWERS, **odd}.items()})


@pytest.mark.parametrize("name, ask", CALLS, ids=[f"{n} {name}" for n, (name, _) in enumerate(CALLS)])
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_an_answer_of_aws_is_read_or_one_error_says_what_was_asked(
    name: str, ask: Callable[[Client], object], data: st.DataObject
) -> None:
    odd = data.draw(nearly(ANSWERS[name]))
    said: Exception | None = None
    try:
        ask(client(**{name: odd}))
    except PointsmanError as error:
        said = error
    known = isinstance(said, Unreadable) and "what AWS answered to" in str(said)
    assert said is None or known or isinstance(said, Gone) or "EC2 does not know" in str(said)


@pytest.mark.parametrize("name, ask", CALLS, ids=[f"{n} {name}" for n, (name, _) in enumerate(CALLS)])
def test_the_answers_themselves_are_read(name: str, ask: Callable[[Client], object]) -> None:
    assert ask(client(**{name: ANSWERS[name]})) is not None


@settings(max_examples=EXAMPLES, deadline=None)
@given(place=nearly_text("s3://b/p") | nearly_text("s3://arn:aws:s3:eu-west-1:123456789012:accesspoint:ap/p"))
def test_wherever_a_job_saves_its_work_it_is_known_or_not_or_could_not_be_reached(place: str) -> None:
    with suppress(Transient):
        S3Checkpoints(lambda: NOWHERE).newest(place)


@settings(max_examples=EXAMPLES, deadline=None)
@given(payload=nearly(PAYLOAD).map(lambda odd: json.dumps(odd, default=repr)) | nearly_text(json.dumps(PAYLOAD)))
def test_whatever_a_job_asks_for_it_is_described_and_can_be_stored(payload: str) -> None:
    for quota in ({"quotaShareName": "a"}, {"quotaShareName": ""}):
        seen = batch(client(describe_service_job=JOB | quota | {"serviceRequestPayload": payload})).describe_job("j-1")
        assert seen.detail is not None
        assert seen.detail.size > 0
        row = replace(job(), job_id=seen.job_id, detail=seen.detail)
        assert job_items.decode(job_items.encode(row)).detail == seen.detail


# What is stored

ROWS = {
    "waiting": job(version=1),
    "running": job(2, Status.RUNNING, started=T0, attempts=1, version=3, foreign=True, foreign_since=T0),
    "ended": job(3, Status.FAILED, stopped=T0, folded=True, reason="why", version=2),
}
MOMENTS = ("at", "created", "started", "stopped", "foreign_since")


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(data=st.data())
def test_an_item_of_a_job_is_a_whole_record_or_is_named(row: Any, data: st.DataObject) -> None:
    item = job_items.encode(row)
    state = data.draw(nearly(json.loads(item["st"]["S"])).map(lambda odd: {"S": json.dumps(odd, default=repr)}))
    odd = data.draw(nearly(item) | st.just({**item, "st": state})) | {"pk": item["pk"]}  # keys are texts
    try:
        found = read(job_items.decode, odd)
    except Unreadable:
        return
    assert isinstance(found.name, str)
    assert isinstance(found.status, Status)
    for name in MOMENTS:
        value = getattr(found, name)
        assert value is None or (isinstance(value, float) and datetime.fromtimestamp(value, UTC))
    if found.detail is not None:
        assert found.detail.size > 0
        assert all(isinstance(value, str) for value in found.detail.tags.values())


PARTY = Party("job-1", "sweep", "sweep", 1)
STORED: list[tuple[type, Any]] = [
    (Eviction, Eviction("all", T0, PARTY, (PARTY, PARTY), How.SWITCH, 60.0)),
    (ShareChange, ShareChange("all", Setting.BORROW_LIMIT, 0, 50, T0, "alarm drift")),
    (Request, parse_request(REQUEST)),
    (Usage, Usage(T0, (("sweep", 0.5),), (("sweep", 0.25),))),
    (QueueRecord, QueueRecord("q", priorities=(("job-1", 7),), saved=(("job-1", None),), suspects=("job-2",))),
]


@pytest.mark.parametrize("kind, value", STORED, ids=lambda one: getattr(one, "__name__", ""))
@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(data=st.data())
def test_a_stored_value_is_whole_or_none(kind: type, value: Any, data: st.DataObject) -> None:
    assert unpack(kind, pack(value)) == value
    with suppress(*BROKEN):
        found = unpack(kind, data.draw(nearly(pack(value))))
        assert unpack(kind, json.loads(json.dumps(pack(found)))) == found
