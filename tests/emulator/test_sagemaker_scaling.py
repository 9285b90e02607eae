"""Auto scaling of inference components: targets that move copies, by the API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from pointsman_emulator import Emulator
from tests.emulator.components import deployed, rolling, update_request

WHAT = {
    "ServiceNamespace": "sagemaker",
    "ResourceId": "inference-component/llm",
    "ScalableDimension": "sagemaker:inference-component:DesiredCopyCount",
}


@pytest.fixture
def aws() -> Iterator[Emulator]:
    with Emulator(seed=7) as emulator:
        deployed(emulator, copies=2, initial=4, most=6)
        yield emulator


def register(aws: Emulator, **more: Any) -> Any:
    scaling = aws.client("application-autoscaling")
    scaling.register_scalable_target(**WHAT, **more)
    return scaling


def copies(aws: Emulator) -> int:
    return aws.inference_model.components["llm"].desired


def test_a_target_is_described_with_its_bounds_and_with_nothing_suspended(aws: Emulator) -> None:
    scaling = register(aws, MinCapacity=1, MaxCapacity=4)
    (target,) = scaling.describe_scalable_targets(
        ServiceNamespace="sagemaker", ResourceIds=[WHAT["ResourceId"]], ScalableDimension=WHAT["ScalableDimension"]
    )["ScalableTargets"]
    assert (target["MinCapacity"], target["MaxCapacity"]) == (1, 4)
    assert set(target["SuspendedState"].values()) == {False}


def test_a_target_above_the_present_copies_moves_them_up(aws: Emulator) -> None:
    register(aws, MinCapacity=3, MaxCapacity=4)
    aws.run_for(600)
    assert copies(aws) == 3


def test_what_someone_set_by_hand_is_undone_by_the_target(aws: Emulator) -> None:
    register(aws, MinCapacity=2, MaxCapacity=4)
    aws.client("sagemaker").update_inference_component_runtime_config(
        InferenceComponentName="llm", DesiredRuntimeConfig={"CopyCount": 0}
    )
    aws.run_for(900)
    assert copies(aws) == 2


def test_a_suspended_target_leaves_the_copies_alone_until_it_is_resumed(aws: Emulator) -> None:
    state = {"DynamicScalingOutSuspended": True, "DynamicScalingInSuspended": True}
    scaling = register(aws, MinCapacity=3, MaxCapacity=4, SuspendedState=state)
    aws.run_for(600)
    assert copies(aws) == 2
    (target,) = scaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
    assert target["SuspendedState"] == {**state, "ScheduledScalingSuspended": False}
    register(aws, SuspendedState=dict.fromkeys(state, False))
    aws.run_for(600)
    assert copies(aws) == 3


def test_a_policy_that_tracks_invocations_follows_the_requests_up_and_later_down(aws: Emulator) -> None:
    scaling = register(aws, MinCapacity=1, MaxCapacity=4)
    scaling.put_scaling_policy(
        **WHAT,
        PolicyName="track",
        PolicyType="TargetTrackingScaling",
        TargetTrackingScalingPolicyConfiguration={
            "TargetValue": 60.0,
            "PredefinedMetricSpecification": {"PredefinedMetricType": "SageMakerInferenceComponentInvocationsPerCopy"},
        },
    )
    aws.inference_model.start_traffic("llm", 3.0, until=aws.now + 1800, arrivals="even")
    aws.run_for(1500)
    assert copies(aws) == 3
    aws.run_for(3600)
    assert copies(aws) == 1


def test_a_scaling_in_flight_keeps_an_update_from_beginning_and_an_update_keeps_scaling_out(aws: Emulator) -> None:
    sagemaker = aws.client("sagemaker")
    register(aws, MinCapacity=3, MaxCapacity=4)
    aws.run_for(90)
    with pytest.raises(ClientError, match="UPDATE_RC_IN_PROGRESS"):
        sagemaker.update_inference_component(**update_request("new", rolling()))
    aws.run_for(600)
    sagemaker.update_inference_component(**update_request("new", rolling()))
    register(aws, MinCapacity=4)
    aws.run_for(300)
    assert copies(aws) == 3
    aws.run_for(7200)
    assert copies(aws) == 4


def test_a_target_on_nothing_is_refused(aws: Emulator) -> None:
    with pytest.raises(ClientError, match="not found"):
        aws.client("application-autoscaling").register_scalable_target(
            **{**WHAT, "ResourceId": "inference-component/nobody"}, MinCapacity=1, MaxCapacity=2
        )


def test_a_deregistered_target_moves_nothing(aws: Emulator) -> None:
    scaling = register(aws, MinCapacity=3, MaxCapacity=4)
    scaling.deregister_scalable_target(**WHAT)
    aws.run_for(600)
    assert copies(aws) == 2


def test_policies_and_schedules_that_are_not_built_are_refused_by_name(aws: Emulator) -> None:
    scaling = register(aws, MinCapacity=1, MaxCapacity=4)
    with pytest.raises(ClientError, match="PutScalingPolicy"):
        scaling.put_scaling_policy(**WHAT, PolicyName="steps", PolicyType="StepScaling")
    with pytest.raises(ClientError, match="PutScheduledAction"):
        scaling.put_scheduled_action(**WHAT, ScheduledActionName="night", Schedule="rate(1 day)")
