"""The Application Auto Scaling backend: targets on inference components, carried out by the model."""

from __future__ import annotations

from typing import Any

from moto.applicationautoscaling.exceptions import AWSValidationException
from moto.applicationautoscaling.models import (
    ApplicationAutoscalingBackend,
    FakeApplicationAutoscalingPolicy,
    FakeScalableTarget,
)

from pointsman_emulator.backends.sagemaker.models import EmulatorSageMakerBackend
from pointsman_emulator.models.inference import InferenceModel
from pointsman_emulator.models.inference_scaling import ScalingTarget

DIMENSION = "sagemaker:inference-component:DesiredCopyCount"
METRIC = "SageMakerInferenceComponentInvocationsPerCopy"
RUNNING = {"DynamicScalingInSuspended": False, "DynamicScalingOutSuspended": False, "ScheduledScalingSuspended": False}


class EmulatorAutoScalingBackend(ApplicationAutoscalingBackend):
    """moto's backend; a target on an inference component moves its copies."""

    def register_scalable_target(
        self,
        namespace: str,
        r_id: str,
        dimension: str,
        min_capacity: int | None,
        max_capacity: int | None,
        role_arn: str,
        suspended_state: Any,
    ) -> FakeScalableTarget:
        """Register a target or change what is named; the rest stays (API:RegisterScalableTarget)."""
        if dimension != DIMENSION:
            return super().register_scalable_target(
                namespace, r_id, dimension, min_capacity, max_capacity, role_arn, suspended_state
            )
        model, name = _model(), r_id.removeprefix("inference-component/")
        if name not in model.components:
            raise AWSValidationException(f"Inference component not found: {r_id}")
        target = self.targets.get(dimension, {}).get(r_id)
        if target is None:
            if min_capacity is None or max_capacity is None:
                raise AWSValidationException("MinCapacity and MaxCapacity are required to register a scalable target")
            state: Any = RUNNING | (suspended_state or {})
            target = FakeScalableTarget(self, namespace, r_id, dimension, min_capacity, max_capacity, role_arn, state)
            self._add_scalable_target(target)
        else:
            before: Any = target.suspended_state
            target.update(min_capacity, max_capacity, before | (suspended_state or {}))
        state = target.suspended_state
        known = model.targets.get(name)
        model.put_target(
            name,
            ScalingTarget(
                int(target.min_capacity or 0),
                int(target.max_capacity or 0),
                suspended_in=state["DynamicScalingInSuspended"],
                suspended_out=state["DynamicScalingOutSuspended"],
                per_copy=known.per_copy if known else None,
                wish=known.wish if known else None,
            ),
        )
        return target

    def deregister_scalable_target(self, namespace: str, r_id: str, dimension: str) -> None:
        """Deregister a target."""
        super().deregister_scalable_target(namespace, r_id, dimension)
        if dimension == DIMENSION:
            _model().delete_target(r_id.removeprefix("inference-component/"))

    def put_scaling_policy(
        self,
        policy_name: str,
        service_namespace: str,
        resource_id: str,
        scalable_dimension: str,
        policy_body: dict[str, Any],
        policy_type: str | None,
    ) -> FakeApplicationAutoscalingPolicy:
        """Put a policy; on components, one that tracks the invocations per copy."""
        if scalable_dimension == DIMENSION:
            predefined = (policy_body or {}).get("PredefinedMetricSpecification") or {}
            if policy_type != "TargetTrackingScaling" or predefined.get("PredefinedMetricType") != METRIC:
                raise NotImplementedError(f"The emulator tracks {METRIC} only")
            if resource_id not in self.targets.get(DIMENSION, {}):
                raise AWSValidationException(f"No scalable target registered for resource ID: {resource_id}")
            name = resource_id.removeprefix("inference-component/")
            _model().change_target(name, per_copy=float(policy_body["TargetValue"]))
        return super().put_scaling_policy(
            policy_name, service_namespace, resource_id, scalable_dimension, policy_body, policy_type
        )


def _model() -> InferenceModel:
    backend = EmulatorSageMakerBackend.here()
    backend.catch_up()
    return backend.model
