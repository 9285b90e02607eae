"""Where Step Functions answers."""

from pointsman_emulator.backends.stepfunctions.responses import EmulatorStepFunctionsResponse

url_bases = [r"https?://states\.(.+)\.amazonaws.com"]

url_paths = {"{0}/$": EmulatorStepFunctionsResponse.dispatch}
