"""Alarms and endpoints into wakes of the queues and the rollouts that name them."""

from functools import cache
from os import environ
from typing import Any

from pointsman.loops.relay import AlarmRelay
from pointsman.settings import Settings
from pointsman.wiring import Wiring


@cache
def relay() -> AlarmRelay:
    """Made once for a container."""
    return Wiring(Settings.from_environment(environ)).alarm_relay()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer with the queues and the rollouts that were woken."""
    return {"woken": relay().relay(event)}
