"""The operations on service jobs."""

from __future__ import annotations

import json
from typing import Any

from moto.batch.exceptions import ClientException

from pointsman_emulator.backends.batch import events
from pointsman_emulator.models.batch import BatchModel, BatchRefusedError, BatchSettings, ServiceJob

PAGE = 100
PAYLOAD_LIMIT = 10 * 1024
REQUEST_LIMIT = 30 * 1024
"""UG:service_limits."""
STATES = ("SUBMITTED", "PENDING", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
WITH_STATUS = ("SHARE_IDENTIFIER", "QUOTA_SHARE_NAME")
HIGHEST_PRIORITY = 9999
NEVER = 10**6


class ServiceJobs:
    """Service jobs, as the API shows the model."""

    model: BatchModel
    settings: BatchSettings
    tokens: set[str]

    def get_job_queue_by_name(self, name: str) -> Any:
        """A container queue; moto knows them."""
        return super().get_job_queue_by_name(name)  # type: ignore[misc]

    def submit_service_job(self, request: dict[str, Any]) -> dict[str, Any]:
        """Queue a job. The payload is not validated here: a bad one fails when it is tried (UG:service-job-submit)."""
        payload = request["serviceRequestPayload"]
        if len(payload.encode()) > PAYLOAD_LIMIT:
            raise ClientException("serviceRequestPayload must not exceed 10 KiB")
        if len(json.dumps(request).encode()) > REQUEST_LIMIT:
            raise ClientException("The request must not exceed 30 KiB")
        if request.get("quotaShareName"):
            raise NotImplementedError("The emulator has no quota shares")
        token = request.get("clientToken")
        if token is not None and token in self.tokens:
            raise ClientException("A job with this clientToken was already submitted")
        priority = request.get("schedulingPriority")
        if priority is not None and not 0 <= priority <= HIGHEST_PRIORITY:
            raise ClientException(f"schedulingPriority must be between 0 and {HIGHEST_PRIORITY}")
        work = _work(payload, self.settings)
        attempts = (request.get("retryStrategy") or {}).get("attempts", 1)
        try:
            job = self.model.submit(
                request["jobQueue"].rsplit("/", 1)[-1],
                request["jobName"],
                work["instances"],
                work["seconds"],
                priority,
                request.get("shareIdentifier"),
                failing_attempts=NEVER if work["fails"] else 0,
                max_attempts=attempts,
                attempt_seconds=(request.get("timeoutConfig") or {}).get("attemptDurationSeconds"),
                request={**request, "instanceType": work["instance_type"]},
            )
        except BatchRefusedError as error:
            raise ClientException(error.message) from None
        if token is not None:
            self.tokens.add(token)
        return {"jobArn": events.job_arn(job), "jobName": job.name, "jobId": job.job_id}

    def describe_service_job(self, request: dict[str, Any]) -> dict[str, Any]:
        """One job, by id or ARN."""
        job = self._find(request["jobId"])
        detail = events.state_detail(job, self.settings)
        detail |= events.optional_fields(job, self.settings)
        detail["isTerminated"] = job.terminated
        detail["serviceRequestPayload"] = job.request.get("serviceRequestPayload", "")
        detail["tags"] = job.request.get("tags") or {}
        if job.started_at is None and self.settings.started_at_of_waiting == "zero":
            detail["startedAt"] = 0
        return detail

    def update_service_job(self, request: dict[str, Any]) -> dict[str, Any]:
        """Set a job's priority; the only thing that can change (API:UpdateServiceJobRequest)."""
        job = self._find(request["jobId"])
        priority = request["schedulingPriority"]
        if not 0 <= priority <= HIGHEST_PRIORITY:
            raise ClientException(f"schedulingPriority must be between 0 and {HIGHEST_PRIORITY}")
        try:
            self.model.set_priority(job.job_id, priority)
        except BatchRefusedError as error:
            raise ClientException(error.message) from None
        return {"jobArn": events.job_arn(job), "jobName": job.name, "jobId": job.job_id}

    def terminate_service_job(self, request: dict[str, Any]) -> dict[str, Any]:
        """End a job that has not ended."""
        self.model.terminate(self._find(request["jobId"]).job_id, request["reason"])
        return {}

    def list_service_jobs(self, request: dict[str, Any]) -> dict[str, Any]:
        """One page, newest first, without priorities. No status means RUNNING (API:ListServiceJobsRequest)."""
        queue = (request.get("jobQueue") or "").rsplit("/", 1)[-1]
        if queue not in self.model.queues:
            self._check_container_queue(queue)
            return {"jobSummaryList": []}
        filters = request.get("filters") or []
        if len(filters) > 1:
            raise ClientException("Only one filter can be used at a time")
        statuses: tuple[str, ...] = (request.get("jobStatus") or "RUNNING",)
        if filters and filters[0]["name"] not in WITH_STATUS:
            statuses = STATES
        found = self.model.jobs_in(queue, statuses)
        if filters:
            found = [job for job in found if _passes(job, filters[0]["name"], filters[0]["values"])]
        after = request.get("nextToken")
        if after is not None:
            place = int(after)
            found = [job for job in found if job.order < place]
        size = min(request.get("maxResults") or PAGE, PAGE)
        answer: dict[str, Any] = {"jobSummaryList": [self._summary(job) for job in found[:size]]}
        if len(found) > size:
            answer["nextToken"] = str(found[size - 1].order)
        return answer

    def get_job_queue_snapshot(self, request: dict[str, Any]) -> dict[str, Any]:
        """The first 100 RUNNABLE jobs in dispatch order, and the capacity in use."""
        queue = request["jobQueue"].rsplit("/", 1)[-1]
        if queue not in self.model.queues:
            self._check_container_queue(queue)
            now = events.milliseconds(self.model.now)
            return {"frontOfQueue": {"jobs": [], "lastUpdatedAt": now}}
        snapshot = self.model.snapshot(queue)
        updated_at = events.milliseconds(snapshot.updated_at)
        utilization: dict[str, Any] = {
            "totalCapacityUsage": [{"capacityUnit": "NUM_INSTANCES", "quantity": float(snapshot.in_use)}],
            "lastUpdatedAt": updated_at,
        }
        if self.model.queues[queue].policy is not None:
            utilization["fairshareUtilization"] = {
                "activeShareCount": len(snapshot.shares),
                "topCapacityUtilization": [
                    {
                        "shareIdentifier": share,
                        "capacityUsage": [{"capacityUnit": "NUM_INSTANCES", "quantity": float(instances)}],
                    }
                    for share, instances in snapshot.shares[:20]
                ],
            }
        front = [
            {"jobArn": events.job_arn(place.job), "earliestTimeAtPosition": events.milliseconds(place.since)}
            for place in snapshot.front
        ]
        return {"frontOfQueue": {"jobs": front, "lastUpdatedAt": updated_at}, "queueUtilization": utilization}

    def _check_container_queue(self, name: str) -> None:
        """Container jobs are not emulated: a queue of theirs is known, and always empty."""
        if self.get_job_queue_by_name(name) is None:
            raise ClientException(f"Job queue {name} does not exist")

    def _find(self, identifier: str) -> ServiceJob:
        job = self.model.jobs.get(identifier.rsplit("/", 1)[-1])
        if job is None:
            raise ClientException(f"Job {identifier} does not exist")
        return job

    def _summary(self, job: ServiceJob) -> dict[str, Any]:
        lag = self.settings.list_lag
        summary: dict[str, Any] = {
            "capacityUsage": events.usage(job, self.settings),
            "createdAt": events.milliseconds(job.created_at),
            "jobArn": events.job_arn(job),
            "jobId": job.job_id,
            "jobName": job.name,
            "serviceJobType": "SAGEMAKER_TRAINING",
            "status": job.status_at(self.model.now - lag) if lag else job.status,
        }
        if job.current is not None:
            summary["latestAttempt"] = {"serviceResourceId": events.resource_id(job.current)}
        for name, value in (
            ("scheduledAt", job.scheduled_at),
            ("startedAt", job.started_at),
            ("stoppedAt", job.stopped_at),
        ):
            if value is not None:
                summary[name] = events.milliseconds(value)
        if job.share is not None:
            summary["shareIdentifier"] = job.share
        if job.status_reason:
            summary["statusReason"] = job.status_reason
        if job.terminated:
            summary["isTerminated"] = True
        return summary


def _passes(job: ServiceJob, name: str, values: list[str]) -> bool:
    match name:
        case "JOB_NAME":
            lowered = job.name.lower()
            return any(
                lowered.startswith(value[:-1].lower()) if value.endswith("*") else lowered == value.lower()
                for value in values
            )
        case "SHARE_IDENTIFIER":
            return job.share in values
        case "BEFORE_CREATED_AT":
            return events.milliseconds(job.created_at) < int(values[0])
        case "AFTER_CREATED_AT":
            return events.milliseconds(job.created_at) > int(values[0])
        case "QUOTA_SHARE_NAME":
            return False
        case _:
            raise ClientException(f"Unknown filter {name}")


def _work(payload: str, settings: BatchSettings) -> dict[str, Any]:
    """What the payload asks for: the training job's instances, and, for this emulator only, how long it runs.

    `Environment: {"EMULATED_SECONDS": "3600"}` is read here and by nothing of the product.
    """
    try:
        body = json.loads(payload)
        resources = body.get("ResourceConfig") or {}
        groups = resources.get("InstanceGroups") or []
        instances = sum(int(group["InstanceCount"]) for group in groups) or int(resources.get("InstanceCount", 1))
        environment = body.get("Environment") or {}
        return {
            "instances": instances,
            "instance_type": resources.get("InstanceType") or (groups[0].get("InstanceType") if groups else None),
            "seconds": float(environment.get("EMULATED_SECONDS", settings.job_seconds)),
            "fails": environment.get("EMULATED_EXIT") == "fail",
        }
    except (ValueError, AttributeError, TypeError, KeyError):
        return {"instances": 1, "instance_type": None, "seconds": 0.0, "fails": True}
