"""Messages on SQS: wakes of queues, and what can never be processed."""

import json
import re
from hashlib import sha256
from typing import Any

from pointsman.aws.faults import Translated

BUCKET_SECONDS = 10  # also the delay of the wake queue: a message shows when its bucket has closed
BODY_BYTES = 250_000  # a message of SQS holds 256 KiB wherever it runs, attributes included
REASON_CHARACTERS = 1_000
PLACE_CHARACTERS = 250

_REFUSED = "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # compiled when it is needed: it takes 5 ms


def group_of(queue: str) -> str:
    """The message group of a job queue's wakes: an id holds 128 characters, and so does a queue's name."""
    return sha256(queue.encode()).hexdigest()[:32]


class SqsWakes:
    """Wakes on a FIFO queue: one group for each job queue, one message for each of its buckets of time."""

    def __init__(self, sqs: Any, queue_url: str) -> None:
        """Send to this queue."""
        self._sqs = sqs
        self._queue_url = queue_url

    def wake(self, queue: str, now: float) -> None:
        """Ask for a pass over the queue after the present bucket has closed."""
        group = group_of(queue)
        with Translated():
            self._sqs.send_message(
                QueueUrl=self._queue_url,
                MessageBody=json.dumps({"queue": queue}),
                MessageGroupId=group,
                MessageDeduplicationId=f"{group}/{int(now // BUCKET_SECONDS)}",
            )


class SqsDeadLetters:
    """Dead letters on a standard queue, beside the body the reason, the place, and the way by which it came.

    `edge` names that way: it is where the message goes back to.
    """

    def __init__(self, sqs: Any, queue_url: str, edge: str) -> None:
        """Send to this queue."""
        self._sqs = sqs
        self._queue_url = queue_url
        self._edge = edge

    def bury(self, body: str, reason: str, place: str) -> None:
        """Keep the message with its reason and the place that is wrong; what SQS would refuse is cut or replaced."""
        with Translated():
            self._sqs.send_message(
                QueueUrl=self._queue_url,
                MessageBody=_cut(_clean(body), BODY_BYTES) or "(empty)",
                MessageAttributes={
                    "reason": {"DataType": "String", "StringValue": _clean(reason)[:REASON_CHARACTERS] or "unknown"},
                    "place": {"DataType": "String", "StringValue": _clean(place)[:PLACE_CHARACTERS] or "unknown"},
                    "edge": {"DataType": "String", "StringValue": self._edge},
                },
            )


def _clean(text: str) -> str:
    return re.sub(_REFUSED, "\ufffd", text)


def _cut(text: str, size: int) -> str:
    encoded = text.encode()
    return text if len(encoded) <= size else encoded[:size].decode(errors="ignore")
