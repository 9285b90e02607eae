"""Waiting jobs in order."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import count

from pointsman_emulator.models.batch_jobs import ServiceJob

_FEW, _STALE = 64, 4
"""Below so many entries, or so many entries to a live one, the stale ones are left where they are."""

Key = tuple[float, float, float]
_Entry = tuple[Key, int, ServiceJob]


class WaitingLine:
    """Waiting jobs in order of their keys. Entries are removed lazily: a job's ticket names its valid entry.

    With `by_size`, jobs of each size have a heap of their own, so that the first that fits is found without a walk.
    """

    def __init__(self, *, by_size: bool) -> None:
        self._by_size = by_size
        self._heaps: dict[object, list[_Entry]] = {}
        self._tickets = count(1)
        self._live = 0
        self._entries = 0
        self._head: _Entry | None = None
        """The first entry, where that is known."""

    def __len__(self) -> int:
        return self._live

    def add(self, job: ServiceJob, key: Key) -> None:
        """Put a job in line."""
        ticket = next(self._tickets)
        job.ticket = ticket
        size = tuple(job.needs.items()) if self._by_size else None
        entry = (key, ticket, job)
        heapq.heappush(self._heaps.setdefault(size, []), entry)
        if not self._live or (self._head is not None and entry < self._head):
            self._head = entry
        self._live += 1
        self._entries += 1

    def remove(self, job: ServiceJob) -> None:
        """Take a job out of line."""
        job.ticket = 0
        self._live -= 1
        if self._head is not None and self._head[2] is job:
            self._head = None
        if self._entries > _FEW and self._entries > _STALE * self._live:
            self._compact()

    def head(self) -> ServiceJob | None:
        """The first job in line."""
        if self._head is None and self._live:
            self._head = min(top for heap in self._heaps.values() if (top := self._top(heap)) is not None)
        return self._head[2] if self._head is not None else None

    def candidate(self, fits: Callable[[ServiceJob], bool]) -> ServiceJob | None:
        """The head, if it fits; where jobs are kept by size, the first of all that fit."""
        if not self._by_size:
            head = self.head()
            return head if head is not None and fits(head) else None
        tops = [top for heap in self._heaps.values() if (top := self._top(heap)) is not None and fits(top[2])]
        return min(tops)[2] if tops else None

    def walk(self) -> Iterator[ServiceJob]:
        """The jobs in order, by a walk down the heaps from their roots: O(k log k) for the first k."""
        heaps = list(self._heaps.values())
        edge = [(heap[0], which, 0) for which, heap in enumerate(heaps) if heap]
        heapq.heapify(edge)
        while edge:
            entry, which, index = heapq.heappop(edge)
            if entry[1] == entry[2].ticket:
                yield entry[2]
            heap = heaps[which]
            for child in (2 * index + 1, 2 * index + 2):
                if child < len(heap):
                    heapq.heappush(edge, (heap[child], which, child))

    def _top(self, heap: list[_Entry]) -> _Entry | None:
        while heap and heap[0][1] != heap[0][2].ticket:
            heapq.heappop(heap)
            self._entries -= 1
        return heap[0] if heap else None

    def _compact(self) -> None:
        for heap in self._heaps.values():
            heap[:] = [entry for entry in heap if entry[1] == entry[2].ticket]
            heapq.heapify(heap)
        self._entries = self._live
