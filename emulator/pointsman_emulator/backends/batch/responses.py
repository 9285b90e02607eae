"""Batch on the wire. An operation that is not here is refused by name; nothing is answered half."""

from __future__ import annotations

import json
from typing import Any

from moto.batch.exceptions import ClientException
from moto.batch.responses import BatchResponse

from pointsman_emulator.backends.batch.models import EmulatorBatchBackend
from pointsman_emulator.backends.batch.queues import KIND
from pointsman_emulator.models.batch import BatchRefusedError


class EmulatorBatchResponse(BatchResponse):
    """moto's answers for compute environments and container queues, and ours for everything of service jobs."""

    @property
    def batch_backend(self) -> EmulatorBatchBackend:
        """The backend, caught up with the clock."""
        backend = EmulatorBatchBackend.here()
        backend.catch_up()
        return backend

    def _request(self) -> dict[str, Any]:
        return json.loads(self.body) if self.body else {}

    def _answer(self, method: str) -> str:
        try:
            return json.dumps(getattr(self.batch_backend, method)(self._request()))
        except BatchRefusedError as error:
            raise ClientException(error.message) from None

    # Service environments

    def createserviceenvironment(self) -> str:
        """CreateServiceEnvironment."""
        return self._answer("create_service_environment")

    def describeserviceenvironments(self) -> str:
        """DescribeServiceEnvironments."""
        return self._answer("describe_service_environments")

    def updateserviceenvironment(self) -> str:
        """UpdateServiceEnvironment."""
        return self._answer("update_service_environment")

    def deleteserviceenvironment(self) -> str:
        """DeleteServiceEnvironment."""
        return self._answer("delete_service_environment")

    # Scheduling policies

    def createschedulingpolicy(self) -> str:
        """CreateSchedulingPolicy."""
        return self._answer("create_policy")

    def describeschedulingpolicies(self) -> str:
        """DescribeSchedulingPolicies."""
        return self._answer("describe_policies")

    def updateschedulingpolicy(self) -> str:
        """UpdateSchedulingPolicy."""
        return self._answer("update_policy")

    def deleteschedulingpolicy(self) -> str:
        """DeleteSchedulingPolicy."""
        return self._answer("delete_policy")

    def listschedulingpolicies(self) -> str:
        """ListSchedulingPolicies."""
        return self._answer("list_policies")

    # Job queues

    def createjobqueue(self) -> str:
        """CreateJobQueue, on a service environment or, as moto has it, on compute environments."""
        request = self._request()
        if request.get("serviceEnvironmentOrder") or request.get("jobQueueType") == KIND:
            return self._answer("create_service_queue")
        return super().createjobqueue()

    def describejobqueues(self) -> str:
        """DescribeJobQueues, of both kinds."""
        return self._answer("describe_queues")

    def updatejobqueue(self) -> str:
        """UpdateJobQueue."""
        if self.batch_backend.service_queue(self._request()["jobQueue"]):
            return self._answer("update_service_queue")
        return super().updatejobqueue()

    def deletejobqueue(self) -> str:
        """DeleteJobQueue."""
        if self.batch_backend.service_queue(self._request()["jobQueue"]):
            return self._answer("delete_service_queue")
        return super().deletejobqueue()

    def getjobqueuesnapshot(self) -> str:
        """GetJobQueueSnapshot."""
        return self._answer("get_job_queue_snapshot")

    # Quota shares

    def createquotashare(self) -> str:
        """CreateQuotaShare."""
        return self._answer("create_quota_share")

    def describequotashare(self) -> str:
        """DescribeQuotaShare."""
        return self._answer("describe_quota_share")

    def listquotashares(self) -> str:
        """ListQuotaShares."""
        return self._answer("list_quota_shares")

    def updatequotashare(self) -> str:
        """UpdateQuotaShare."""
        return self._answer("update_quota_share")

    def deletequotashare(self) -> str:
        """DeleteQuotaShare."""
        return self._answer("delete_quota_share")

    # Service jobs

    def submitservicejob(self) -> str:
        """SubmitServiceJob."""
        return self._answer("submit_service_job")

    def describeservicejob(self) -> str:
        """DescribeServiceJob."""
        return self._answer("describe_service_job")

    def listservicejobs(self) -> str:
        """ListServiceJobs."""
        return self._answer("list_service_jobs")

    def updateservicejob(self) -> str:
        """UpdateServiceJob."""
        return self._answer("update_service_job")

    def terminateservicejob(self) -> str:
        """TerminateServiceJob."""
        return self._answer("terminate_service_job")

    def terminateservicejobs(self) -> str:
        """TerminateServiceJobs."""
        return self._answer("terminate_service_jobs")

    # Container jobs: moto would run them in Docker

    def _refused(self) -> str:
        raise NotImplementedError(f"The emulator has no {self._get_action()}")

    submitjob = describejobs = listjobs = terminatejob = canceljob = _refused
