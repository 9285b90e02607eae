"""Each minute: queues and rollouts whose time has come are woken, and notices that were not sent are."""

from functools import cache
from os import environ
from typing import Any

from pointsman.loops.due import Due
from pointsman.settings import NOTICES_TOPIC, STATE_MACHINE, Settings
from pointsman.wiring import Wiring


@cache
def due() -> Due:
    """Made once for a container."""
    return Wiring(Settings.from_environment(environ, STATE_MACHINE, NOTICES_TOPIC)).due()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer with the queues and the rollouts that were woken."""
    return {"woken": due().wake()}
