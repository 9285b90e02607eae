"""What the state machine asks for: two fields of our own making, read without the models that take long to import."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pointsman.errors import Poison

LONGEST = 60  # characters of a rollout's id


@dataclass(frozen=True, slots=True)
class RolloutTask:
    """One pass of one rollout, asked for by the execution of this generation."""

    rollout: str
    generation: int


def rollout_task(event: Mapping[str, Any]) -> RolloutTask:
    """The pass that the state machine asks for; raises `Poison` with the place that is wrong."""
    if not isinstance(event, Mapping):
        raise Poison("not a task of the state machine", place="event")
    rollout, generation = event.get("rollout_id"), event.get("generation")
    if not isinstance(rollout, str) or not 0 < len(rollout) <= LONGEST:
        raise Poison("not the id of a rollout", place="event.rollout_id")
    if type(generation) is not int or generation < 1:
        raise Poison("not a generation of executions", place="event.generation")
    return RolloutTask(rollout, generation)
