"""The kinds of queues."""

from enum import StrEnum


class QueueKind(StrEnum):
    """What decides a queue's order, and so what can be moved in it."""

    FAIR_SHARE = "fair share"
    QUOTA_SHARE = "quota shares"
    FIFO = "FIFO"
    CONTAINER = "container"
