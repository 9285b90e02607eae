"""Where Batch answers."""

from pointsman_emulator.backends.batch.responses import EmulatorBatchResponse

url_bases = [r"https?://batch\.(.+)\.amazonaws.com"]

url_paths = {"{0}/v1/.+$": EmulatorBatchResponse.dispatch}
