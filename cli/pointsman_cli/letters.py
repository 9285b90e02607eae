"""Dead letters: what a message says of where it came from, why it failed, and whom it concerns."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

JOB_EVENTS, QUEUE_WAKES = "job-events", "queue-wakes"
ALARMS, COMMANDS, TICKS = "alarms", "commands", "ticks"
EDGES = (JOB_EVENTS, QUEUE_WAKES, ALARMS, COMMANDS, TICKS)
SHORT = 200  # characters of a body that are shown


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a dead-letter queue, as it was received; `queue` is the edge that the queue belongs to, if any."""

    message_id: str
    body: str
    sent: float
    receipt: str = ""
    said: Mapping[str, str] = ()  # type: ignore[assignment]
    queue: str = ""


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter: by which edge it came (empty: not known), and what is to be sent there again.

    `poison` can never be read by the release that buried it.
    """

    message: Message
    edge: str
    reason: str
    place: str
    concerns: str
    again: str
    poison: bool = False


def letter(message: Message, functions: Mapping[str, str]) -> Letter:
    """What the message says; `functions` has the edge of each function by its name.

    Four hands bury: Pointsman (its attributes `reason`, `place` and `edge`), EventBridge (attributes of its own),
    Lambda (a record around the event), and SQS, which moves a message that was received too often as it is.
    """
    said = dict(message.said)
    body = _json(message.body)
    if "reason" in said:
        edge = said.get("edge", "")
        why = said["reason"], said.get("place", "")
        return Letter(message, edge if edge in EDGES else "", *why, concerns(body), message.body, poison=True)
    if "RULE_ARN" in said:
        target = said.get("TARGET_ARN", "")
        edge = JOB_EVENTS if ":sqs:" in target else functions.get(_name(target), "")
        words = [said.get("ERROR_CODE", "not delivered"), said.get("ERROR_MESSAGE", "")]
        reason = ": ".join(word for word in words if word)
        return Letter(message, edge, reason, f"rule {_name(said['RULE_ARN'])}", concerns(body), message.body)
    context = body.get("requestContext")
    if isinstance(context, dict) and "requestPayload" in body:
        name = _name(str(context.get("functionArn", "")).removesuffix(":$LATEST"))
        error = body.get("responsePayload")
        told = [str(error.get(key, "")) for key in ("errorType", "errorMessage")] if isinstance(error, dict) else []
        reason = ": ".join(word for word in (str(context.get("condition", "failed")), *told) if word)
        again = body["requestPayload"]
        return Letter(message, functions.get(name, ""), reason, name, concerns(again), json.dumps(again))
    reason = "it was delivered too often and never handled: its function failed, or ran out of time"
    return Letter(message, message.queue or JOB_EVENTS, reason, "", concerns(body), message.body)


def concerns(body: object) -> str:
    """The queue, job, alarm, endpoint or rollout that an event is about, as far as it says."""
    if not isinstance(body, dict):
        return ""
    if body.get("detail-type") == "Scheduled Event":
        return "the minute's tick"
    detail = body.get("detail")
    if not isinstance(detail, dict):
        return f"queue {body['queue']}" if isinstance(body.get("queue"), str) else ""
    if isinstance(detail.get("jobName"), str):
        return f"job {detail['jobName']} in {_name(str(detail.get('jobQueue', '')))}"
    for key, kind in (
        ("preemptedJobArn", "job"),
        ("alarmName", "alarm"),
        ("EndpointName", "endpoint"),
        ("rollout", "rollout"),
    ):
        if isinstance(detail.get(key), str):
            return f"{kind} {_name(detail[key]) if kind == 'job' else detail[key]}"
    return ""


def shown(text: str, most: int = SHORT) -> str:
    """The text on one line: what a terminal would obey is escaped, what is too long is cut."""
    cut = text if len(text) <= most else f"{text[: most - 3]}..."
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in cut)


def _name(arn: str) -> str:
    """The last part of an ARN."""
    return arn.rsplit(":", 1)[-1].rsplit("/", 1)[-1]


def _json(body: str) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
