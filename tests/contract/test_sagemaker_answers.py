"""What only SageMaker and EC2 can answer: shapes that the emulator never gives, pages, and refusals by code."""

from typing import Any

import pytest

from pointsman.aws.instance_shapes import Ec2Shapes
from pointsman.aws.sagemaker import SageMakerFleet
from pointsman.aws.sagemaker_specs import deployment, spec_of, specification, view_of
from pointsman.errors import Misconfigured, Refused, Transient
from pointsman.rollout_ports import ModelFacts
from pointsman.rollouts.observations import Answer, Pool, Status
from pointsman.rollouts.specs import Change, Compute
from tests.contract.answers import T0, Client, at, refuses
from tests.contract.rollout_worlds import act

ONE = Compute(1.0, 8.0, 32768.0)
FULL: dict[str, Any] = {
    "ModelName": "old",
    "InstanceType": "ml.g5.2xlarge",
    "Container": {
        "DeployedImage": {"SpecifiedImage": "repo/a:1", "ResolvedImage": "repo/a@sha256:x", "ResolutionTime": "now"},
        "ArtifactUrl": "s3://a",
        "Environment": {"B": "2", "A": "1"},
        "ContainerMetricsConfig": {"MetricsEndpoints": [{"MetricPublishFrequencyInSeconds": 60}]},
    },
    "StartupParameters": {"ContainerStartupHealthCheckTimeoutInSeconds": 600},
    "ComputeResourceRequirements": {
        "NumberOfAcceleratorDevicesRequired": 1.0,
        "NumberOfCpuCoresRequired": 2.0,
        "MinMemoryRequiredInMb": 1024,
        "MaxMemoryRequiredInMb": 4096,
    },
    "SchedulingConfig": {"PlacementStrategy": "SPREAD"},
}


def described(**changes: Any) -> dict[str, Any]:
    return {
        "InferenceComponentName": "llm",
        "EndpointName": "chat",
        "InferenceComponentStatus": "InService",
        "Specification": FULL,
        "RuntimeConfig": {"DesiredCopyCount": 3, "CurrentCopyCount": 2},
        "LastModifiedTime": at(T0),
        **changes,
    }


def test_a_specification_is_sent_as_it_was_described_but_for_what_changes() -> None:
    sent = specification(Change(model="new", environment=(("A", None),)).applied_to(spec_of(FULL)))

    container = {**FULL["Container"], "Image": "repo/a:1", "Environment": {"B": "2"}}
    del container["DeployedImage"]
    assert sent == {**FULL, "ModelName": "new", "Container": container}


def test_the_digest_is_that_of_the_specified_image_wherever_it_is_told() -> None:
    plain = {**FULL, "Container": {**FULL["Container"], "Image": "repo/a:1"}}
    del plain["Container"]["DeployedImage"]

    assert spec_of(plain).digest == spec_of(FULL).digest
    assert spec_of({**FULL, "SchedulingConfig": {"PlacementStrategy": "BINPACK"}}).digest == spec_of(FULL).digest
    assert spec_of({**FULL, "ModelName": "new"}).digest != spec_of(FULL).digest


def test_a_component_on_its_way_is_read_with_its_mark_and_its_reason() -> None:
    policy = {"MaximumExecutionTimeoutInSeconds": 3602, "WaitIntervalInSeconds": 60}
    view = view_of(
        described(
            InferenceComponentStatus="Updating",
            FailureReason="an alarm",
            LastDeploymentConfig={"RollingUpdatePolicy": policy},
        )
    )

    assert (view.status, view.mark, view.failure, view.modified) == (Status.UPDATING, 3602, "an alarm", T0)
    assert (view.desired, view.current) == (3, 2)


def test_an_adapter_names_its_base_and_may_lack_copies() -> None:
    specification_ = {"BaseInferenceComponentName": "base", "Container": {"ArtifactUrl": "s3://a"}}
    view = view_of({k: v for k, v in described(Specification=specification_).items() if k != "RuntimeConfig"})

    assert (view.base, view.desired, view.spec.artifact) == ("base", 0, "s3://a")


def test_a_component_with_several_specifications_is_read_and_never_sent() -> None:
    several = {k: v for k, v in described(Specifications=[FULL, FULL]).items() if k != "Specification"}
    view = view_of(several)
    assert view.spec.compute == Compute(1.0, 2.0, 1024.0)
    assert view.several
    assert not view_of(described()).several

    with pytest.raises(Refused, match="several instance types"):
        SageMakerFleet(Client(), Client(update_inference_component=refuses("x")), Ec2Shapes(None)).update(
            act(view.spec)
        )


def test_an_update_has_its_mark_both_batches_its_alarms_and_no_copies() -> None:
    asked: list[dict[str, Any]] = []
    once = Client(update_inference_component=lambda **request: asked.append(request))
    SageMakerFleet(Client(), once, Ec2Shapes(None)).update(act(spec_of(FULL), "kill", mark=3605))

    (request,) = asked
    assert "RuntimeConfig" not in request
    assert request["DeploymentConfig"] == {
        "RollingUpdatePolicy": {
            "MaximumBatchSize": {"Type": "COPY_COUNT", "Value": 1},
            "RollbackMaximumBatchSize": {"Type": "COPY_COUNT", "Value": 1},
            "WaitIntervalInSeconds": 60,
            "MaximumExecutionTimeoutInSeconds": 3605,
        },
        "AutoRollbackConfiguration": {"Alarms": [{"AlarmName": "kill"}]},
    }
    assert "AutoRollbackConfiguration" not in deployment(act(spec_of(FULL)))


