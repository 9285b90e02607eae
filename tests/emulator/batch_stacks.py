"""A queue under quota management, made through the API."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from pointsman_emulator import Emulator

TYPE = "ml.g5.xlarge"


class Managed:
    """Three instances of one type; `search` borrows and preempts inside, `ads` lends; one instance each."""

    def __init__(self, aws: Emulator, settle: float = 0) -> None:
        self.aws = aws
        self.batch: Any = aws.client("batch")
        self._settle = settle
        self.environment("gpus", TYPE, 3)
        quota = {"idleResourceAssignmentStrategy": "FIFO"}
        self.policy: str = self.batch.create_scheduling_policy(name="quotas", quotaSharePolicy=quota)["arn"]
        self.batch.create_job_queue(
            jobQueueName="training",
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=self.policy,
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "gpus"}],
        )
        aws.run_for(settle)
        sharing = {"search": {"strategy": "LEND_AND_BORROW", "borrowLimit": 200}, "ads": {"strategy": "LEND"}}
        self.shares: dict[str, str] = {
            name: self.batch.create_quota_share(
                **{**self.share_request(name), "resourceSharingConfiguration": sharing[name]}
            )["quotaShareArn"]
            for name in sharing
        }
        aws.run_for(settle)

    def environment(self, name: str, unit: str, most: int = 3) -> None:
        """Another service environment."""
        self.batch.create_service_environment(
            serviceEnvironmentName=name,
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=[{"capacityUnit": unit, "maxCapacity": most}],
        )
        self.aws.run_for(self._settle)

    def share_request(self, name: str) -> dict[str, Any]:
        """A request for another quota share."""
        return {
            "quotaShareName": name,
            "jobQueue": "training",
            "capacityLimits": [{"capacityUnit": TYPE, "maxCapacity": 1}],
            "resourceSharingConfiguration": {"strategy": "RESERVE"},
            "preemptionConfiguration": {"inSharePreemption": "ENABLED"},
        }

    def submit(self, share: str, priority: int = 0, seconds: float = 3600, instances: int = 1, **more: Any) -> str:
        """Submit a job; its id."""
        payload = {
            "ResourceConfig": {"InstanceCount": instances, "InstanceType": TYPE},
            "Environment": {"EMULATED_SECONDS": str(seconds)},
        }
        request = {
            "jobName": f"{share}-{priority}",
            "jobQueue": "training",
            "serviceJobType": "SAGEMAKER_TRAINING",
            "quotaShareName": share,
            "schedulingPriority": priority,
            "serviceRequestPayload": json.dumps(payload),
        }
        return str(self.batch.submit_service_job(**{**request, **more})["jobId"])


def refused(call: Any, message: str, **request: Any) -> None:
    with pytest.raises(ClientError, match=message) as error:
        call(**request)
    assert error.value.response["Error"]["Code"] == "ClientException"
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
