"""Application Auto Scaling's targets on the copies of inference components."""

from collections.abc import Mapping, Sequence
from typing import Any

from pointsman.aws.faults import Translated
from pointsman.aws.unreadable import understood
from pointsman.rollouts.observations import WHOLE, ScalingView, Suspension

DIMENSION = "sagemaker:inference-component:DesiredCopyCount"
ASKED = 50  # targets that one call names
KINDS = {
    "DynamicScalingInSuspended": "scale_in",
    "DynamicScalingOutSuspended": "scale_out",
    "ScheduledScalingSuspended": "scheduled",
}
GONE = ("ValidationException", "ObjectNotFoundException")  # a target is changed that is not registered


class ApplicationAutoScaling:
    """The targets of one account and region."""

    def __init__(self, autoscaling: Any) -> None:
        """Use this client."""
        self._autoscaling = autoscaling

    @understood
    def describe(self, components: Sequence[str]) -> Mapping[str, ScalingView]:
        """The targets that these components have."""
        found: dict[str, ScalingView] = {}
        names = list(dict.fromkeys(components))
        for start in range(0, len(names), ASKED):
            request: dict[str, Any] = {
                "ServiceNamespace": "sagemaker",
                "ScalableDimension": DIMENSION,
                "ResourceIds": [_resource(name) for name in names[start : start + ASKED]],
            }
            while True:
                with Translated():
                    page = self._autoscaling.describe_scalable_targets(**request)
                for target in page["ScalableTargets"]:
                    state = target.get("SuspendedState", {})
                    suspension = Suspension(**{field: bool(state.get(kind)) for kind, field in KINDS.items()})
                    view = ScalingView(target["MinCapacity"], target["MaxCapacity"], suspension)
                    found[target["ResourceId"].partition("/")[2]] = view
                if not page.get("NextToken"):
                    break
                request["NextToken"] = page["NextToken"]
        return found

    def suspend(self, component: str) -> None:
        """Let the target move nothing. Raises `Gone` when there is no target."""
        self._set(component, WHOLE)

    def restore(self, component: str, suspension: Suspension) -> None:
        """Keep the target from this only. Raises `Gone` when there is no target."""
        self._set(component, suspension)

    def _set(self, component: str, suspension: Suspension) -> None:
        with Translated(*GONE):
            self._autoscaling.register_scalable_target(
                ServiceNamespace="sagemaker",
                ScalableDimension=DIMENSION,
                ResourceId=_resource(component),
                SuspendedState={kind: getattr(suspension, field) for kind, field in KINDS.items()},
            )


def _resource(component: str) -> str:
    return f"inference-component/{component}"
