"""Where CloudWatch answers."""

from pointsman_emulator.backends.cloudwatch.responses import EmulatorCloudWatchResponse

url_bases = [r"https?://monitoring\.(.+)\.amazonaws.com"]

url_paths = {"{0}/$": EmulatorCloudWatchResponse.dispatch}
