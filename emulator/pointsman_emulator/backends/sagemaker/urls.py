"""Where SageMaker answers."""

from pointsman_emulator.backends.sagemaker.responses import EmulatorSageMakerResponse

url_bases = [r"https?://api\.sagemaker\.(.+)\.amazonaws.com"]

url_paths = {"{0}/$": EmulatorSageMakerResponse.dispatch}
