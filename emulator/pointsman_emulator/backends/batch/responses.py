"""Batch on the wire. An operation that is not here is refused by name; nothing is answered half."""

from __future__ import annotations

import json
from typing import Any

from moto.batch.responses import BatchResponse

from pointsman_emulator.backends.batch.models import EmulatorBatchBackend, batch_backend


class EmulatorBatchResponse(BatchResponse):
    """moto's answers for compute environments and container queues, and ours for everything of service jobs."""

    @property
    def batch_backend(self) -> EmulatorBatchBackend:
        """The backend, caught up with the clock."""
        backend = batch_backend()
        backend.catch_up()
        return backend

    def _request(self) -> dict[str, Any]:
        return json.loads(self.body) if self.body else {}

    def _answer(self, method: str) -> str:
        return json.dumps(getattr(self.batch_backend, method)(self._request()))

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
        if request.get("serviceEnvironmentOrder"):
            return json.dumps(self.batch_backend.create_service_queue(request))
        return super().createjobqueue()

    def describejobqueues(self) -> str:
        """DescribeJobQueues, of both kinds."""
        return self._answer("describe_queues")

    def updatejobqueue(self) -> str:
        """UpdateJobQueue."""
        request = self._request()
        if self.batch_backend.find_service_queue(request["jobQueue"]):
            return json.dumps(self.batch_backend.update_service_queue(request))
        return super().updatejobqueue()

    def deletejobqueue(self) -> str:
        """DeleteJobQueue."""
        request = self._request()
        if self.batch_backend.find_service_queue(request["jobQueue"]):
            return json.dumps(self.batch_backend.delete_service_queue(request))
        return super().deletejobqueue()

    def getjobqueuesnapshot(self) -> str:
        """GetJobQueueSnapshot."""
        return self._answer("get_job_queue_snapshot")

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

    # Container jobs: moto would run them in Docker

    def _refused(self) -> str:
        raise NotImplementedError(f"The emulator has no {self._get_action()}")

    submitjob = describejobs = listjobs = terminatejob = canceljob = _refused
