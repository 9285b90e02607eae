"""Event source mappings: queues are read and handed to functions in batches, in virtual time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from moto.sqs.models import Message, sqs_backends

from pointsman_emulator.backends.sqs.models import EmulatorQueue
from pointsman_emulator.clock import Clock
from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_emulator.functions import Function, FunctionRuntime


@dataclass(slots=True, eq=False)
class QueueSource:
    """One queue read for one function (Lambda Developer Guide, "Using Lambda with Amazon SQS")."""

    queue: EmulatorQueue
    function: Function
    batch_size: int
    window: float
    partial: bool
    """Whether the function reports batch item failures."""
    clock: Clock
    runtime: FunctionRuntime
    _due: float | None = None

    def arrived(self, message: Message) -> None:
        """A message is in the queue: read it when it is visible and the batching window has passed."""
        visible = max(self.clock.now, message.delayed_until / 1000)
        full = len(self.queue._messages) >= self.batch_size
        self._read_at(visible if full else visible + self.window)

    def _read_at(self, when: float) -> None:
        if self._due is None or when < self._due:
            self._due = when
            self.clock.at(when, lambda: self._read(when))

    def _read(self, due: float) -> None:
        if self._due != due:
            return
        self._due = None
        if self.queue.name not in sqs_backends[ACCOUNT][REGION].queues:
            return  # it went with its stack
        messages = self.queue.take(self.batch_size, int(self.queue.visibility_timeout))  # type: ignore[attr-defined]
        if messages:
            records = [self._record(message) for message in messages]
            outcome = self.runtime.run(self.function, {"Records": records})
            handled = self._handled(messages, outcome.payload) if outcome.error is None else []
            self.queue.discard(handled)
        again = self.queue.next_visible_at()
        if again is not None:
            # A queue keeps milliseconds: a message due now may still be a fraction of one away.
            self._read_at(max(again, self.clock.now + (0.0 if messages else 0.001)))

    def _handled(self, messages: list[Message], payload: Any) -> list[Message]:
        """What the function handled. A report that names no known message fails the whole batch."""
        failures = payload.get("batchItemFailures") if self.partial and isinstance(payload, dict) else None
        if not failures:
            return messages
        known = {message.id for message in messages}
        failed = {item.get("itemIdentifier") if isinstance(item, dict) else None for item in failures}
        if not failed <= known:
            return []
        return [message for message in messages if message.id not in failed]

    def _record(self, message: Message) -> dict[str, Any]:
        attributes = {
            "ApproximateReceiveCount": str(message.approximate_receive_count),
            "SentTimestamp": str(message.sent_timestamp),
            "SenderId": message.sender_id,
            "ApproximateFirstReceiveTimestamp": str(message.approximate_first_receive_timestamp),
        }
        if self.queue.fifo_queue:
            attributes["SequenceNumber"] = str(message.sequence_number)
            attributes["MessageGroupId"] = str(message.group_id)
            attributes["MessageDeduplicationId"] = str(message.deduplication_id)
        return {
            "messageId": message.id,
            "receiptHandle": message.receipt_handle,
            "body": message.body,
            "attributes": attributes,
            "messageAttributes": {},
            "md5OfBody": message.body_md5,
            "eventSource": "aws:sqs",
            "eventSourceARN": self.queue.queue_arn,
            "awsRegion": REGION,
        }
