"""How a guard is taken away: something of the product, or of a fake of its ports, is another for one world."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from pointsman.loops import rollout as loop
from pointsman.loops.rollout import RolloutLoop
from pointsman.rollouts import decide
from pointsman.rollouts.decision import Act
from pointsman.rollouts.draft import Draft
from pointsman.rollouts.observations import Observations
from pointsman.rollouts.record import HoldKind, RolloutRecord

Patch = Callable[[ExitStack], None]
Rows = dict[str, tuple[str, tuple[str, ...], Patch]]  # a guard's name: its worlds, what would miss it, how it goes
_do = RolloutLoop._do


def other(owner: Any, name: str, value: Any) -> Patch:
    """This instead of what the owner has."""
    return lambda stack: stack.enter_context(patch.object(owner, name, value))


def both(*patches: Patch) -> Patch:
    """All of them."""

    def apply(stack: ExitStack) -> None:
        for each in patches:
            each(stack)

    return apply


def believing(change: Callable[[RolloutRecord], RolloutRecord]) -> Patch:
    """The core takes the record for another."""
    return other(loop, "decide", lambda record, plan, seen, now: decide.decide(change(record), plan, seen, now))


def seeing(change: Callable[[Observations], Observations]) -> Patch:
    """The core is told other facts."""
    return other(loop, "decide", lambda record, plan, seen, now: decide.decide(record, plan, change(seen), now))


def carrying(change: Callable[[Act], Act]) -> Patch:
    """What is carried out is another act."""
    return other(RolloutLoop, "_do", lambda run, act: _do(run, change(act)))


def unheld(draft: Draft, kind: HoldKind, step: Callable[[], Any]) -> Any:
    """A step of the core that does not know of this hold."""
    held = draft.record.holds
    draft.record = replace(draft.record, holds=tuple(h for h in held if h.kind is not kind))
    answer = step()
    kinds = {hold.kind for hold in draft.record.holds}
    draft.record = replace(draft.record, holds=(*draft.record.holds, *(h for h in held if h.kind not in kinds)))
    return answer
