"""The events of service jobs, with the fields of the documented samples and no others (UG:service-job-events)."""

from __future__ import annotations

from typing import Any

from pointsman_emulator.backends.batch.records import ARN
from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_emulator.models.batch import BatchSettings, JobChange, ServiceJob
from pointsman_emulator.models.batch_jobs import Attempt

STATE_CHANGE = "Batch Service Job State Change"
BLOCKED = "Batch Service Job Queue Blocked"
PREEMPTION_STARTED = "Batch Service Job Preemption Started"
PREEMPTION_COMPLETED = "Batch Service Job Preemption Completed"
SERVICE_JOB_TYPE = "SAGEMAKER_TRAINING"
OF_BLOCKED = (
    "attempts",
    "createdAt",
    "jobArn",
    "jobId",
    "jobName",
    "jobQueue",
    "serviceJobType",
    "status",
    "statusReason",
    "timeoutConfig",
)
"""UG:batch-service-job-queue-blocked-events."""


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


def attempt_detail(attempt: Attempt) -> dict[str, Any]:
    """An attempt that has ended, counted or preempted."""
    detail: dict[str, Any] = {"serviceResourceId": resource_id(attempt)}
    if attempt.started_at is not None:
        detail["startedAt"] = milliseconds(attempt.started_at)
    if attempt.stopped_at is not None:
        detail["stoppedAt"] = milliseconds(attempt.stopped_at)
    if attempt.status_reason:
        detail["statusReason"] = attempt.status_reason
    return detail


def usage_of(job: ServiceJob, settings: BatchSettings) -> list[dict[str, Any]]:
    """A job's charge against its service environment: by type under quota management, else in the settings' unit."""
    needs = dict(job.needs)
    if job.quota_share is None and settings.usage_unit == "instance_type":
        needs = job.request.get("types") or needs
    return quantities(needs)


def quantities(usage: Any) -> list[dict[str, Any]]:
    """Use by capacity unit, as the API lists it."""
    return [{"capacityUnit": unit, "quantity": float(instances)} for unit, instances in usage.items()]


def state_detail(job: ServiceJob, settings: BatchSettings) -> dict[str, Any]:
    """The detail of a state change: no tags and no payload, ever."""
    detail: dict[str, Any] = {
        "attempts": [attempt_detail(attempt) for attempt in job.attempts],
        "createdAt": milliseconds(job.created_at),
        "jobArn": job_arn(job),
        "jobId": job.job_id,
        "jobName": job.name,
        "jobQueue": queue_arn(job.queue),
        "serviceJobType": SERVICE_JOB_TYPE,
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
        "capacityUsage": usage_of(job, settings),
        "retryStrategy": job.request.get("retryStrategy") or {"attempts": job.max_attempts},
    }
    if job.share is not None:
        more["shareIdentifier"] = job.share
    if job.quota_share is not None:
        more["quotaShareName"] = job.quota_share
    if job.scheduled_at is not None:
        more["scheduledAt"] = milliseconds(job.scheduled_at)
    if job.preempted_count:
        more["preemptionSummary"] = preemption_summary(job)
    return more


def preemption_summary(job: ServiceJob) -> dict[str, Any]:
    """How often a job was preempted, and its latest attempts that were, newest first (UG:preemption)."""
    return {
        "preemptedAttemptCount": job.preempted_count,
        "recentPreemptedAttempts": [attempt_detail(attempt) for attempt in job.preempted_attempts],
    }


def announced(change: JobChange, settings: BatchSettings) -> tuple[str, dict[str, Any]]:
    """The detail type and the detail of an event. Those of preemption name neither job id nor queue."""
    job = change.job
    match change.kind:
        case "state":
            return STATE_CHANGE, state_detail(job, settings)
        case "blocked":
            detail = state_detail(job, settings)
            return BLOCKED, {name: detail[name] for name in OF_BLOCKED if name in detail}
        case "preempting":
            return PREEMPTION_STARTED, {
                "preemptedJobArn": job_arn(job),
                "status": job.status,
                "statusReason": job.status_reason,
            }
        case "preempted":
            return PREEMPTION_COMPLETED, {
                "preemptedJobArn": job_arn(job),
                "status": job.status,
                "preemptionSummary": preemption_summary(job),
            }
