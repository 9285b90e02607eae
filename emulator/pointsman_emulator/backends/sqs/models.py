"""A queue that remembers deduplication ids for five minutes, and tells who reads it that a message came."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

from moto.core.utils import unix_time_millis
from moto.sqs.models import DEDUPLICATION_TIME_IN_SECONDS, Message, Queue

ROUNDING = 1.0
"""Milliseconds: moto computes times in floats, and what is due now must not be due in a moment."""


class EmulatorQueue(Queue):
    """moto's queue. Deduplication outlives the message: an id is refused for 5 minutes even when the message is gone.

    (SQS Developer Guide, "Using the Amazon SQS message deduplication ID".)
    """

    arrived: ClassVar[Callable[[EmulatorQueue, Message], None] | None] = None

    def __init__(self, name: str, region: str, account_id: str, **kwargs: Any) -> None:
        self._seen: dict[str, int] = {}
        super().__init__(name, region, account_id, **kwargs)

    def add_message(self, message: Message) -> None:
        """Take a message, unless its deduplication id was seen in the last five minutes."""
        if self.fifo_queue and message.deduplication_id:
            now = int(unix_time_millis())
            before = self._seen.get(message.deduplication_id)
            if before is not None and now - before < DEDUPLICATION_TIME_IN_SECONDS * 1000:
                return
            self._forget(now)
            self._seen.pop(message.deduplication_id, None)
            self._seen[message.deduplication_id] = now
        self._messages.append(message)
        if EmulatorQueue.arrived is not None:
            EmulatorQueue.arrived(self, message)

    def wait_for_messages(self, timeout: int) -> None:
        """A long poll waits in virtual time: it ends, and nothing arrives meanwhile."""
        time.sleep(timeout)

    def take(self, limit: int, visibility_seconds: int) -> list[Message]:
        """Receive up to `limit` messages for an event source mapping; what came too often goes to the dead letters.

        In a FIFO queue, a group of which a message is in flight gives no other.
        """
        now = unix_time_millis() + ROUNDING
        busy = self._busy(now)
        taken: list[Message] = []
        dead: list[Message] = []
        limit_of_receives = (self.redrive_policy or {}).get("maxReceiveCount") if self.dead_letter_queue else None
        for message in self._messages:
            if message.visible_at > now or message.delayed_until > now or message.group_id in busy:
                continue
            if limit_of_receives is not None and message.approximate_receive_count >= limit_of_receives:
                dead.append(message)
                continue
            message.mark_received(visibility_timeout=visibility_seconds)
            self.pending_messages.add(message)
            taken.append(message)
            if len(taken) == limit:
                break
        for message in dead:
            self._messages.remove(message)
            self.pending_messages.discard(message)
            message.visible_at = 0.0
            self.dead_letter_queue.add_message(message)  # type: ignore[union-attr]
        return taken

    def discard(self, messages: list[Message]) -> None:
        """Delete what was handled."""
        gone = {id(message) for message in messages}
        self._messages = [message for message in self._messages if id(message) not in gone]
        for message in messages:
            self.pending_messages.discard(message)
            self.deleted_messages.update(handle for handle in message.all_receipt_handles if handle)

    def next_visible_at(self) -> float | None:
        """Epoch seconds when a message can be received next; None when there is none."""
        if not self._messages:
            return None
        busy: dict[str | None, float] = {}
        if self.fifo_queue:
            for message in self._messages:
                busy[message.group_id] = max(busy.get(message.group_id, 0.0), message.visible_at)
        return min(max(it.visible_at, it.delayed_until, busy.get(it.group_id, 0.0)) for it in self._messages) / 1000

    def _busy(self, now: float) -> set[str | None]:
        if not self.fifo_queue:
            return set()
        return {message.group_id for message in self._messages if message.visible_at > now}

    def _forget(self, now: int) -> None:
        for seen, at in list(self._seen.items()):
            if now - at < DEDUPLICATION_TIME_IN_SECONDS * 1000:
                break
            del self._seen[seen]
