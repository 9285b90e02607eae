"""Virtual time: one heap of what is due, and a process whose clocks all read it."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from math import ceil
from typing import Protocol

import time_machine

Action = Callable[[], object]


class Model(Protocol):
    """A behaviour that has its own events in the emulator's time."""

    @property
    def next_event_at(self) -> float | None:
        """When something happens next by itself."""

    def advance(self, until: float) -> None:
        """Let it happen."""


class Clock:
    """Owns time. Nothing waits: `time.sleep` moves the clock, and what is due runs in order of (time, sequence)."""

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError("the emulator's start needs a time zone, for instance datetime(2026, 3, 2, tzinfo=UTC)")
        self.now = _tick(start.timestamp())
        self.models: list[Model] = []
        self._heap: list[tuple[float, int, Action]] = []
        self._sequence = count()
        self._travel = time_machine.travel(start, tick=False)
        self._traveller: time_machine.Traveller | None = None

    def start(self) -> None:
        """Take over the clocks of this process."""
        self._traveller = self._travel.start()

    def stop(self) -> None:
        """Give them back."""
        self._travel.stop()
        self._traveller = None

    def at(self, when: float, action: Action) -> None:
        """Run an action at a time; one that has passed means as soon as possible."""
        heapq.heappush(self._heap, (max(_tick(when), self.now), next(self._sequence), action))

    def sleep(self, seconds: float) -> None:
        """What `time.sleep` does here: the caller's time passes, at once."""
        self._move(self.now + max(0.0, seconds))

    def step(self, until: float) -> bool:
        """Run what is due next, if that is by `until`; models go before actions of the same moment."""
        heap = self._heap
        at = heap[0][0] if heap else None
        chosen: Model | None = None
        for model in self.models:
            model_at = model.next_event_at
            if model_at is not None and (at is None or model_at <= at):
                at, chosen = model_at, model
        if at is None or at > until:
            return False
        self._move(at)
        if chosen is not None:
            chosen.advance(self.now)
        else:
            heapq.heappop(heap)[2]()
        return True

    def run(self, until: float) -> None:
        """Run everything that is due by `until`, and be there."""
        while self.step(until):
            pass
        self._move(until)

    def _move(self, to: float) -> None:
        to = _tick(to)
        if to > self.now:
            self.now = to
            if self._traveller is not None:
                self._traveller.move_to(to)


def _tick(when: float) -> float:
    """The next 1/64 s: a time that a float, a datetime and a count of nanoseconds all hold exactly."""
    return ceil(when * 64) / 64


def moment(when: datetime | float) -> float:
    """Epoch seconds of a time as people give it."""
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise ValueError(f"{when} has no time zone")
        return when.timestamp()
    return float(when)


def iso(when: float) -> str:
    """The time of an EventBridge event, at a resolution of a second (UG:eb-events-structure)."""
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
