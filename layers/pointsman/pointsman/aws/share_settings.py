"""AWS Batch's shares: quota shares, and the weights of a fair-share scheduling policy."""

from collections.abc import Mapping
from typing import Any

from pointsman.aws.faults import Translated
from pointsman.aws.unreadable import understood
from pointsman.errors import Gone
from pointsman.queues.quota import QuotaShare, Strategy

REFUSED = "ClientException"
ON, OFF = "ENABLED", "DISABLED"


class AwsShareSettings:
    """Shares of the queues of one account and region."""

    def __init__(self, batch: Any) -> None:
        """Use this client."""
        self._batch = batch

    @understood
    def quota_shares(self, queue: str) -> tuple[QuotaShare, ...]:
        """The quota shares of the queue; raises `Gone` when there is no such queue."""
        found: list[QuotaShare] = []
        more: dict[str, str] = {}
        while True:
            with Translated(REFUSED):
                answer = self._batch.list_quota_shares(jobQueue=queue, **more)
            found += map(quota_share, answer["quotaShares"])
            if not answer.get("nextToken"):
                return tuple(found)
            more = {"nextToken": answer["nextToken"]}

    def set_borrow_limit(self, share: QuotaShare, limit: int) -> None:
        """Set how much the share may borrow, in per cent (-1: no limit), and nothing else of it; raises `Gone`."""
        sharing = {"strategy": share.strategy.value, "borrowLimit": limit}
        with Translated(REFUSED):
            self._batch.update_quota_share(quotaShareArn=share.arn, resourceSharingConfiguration=sharing)

    def set_preemption(self, share: QuotaShare, *, on: bool) -> None:
        """Turn the share's in-share preemption on or off, and change nothing else of it; raises `Gone`."""
        preemption = {"inSharePreemption": ON if on else OFF}
        with Translated(REFUSED):
            self._batch.update_quota_share(quotaShareArn=share.arn, preemptionConfiguration=preemption)

    @understood
    def weights(self, policy: str) -> tuple[tuple[str, float], ...]:
        """The weights of a fair-share scheduling policy by share; raises `Gone` when there is no such policy."""
        return weights_of(self._fair_share(policy))

    def set_weights(self, policy: str, weights: tuple[tuple[str, float], ...]) -> None:
        """Give a fair-share scheduling policy these weights, keeping all else of it.

        Batch replaces the whole of a policy, so that it is read a moment before.
        """
        fair = dict(self._fair_share(policy))
        fair["shareDistribution"] = [{"shareIdentifier": share, "weightFactor": weight} for share, weight in weights]
        with Translated(REFUSED):
            self._batch.update_scheduling_policy(arn=policy, fairsharePolicy=fair)

    def _fair_share(self, policy: str) -> Mapping[str, Any]:
        with Translated(REFUSED):
            found = self._batch.describe_scheduling_policies(arns=[policy])["schedulingPolicies"]
        if not found or "fairsharePolicy" not in found[0]:
            raise Gone(f"there is no fair-share scheduling policy {policy}")
        fair: Mapping[str, Any] = found[0]["fairsharePolicy"]
        return fair


def weights_of(fair: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """The weights that a fair-share policy lists; a share listed without one weighs 1."""
    return tuple((s["shareIdentifier"], float(s.get("weightFactor", 1.0))) for s in fair.get("shareDistribution", ()))


def quota_share(told: Mapping[str, Any]) -> QuotaShare:
    """A quota share as Batch tells of it."""
    sharing = told.get("resourceSharingConfiguration", {})
    return QuotaShare(
        name=told["quotaShareName"],
        arn=told["quotaShareArn"],
        limits=tuple((limit["capacityUnit"], limit["maxCapacity"]) for limit in told.get("capacityLimits", ())),
        strategy=Strategy(sharing.get("strategy", Strategy.RESERVE)),
        borrow_limit=sharing.get("borrowLimit", -1),
        preempts=told.get("preemptionConfiguration", {}).get("inSharePreemption") == ON,
        enabled=told.get("state") != OFF,
        settled=told.get("status", "VALID") == "VALID",
    )
