"""Application Auto Scaling's targets on the copies of inference components."""

from collections.abc import Mapping, Sequence
from typing import Any

from pointsman.aws.faults import Translated
from pointsman.rollouts.observations import ScalingView

DIMENSION = "sagemaker:inference-component:DesiredCopyCount"
ASKED = 50  # targets that one call names
KINDS = ("DynamicScalingInSuspended", "DynamicScalingOutSuspended", "ScheduledScalingSuspended")
GONE = ("ValidationException", "ObjectNotFoundException")  # a target is changed that is not registered


class ApplicationAutoScaling:
    """The targets of one account and region."""

    def __init__(self, autoscaling: Any) -> None:
        """Use this client."""
        self._autoscaling = autoscaling

    def describe(self, components: Sequence[str]) -> Mapping[str, ScalingView]:
        """The targets that these components have; suspended is one that moves nothing in any way."""
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
                    suspended = all(state.get(kind, False) for kind in KINDS)
                    view = ScalingView(target["MinCapacity"], target["MaxCapacity"], suspended=suspended)
                    found[target["ResourceId"].partition("/")[2]] = view
                if not page.get("NextToken"):
                    break
                request["NextToken"] = page["NextToken"]
        return found

    def suspend(self, component: str) -> None:
        """Let the target move nothing. Raises `Gone` when there is no target."""
        self._set(component, suspended=True)

    def restore(self, component: str) -> None:
        """Let the target move copies again. Raises `Gone` when there is no target."""
        self._set(component, suspended=False)

    def _set(self, component: str, *, suspended: bool) -> None:
        with Translated(*GONE):
            self._autoscaling.register_scalable_target(
                ServiceNamespace="sagemaker",
                ScalableDimension=DIMENSION,
                ResourceId=_resource(component),
                SuspendedState=dict.fromkeys(KINDS, suspended),
            )


def _resource(component: str) -> str:
    return f"inference-component/{component}"
