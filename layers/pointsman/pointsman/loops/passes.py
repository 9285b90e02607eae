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
        """Ids of the messages to deliver again: those whose pass could not record its failure, nor be asked for anew.

        A message that is delivered again blocks its queue's group for a whole visibility timeout, so a new wake is sent
        in its place. A message that is no wake is dead-lettered with its reason; several wakes of one make one pass.
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
            except Transient as error:
                again += self._ask_anew(queue, ids, str(error))
        return tuple(again)

    def _ask_anew(self, queue: str, ids: list[str], why: str) -> list[str]:
        self.loop.log.failed(queue, why, known=True)
        try:
            self.loop.wakes.wake(queue, self.loop.clock.now())
        except Transient:
            return ids
        return []

    def _bury(self, message: Message, poison: Poison) -> list[str]:
        try:
            self.dead_letters.bury(message.body, poison.reason, poison.place)
        except Transient:
            return [message.message_id]
        self.loop.log.poisoned(poison.reason, poison.place)
        return []
