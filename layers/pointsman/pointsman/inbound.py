"""Every message that comes in, as values of the core; unknown fields are tolerated, wrong ones are named.

Each parser raises `Poison` with the place that is wrong when the message can never be processed.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from pointsman.errors import Poison
from pointsman.queues.jobs import REASON_CHARACTERS, Sighting, Status, crashes_in, training_job

STATE_CHANGES = ("Batch Service Job State Change", "Batch Job State Change")
BLOCKED = ("Batch Service Job Queue Blocked", "Batch Job Queue Blocked")
PREEMPTIONS = ("Batch Service Job Preemption Started", "Batch Service Job Preemption Completed")
STATE_OF_ALARM = "CloudWatch Alarm State Change"
ALARMS = (STATE_OF_ALARM, "CloudWatch Alarm Configuration Change")
ENDPOINTS = ("SageMaker Endpoint State Change",)

_MILLISECONDS_FROM = 1e11  # Batch's times are epoch ms, though some of its samples show seconds
_LAST_MILLISECOND = 1e14  # the year 5138: beyond it a number is no time, and no table holds it


@dataclass(frozen=True, slots=True)
class Message:
    """One record of a queue: what to acknowledge it by, and its text."""

    message_id: str
    body: str


@dataclass(frozen=True, slots=True)
class JobPreempted:
    """A preemption event: it names the job and nothing of its queue."""

    job_id: str
    at: float


@dataclass(frozen=True, slots=True)
class AlarmChanged:
    """An alarm changed its state or its configuration; `fired` is whether it went into ALARM."""

    alarm: str
    fired: bool = False


@dataclass(frozen=True, slots=True)
class EndpointChanged:
    """An endpoint changed its state; which, its next Describe says."""

    endpoint: str


def _epoch(value: float) -> float:
    return value / 1000 if value >= _MILLISECONDS_FROM else value


_Model = TypeVar("_Model", bound=BaseModel)
Epoch = Annotated[float, Field(ge=0, le=_LAST_MILLISECOND), AfterValidator(_epoch)]


class _Tolerant(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class _Envelope(_Tolerant):
    source: str
    detail_type: Annotated[str, Field(alias="detail-type")]
    time: AwareDatetime
    detail: dict[str, Any]


class _Preemptions(_Tolerant):
    preempted: Annotated[int, Field(alias="preemptedAttemptCount", ge=0)] = 0


class _Job(_Tolerant):
    job_id: Annotated[str, Field(alias="jobId", min_length=1, max_length=128)]
    name: Annotated[str, Field(alias="jobName", min_length=1, max_length=128)]
    queue: Annotated[str, Field(alias="jobQueue", pattern=r"job-queue/[A-Za-z0-9_-]{1,128}$")]
    status: Status
    created: Annotated[Epoch, Field(alias="createdAt")]
    started: Annotated[Epoch | None, Field(alias="startedAt")] = None
    stopped: Annotated[Epoch | None, Field(alias="stoppedAt")] = None
    reason: Annotated[str | None, Field(alias="statusReason")] = None
    attempts: list[dict[str, Any]] = []
    latest: Annotated[Any, Field(alias="latestAttempt")] = None
    preemptions: Annotated[_Preemptions | None, Field(alias="preemptionSummary")] = None


class _Preempted(_Tolerant):
    arn: Annotated[str, Field(alias="preemptedJobArn", pattern=r"(service-)?job/[A-Za-z0-9-]{1,128}$")]


class _AlarmState(_Tolerant):
    value: str = ""


class _Alarm(_Tolerant):
    alarm: Annotated[str, Field(alias="alarmName", min_length=1, max_length=255)]
    state: Annotated[_AlarmState, Field(default_factory=_AlarmState)]


class _Endpoint(_Tolerant):
    endpoint: Annotated[str, Field(alias="EndpointName", min_length=1, max_length=63)]


class _Wake(_Tolerant):
    queue: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,128}$")]


def messages(event: Mapping[str, Any]) -> tuple[Message, ...]:
    """The records of an SQS event; raises `Poison` when the event is none."""
    try:
        return tuple(Message(_text(record["messageId"]), _text(record["body"])) for record in event["Records"])
    except (KeyError, TypeError):
        raise Poison("not an event of an SQS queue", place="Records") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def job_event(body: str) -> Sighting | JobPreempted:
    """What a Batch event in a queue's record tells of a job."""
    envelope = _read(_Envelope, _json(body), "event")
    kind = envelope.detail_type
    if envelope.source != "aws.batch" or kind not in (*STATE_CHANGES, *BLOCKED, *PREEMPTIONS):
        raise Poison(f"unknown event {kind!r} from {envelope.source!r}", place="detail-type")
    at = envelope.time.timestamp()
    if kind in PREEMPTIONS:
        arn = _read(_Preempted, envelope.detail, "detail").arn
        return JobPreempted(arn.rpartition("/")[2], at)
    job = _read(_Job, envelope.detail, "detail")
    return Sighting(
        job_id=job.job_id,
        status=job.status,
        at=at,
        queue=job.queue.rpartition("/")[2],
        name=job.name,
        created=job.created,
        attempts=len(job.attempts),
        crashes=crashes_in((_moment(a.get("startedAt")), _moment(a.get("stoppedAt"))) for a in job.attempts),
        preemptions=job.preemptions.preempted if job.preemptions else 0,
        started=job.started or None,
        stopped=job.stopped or None,
        reason=job.reason[:REASON_CHARACTERS] if job.reason else None,
        training=_training(job.latest),
    )


def _training(attempt: object) -> str | None:
    """The training job of an attempt; None where it does not name one: an attempt that is odd poisons no event."""
    resource = attempt.get("serviceResourceId") if isinstance(attempt, dict) else None
    return training_job(resource.get("value")) if isinstance(resource, dict) else None


def _moment(value: object) -> float | None:
    """Epoch seconds of an attempt's time; None for what is no time, since an attempt that is odd poisons no event."""
    if isinstance(value, int | float) and 0 < value <= _LAST_MILLISECOND:
        return _epoch(float(value))
    return None


def watched_event(event: Mapping[str, Any]) -> AlarmChanged | EndpointChanged:
    """The alarm, or the endpoint, that an EventBridge event is about."""
    envelope = _read(_Envelope, event, "event")
    match envelope.source, envelope.detail_type:
        case "aws.cloudwatch", kind if kind in ALARMS:
            told = _read(_Alarm, envelope.detail, "detail")
            return AlarmChanged(told.alarm, fired=kind == STATE_OF_ALARM and told.state.value == "ALARM")
        case "aws.sagemaker", kind if kind in ENDPOINTS:
            return EndpointChanged(_read(_Endpoint, envelope.detail, "detail").endpoint)
    raise Poison(f"unknown event {envelope.detail_type!r} from {envelope.source!r}", place="detail-type")


def wake(body: str) -> str:
    """The name of the queue that a wake is for."""
    return _read(_Wake, _json(body), "wake").queue


def partial_failures(message_ids: Iterable[str]) -> dict[str, list[dict[str, str]]]:
    """The answer that makes SQS deliver these records again and forget the others."""
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in message_ids]}


def _json(body: str) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Poison(f"not JSON that can be read: {error}", place="body") from None


def _read(model: type[_Model], data: object, where: str) -> _Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, (where, *first["loc"])))
        raise Poison(f"{first['msg']} ({error.error_count()} faults)", place=place) from None
