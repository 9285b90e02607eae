"""Requests of rollouts, from our bus or invoked; and what people command."""

from functools import cache
from os import environ
from typing import Any

from pointsman.loops.rollout_commands import RolloutCommands
from pointsman.settings import STACK, STATE_MACHINE, Settings
from pointsman.wiring import Wiring


@cache
def commands() -> RolloutCommands:
    """Made once for a container."""
    return Wiring(Settings.from_environment(environ, STATE_MACHINE, STACK)).rollout_commands()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer with what was done, or why not; a mistake of an event is buried, as nobody waits for its answer."""
    return commands().respond(event)
