"""Wakes from the queue into passes, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from pointsman.errors import Poison, Transient
from pointsman.inbound import Message, wake
from pointsman.loops.queue import QueueLoop
from pointsman.ports import DeadLetters

NO_MORE = 60.0  # seconds after which no pass is begun: the function may run twice as long


@dataclass(frozen=True, slots=True)
class Passes:
    """Runs the passes that a batch of wakes asks for."""

    loop: QueueLoop
    dead_letters: DeadLetters

    def run(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Ids of the messages to deliver again: those whose pass could not record its failure, nor be asked for anew.

        A message that is delivered again blocks its queue's group for a whole visibility timeout, so a new wake is sent
        in its place; so it is for queues whose turn comes late, since a function that runs out of time leaves all its
        messages. A message that is no wake is dead-lettered with its reason; several wakes of one make one pass.
        """
        began = self.loop.clock.now()
        again: list[str] = []
        by_queue: dict[str, list[str]] = {}
        for message in messages:
            try:
                by_queue.setdefault(wake(message.body), []).append(message.message_id)
            except Poison as poison:
                again += self._bury(message, poison)
        for queue, ids in by_queue.items():
            if self.loop.clock.now() - began > NO_MORE:
                again += self._ask_anew(queue, ids)
                self.loop.log.skipped(queue, "the passes before it took long")
                continue
            try:
                self.loop.run(queue)
            except Transient as error:
                self.loop.log.failed(queue, str(error), known=True)
                again += self._ask_anew(queue, ids)
        return tuple(again)

    def _ask_anew(self, queue: str, ids: list[str]) -> list[str]:
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
