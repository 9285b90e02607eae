"""Scheduling policies of both kinds."""

from __future__ import annotations

import re
from typing import Any

from moto.batch.exceptions import ClientException

from pointsman_emulator.backends.batch.records import ARN, Record, named, one_of, paged, tagged, within
from pointsman_emulator.backends.batch.resources import Resources
from pointsman_emulator.models.batch_policies import FairShare, Policy, QuotaSharePolicy

KINDS = ("fairsharePolicy", "quotaSharePolicy")
SHARE = re.compile(r"[A-Za-z0-9]{1,255}\*?")
LONGEST_DECAY, HIGHEST_RESERVATION, MOST_SHARES = 604_800, 99, 500
LOWEST_WEIGHT, HIGHEST_WEIGHT = 0.0001, 999.9999
"""API:FairsharePolicy and API:ShareAttributes."""


class SchedulingPolicies(Resources):
    """A policy is of one kind for life (API:CreateSchedulingPolicyRequest)."""

    def create_policy(self, request: dict[str, Any]) -> dict[str, Any]:
        """A policy of neither kind is a fair-share policy of defaults."""
        name = named(request["name"], "name")
        arn = f"{ARN}:scheduling-policy/{name}"
        if arn in self.policies:
            raise ClientException("Object already exists")
        if all(request.get(kind) is not None for kind in KINDS):
            raise ClientException("Only one of fairsharePolicy or quotaSharePolicy can be set")
        self.policies[arn] = Record(name, arn, _content(request), tagged(request.get("tags")))
        return {"name": name, "arn": arn}

    def describe_policies(self, request: dict[str, Any]) -> dict[str, Any]:
        """Those asked for; an ARN that is unknown is left out."""
        described = [self.policies[arn] for arn in request["arns"] if arn in self.policies]
        return {
            "schedulingPolicies": [{"name": it.name, "arn": it.arn, **it.detail, "tags": it.tags} for it in described]
        }

    def list_policies(self, request: dict[str, Any]) -> dict[str, Any]:
        """Every policy's ARN."""
        return paged([{"arn": arn} for arn in self.policies], request, "schedulingPolicies")

    def update_policy(self, request: dict[str, Any]) -> dict[str, Any]:
        """Replace a policy's content; every queue that uses it follows."""
        record = self.policy(request["arn"])
        (kind,) = record.detail
        other = KINDS[1 - KINDS.index(kind)]
        if request.get(other) is not None:
            raise ClientException(f"A {kind} cannot be removed or changed to a {other}")
        if request.get(kind) is not None:
            record.detail = _content(request)
            for queue in self.queues_under(record):
                self.model.update_queue(queue.name, policy=self.policy_of(record))
        return {}

    def delete_policy(self, request: dict[str, Any]) -> dict[str, Any]:
        """Not while a queue uses it (API:DeleteSchedulingPolicy)."""
        record = self.policy(request["arn"])
        if self.queues_under(record):
            raise ClientException("Cannot delete, found existing JobQueue relationship")
        del self.policies[record.arn]
        return {}

    def policy(self, arn: str) -> Record:
        """The policy of an ARN."""
        record = self.policies.get(arn)
        if record is None:
            raise ClientException(f"Scheduling policy {arn} does not exist")
        return record

    def queues_under(self, policy: Record) -> list[Record]:
        """The queues that a policy orders."""
        return [queue for queue in self.queues.values() if queue.detail.get("schedulingPolicyArn") == policy.arn]

    @staticmethod
    def policy_of(record: Record) -> Policy:
        """A policy as the model takes it."""
        fair = record.detail.get("fairsharePolicy")
        if fair is None:
            return QuotaSharePolicy()
        weights = {share["shareIdentifier"]: share.get("weightFactor", 1.0) for share in fair["shareDistribution"]}
        return FairShare(weights, fair["shareDecaySeconds"], fair["computeReservation"])


def _content(request: dict[str, Any]) -> dict[str, Any]:
    quota = request.get("quotaSharePolicy")
    if quota is not None:
        one_of(quota["idleResourceAssignmentStrategy"], ("FIFO",), "idleResourceAssignmentStrategy")
        return {"quotaSharePolicy": {"idleResourceAssignmentStrategy": "FIFO"}}
    fair = request.get("fairsharePolicy") or {}
    content: dict[str, Any] = {
        "shareDecaySeconds": fair.get("shareDecaySeconds") or 0,
        "computeReservation": fair.get("computeReservation") or 0,
        "shareDistribution": fair.get("shareDistribution") or [],
    }
    within(content["shareDecaySeconds"], 0, LONGEST_DECAY, "shareDecaySeconds")
    within(content["computeReservation"], 0, HIGHEST_RESERVATION, "computeReservation")
    _check_distribution(content["shareDistribution"])
    return {"fairsharePolicy": content}


def _check_distribution(distribution: list[dict[str, Any]]) -> None:
    if len(distribution) > MOST_SHARES:
        raise ClientException(f"shareDistribution can have at most {MOST_SHARES} entries")
    entries = [share["shareIdentifier"] for share in distribution]
    for share in distribution:
        if not SHARE.fullmatch(share["shareIdentifier"]):
            raise ClientException(
                "shareIdentifier must be 1 to 255 alphanumeric characters, with an asterisk (*) at its end or none, "
                f"not {share['shareIdentifier']}"
            )
        within(share.get("weightFactor", 1.0), LOWEST_WEIGHT, HIGHEST_WEIGHT, "weightFactor")
    for place, entry in enumerate(entries):
        for other in entries[place + 1 :]:
            if _overlap(entry, other):
                raise ClientException(f"shareIdentifiers must not overlap: {entry} and {other}")


def _overlap(one: str, other: str) -> bool:
    return one == other or any(
        prefix.endswith("*") and entry.startswith(prefix[:-1]) for prefix, entry in ((one, other), (other, one))
    )
