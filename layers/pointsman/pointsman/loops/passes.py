"""Wakes from the queue into passes, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from pointsman.errors import Poison, Transient
from pointsman.inbound import Message, wake
from pointsman.loops.queue import QueueLoop
from pointsman.ports import DeadLetters


@dataclass(frozen=True, slots=True)
class Passes:
    """Runs the passes that a batch of wakes asks for."""

    loop: QueueLoop
    dead_letters: DeadLetters

    def run(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Ids of the messages to deliver again: those whose pass could not even record that it failed.

        A message that is no wake is dead-lettered with its reason. Several wakes of one queue make one pass.
        """
        again: list[str] = []
        by_queue: dict[str, list[str]] = {}
        for message in messages:
            try:
                by_queue.setdefault(wake(message.body), []).append(message.message_id)
            except Poison as poison:
                again += self._bury(message, poison)
        for queue, ids in by_queue.items():
            try:
                self.loop.run(queue)
            except Transient:
                again += ids
        return tuple(again)

    def _bury(self, message: Message, poison: Poison) -> list[str]:
        try:
            self.dead_letters.bury(message.body, poison.reason, poison.place)
        except Transient:
            return [message.message_id]
        self.loop.log.poisoned(poison.reason, poison.place)
        return []
