"""Every call of AWS that is made while a scenario plays: by whom, allowed as which action, on which resource."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from botocore.client import BaseClient

from pointsman_emulator import Emulator
from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_emulator.gateway import OUTSIDE
from tests.template.reached import calling

# The prefix of a service's actions, where it is not the service's name, and actions that are not named as their calls.
PREFIXES = {"application-auto-scaling": "application-autoscaling", "sfn": "states"}
ACTIONS = {"lambda:Invoke": "lambda:InvokeFunction", "s3:ListObjectsV2": "s3:ListBucket"}
# A transaction is allowed by what it consists of.
PARTS = {
    "Put": "dynamodb:PutItem",
    "Update": "dynamodb:UpdateItem",
    "Delete": "dynamodb:DeleteItem",
    "ConditionCheck": "dynamodb:ConditionCheckItem",
}
# Which parameter of a call names the resource that IAM asks about, and how. "{}" is a whole ARN.
NAMED = {
    "application-autoscaling:RegisterScalableTarget": ("ResourceId", "application-autoscaling", "scalable-target/{}"),
    "batch:GetJobQueueSnapshot": ("jobQueue", "batch", "job-queue/{}"),
    "batch:ListQuotaShares": ("jobQueue", "batch", "job-queue/{}"),
    "batch:UpdateQuotaShare": ("quotaShareArn", "", "{}"),
    "batch:UpdateSchedulingPolicy": ("arn", "", "{}"),
    "cloudformation:DescribeStacks": ("StackName", "cloudformation", "stack/{}/made"),
    "cloudwatch:DeleteAlarms": ("AlarmNames", "cloudwatch", "alarm:{}"),
    "cloudwatch:PutMetricAlarm": ("AlarmName", "cloudwatch", "alarm:{}"),
    "cloudwatch:SetAlarmState": ("AlarmName", "cloudwatch", "alarm:{}"),
    "ecr:BatchGetImage": ("repositoryName", "ecr", "repository/{}"),
    "iam:SimulatePrincipalPolicy": ("PolicySourceArn", "", "{}"),
    "lambda:InvokeFunction": ("FunctionName", "lambda", "function:{}"),
    "sagemaker:DescribeEndpoint": ("EndpointName", "sagemaker", "endpoint/{}"),
    "sagemaker:DescribeEndpointConfig": ("EndpointConfigName", "sagemaker", "endpoint-config/{}"),
    "sagemaker:DescribeInferenceComponent": ("InferenceComponentName", "sagemaker", "inference-component/{}"),
    "sagemaker:DescribeModel": ("ModelName", "sagemaker", "model/{}"),
    "sagemaker:ListTags": ("ResourceArn", "", "{}"),
    "sagemaker:UpdateInferenceComponent": ("InferenceComponentName", "sagemaker", "inference-component/{}"),
    "sagemaker:UpdateInferenceComponentRuntimeConfig": (
        "InferenceComponentName",
        "sagemaker",
        "inference-component/{}",
    ),
    "sns:Publish": ("TopicArn", "", "{}"),
    "states:DescribeExecution": ("executionArn", "", "{}"),
    "states:StartExecution": ("stateMachineArn", "", "{}"),
}
ALWAYS = {"sts:GetCallerIdentity"}  # nobody needs to be allowed to ask who they are
# Calls that IAM asks about for everything at once, or that are scoped by no more than that (docs/permissions.md).
UNSCOPED = {
    "application-autoscaling:DescribeScalableTargets": "IAM knows no resource for it",
    "batch:DescribeJobQueues": "IAM knows no resource for it",
    "batch:DescribeSchedulingPolicies": "IAM knows no resource for it",
    "batch:DescribeServiceEnvironments": "IAM knows no resource for it",
    "batch:DescribeServiceJob": "IAM knows no resource for it",
    "batch:ListServiceJobs": "IAM knows no resource for it",
    "cloudwatch:DescribeAlarmHistory": "scoped to alarms by name it does not tell of composite ones",
    "cloudwatch:DescribeAlarms": "scoped to alarms by name it does not tell of composite ones",
    "cloudwatch:GetMetricData": "a metric is no resource; IAM knows only datasets, which we do not ask for",
    "ec2:DescribeInstanceTypes": "IAM knows no resource for it",
    "sagemaker:ListInferenceComponents": "IAM knows no resource for it",
}


Context = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to IAM: may the caller do this, on that."""

    caller: str
    action: str
    resource: str
    context: Context = ()


