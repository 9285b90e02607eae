"""Job-state events from the queue, in batches, into the job table and on as wakes."""

from functools import cache
from os import environ
from typing import Any

from pointsman.inbound import messages, partial_failures
from pointsman.loops.recorder import Recorder
from pointsman.settings import Settings
from pointsman.wiring import Wiring


@cache
def recorder() -> Recorder:
    """Made once for a container."""
    return Wiring(Settings.from_environment(environ)).recorder()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer with the records that SQS shall deliver again."""
    return partial_failures(recorder().record(messages(event)))