@pytest.mark.parametrize(
    "code, status, error",
    [
        ("ValidationException", 400, Refused),
        ("ResourceLimitExceeded", 400, Refused),
        ("ConflictException", 409, Refused),
        ("AccessDeniedException", 400, Refused),
        ("ThrottlingException", 400, Transient),
        ("InternalFailure", 500, Transient),
        ("ExpiredTokenException", 400, Misconfigured),
    ],
)
def test_what_an_update_met_is_told_by_its_code(code: str, status: int, error: type[Exception]) -> None:
    fleet = SageMakerFleet(Client(), Client(update_inference_component=refuses(code, status)), Ec2Shapes(None))

    with pytest.raises(error):
        fleet.update(act(spec_of(FULL)))


def test_a_model_that_we_may_not_describe_is_unknown() -> None:
    fleet = SageMakerFleet(Client(describe_model=refuses("AccessDeniedException")), Client(), Ec2Shapes(None))

    assert fleet.model("old") == ModelFacts(Answer.UNKNOWN)


class Box:
    def shape(self, instance_type: str) -> Compute | None:
        return ONE if instance_type.startswith("ml.g5") else None


def endpoint(variant: dict[str, Any], instance_type: str = "ml.g5.2xlarge") -> SageMakerFleet:
    config = {"ProductionVariants": [{"VariantName": "all", "InstanceType": instance_type}], "ExecutionRoleArn": "r"}
    told = {"EndpointStatus": "Updating", "EndpointConfigName": "c", "ProductionVariants": [variant]}
    sagemaker = Client(describe_endpoint=lambda **_: told, describe_endpoint_config=lambda **_: config)
    return SageMakerFleet(sagemaker, Client(), Box())


@pytest.mark.parametrize(
    "variant, most",
    [
        pytest.param({"CurrentInstanceCount": 3}, 3, id="without managed scaling it is what is there"),
        pytest.param(
            {"CurrentInstanceCount": 3, "ManagedInstanceScaling": {"Status": "ENABLED", "MaxInstanceCount": 8}},
            8,
            id="managed scaling has its maximum",
        ),
        pytest.param(
            {"CurrentInstanceCount": 3, "ManagedInstanceScaling": {"Status": "DISABLED", "MaxInstanceCount": 8}},
            3,
            id="managed scaling that is off has none",
        ),
        pytest.param(
            {
                "CurrentInstanceCount": 3,
                "ManagedInstanceScaling": {"Status": "ENABLED", "MaxInstanceCount": 8},
                "CapacityReservationConfig": {"AvailableInstanceCount": 1},
            },
            4,
            id="a reservation that is nearly used up ends it sooner",
        ),
    ],
)
def test_the_most_instances_of_an_endpoint(variant: dict[str, Any], most: int) -> None:
    facts = endpoint({"VariantName": "all", **variant}).endpoint("chat")

    assert (facts.most, facts.in_service, facts.role) == (most, False, "r")
    assert facts.pools == (Pool("ml.g5.2xlarge", 3, ONE),)


def test_instance_pools_are_told_apart() -> None:
    pools = [
        {"InstanceType": "ml.g5.2xlarge", "CurrentInstanceCount": 2},
        {"InstanceType": "ml.g5.12xlarge", "CurrentInstanceCount": 1},
    ]
    facts = endpoint({"VariantName": "all", "CurrentInstanceCount": 3, "InstancePools": pools}).endpoint("chat")

    assert facts.pools == (Pool("ml.g5.2xlarge", 2, ONE), Pool("ml.g5.12xlarge", 1, ONE))


def test_an_instance_type_that_ec2_does_not_know_is_said() -> None:
    with pytest.raises(Misconfigured, match=r"ml\.x9"):
        endpoint({"VariantName": "all", "CurrentInstanceCount": 3}, "ml.x9").endpoint("chat")


def test_accelerators_are_gpus_inferentia_and_neuron_devices() -> None:
    told: dict[str, Any] = {"VCpuInfo": {"DefaultVCpus": 8}, "MemoryInfo": {"SizeInMiB": 1000}}
    for info, count in (
        ({"GpuInfo": {"Gpus": [{"Count": 4}]}}, 4.0),
        ({"InferenceAcceleratorInfo": {"Accelerators": [{"Count": 2}]}}, 2.0),
        ({"NeuronInfo": {"NeuronDevices": [{"Count": 6}]}}, 6.0),
        ({}, 0.0),
    ):
        answer = {"InstanceTypes": [{**told, **info}]}
        ec2 = Client(describe_instance_types=lambda answer=answer, **_: answer)
        assert Ec2Shapes(ec2).shape("ml.a") == Compute(count, 8.0, 1000.0)
    assert Ec2Shapes(Client(describe_instance_types=refuses("InvalidInstanceType"))).shape("ml.a") is None


def test_names_come_page_after_page_and_only_those_that_begin_so() -> None:
    def listed(**request: Any) -> dict[str, Any]:
        if "NextToken" not in request:
            return {"InferenceComponents": [{"InferenceComponentName": "llm-b"}], "NextToken": "t"}
        return {"InferenceComponents": [{"InferenceComponentName": n} for n in ("llm-a", "my-llm-")]}

    fleet = SageMakerFleet(Client(list_inference_components=listed), Client(), Ec2Shapes(None))
    assert fleet.components(prefix="llm-") == ("llm-a", "llm-b")
