"""Which state machines the emulator can run: what is not here would block, or was never tried."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

TYPES = frozenset({"Task", "Choice", "Succeed", "Fail", "Pass"})
RESOURCES = frozenset(
    {
        "arn:aws:states:::lambda:invoke",
        "arn:aws:states:::states:startExecution",
        "arn:aws:states:::aws-sdk:dynamodb:updateItem",
        "arn:aws:states:::aws-sdk:dynamodb:updateItem.waitForTaskToken",
    }
)


def unsupported(definition: str) -> list[str]:
    """A phrase for each part of a definition that the emulator does not have; none where it is no JSON object."""
    try:
        machine = json.loads(definition)
    except ValueError:
        return []
    return list(_unsupported(machine)) if isinstance(machine, dict) else []


def _unsupported(machine: Mapping[str, Any]) -> Iterator[str]:
    if machine.get("QueryLanguage", "JSONPath") != "JSONPath":
        yield f"the query language {machine['QueryLanguage']}"
    if "TimeoutSeconds" in machine:
        yield "a time-out of the whole execution"
    for name, state in (machine.get("States") or {}).items():
        kind = state.get("Type")
        if kind not in TYPES:
            yield f"the type {kind} of state {name!r}"
        elif kind == "Task":
            resource = str(state.get("Resource"))
            if resource not in RESOURCES:
                yield f"the resource {resource} of state {name!r}"
            yield from (
                f"{field} of state {name!r}" for field in ("HeartbeatSeconds", "HeartbeatSecondsPath") if field in state
            )
