"""The operations on one service job."""

from __future__ import annotations

import json
import re
from typing import Any

from moto.batch.exceptions import ClientException

from pointsman_emulator.backends.batch import events
from pointsman_emulator.backends.batch.quota_shares import QuotaShares
from pointsman_emulator.backends.batch.records import ARN, VALID, named, one_of, tagged, within
from pointsman_emulator.backends.batch.work import work_of
from pointsman_emulator.models.batch import BatchRefusedError, ServiceJob
from pointsman_emulator.models.batch_policies import RetryRule

PAYLOAD_LIMIT, REQUEST_LIMIT = 10 * 1024, 30 * 1024
"""UG:service_limits."""
HIGHEST_PRIORITY = 9999
ATTEMPTS, RULES, PATTERN = 10, 5, 512
"""API:ServiceJobRetryStrategy and API:ServiceJobEvaluateOnExit."""
BULK = 50
"""API:TerminateServiceJobsRequest."""
SHARE = re.compile(r"[A-Za-z0-9]{1,255}")
JOB_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NEVER = 10**6


class ServiceJobs(QuotaShares):
    """Service jobs, as the API shows the model."""

    tokens: set[tuple[str, str]]

    def submit_service_job(self, request: dict[str, Any]) -> dict[str, Any]:
        """Queue a job. The payload is not validated here: a bad one fails when it is tried (UG:service-job-submit)."""
        payload = request["serviceRequestPayload"]
        if len(payload.encode()) > PAYLOAD_LIMIT:
            raise ClientException("serviceRequestPayload must not exceed 10 KiB")
        whole = json.dumps(request, sort_keys=True)
        if len(whole.encode()) > REQUEST_LIMIT:
            raise ClientException("The request must not exceed 30 KiB")
        named(request["jobName"], "jobName")
        one_of(request["serviceJobType"], (events.SERVICE_JOB_TYPE,), "serviceJobType")
        queue = self.queue(request["jobQueue"])
        if queue.status != VALID:
            raise ClientException(f"Job queue {queue.arn} is not VALID")
        token = (request.get("clientToken") or "", whole)
        if token[0] and token in self.tokens:
            raise ClientException("A request with this clientToken and these parameters was already accepted")
        priority = request.get("schedulingPriority")
        if priority is not None:
            within(priority, 0, HIGHEST_PRIORITY, "schedulingPriority")
        share = request.get("shareIdentifier")
        if share is not None and not SHARE.fullmatch(share):
            raise ClientException("shareIdentifier must be 1 to 255 alphanumeric characters")
        budget = (request.get("preemptionConfiguration") or {}).get("preemptionRetriesBeforeTermination")
        if budget is not None and budget < 0:
            raise ClientException("preemptionRetriesBeforeTermination must not be negative")
        seconds = (request.get("timeoutConfig") or {}).get("attemptDurationSeconds")
        if seconds is not None and seconds < 1:
            raise ClientException("attemptDurationSeconds must be at least 1")
        retry = _retry_strategy(request.get("retryStrategy") or {"attempts": 1})
        tags = tagged(request.get("tags"))
        work = work_of(payload, self.settings)
        job = self.model.submit(
            queue.name,
            request["jobName"],
            work.instances,
            work.seconds,
            priority,
            share,
            quota_share=request.get("quotaShareName"),
            instance_groups=work.types,
            failing_attempts=NEVER if work.fails else 0,
            max_attempts=retry["attempts"],
            retry_rules=[RetryRule(rule["action"], rule["onStatusReason"]) for rule in retry.get("evaluateOnExit", ())],
            attempt_seconds=seconds,
            preemption_retries=budget,
            checkpoint_seconds=work.checkpoint_seconds,
            request={
                **request,
                "retryStrategy": retry,
                "tags": tags,
                "types": work.types,
                "gpus": work.gpu_percent,
            },
        )
        if token[0]:
            self.tokens.add(token)
        return {"jobArn": events.job_arn(job), "jobName": job.name, "jobId": job.job_id}

    def describe_service_job(self, request: dict[str, Any]) -> dict[str, Any]:
        """One job, by id or ARN."""
        job = self.job(request["jobId"])
        detail = events.state_detail(job, self.settings)
        detail |= events.optional_fields(job, self.settings)
        detail["isTerminated"] = job.terminated
        detail["serviceRequestPayload"] = job.request.get("serviceRequestPayload", "")
        detail["tags"] = job.request.get("tags") or {}
        if job.request.get("preemptionConfiguration"):
            detail["preemptionConfiguration"] = job.request["preemptionConfiguration"]
        if job.started_at is None and self.settings.started_at_of_waiting == "zero":
            detail["startedAt"] = 0
        return detail

    def update_service_job(self, request: dict[str, Any]) -> dict[str, Any]:
        """Set a job's priority; the only thing that can change (API:UpdateServiceJobRequest)."""
        job = self.job(request["jobId"])
        within(request["schedulingPriority"], 0, HIGHEST_PRIORITY, "schedulingPriority")
        self.model.set_priority(job.job_id, request["schedulingPriority"])
        return {"jobArn": events.job_arn(job), "jobName": job.name, "jobId": job.job_id}

    def terminate_service_job(self, request: dict[str, Any]) -> dict[str, Any]:
        """End a job that has not ended."""
        self.model.terminate(self.job(request["jobId"]).job_id, request["reason"])
        return {}

    def terminate_service_jobs(self, request: dict[str, Any]) -> dict[str, Any]:
        """End up to fifty jobs. One that is unknown counts as done (API:TerminateServiceJobs)."""
        if len(request["jobs"]) > BULK:
            raise ClientException(f"At most {BULK} jobs can be terminated at a time")
        successful: list[str] = []
        errors: list[dict[str, str]] = []
        for identifier in request["jobs"]:
            if not JOB_ID.fullmatch(identifier.rsplit("/", 1)[-1]):
                message = f"{identifier} is no service job id"
                errors.append({"job": identifier, "code": "ValidationException", "message": message})
                continue
            try:
                job = self.find_job(identifier)
                if job is not None:
                    self.model.terminate(job.job_id, request["reason"])
                successful.append(identifier)
            except BatchRefusedError as error:
                errors.append({"job": identifier, "code": error.code, "message": error.message})
        return {"successful": successful, "errors": errors}

    def find_job(self, identifier: str) -> ServiceJob | None:
        """The job of an id or ARN; None when there is none."""
        return self.model.jobs.get(identifier.removeprefix(f"{ARN}:service-job/"))

    def job(self, identifier: str) -> ServiceJob:
        """The same, where it must be there."""
        job = self.find_job(identifier)
        if job is None:
            raise ClientException(f"Job {identifier} does not exist")
        return job


def _retry_strategy(retry: dict[str, Any]) -> dict[str, Any]:
    """A strategy within its bounds; the samples spell actions in several ways, and descriptions in one."""
    within(retry["attempts"], 1, ATTEMPTS, "attempts")
    rules = retry.get("evaluateOnExit") or []
    if len(rules) > RULES:
        raise ClientException(f"evaluateOnExit can have at most {RULES} rules")
    spelled = []
    for rule in rules:
        action = one_of(str(rule.get("action", "")).upper(), ("RETRY", "EXIT"), "action of evaluateOnExit")
        if not 1 <= len(rule.get("onStatusReason") or "") <= PATTERN:
            raise ClientException(f"onStatusReason must be 1 to {PATTERN} characters long")
        spelled.append({"action": action, "onStatusReason": rule["onStatusReason"]})
    return {"attempts": retry["attempts"], **({"evaluateOnExit": spelled} if spelled else {})}
