"""Where Application Auto Scaling answers."""

from pointsman_emulator.backends.applicationautoscaling.responses import EmulatorAutoScalingResponse

url_bases = [r"https?://application-autoscaling\.(.+)\.amazonaws.com"]

url_paths = {"{0}/$": EmulatorAutoScalingResponse.dispatch}
