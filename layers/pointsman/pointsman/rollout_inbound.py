"""Commands on rollouts that come in, by an invocation or from our bus; unknown fields are tolerated.

An invocation carries the caller's identity as the command read it, which the journal marks as claimed: the permission
to invoke is the authority. An event's actor is `event:` and its source.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pointsman.errors import Poison
from pointsman.rollouts.commands import EVENT

CLAIMED = "claimed:"
COMMAND, REQUEST = "Rollout Command", "Rollout Requested"


class Verb(StrEnum):
    """What may be commanded."""

    REQUEST = "request"
    PAUSE = "pause"
    RESUME = "resume"
    ABORT = "abort"
    ROLLBACK = "rollback"
    APPROVE = "approve"
    WAIVE = "waive"
    ADOPT = "adopt"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what, by whom, on which rollout; `body` is the document of a request."""

    verb: Verb
    actor: str
    rollout: str = ""
    reason: str = ""
    wave: int = 0
    hold: str = ""
    component: str = ""
    new_rollout: str = ""
    body: Mapping[str, Any] | None = None


class _Tolerant(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class _Command(_Tolerant):
    verb: Verb
    rollout: Annotated[str, Field(max_length=128)] = ""
    reason: Annotated[str, Field(max_length=1000)] = ""
    wave: Annotated[int, Field(ge=0)] = 0
    hold: Annotated[str, Field(max_length=64)] = ""
    component: Annotated[str, Field(max_length=128)] = ""
    new_rollout: Annotated[str, Field(max_length=128)] = ""
    request: dict[str, Any] | None = None

    def by(self, actor: str) -> Command:
        return Command(
            verb=self.verb,
            actor=actor,
            rollout=self.rollout,
            reason=self.reason,
            wave=self.wave,
            hold=self.hold,
            component=self.component,
            new_rollout=self.new_rollout,
            body=self.request,
        )


class _Invocation(_Command):
    caller: Annotated[str, Field(min_length=1, max_length=512)]


class _Event(_Tolerant):
    source: Annotated[str, Field(min_length=1, max_length=256)]
    detail_type: Annotated[Literal["Rollout Command", "Rollout Requested"], Field(alias="detail-type")]
    detail: dict[str, Any]


def command(event: Mapping[str, Any]) -> Command:
    """The command in an invocation's payload or in an event of our bus; raises `Poison` with what is wrong."""
    try:
        if not from_bus(event):
            asked = _Invocation.model_validate(event)
            return asked.by(f"{CLAIMED}{asked.caller}")
        told = _Event.model_validate(event)
        if told.detail_type == REQUEST:
            return Command(Verb.REQUEST, f"{EVENT}{told.source}", body=told.detail)
        return _Command.model_validate(told.detail).by(f"{EVENT}{told.source}")
    except ValidationError as error:
        raise _poison("command", error) from None


def _poison(where: str, error: ValidationError) -> Poison:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, (where, *first["loc"])))
    return Poison(f"{first['msg']} ({error.error_count()} faults)", place=place)


def from_bus(event: object) -> bool:
    """Whether a payload came from our bus, and so has nobody who hears of a mistake."""
    return isinstance(event, Mapping) and "detail-type" in event
