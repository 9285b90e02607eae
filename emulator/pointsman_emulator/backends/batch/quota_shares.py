"""Quota shares: virtual queues of a quota-managed job queue."""

from __future__ import annotations

from typing import Any

from moto.batch.exceptions import ClientException

from pointsman_emulator.backends.batch.queues import JobQueues
from pointsman_emulator.backends.batch.records import (
    CREATING,
    DELETING,
    ENABLED,
    UPDATING,
    VALID,
    Record,
    limits_of,
    named,
    one_of,
    paged,
    settled,
    state_of,
    tagged,
)
from pointsman_emulator.models.batch_policies import QuotaShare

STRATEGIES = ("RESERVE", "LEND", "LEND_AND_BORROW")
PARTS = ("capacityLimits", "resourceSharingConfiguration", "preemptionConfiguration")


class QuotaShares(JobQueues):
    """What a share may use, lend and borrow (UG:quota-shares)."""

    def create_quota_share(self, request: dict[str, Any]) -> dict[str, Any]:
        """The queue must be VALID, and under a policy of quota shares (API:CreateQuotaShareRequest)."""
        name = named(request["quotaShareName"], "quotaShareName")
        queue = self.queue(request["jobQueue"])
        if queue.status != VALID:
            raise ClientException(f"Job queue {queue.arn} is not VALID")
        arn = f"{queue.arn}/quota-share/{name}"
        if arn in self.shares:
            raise ClientException(f"Quota share {name} already exists")
        detail = {
            "quotaShareName": name,
            "quotaShareArn": arn,
            "jobQueueArn": queue.arn,
            **{part: request[part] for part in PARTS},
            "state": state_of(request),
        }
        share, tags = _share_of(detail), tagged(request.get("tags"))
        self.model.add_share(queue.name, name, share)
        record = self.shares[arn] = Record(name, arn, detail, tags)
        self.begin(record, CREATING)
        return {"quotaShareName": name, "quotaShareArn": arn}

    def describe_quota_share(self, request: dict[str, Any]) -> dict[str, Any]:
        """One share, with its tags."""
        record = self.share(request["quotaShareArn"])
        return {**record.detail, "status": record.status, "tags": record.tags}

    def list_quota_shares(self, request: dict[str, Any]) -> dict[str, Any]:
        """The shares of a queue, without tags."""
        queue = self.queue(request["jobQueue"])
        listed = [
            {**record.detail, "status": record.status}
            for record in self.shares.values()
            if record.detail["jobQueueArn"] == queue.arn
        ]
        return paged(listed, request, "quotaShares")

    def update_quota_share(self, request: dict[str, Any]) -> dict[str, Any]:
        """A limit below what is in use makes jobs eligible for preemption, under every strategy (UG:quota-shares)."""
        record = settled(self.share(request["quotaShareArn"]), "update")
        detail = {**record.detail, **{part: request[part] for part in PARTS if request.get(part) is not None}}
        detail["state"] = state_of(request, detail["state"])
        self.model.update_share(self._queue_of(record).name, record.name, _share_of(detail))
        record.detail = detail
        self.begin(record, UPDATING)
        return {"quotaShareName": record.name, "quotaShareArn": record.arn}

    def delete_quota_share(self, request: dict[str, Any]) -> dict[str, Any]:
        """Only when it is disabled; its jobs are terminated (API:DeleteQuotaShare)."""
        record = settled(self.share(request["quotaShareArn"]), "delete")
        if record.enabled:
            raise ClientException("Cannot delete, quota share must be disabled first")

        def remove() -> None:
            self.model.remove_share(self._queue_of(record).name, record.name)
            del self.shares[record.arn]

        self.begin(record, DELETING, remove)
        return {}

    def share(self, arn: str) -> Record:
        """The share of an ARN."""
        record = self.shares.get(arn)
        if record is None:
            raise ClientException(f"Quota share {arn} does not exist")
        return record

    def _queue_of(self, share: Record) -> Record:
        return self.queue(share.detail["jobQueueArn"])


def _share_of(detail: dict[str, Any]) -> QuotaShare:
    """A share as the model takes it; the model checks the rest."""
    sharing = detail["resourceSharingConfiguration"]
    one_of(sharing["strategy"], STRATEGIES, "strategy")
    preemption = detail["preemptionConfiguration"]["inSharePreemption"]
    one_of(preemption, (ENABLED, "DISABLED"), "inSharePreemption")
    limit = sharing.get("borrowLimit")
    return QuotaShare(
        limits=limits_of(detail["capacityLimits"]),
        strategy=sharing["strategy"],
        borrow_limit=-1 if limit is None else limit,
        in_share_preemption=preemption == ENABLED,
        enabled=detail["state"] == ENABLED,
    )
