"""What the queue loop needs where jobs of a queue are in shares: their settings, and what must not be lost of them.

Every method may raise `Transient`; what else it raises is said where it does.
"""

from typing import Protocol

from pointsman.queues.evictions import Eviction
from pointsman.queues.quota import QuotaShare
from pointsman.queues.share_changes import ShareChange


class ShareSettings(Protocol):
    """AWS Batch: what a queue's shares may use, as it is this moment."""

    def quota_shares(self, queue: str) -> tuple[QuotaShare, ...]:
        """The quota shares of the queue; raises `Gone` when there is no such queue."""
        ...

    def set_borrow_limit(self, share: QuotaShare, limit: int) -> None:
        """Set how much the share may borrow, in per cent (-1: no limit), and nothing else of it.

        Raises `Gone` when there is no such share, or Batch does not change it now.
        """
        ...

    def set_preemption(self, share: QuotaShare, *, on: bool) -> None:
        """Turn the share's in-share preemption on or off, and change nothing else of it; raises `Gone` likewise."""
        ...

    def weights(self, policy: str) -> tuple[tuple[str, float], ...]:
        """The weights of a fair-share scheduling policy by share; raises `Gone` when there is no such policy."""
        ...

    def set_weights(self, policy: str, weights: tuple[tuple[str, float], ...]) -> None:
        """Give a fair-share scheduling policy these weights, keeping all else of it; raises `Gone`."""
        ...


class Checkpoints(Protocol):
    """Where training jobs save their work."""

    def newest(self, prefix: str) -> float | None:
        """When the newest object under this S3 URI was written, 0 when there is none; None when it cannot be known."""
        ...


class ShareRecords(Protocol):
    """The truth of deliberate evictions and of what was changed of shares."""

    def evictions(self, queue: str, since: float) -> tuple[Eviction, ...]:
        """The queue's evictions that were asked for since then, the oldest first."""
        ...

    def put_eviction(self, queue: str, eviction: Eviction) -> None:
        """Store an eviction; the last of one evictor and moment is the one kept."""
        ...

    def share_changes(self, queue: str) -> tuple[ShareChange, ...]:
        """What is changed of the queue's shares and not given back."""
        ...

    def put_share_change(self, queue: str, change: ShareChange) -> None:
        """Note a change; the last of one share and setting is the one kept."""
        ...

    def drop_share_change(self, queue: str, change: ShareChange) -> None:
        """Forget a change that was given back; one that was noted in its place stays."""
        ...
