"""Wakes and dead letters in memory."""

from typing import NamedTuple

from pointsman.queues.notices import QueueNotice
from tests.fakes.faults import Faulty, can_fail


class FakeWakes(Faulty):
    """One wake for each queue and bucket of 10 seconds, in `sent` as (queue, bucket)."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, int]] = []

    @can_fail
    def wake(self, queue: str, now: float) -> None:
        if (queue, int(now // 10)) not in self.sent:
            self.sent.append((queue, int(now // 10)))

    @property
    def queues(self) -> list[str]:
        """The queues woken, once for each wake."""
        return [queue for queue, _ in self.sent]


class FakeQueueNotices(Faulty):
    """What people were told of queues, as (id, sentence), in order."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, str]] = []

    @can_fail
    def tell(self, queue: str, notice: QueueNotice) -> None:
        self.told.append((notice.id(queue), notice.sentence))

    @property
    def kinds(self) -> list[str]:
        """What was told, by the keys' first two parts."""
        return ["/".join(told.split("/")[1:3]) for told, _ in self.told]


class Buried(NamedTuple):
    body: str
    reason: str
    place: str


class FakeDeadLetters(Faulty):
    """What was buried, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.buried: list[Buried] = []

    @can_fail
    def bury(self, body: str, reason: str, place: str) -> None:
        self.buried.append(Buried(body, reason, place))
