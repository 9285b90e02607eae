"""What notices of queues need of the outside world."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pointsman.queues.notices import QueueNotice


class NoticeTable(Protocol):
    """The outbox: what people were told of queues, and what they are still to be told."""

    def notices(self, queue: str) -> "tuple[QueueNotice, ...]":
        """Every notice of the queue, by key."""
        ...

    def put_notice(self, queue: str, notice: "QueueNotice", before: "QueueNotice | None") -> None:
        """Store a notice in the place of `before` (None: there is none of its key). Raises `Conflict` otherwise."""
        ...


class QueueNotices(Protocol):
    """Where people hear of queues."""

    def tell(self, queue: str, notice: "QueueNotice") -> None:
        """Tell people; the notice's id goes along, so that a second one of it can be known."""
        ...


class NoticeLog(Protocol):
    """What is logged of notices."""

    def untold(self, queue: str, why: str) -> None:
        """A notice could not be sent; it will be."""
        ...
