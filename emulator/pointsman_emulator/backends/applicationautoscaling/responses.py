"""Application Auto Scaling on the wire: moto's, which does not know the dimension of inference components."""

from __future__ import annotations

from moto.applicationautoscaling.responses import ApplicationAutoScalingResponse

from pointsman_emulator.backends.applicationautoscaling.models import DIMENSION


class EmulatorAutoScalingResponse(ApplicationAutoScalingResponse):
    """moto's answers, for our dimension too."""

    def _validate_params(self) -> None:
        if self._get_param("ScalableDimension") != DIMENSION:
            super()._validate_params()

    def put_scheduled_action(self) -> str:
        """PutScheduledAction, of what is not ours."""
        if self._get_param("ScalableDimension") == DIMENSION:
            raise NotImplementedError("The emulator has no scheduled scaling")
        return super().put_scheduled_action()
