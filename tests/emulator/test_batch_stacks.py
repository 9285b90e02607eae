"""Batch's resources by CloudFormation: made, changed in place or replaced, and deleted in the order that Batch asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from pointsman_emulator import BatchSettings, Emulator
from tests.emulator.worlds import HERE

TEMPLATE = HERE / "quota.yaml"


class Deployed:
    def __init__(self, aws: Emulator) -> None:
        self.aws = aws
        self.batch: Any = aws.client("batch")
        self.outputs = aws.deploy(TEMPLATE, "quotas", {}).outputs

    def update(self, template: str | None = None, **parameters: str) -> None:
        """UpdateStack, with the same template or another."""
        self.aws.client("cloudformation").update_stack(
            StackName="quotas",
            TemplateBody=template or TEMPLATE.read_text(),
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
        )

    def delete(self) -> None:
        self.aws.client("cloudformation").delete_stack(StackName="quotas")

    def share(self) -> dict[str, Any]:
        (share,) = self.batch.list_quota_shares(jobQueue="training")["quotaShares"]
        return dict(share)

    def environment(self) -> dict[str, Any]:
        (environment,) = self.batch.describe_service_environments()["serviceEnvironments"]
        return dict(environment)

    def queue(self) -> dict[str, Any]:
        (queue,) = self.batch.describe_job_queues()["jobQueues"]
        return dict(queue)


@pytest.mark.parametrize("delay", [0.0, 30.0], ids=["at once", "when changes take half a minute"])
def test_a_stack_of_quota_management_comes_and_goes(delay: float) -> None:
    with Emulator(seed=7, batch=BatchSettings(resource_delay=delay)) as aws:
        stack = Deployed(aws)
        assert stack.outputs == {
            "Environment": stack.environment()["serviceEnvironmentArn"],
            "Policy": stack.queue()["schedulingPolicyArn"],
            "Queue": stack.queue()["jobQueueArn"],
            "Share": stack.share()["quotaShareArn"],
        }
        assert {stack.environment()["status"], stack.queue()["status"], stack.share()["status"]} == {"VALID"}
        assert stack.environment()["tags"] == {"owner": "research"}
        assert stack.queue()["jobStateTimeLimitActions"][0]["maxTimeSeconds"] == 3600
        assert stack.share()["resourceSharingConfiguration"] == {"strategy": "LEND_AND_BORROW", "borrowLimit": 200}
        stack.delete()
        assert stack.batch.describe_service_environments()["serviceEnvironments"] == []
        assert stack.batch.describe_job_queues()["jobQueues"] == []
        assert stack.batch.list_scheduling_policies()["schedulingPolicies"] == []


def test_what_can_change_changes_where_it_is() -> None:
    with Emulator(seed=7) as aws:
        stack = Deployed(aws)
        text = TEMPLATE.read_text()
        text = text.replace("owner: research", "owner: ads").replace("Priority: 1", "Priority: 9")
        text = text.replace("InSharePreemption: ENABLED", "InSharePreemption: DISABLED")
        before = (stack.environment()["serviceEnvironmentArn"], stack.share()["quotaShareArn"])
        stack.update(text, Instances="8", Borrow="50")
        environment, share = stack.environment(), stack.share()
        assert (environment["serviceEnvironmentArn"], share["quotaShareArn"]) == before
        assert environment["capacityLimits"] == [{"capacityUnit": "ml.g5.xlarge", "maxCapacity": 8}]
        assert environment["tags"] == {"owner": "ads"}
        assert stack.queue()["priority"] == 9
        assert share["resourceSharingConfiguration"]["borrowLimit"] == 50
        assert share["preemptionConfiguration"] == {"inSharePreemption": "DISABLED"}


def test_another_name_is_another_quota_share_in_its_place() -> None:
    with Emulator(seed=7) as aws:
        stack = Deployed(aws)
        stack.update(ShareName="ads")
        assert stack.share()["quotaShareName"] == "ads"
        (described,) = aws.client("cloudformation").describe_stacks(StackName="quotas")["Stacks"]
        outputs = {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}
        assert outputs["Share"] == stack.share()["quotaShareArn"]


def test_the_kind_of_a_policy_cannot_change() -> None:
    with Emulator(seed=7) as aws:
        stack = Deployed(aws)
        text = TEMPLATE.read_text().replace(
            "QuotaSharePolicy: { IdleResourceAssignmentStrategy: FIFO }", "FairsharePolicy: { ShareDecaySeconds: 600 }"
        )
        with pytest.raises(ClientError, match="AWS::Batch::SchedulingPolicy: A quotaSharePolicy"):
            stack.update(text)


CONTAINERS = """
Resources:
  Queue:
    Type: AWS::Batch::JobQueue
    Properties:
      JobQueueName: containers
      Priority: 1
      ComputeEnvironmentOrder: [{ Order: 1, ComputeEnvironment: machines }]
"""


def test_a_queue_of_containers_comes_and_goes_too(tmp_path: Path) -> None:
    template = tmp_path / "containers.yaml"
    template.write_text(CONTAINERS)
    with Emulator(seed=7) as aws:
        batch, stacks = aws.client("batch"), aws.client("cloudformation")
        role = aws.client("iam").create_role(RoleName="batch", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        batch.create_compute_environment(computeEnvironmentName="machines", type="UNMANAGED", serviceRole=role)
        aws.deploy(template, "containers", {})
        (queue,) = batch.describe_job_queues()["jobQueues"]
        assert (queue["jobQueueName"], queue["priority"]) == ("containers", 1)
        changed = CONTAINERS.replace("Priority: 1", "Priority: 2")
        with pytest.raises(ClientError, match="queue of containers"):
            stacks.update_stack(StackName="containers", TemplateBody=changed)
        stacks.delete_stack(StackName="containers")
        assert batch.describe_job_queues()["jobQueues"] == []
