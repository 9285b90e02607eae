"""Each minute: queues whose time has come are woken."""

from functools import cache
from os import environ
from typing import Any

from pointsman.loops.wakers import DueQueues
from pointsman.settings import Settings
from pointsman.wiring import Wiring


@cache
def due() -> DueQueues:
    """Made once for a container."""
    return Wiring(Settings.from_environment(environ)).due_queues()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer with the queues that were woken."""
    return {"woken": due().wake()}
