"""The waiting jobs of one share in order, and how much a share has used."""

from __future__ import annotations

import heapq
from collections import deque
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
        self._heaps: dict[int, list[_Entry]] = {}
        self._tickets = count(1)
        self._live = 0
        self._entries = 0

    def __len__(self) -> int:
        return self._live

    def add(self, job: ServiceJob, key: Key) -> None:
        """Put a job in line."""
        ticket = next(self._tickets)
        job.ticket = ticket
        heap = self._heaps.setdefault(job.instances if self._by_size else 0, [])
        heapq.heappush(heap, (key, ticket, job))
        self._live += 1
        self._entries += 1

    def remove(self, job: ServiceJob) -> None:
        """Take a job out of line."""
        job.ticket = 0
        self._live -= 1
        if self._entries > _FEW and self._entries > _STALE * self._live:
            self._compact()

    def head(self, room: int) -> tuple[Key, ServiceJob] | None:
        """The first job in line; where lines are kept by size, the first of those that fit in `room`."""
        best: _Entry | None = None
        for size, heap in self._heaps.items():
            if self._by_size and size > room:
                continue
            while heap and heap[0][1] != heap[0][2].ticket:
                heapq.heappop(heap)
                self._entries -= 1
            if heap and (best is None or heap[0] < best):
                best = heap[0]
        return (best[0], best[2]) if best else None

    def first(self, limit: int) -> list[tuple[Key, ServiceJob]]:
        """The first `limit` jobs in order, by a walk down the heaps from their roots: O(limit log limit)."""
        found: list[tuple[Key, ServiceJob]] = []
        heaps = list(self._heaps.values())
        edge = [(heap[0], which, 0) for which, heap in enumerate(heaps) if heap]
        heapq.heapify(edge)
        while edge and len(found) < limit:
            entry, which, index = heapq.heappop(edge)
            if entry[1] == entry[2].ticket:
                found.append((entry[0], entry[2]))
            heap = heaps[which]
            for child in (2 * index + 1, 2 * index + 2):
                if child < len(heap):
                    heapq.heappush(edge, (heap[child], which, child))
        return found

    def _compact(self) -> None:
        for heap in self._heaps.values():
            heap[:] = [entry for entry in heap if entry[1] == entry[2].ticket]
            heapq.heapify(heap)
        self._entries = self._live


class UsageMeter:
    """Instances x seconds of one share, older use counting less: linearly down to nothing at the end of the window.

    That recent use outweighs older use is documented (UG:fair-share-scheduling); the shape of the decay is not.
    The integral is exact, and each change costs O(1): 2 instances for the last 10 s of a 600 s window give
    2 x 10 x (1 - 5/600) = 19.83.
    """

    def __init__(self, window: float, start: float) -> None:
        self._window = window
        self._origin = start
        self._pieces: deque[tuple[float, float, int]] = deque()
        self._since = 0.0
        self._area = 0.0
        self._moment = 0.0
        self.in_use = 0

    def change(self, now: float, instances: int) -> None:
        """`instances` more (or fewer) are in use from now on."""
        end = now - self._origin
        if self.in_use and end > self._since:
            begin = self._since
            if self._pieces and self._pieces[-1][1:] == (begin, self.in_use):
                begin = self._pieces.pop()[0]
            self._pieces.append((begin, end, self.in_use))
            self._area += self.in_use * (end - self._since)
            self._moment += self.in_use * (end * end - self._since * self._since) / 2
        self._since = end
        self.in_use += instances

    def usage(self, now: float) -> float:
        """The use as it counts now."""
        if self._window <= 0:
            return float(self.in_use)
        if self.in_use and now - self._origin > self._since:
            self.change(now, 0)
        end = now - self._origin
        floor = end - self._window
        while self._pieces and self._pieces[0][0] < floor:
            start, stop, instances = self._pieces.popleft()
            cut = min(stop, floor)
            self._area -= instances * (cut - start)
            self._moment -= instances * (cut * cut - start * start) / 2
            if stop > floor:
                self._pieces.appendleft((floor, stop, instances))
                break
        if not self._pieces:
            self._area = self._moment = 0.0
        return max(0.0, self._area * (1 - end / self._window) + self._moment / self._window)
