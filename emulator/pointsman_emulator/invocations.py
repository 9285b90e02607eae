"""Asynchronous invocations: tried three times, then sent to the failure destination."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pointsman_emulator.clock import Clock, iso
from pointsman_emulator.functions import THROTTLED, Function, FunctionRuntime, Outcome

RETRY_AFTER = (60.0, 120.0)
"""Lambda waits one minute before the second attempt, and two before the third (Lambda Developer Guide, "How Lambda
handles errors and retries with asynchronous invocation")."""
MAXIMUM_AGE = 21600
MAXIMUM_RETRIES = 2


@dataclass(slots=True)
class AsyncInvoker:
    """Invokes functions for those who do not wait."""

    clock: Clock
    runtime: FunctionRuntime
    send_to: Callable[[str, str, Mapping[str, Any]], None]
    """Sends a body to the queue, topic or function of this ARN."""

    def invoke(self, function: Function, event: Any) -> None:
        """Accept an event: it is handled now, or again later."""
        self._attempt(function, event, 1, self.clock.now)

    def later(self, function: Function, event: Any) -> None:
        """Accept an event from a caller that goes on first."""
        self.clock.at(self.clock.now, lambda: self.invoke(function, event))

    def _attempt(self, function: Function, event: Any, number: int, accepted_at: float) -> None:
        outcome = self.runtime.run(function, event)
        if outcome.error is None:
            return
        if outcome.error["errorType"] == THROTTLED:  # not an attempt: it is put back, until it is too old
            number -= 1
        retries = int(function.invoke_config.get("MaximumRetryAttempts", MAXIMUM_RETRIES))
        oldest = float(function.invoke_config.get("MaximumEventAgeInSeconds", MAXIMUM_AGE))
        again_at = self.clock.now + RETRY_AFTER[max(0, min(number, len(RETRY_AFTER)) - 1)]
        if number <= retries and again_at - accepted_at <= oldest:
            self.clock.at(again_at, lambda: self._attempt(function, event, number + 1, accepted_at))
            return
        condition = "RetriesExhausted" if number > retries else "EventAgeExceeded"
        self._give_up(function, event, number, condition, outcome)

    def _give_up(self, function: Function, event: Any, count: int, condition: str, outcome: Outcome) -> None:
        destination = ((function.invoke_config.get("DestinationConfig") or {}).get("OnFailure") or {}).get(
            "Destination"
        )
        if not destination:
            return
        record = {
            "version": "1.0",
            "timestamp": iso(self.clock.now).replace("Z", ".000Z"),
            "requestContext": {
                "requestId": outcome.request_id,
                "functionArn": f"{function.arn}:$LATEST",
                "condition": condition,
                "approximateInvokeCount": count,
            },
            "requestPayload": event,
            "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
            "responsePayload": outcome.error,
        }
        self.send_to(str(destination), json.dumps(record), {})
