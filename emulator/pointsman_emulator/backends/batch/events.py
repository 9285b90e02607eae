"""The events of service jobs, with the fields of the documented samples and no others (UG:service-job-events)."""

from __future__ import annotations

from typing import Any

from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_emulator.models.batch_jobs import Attempt, ServiceJob
from pointsman_emulator.models.batch_values import BatchSettings

STATE_CHANGE = "Batch Service Job State Change"
BLOCKED = "Batch Service Job Queue Blocked"
ARN = f"arn:aws:batch:{REGION}:{ACCOUNT}"


def job_arn(job: ServiceJob) -> str:
    """The ARN of a service job."""
    return f"{ARN}:service-job/{job.job_id}"


def queue_arn(name: str) -> str:
    """The ARN of a job queue."""
    return f"{ARN}:job-queue/{name}"


def resource_id(attempt: Attempt) -> dict[str, str]:
    """How Batch names an attempt's training job."""
    arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-job/{attempt.name}"
    return {"name": "TrainingJobArn", "value": arn}


def milliseconds(seconds: float) -> int:
    """Batch's times are epoch milliseconds."""
    return round(seconds * 1000)


def attempts_of(job: ServiceJob) -> list[dict[str, Any]]:
    """The attempts that have ended."""
    found = []
    for attempt in job.attempts:
        detail: dict[str, Any] = {"serviceResourceId": resource_id(attempt)}
        if attempt.started_at is not None:
            detail["startedAt"] = milliseconds(attempt.started_at)
        if attempt.stopped_at is not None:
            detail["stoppedAt"] = milliseconds(attempt.stopped_at)
        if attempt.status_reason:
            detail["statusReason"] = attempt.status_reason
        found.append(detail)
    return found


def usage(job: ServiceJob, settings: BatchSettings) -> list[dict[str, Any]]:
    """A job's charge against its service environment."""
    unit = "NUM_INSTANCES"
    if settings.usage_unit == "instance_type":
        unit = job.request.get("instanceType") or unit
    return [{"capacityUnit": unit, "quantity": float(job.instances)}]


def state_detail(job: ServiceJob, settings: BatchSettings) -> dict[str, Any]:
    """The detail of a state change: no tags and no payload, ever."""
    detail: dict[str, Any] = {
        "attempts": attempts_of(job),
        "createdAt": milliseconds(job.created_at),
        "jobArn": job_arn(job),
        "jobId": job.job_id,
        "jobName": job.name,
        "jobQueue": queue_arn(job.queue),
        "serviceJobType": "SAGEMAKER_TRAINING",
        "status": job.status,
    }
    if job.current is not None:
        detail["latestAttempt"] = {"serviceResourceId": resource_id(job.current)}
    if job.started_at is not None:
        detail["startedAt"] = milliseconds(job.started_at)
    if job.stopped_at is not None:
        detail["stoppedAt"] = milliseconds(job.stopped_at)
    if job.status_reason:
        detail["statusReason"] = job.status_reason
    if job.attempt_seconds is not None:
        detail["timeoutConfig"] = {"attemptDurationSeconds": int(job.attempt_seconds)}
    if settings.optional_event_fields:
        detail |= optional_fields(job, settings)
    return detail


def optional_fields(job: ServiceJob, settings: BatchSettings) -> dict[str, Any]:
    """What the guide leaves open: events resemble DescribeServiceJob."""
    more: dict[str, Any] = {
        "schedulingPriority": job.priority,
        "capacityUsage": usage(job, settings),
        "retryStrategy": job.request.get("retryStrategy") or {"attempts": job.max_attempts},
    }
    if job.share is not None:
        more["shareIdentifier"] = job.share
    if job.scheduled_at is not None:
        more["scheduledAt"] = milliseconds(job.scheduled_at)
    return more


def blocked_detail(job: ServiceJob, settings: BatchSettings) -> dict[str, Any]:
    """The detail of a blocked queue (UG:batch-service-job-queue-blocked-events)."""
    kept = (
        "attempts",
        "createdAt",
        "jobArn",
        "jobId",
        "jobName",
        "jobQueue",
        "serviceJobType",
        "status",
        "statusReason",
    )
    detail = state_detail(job, settings)
    return {name: detail[name] for name in (*kept, "timeoutConfig") if name in detail}
