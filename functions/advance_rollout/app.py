"""One pass of one rollout, a task of the state machine."""

from functools import cache
from os import environ
from typing import Any

from pointsman.loops.rollout import RolloutLoop
from pointsman.rollout_task import rollout_task
from pointsman.settings import NOTICES_TOPIC, ROLLOUT_ROLE, Settings
from pointsman.wiring import Wiring


@cache
def loop() -> RolloutLoop:
    """Made once for a container."""
    return Wiring(Settings.from_environment(environ, NOTICES_TOPIC, ROLLOUT_ROLE)).rollout_loop()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer with where the state machine waits, and for how long."""
    asked = rollout_task(event)
    return loop().run(asked.rollout, asked.generation).answer()
