"""Wakes of queues into passes: observe, decide, act, record."""

from functools import cache
from os import environ
from typing import Any

from pointsman.inbound import messages, partial_failures
from pointsman.loops.passes import Passes
from pointsman.settings import NOTICES_TOPIC, Settings
from pointsman.wiring import Wiring


@cache
def passes() -> Passes:
    """Made once for a container."""
    return Wiring(Settings.from_environment(environ, NOTICES_TOPIC)).passes()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer with the wakes that SQS shall deliver again."""
    return partial_failures(passes().run(messages(event)))
