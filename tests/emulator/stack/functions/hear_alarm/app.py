"""Prints what an alarm says; raises when its state changes and its description is `broken`."""

# ruff: noqa: T201 - a function prints its log, and takes a context

import json
from typing import Any


def handler(event: Any, context: Any) -> Any:
    """Hear one event."""
    told = event.get("detail-type") != "CloudWatch Alarm Configuration Change"
    if told and event["detail"].get("configuration", {}).get("description") == "broken":
        raise ValueError("cannot hear")
    print(
        json.dumps(
            {"type": event["detail-type"], "detail": event["detail"], "left": context.get_remaining_time_in_millis()}
        )
    )
