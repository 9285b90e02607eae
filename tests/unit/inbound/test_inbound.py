"""Every message that comes in: what it says, or why it can never be processed."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pointsman.documents import InvalidDocument
from pointsman.errors import Poison
from pointsman.inbound import (
    AlarmChanged,
    EndpointChanged,
    JobPreempted,
    Message,
    job_event,
    messages,
    partial_failures,
    wake,
    watched_event,
)
from pointsman.queues.jobs import Sighting, Status
from pointsman.rollout_documents import parse_request
from pointsman.rollout_inbound import command
from pointsman.rollout_task import rollout_task

EVENTS = Path(__file__).parents[3] / "events"
ACCOUNT = "arn:aws:batch:eu-west-1:123456789012"
JOB = f"{ACCOUNT}:service-job/a1b2c3d4"
NOON = 1_796_126_400.0  # 2026-12-01T12:00:00Z

# The shapes of the User Guide's samples, with everything that ours do not read.
STATE_CHANGE: dict[str, Any] = {
    "version": "0",
    "id": "cf9a4cb3-9f22-4f8c-aa33-6f5c9c0d8b1e",
    "detail-type": "Batch Service Job State Change",
    "source": "aws.batch",
    "account": "123456789012",
    "time": "2026-12-01T12:00:00Z",
    "region": "eu-west-1",
    "resources": [JOB],
    "detail": {
        "attempts": [
            {
                "serviceResourceId": {"name": "TrainingJobArn", "value": "arn:aws:sagemaker:x:training-job/one"},
                "startedAt": 1796126100000,
                "stopped": 0,
                "statusReason": "Received status from SageMaker: InternalServerError",
            }
        ],
        "createdAt": 1796126000000,
        "jobArn": JOB,
        "jobId": "a1b2c3d4",
        "jobName": "prod-ranker",
        "jobQueue": f"{ACCOUNT}:job-queue/search-training",
        "latestAttempt": {
            "serviceResourceId": {"name": "TrainingJobArn", "value": "arn:aws:sagemaker:x:training-job/two"}
        },
        "serviceJobType": "SAGEMAKER_TRAINING",
        "startedAt": 1796126200000,
        "status": "SUCCEEDED",
        "statusReason": "Received status from SageMaker: Completed",
        "stoppedAt": 1796126300000,
        "timeoutConfig": {"attemptDurationSeconds": 86400},
    },
}
BLOCKED = {
    **STATE_CHANGE,
    "detail-type": "Batch Service Job Queue Blocked",
    "detail": {
        "attempts": [],
        "createdAt": 1796126000000,
        "jobArn": JOB,
        "jobId": "a1b2c3d4",
        "jobName": "prod-ranker",
        "jobQueue": f"{ACCOUNT}:job-queue/search-training",
        "serviceJobType": "SAGEMAKER_TRAINING",
        "status": "RUNNABLE",
        "statusReason": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - too much",
        "timeoutConfig": {"attemptDurationSeconds": 86400},
    },
}
PREEMPTION_STARTED = {
    **STATE_CHANGE,
    "detail-type": "Batch Service Job Preemption Started",
    "detail": {"preemptedJobArn": JOB, "status": "RUNNING", "statusReason": "PREEMPTION_IN_PROGRESS: capacity is due"},
}
PREEMPTION_COMPLETED = {
    **STATE_CHANGE,
    "detail-type": "Batch Service Job Preemption Completed",
    "detail": {
        "preemptedJobArn": JOB,
        "preemptionSummary": {"preemptedAttemptCount": 1, "recentPreemptedAttempts": [{"startedAt": 1796126100000}]},
        "status": "RUNNABLE",
    },
}
CONTAINER = {
    **STATE_CHANGE,
    "detail-type": "Batch Job State Change",
    "detail": {
        "jobArn": f"{ACCOUNT}:job/4c7599ae",
        "jobName": "event-test",
        "jobId": "4c7599ae:3",
        "jobQueue": f"{ACCOUNT}:job-queue/PexjEHappyPathCanary2JobQueue",
        "status": "RUNNABLE",
        "attempts": [],
        "createdAt": 1796126000000,
        "retryStrategy": {"attempts": 2, "evaluateOnExit": []},
        "dependsOn": [],
        "jobDefinition": "first-run:1",
        "parameters": {},
        "container": {"image": "137112412989.dkr.ecr.eu-west-1.amazonaws.com/amazonlinux:latest"},
        "propagateTags": False,
        "platformCapabilities": [],
    },
}


def event(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((EVENTS / name).read_text())
    return loaded


def changed(*path: str, to: object) -> str:
    copy = deepcopy(STATE_CHANGE)
    part: Any = copy
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = to
    return json.dumps(copy)


def without(*path: str) -> str:
    copy = deepcopy(STATE_CHANGE)
    part: Any = copy
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    return json.dumps(copy)


def test_a_state_change_says_what_the_job_is_and_what_became_of_it() -> None:
    assert job_event(json.dumps(STATE_CHANGE)) == Sighting(
        job_id="a1b2c3d4",
        status=Status.SUCCEEDED,
        at=NOON,
        queue="search-training",
        name="prod-ranker",
        created=NOON - 400,
        attempts=1,
        started=NOON - 200,
        stopped=NOON - 100,
        reason="Received status from SageMaker: Completed",
        training="two",
    )


@pytest.mark.parametrize("odd", [None, "one", {}, {"serviceResourceId": 7}, {"serviceResourceId": {"value": [1]}}])
def test_an_attempt_that_names_no_training_job_poisons_nothing(odd: object) -> None:
    event = {**STATE_CHANGE, "detail": {**STATE_CHANGE["detail"], "latestAttempt": odd}}
    told = job_event(json.dumps(event))
    assert isinstance(told, Sighting)
    assert told.training is None


def test_a_blocked_queue_names_the_job_that_blocks_it_and_why() -> None:
    reason = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - too much"
    assert job_event(json.dumps(BLOCKED)) == Sighting(
        "a1b2c3d4", Status.RUNNABLE, NOON, "search-training", "prod-ranker", NOON - 400, reason=reason
    )


@pytest.mark.parametrize("sample", [PREEMPTION_STARTED, PREEMPTION_COMPLETED])
def test_a_preemption_names_the_job_alone(sample: dict[str, Any]) -> None:
    assert job_event(json.dumps(sample)) == JobPreempted("a1b2c3d4", NOON)


def test_a_container_job_is_recorded_too() -> None:
    sighting = job_event(json.dumps(CONTAINER))
    assert isinstance(sighting, Sighting)
    assert (sighting.job_id, sighting.queue) == ("4c7599ae:3", "PexjEHappyPathCanary2JobQueue")


@pytest.mark.parametrize(
    "case, body, field, wanted",
    [
        ("seconds where milliseconds are meant", changed("detail", "createdAt", to=1796126000), "created", NOON - 400),
        ("a start of nothing", changed("detail", "startedAt", to=0), "started", None),
        ("no start", without("detail", "startedAt"), "started", None),
        ("no attempts", without("detail", "attempts"), "attempts", 0),
        ("a time with a fraction", changed("time", to="2026-12-01T12:00:00.250Z"), "at", NOON + 0.25),
        ("a time of another zone", changed("time", to="2026-12-01T13:00:00+01:00"), "at", NOON),
        ("preemptions, if they are told", changed("detail", "preemptionSummary", to={"preemptedAttemptCount": 2}),
         "preemptions", 2),
        ("a field that is new", changed("detail", "novelty", to={"a": [1]}), "status", Status.SUCCEEDED),
    ],
)  # fmt: skip
def test_what_may_vary_is_read(case: str, body: str, field: str, wanted: object) -> None:
    assert getattr(job_event(body), field) == wanted, case


@pytest.mark.parametrize(
    "case, body, place",
    [
        ("no JSON", '{"version": "0", "detail-ty', "body"),
        ("nothing", "", "body"),
        ("no object", "[1]", "event"),
        ("nested too deep", "[" * 100_000, "body"),
        ("a number too long", '{"time": ' + "9" * 5000 + "}", "body"),
        ("an unknown event", changed("detail-type", to="Batch Service Job Moved"), "detail-type"),
        ("another source", changed("source", to="my.app"), "detail-type"),
        ("no source", without("source"), "event.source"),
        ("no time", without("time"), "event.time"),
        ("a time of no zone", changed("time", to="2026-12-01T12:00:00"), "event.time"),
        ("a detail that is text", changed("detail", to="x"), "event.detail"),
        ("no job", without("detail", "jobId"), "detail.jobId"),
        ("an empty job", changed("detail", "jobId", to=""), "detail.jobId"),
        ("a job that is a number", changed("detail", "jobId", to=7), "detail.jobId"),
        ("no name", without("detail", "jobName"), "detail.jobName"),
        ("no queue", without("detail", "jobQueue"), "detail.jobQueue"),
        ("a queue that is no ARN", changed("detail", "jobQueue", to="search"), "detail.jobQueue"),
        ("a status of no list", changed("detail", "status", to="SLEEPING"), "detail.status"),
        ("no creation", without("detail", "createdAt"), "detail.createdAt"),
        ("a creation before all time", changed("detail", "createdAt", to=-1), "detail.createdAt"),
        ("a creation that is text", changed("detail", "createdAt", to="yesterday"), "detail.createdAt"),
        ("a creation that is no number", changed("detail", "createdAt", to=float("nan")), "detail.createdAt"),
        ("a creation that never comes", changed("detail", "createdAt", to=float("inf")), "detail.createdAt"),
        ("a creation after all calendars", changed("detail", "createdAt", to=1e30), "detail.createdAt"),
        ("an end that never comes", changed("detail", "stoppedAt", to=float("inf")), "detail.stoppedAt"),
        ("attempts that are a number", changed("detail", "attempts", to=3), "detail.attempts"),
    ],
)
def test_what_can_never_be_processed_names_the_place_that_is_wrong(case: str, body: str, place: str) -> None:
    with pytest.raises(Poison) as caught:
        job_event(body)
    assert caught.value.place == place, case
    assert caught.value.reason, case


@pytest.mark.parametrize("detail", [{}, {"preemptedJobArn": "x"}, {"preemptedJobArn": None}])
def test_a_preemption_of_nobody_is_poison(detail: object) -> None:
    with pytest.raises(Poison, match="preemptedJobArn"):
        job_event(json.dumps({**PREEMPTION_STARTED, "detail": detail}))


def test_an_watched_event_names_its_alarm() -> None:
    assert watched_event(event("relay_alarm.alarm.json")) == AlarmChanged("ranker-drift-search", fired=True)
    configured = {**event("relay_alarm.alarm.json"), "detail-type": "CloudWatch Alarm Configuration Change"}
    assert watched_event(configured) == AlarmChanged("ranker-drift-search")


def test_an_endpoints_event_names_its_endpoint() -> None:
    assert watched_event(event("relay_alarm.endpoint.json")) == EndpointChanged("chat")
    with pytest.raises(Poison, match="EndpointName"):
        watched_event({**event("relay_alarm.endpoint.json"), "detail": {}})


def test_a_wake_names_its_queue_and_nothing_else_is_one() -> None:
    (message,) = messages(event("prioritize_queue.wake.json"))
    assert wake(message.body) == "search-training"
    for body in (
        "{}",
        "[]",
        "x",
        '{"queue": ""}',
        '{"queue": "a/b"}',
        '{"queue": 3}',
        json.dumps({"queue": "a" * 129}),
    ):
        with pytest.raises(Poison):
            wake(body)


READ = {
    "record_jobs": lambda e: [job_event(m.body) for m in messages(e)],
    "prioritize_queue": lambda e: [wake(m.body) for m in messages(e)],
    "relay_alarm": watched_event,
    "wake_due": lambda e: e,
    "command_rollout": lambda e: parse_request(asked.body) if (asked := command(e)).body else asked,
    "advance_rollout": rollout_task,
}
REFUSED = {
    "record_jobs.mixed-batch",
    "prioritize_queue.not-a-wake",
    "relay_alarm.not-an-alarm",
    "command_rollout.nobody",
    "command_rollout.unknown-key",
    "advance_rollout.no-generation",
}


@pytest.mark.parametrize("path", sorted(EVENTS.glob("*.json")), ids=lambda p: p.stem)
def test_every_sample_event_is_read_or_refused_as_its_name_says(path: Path) -> None:
    read = READ[path.stem.partition(".")[0]]
    if path.stem in REFUSED:
        with pytest.raises((Poison, InvalidDocument)):
            read(event(path.name))
    else:
        assert read(event(path.name)) is not None


def test_in_the_mixed_batch_the_last_message_is_good() -> None:
    *bad, good = messages(event("record_jobs.mixed-batch.json"))
    assert isinstance(job_event(good.body), Sighting)
    for message in bad:
        with pytest.raises(Poison):
            job_event(message.body)


@pytest.mark.parametrize(
    "no_event",
    [{}, {"Records": None}, {"Records": "ab"}, {"Records": {"a": 1}}, {"Records": [1]}, {"Records": [{"body": "x"}]},
     {"Records": [{"messageId": "x", "body": 3}]}, {"Records": [{"messageId": None, "body": ""}]}],
)  # fmt: skip
def test_what_is_no_event_of_a_queue_is_refused(no_event: dict[str, Any]) -> None:
    with pytest.raises(Poison):
        messages(no_event)


def test_records_are_acknowledged_by_their_ids() -> None:
    assert messages({"Records": [{"messageId": "1", "body": "x", "more": 0}]}) == (Message("1", "x"),)
    assert partial_failures(["1", "2"]) == {"batchItemFailures": [{"itemIdentifier": "1"}, {"itemIdentifier": "2"}]}
    assert partial_failures([]) == {"batchItemFailures": []}


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def nearly(sample: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A good event of which one field of the envelope or the detail is something else."""
    inside = st.tuples(st.sampled_from(sorted(sample["detail"])), anything).map(
        lambda kv: {**sample, "detail": {**sample["detail"], kv[0]: kv[1]}}
    )
    outside = st.tuples(st.sampled_from(sorted(sample)), anything).map(lambda kv: {**sample, kv[0]: kv[1]})
    return inside | outside


@settings(max_examples=150, deadline=None)
@given(anything | st.sampled_from((STATE_CHANGE, BLOCKED, PREEMPTION_COMPLETED, CONTAINER)).flatmap(nearly))
@example(None)
def test_whatever_comes_in_is_read_or_is_poison_and_no_other_error(body: object) -> None:
    for read in (job_event, wake):
        try:
            news = read(json.dumps(body))
        except Poison:
            continue
        if isinstance(news, Sighting):
            times = [news.at, news.created, *(t for t in (news.started, news.stopped) if t is not None)]
            assert all(abs(t) < 1e12 for t in times)
    for read_event in (watched_event, messages):
        try:
            read_event(body)  # type: ignore[arg-type]
        except Poison:
            continue


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_whatever_text_comes_in_is_read_or_is_poison(body: str) -> None:
    for read in (job_event, wake):
        with pytest.raises(Poison):
            read(body)
