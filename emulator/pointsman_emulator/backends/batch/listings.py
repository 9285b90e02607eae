"""What the API tells of many jobs at once: listings and snapshots, both as old as the settings let them be."""

from __future__ import annotations

from typing import Any

from moto.batch.exceptions import ClientException

from pointsman_emulator.backends.batch import events
from pointsman_emulator.backends.batch.jobs import ServiceJobs
from pointsman_emulator.backends.batch.records import PAGE, Record, one_of, token_of
from pointsman_emulator.models.batch import ServiceJob, Snapshot
from pointsman_emulator.models.batch_values import FrontJob

STATES = ("SUBMITTED", "PENDING", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
FILTERS = ("JOB_NAME", "BEFORE_CREATED_AT", "AFTER_CREATED_AT", "SHARE_IDENTIFIER", "QUOTA_SHARE_NAME")
WITH_STATUS = ("SHARE_IDENTIFIER", "QUOTA_SHARE_NAME")
TOP_SHARES = 20
"""API:FairshareUtilizationDetail."""


class ServiceJobListings(ServiceJobs):
    """ListServiceJobs and GetJobQueueSnapshot."""

    def list_service_jobs(self, request: dict[str, Any]) -> dict[str, Any]:
        """One page, newest first, without priorities. No status means RUNNING (API:ListServiceJobsRequest)."""
        queue = self._service_queue_or_empty(request.get("jobQueue") or "")
        statuses: tuple[str, ...] = (one_of(request.get("jobStatus") or "RUNNING", STATES, "jobStatus"),)
        filters = request.get("filters") or []
        if len(filters) > 1:
            raise ClientException("Only one filter can be used at a time")
        for filter_ in filters:
            _check_filter(filter_)
        if queue is None:
            return {"jobSummaryList": []}
        if filters and filters[0]["name"] not in WITH_STATUS:
            statuses = STATES
        found = self.model.jobs_in(queue.name, statuses)
        if filters:
            found = [job for job in found if _passes(job, filters[0]["name"], filters[0]["values"])]
        after = self._after(request)
        if after is not None:
            found = [job for job in found if job.order < after]
        size = min(request.get("maxResults") or PAGE, PAGE)
        answer: dict[str, Any] = {"jobSummaryList": [self._summary(job) for job in found[:size]]}
        if len(found) > size:
            answer["nextToken"] = f"{found[size - 1].order}.{events.milliseconds(self.model.now)}"
        return answer

    def _after(self, request: dict[str, Any]) -> int | None:
        """Where the listing goes on, unless the token is too old."""
        order, _, given_at = str(request.get("nextToken", "")).partition(".")
        life = self.settings.token_life
        if life is not None and given_at.isdecimal() and int(given_at) < events.milliseconds(self.model.now - life):
            raise ClientException("nextToken is no longer taken")
        return token_of({"nextToken": order} if order or given_at else {})

    def get_job_queue_snapshot(self, request: dict[str, Any]) -> dict[str, Any]:
        """The first 100 RUNNABLE jobs in dispatch order, the first of each quota share, and the capacity in use."""
        queue = self._service_queue_or_empty(request["jobQueue"])
        if queue is None:
            return {"frontOfQueue": {"jobs": [], "lastUpdatedAt": events.milliseconds(self.model.now)}}
        snapshot = self.model.snapshot(queue.name)
        updated_at = events.milliseconds(snapshot.updated_at)
        answer: dict[str, Any] = {
            "frontOfQueue": {"jobs": [_place(place) for place in snapshot.front], "lastUpdatedAt": updated_at},
            "queueUtilization": {
                "totalCapacityUsage": events.quantities(snapshot.usage),
                **self._utilization(queue, snapshot),
                "lastUpdatedAt": updated_at,
            },
        }
        if self.is_quota_managed(queue):
            heads = {share: [_place(place)] for share, place in snapshot.front_of_shares.items()}
            answer["frontOfQuotaShares"] = {"quotaShares": heads, "lastUpdatedAt": updated_at}
        return answer

    def _utilization(self, queue: Record, snapshot: Snapshot) -> dict[str, Any]:
        top = [
            (share, events.quantities(snapshot.share_usage.get(share, {}))) for share, _ in snapshot.shares[:TOP_SHARES]
        ]
        if self.is_quota_managed(queue):
            listed = [{"quotaShareName": share, "capacityUsage": used} for share, used in top]
            return {"quotaShareUtilization": {"topCapacityUtilization": listed}}
        if queue.detail.get("schedulingPolicyArn"):
            listed = [{"shareIdentifier": share, "capacityUsage": used} for share, used in top]
            return {
                "fairshareUtilization": {
                    "activeShareCount": len(snapshot.shares),
                    "topCapacityUtilization": listed,
                }
            }
        return {}

    def _service_queue_or_empty(self, identifier: str) -> Record | None:
        """Container jobs are not emulated: a queue of theirs is known, and always empty."""
        queue = self.service_queue(identifier)
        if queue is None and self.get_job_queue_by_name(identifier.rsplit("/", 1)[-1]) is None:
            raise ClientException(f"Job queue {identifier} does not exist")
        return queue

    def _summary(self, job: ServiceJob) -> dict[str, Any]:
        lag = self.settings.list_lag
        summary: dict[str, Any] = {
            "capacityUsage": events.usage_of(job, self.settings),
            "createdAt": events.milliseconds(job.created_at),
            "jobArn": events.job_arn(job),
            "jobId": job.job_id,
            "jobName": job.name,
            "serviceJobType": events.SERVICE_JOB_TYPE,
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
        if job.quota_share is not None:
            summary["quotaShareName"] = job.quota_share
        if job.status_reason:
            summary["statusReason"] = job.status_reason
        if job.terminated:
            summary["isTerminated"] = True
        return summary


def _place(place: FrontJob) -> dict[str, Any]:
    return {"jobArn": events.job_arn(place.job), "earliestTimeAtPosition": events.milliseconds(place.since)}


def _check_filter(filter_: dict[str, Any]) -> None:
    name, values = filter_.get("name"), filter_.get("values") or []
    one_of(name or "", FILTERS, "name of a filter")
    if not values:
        raise ClientException(f"The filter {name} needs a value")
    if name in ("BEFORE_CREATED_AT", "AFTER_CREATED_AT") and not values[0].isdecimal():
        raise ClientException(f"The filter {name} needs a time in milliseconds")


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
        case "QUOTA_SHARE_NAME":
            return job.quota_share in values
        case "BEFORE_CREATED_AT":
            return events.milliseconds(job.created_at) < int(values[0])
        case _:
            return events.milliseconds(job.created_at) > int(values[0])
