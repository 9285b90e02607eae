"""Where IAM answers."""

from pointsman_emulator.backends.iam.responses import EmulatorIAMResponse

url_bases = [r"https?://iam\.(.*\.)?amazonaws\.com"]

url_paths = {"{0}/$": EmulatorIAMResponse.dispatch}
