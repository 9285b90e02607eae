"""The SageMaker inference API of the emulator: what it answers, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Protocol

import pytest
from botocore.exceptions import ClientError
from botocore.validate import ParamValidator

from pointsman_emulator import Emulator, InferenceSettings
from tests.emulator.components import (
    component_request,
    config_request,
    deployed,
    model_request,
    rolling,
    update_request,
)


class Make(Protocol):
    def __call__(self, **settings: Any) -> Emulator: ...


@pytest.fixture
def emulator() -> Iterator[Make]:
    with ExitStack() as stack:

        def make(**settings: Any) -> Emulator:
            return stack.enter_context(Emulator(seed=7, inference=InferenceSettings(**settings)))

        yield make


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def valid(client: Any, operation: str, answer: dict[str, Any]) -> None:
    method = client.meta.method_to_api_mapping[operation]
    shape = client.meta.service_model.operation_model(method).output_shape
    body = {key: value for key, value in answer.items() if key != "ResponseMetadata"}
    report = ParamValidator().validate(body, shape)
    assert not report.has_errors(), report.generate_report()


def put_alarm(aws: Emulator, name: str = "bad", metric: str = "Invocation4XXErrors", **more: Any) -> None:
    aws.client("cloudwatch").put_metric_alarm(
        AlarmName=name,
        Namespace="AWS/SageMaker",
        MetricName=metric,
        Dimensions=[{"Name": "InferenceComponentName", "Value": "llm"}],
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=5,
        ComparisonOperator="GreaterThanThreshold",
        TreatMissingData="notBreaching",
        **more,
    )


def test_every_answer_is_valid_against_the_service_model(emulator: Make) -> None:
    aws = emulator()
    sagemaker = deployed(aws)
    sagemaker.update_inference_component(**update_request("crashing", rolling(timeout=900)))
    aws.run_for(3600)
    for operation, request in (
        ("describe_model", {"ModelName": "old"}),
        ("list_models", {}),
        ("describe_endpoint_config", {"EndpointConfigName": "config"}),
        ("list_endpoint_configs", {}),
        ("describe_endpoint", {"EndpointName": "chat"}),
        ("list_endpoints", {"StatusEquals": "InService"}),
        ("describe_inference_component", {"InferenceComponentName": "llm"}),
        ("list_inference_components", {"EndpointNameEquals": "chat"}),
        (
            "update_inference_component_runtime_config",
            {"InferenceComponentName": "llm", "DesiredRuntimeConfig": {"CopyCount": 2}},
        ),
    ):
        valid(sagemaker, operation, getattr(sagemaker, operation)(**request))


def test_a_rolling_update_by_the_api_ends_with_the_new_model(emulator: Make) -> None:
    aws = emulator()
    sagemaker = deployed(aws)
    config = rolling(timeout=3600)
    sagemaker.update_inference_component(**update_request("new", config))
    assert (
        sagemaker.describe_inference_component(InferenceComponentName="llm")["InferenceComponentStatus"] == "Updating"
    )
    aws.run_for(3600)
    told = sagemaker.describe_inference_component(InferenceComponentName="llm")
    assert told["InferenceComponentStatus"] == "InService"
    assert told["Specification"]["ModelName"] == "new"
    assert told["RuntimeConfig"] == {"DesiredCopyCount": 3, "CurrentCopyCount": 3}
    assert told["LastDeploymentConfig"] == config


def test_requests_that_fail_raise_an_alarm_and_the_alarm_takes_the_update_back(emulator: Make) -> None:
    aws = emulator()
    sagemaker = deployed(aws)
    put_alarm(aws)
    aws.inference_model.start_traffic("llm", 2.0)
    aws.run_for(120)
    sagemaker.update_inference_component(**update_request("bad-api", rolling(1, 180, "bad")))
    cloudwatch = aws.client("cloudwatch")

    def state() -> str:
        return str(cloudwatch.describe_alarms(AlarmNames=["bad"])["MetricAlarms"][0]["StateValue"])

    assert aws.run_until(lambda: state() == "ALARM", aws.now + 3600)
    assert aws.run_until(lambda: aws.inference_model.components["llm"].settled, aws.now + 3600)
    told = sagemaker.describe_inference_component(InferenceComponentName="llm")
    assert told["Specification"]["ModelName"] == "old"
    assert "bad" in told["FailureReason"]
    aws.run_for(300)
    assert state() == "OK"
    counts = aws.inference_model.counts("llm")
    assert 0 < counts.failed < counts.requests
    assert counts.lost == 0


def test_an_alarm_on_nothing_that_is_made_breaching_and_set_takes_an_update_back(emulator: Make) -> None:
    aws = emulator()
    sagemaker, cloudwatch = deployed(aws), aws.client("cloudwatch")
    switch = {
        "AlarmName": "stop",
        "Namespace": "Rollouts/Switch",
        "MetricName": "Stop",
        "Dimensions": [{"Name": "Rollout", "Value": "r1"}],
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 0,
        "ComparisonOperator": "GreaterThanThreshold",
    }
    cloudwatch.put_metric_alarm(**switch, TreatMissingData="notBreaching")
    aws.run_for(120)
    sagemaker.update_inference_component(**update_request("new", rolling(1, 600, "stop")))
    aws.run_for(700)
    cloudwatch.put_metric_alarm(**switch, TreatMissingData="breaching")
    cloudwatch.set_alarm_state(AlarmName="stop", StateValue="ALARM", StateReason="stopped by hand")
    aws.run_for(1200)
    told = sagemaker.describe_inference_component(InferenceComponentName="llm")
    assert (told["InferenceComponentStatus"], told["Specification"]["ModelName"]) == ("InService", "old")
    assert cloudwatch.describe_alarms(AlarmNames=["stop"])["MetricAlarms"][0]["StateValue"] == "ALARM"


def test_an_unknown_name_is_a_validation_exception_that_says_could_not_find(emulator: Make) -> None:
    sagemaker = deployed(emulator())
    for operation, request in (
        ("describe_inference_component", {"InferenceComponentName": "nobody"}),
        ("update_inference_component", {**update_request(), "InferenceComponentName": "nobody"}),
        ("delete_inference_component", {"InferenceComponentName": "nobody"}),
        ("describe_endpoint", {"EndpointName": "nobody"}),
        ("describe_model", {"ModelName": "nobody"}),
        ("create_inference_component", component_request("other", model="nobody")),
    ):
        with pytest.raises(ClientError, match="Could not find") as error:
            getattr(sagemaker, operation)(**request)
        assert code(error) == "ValidationException"


def test_an_operation_that_is_not_there_is_refused_by_name(emulator: Make) -> None:
    aws = emulator()
    with pytest.raises(ClientError, match="StopTransformJob") as error:
        aws.client("sagemaker").stop_transform_job(TransformJobName="a")
    assert code(error) == "NotImplemented"


def test_endpoints_announce_their_states_and_components_announce_nothing(emulator: Make) -> None:
    aws = emulator()
    seen: list[Any] = []
    aws.watch(seen.append)
    sagemaker = deployed(aws)
    sagemaker.update_inference_component(**update_request("new", rolling()))
    aws.run_for(7200)
    told = [event for event in seen if event["source"] == "aws.sagemaker"]
    assert {event["detail-type"] for event in told} == {"SageMaker Endpoint State Change"}
    assert [event["detail"]["EndpointStatus"] for event in told] == [
        "CREATING",
        "IN_SERVICE",
        "UPDATING",
        "IN_SERVICE",
        "UPDATING",
        "IN_SERVICE",
    ]
    assert told[0]["resources"] == [told[0]["detail"]["EndpointArn"]]


def test_a_listing_has_ten_to_a_page_newest_first(emulator: Make) -> None:
    aws = emulator()
    sagemaker = deployed(aws)
    for number in range(12):
        aws.run_for(1)
        sagemaker.create_model(**model_request(f"m{number:02}"))
    first = sagemaker.list_models(NameContains="m")
    rest = sagemaker.list_models(NameContains="m", NextToken=first["NextToken"])
    names = [model["ModelName"] for model in first["Models"] + rest["Models"]]
    assert len(first["Models"]) == 10
    assert names == [f"m{number:02}" for number in range(11, -1, -1)]


def test_a_listing_of_components_filters_by_endpoint_name_and_status(emulator: Make) -> None:
    aws = emulator()
    sagemaker = deployed(aws, copies=2)
    aws.run_for(10)
    sagemaker.create_inference_component(**component_request("embed", 1))

    def names(**filters: Any) -> list[str]:
        return [
            it["InferenceComponentName"] for it in sagemaker.list_inference_components(**filters)["InferenceComponents"]
        ]

    assert names(EndpointNameEquals="chat", SortBy="Name", SortOrder="Ascending") == ["embed", "llm"]
    assert names(StatusEquals="Creating") == ["embed"]
    assert names(NameContains="ll") == ["llm"]
    assert names(EndpointNameEquals="other") == []


@pytest.mark.parametrize("after,status", [(False, "InService"), (True, "Updating")])
def test_an_update_can_be_refused_or_carried_out_with_its_answer_lost(
    emulator: Make, status: str, *, after: bool
) -> None:
    aws = emulator()
    sagemaker = deployed(aws)
    aws.fail_next("sagemaker", "UpdateInferenceComponent", "ValidationException", after=after)
    with pytest.raises(ClientError):
        sagemaker.update_inference_component(**update_request("new", rolling()))
    told = sagemaker.describe_inference_component(InferenceComponentName="llm")
    assert told["InferenceComponentStatus"] == status


def test_the_metrics_of_requests_can_be_read_by_the_minute(emulator: Make) -> None:
    aws = emulator()
    deployed(aws)
    aws.inference_model.start_traffic("llm", 1.0, arrivals="even")
    begun = aws.now
    aws.run_for(600)
    metric = {
        "Namespace": "AWS/SageMaker",
        "MetricName": "Invocation4XXErrors",
        "Dimensions": [{"Name": "InferenceComponentName", "Value": "llm"}],
    }
    answer = aws.client("cloudwatch").get_metric_data(
        MetricDataQueries=[{"Id": "n", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "SampleCount"}}],
        StartTime=begun,
        EndTime=begun + 600,
    )
    (samples,) = answer["MetricDataResults"]
    assert samples["Values"] == [pytest.approx(60, abs=1)] * 10


def test_tags_of_components_and_endpoints_can_be_read_and_changed(emulator: Make) -> None:
    aws = emulator()
    sagemaker = deployed(aws, copies=2)
    made = sagemaker.create_inference_component(
        **component_request("embed", 1, Tags=[{"Key": "team", "Value": "search"}])
    )
    arn = made["InferenceComponentArn"]
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "team", "Value": "ads"}, {"Key": "tier", "Value": "1"}])
    sagemaker.delete_tags(ResourceArn=arn, TagKeys=["tier"])
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "ads"}]


def test_a_rate_is_a_throttling_exception_that_botocore_tries_again_in_virtual_time(emulator: Make) -> None:
    aws = emulator(calls_per_second=5)
    sagemaker = aws.client("sagemaker")
    sagemaker.create_model(**model_request("old"))
    before = aws.now
    for _ in range(8):
        sagemaker.describe_model(ModelName="old")
    assert aws.now > before
    assert aws.count("sagemaker", "DescribeModel") > 8


def test_without_a_rate_nothing_is_throttled(emulator: Make) -> None:
    aws = emulator()
    sagemaker = aws.client("sagemaker")
    sagemaker.create_model(**model_request("old"))
    for _ in range(20):
        sagemaker.describe_model(ModelName="old")
    assert aws.count("sagemaker", "DescribeModel") == 20


def test_an_image_is_described_as_asked_for_and_as_resolved(emulator: Make) -> None:
    aws = emulator()
    sagemaker = deployed(aws, copies=2)
    request = component_request("embed", 1)
    request["Specification"] = {
        "Container": {"Image": "images/embed:7", "Environment": {"REVISION": "7"}},
        "ComputeResourceRequirements": request["Specification"]["ComputeResourceRequirements"],
    }
    sagemaker.create_inference_component(**request)
    told = sagemaker.describe_inference_component(InferenceComponentName="embed")
    container = told["Specification"]["Container"]
    assert container["DeployedImage"]["SpecifiedImage"] == "images/embed:7"
    assert container["DeployedImage"]["ResolvedImage"].startswith("images/embed@sha256:")
    assert container["Environment"] == {"REVISION": "7"}
    assert "Image" not in container


def role(aws: Emulator, **statement: Any) -> str:
    iam = aws.client("iam")
    arn = str(iam.create_role(RoleName="endpoints", AssumeRolePolicyDocument="{}")["Role"]["Arn"])
    if statement:
        import json

        document = json.dumps({"Version": "2012-10-17", "Statement": [{"Resource": "*", **statement}]})
        iam.put_role_policy(RoleName="endpoints", PolicyName="p", PolicyDocument=document)
    return arn


READ = "cloudwatch:DescribeAlarms"


@pytest.mark.parametrize(
    "statement,decision",
    [
        ({"Effect": "Allow", "Action": "cloudwatch:*"}, "allowed"),
        ({"Effect": "Deny", "Action": READ}, "explicitDeny"),
        ({}, "implicitDeny"),
    ],
)
def test_what_a_role_may_do_is_simulated_from_its_policies(
    emulator: Make, statement: dict[str, Any], decision: str
) -> None:
    aws = emulator()
    answer = aws.client("iam").simulate_principal_policy(
        PolicySourceArn=role(aws, **statement), ActionNames=[READ], ResourceArns=["*"]
    )
    assert [it["EvalDecision"] for it in answer["EvaluationResults"]] == [decision]


def test_the_simulation_can_be_refused_to_the_caller(emulator: Make) -> None:
    aws = emulator(simulate_principal="refuse")
    arn = role(aws)
    with pytest.raises(ClientError) as error:
        aws.client("iam").simulate_principal_policy(PolicySourceArn=arn, ActionNames=[READ])
    assert code(error) == "AccessDenied"


@pytest.mark.parametrize("effect,ends_with", [("Allow", "old"), ("Deny", "bad-api")])
def test_an_alarm_that_the_role_may_not_read_guards_nothing(emulator: Make, effect: str, ends_with: str) -> None:
    aws = emulator()
    role(aws, Effect=effect, Action=READ)
    sagemaker = deployed(aws)
    put_alarm(aws)
    aws.inference_model.start_traffic("llm", 2.0)
    sagemaker.update_inference_component(**update_request("bad-api", rolling(1, 180, "bad")))
    aws.run_for(7200)
    assert aws.inference_model.components["llm"].spec.model == ends_with


def test_an_instance_type_that_ec2_does_not_know_is_refused(emulator: Make) -> None:
    with pytest.raises(ClientError, match="not known"):
        emulator().client("sagemaker").create_endpoint_config(**config_request(kind="ml.p6e-gb200.36xlarge"))