@dataclass
class Recorder:
    """What was asked, and in which scenarios."""

    aws: Emulator
    machine: str = ""
    """ARN of the state machine, which is what IAM asks about where a call has a task's token."""
    scenario: str = ""
    asked: dict[Asked, list[str]] = field(default_factory=lambda: defaultdict(list))
    came: set[tuple[str, str]] = field(default_factory=set)
    """By whom, in which method of an adapter."""

    def note(self, client: Any, operation: str, parameters: Mapping[str, Any]) -> None:
        caller = self.aws.gateway.caller
        if caller == OUTSIDE:
            return
        if (method := calling()) is not None:
            self.came.add((caller, method))
        service = client.meta.service_model.service_id.hyphenize()
        for action, resource, context in self._questions(PREFIXES.get(service, service), operation, parameters):
            seen = self.asked[Asked(caller, action, resource, context)]
            if self.scenario not in seen:
                seen.append(self.scenario)

    def _questions(self, service: str, operation: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str, Context]]:
        action = ACTIONS.get(f"{service}:{operation}", f"{service}:{operation}")
        if operation == "TransactWriteItems":
            for item in given["TransactItems"]:
                for part, what in item.items():
                    yield PARTS[part], _arn("dynamodb", f"table/{what['TableName']}"), ()
        elif service == "dynamodb":
            index = f"/index/{given['IndexName']}" if "IndexName" in given else ""
            for table in given.get("RequestItems") or [given["TableName"]]:
                yield action, _arn("dynamodb", f"table/{table}{index}"), _leading(given)
        elif action in ALWAYS:
            return
        elif peculiar := self._peculiar(action, given):
            yield action.removesuffix("Batch"), *peculiar
        elif action in UNSCOPED:
            yield action, "*", ()
        else:
            parameter, owner, form = NAMED[action]  # a call that is new here: say what IAM asks about
            for name in given[parameter] if isinstance(given[parameter], list) else [given[parameter]]:
                whole = form == "{}" or str(name).startswith("arn:")
                yield action, str(name) if whole else _arn(owner, form.format(name)), ()

    def _peculiar(self, action: str, given: Mapping[str, Any]) -> tuple[str, Context] | None:
        """Resource and context where a parameter does not simply name the resource."""
        if action.startswith("sqs:"):
            return _arn("sqs", given["QueueUrl"].rsplit("/", 1)[-1]), ()
        if action == "batch:UpdateServiceJob":
            return _arn("batch", f"service-job/{given['jobId']}"), (
                ("batch:SchedulingPriority", str(given["schedulingPriority"])),
            )
        if action == "s3:ListBucket":
            context = (("s3:ResourceAccount", ACCOUNT), ("s3:max-keys", str(given.get("MaxKeys", 1000))))
            return f"arn:aws:s3:::{given['Bucket']}", context
        if action == "iam:GetRole":
            return f"arn:aws:iam::{ACCOUNT}:role/{given['RoleName']}", ()
        return (self.machine, ()) if action == "states:SendTaskSuccess" else None


@contextmanager
def recorded(aws: Emulator) -> Iterator[Recorder]:
    """Inside, every call of a function or of the state machine is noted."""
    recorder, call = Recorder(aws), BaseClient._make_api_call  # type: ignore[attr-defined]

    def noting(client: Any, operation_name: str, api_params: Any) -> Any:
        recorder.note(client, operation_name, api_params)
        return call(client, operation_name, api_params)

    with mock.patch.object(BaseClient, "_make_api_call", noting):
        yield recorder


def _leading(given: Mapping[str, Any]) -> Context:
    """The hash key that one item is written under, as IAM is told of it; only of which kind it is."""
    key = given.get("Item") or given.get("Key") or {}
    kind, *rest = key["pk"]["S"].split("#") if "pk" in key else ("",)
    return (("dynamodb:LeadingKeys", f"{kind}#..." if rest else kind),) if kind else ()


def _arn(service: str, resource: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}"
