"""Evictions, changed shares and checkpoints in memory."""

from pointsman.queues.evictions import Eviction
from pointsman.queues.share_changes import ShareChange
from tests.fakes.faults import Faulty, can_fail


class FakeShareRecords(Faulty):
    """What the control table has of a queue's shares."""

    def __init__(self) -> None:
        super().__init__()
        self._evictions: dict[tuple[str, float, str], Eviction] = {}
        self._changes: dict[tuple[str, str, str], ShareChange] = {}

    @can_fail
    def evictions(self, queue: str, since: float) -> tuple[Eviction, ...]:
        found = [e for (of, asked, _), e in sorted(self._evictions.items()) if of == queue and asked >= since]
        return tuple(found)

    @can_fail
    def put_eviction(self, queue: str, eviction: Eviction) -> None:
        self._evictions[queue, eviction.asked, eviction.evictor.job_id] = eviction

    @can_fail
    def share_changes(self, queue: str) -> tuple[ShareChange, ...]:
        return tuple(change for (of, _, _), change in sorted(self._changes.items()) if of == queue)

    @can_fail
    def put_share_change(self, queue: str, change: ShareChange) -> None:
        self._changes[queue, change.share, change.setting.value] = change

    @can_fail
    def drop_share_change(self, queue: str, change: ShareChange) -> None:
        key = (queue, change.share, change.setting.value)
        if self._changes.get(key) == change:
            del self._changes[key]


class FakeCheckpoints(Faulty):
    """When something was last written under each prefix; a prefix that is not in `written` is not known."""

    def __init__(self) -> None:
        super().__init__()
        self.written: dict[str, float] = {}
        self.asked: list[str] = []

    @can_fail
    def newest(self, prefix: str) -> float | None:
        self.asked.append(prefix)
        return self.written.get(prefix)
