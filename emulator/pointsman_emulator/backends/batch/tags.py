"""Tags of every kind of Batch resource, service jobs among them."""

from __future__ import annotations

from moto.batch.exceptions import ClientException

from pointsman_emulator.backends.batch.jobs import ServiceJobs
from pointsman_emulator.backends.batch.records import ARN, tagged

OURS = ("service-environment/", "scheduling-policy/", "service-job/")


class Tags(ServiceJobs):
    """TagResource, UntagResource and ListTagsForResource; tags are the resource's own, and go with it."""

    def tag_resource(self, resource_arn: str, tags: dict[str, str]) -> None:
        """Add tags; those that are not named stay (API:TagResource)."""
        held = self._tags_of(resource_arn)
        if held is None:
            super().tag_resource(resource_arn, tags)  # type: ignore[misc]
        else:
            held.update(tagged({**held, **tags}))

    def untag_resource(self, resource_arn: str, tag_keys: list[str]) -> None:
        """Take tags away."""
        held = self._tags_of(resource_arn)
        if held is None:
            super().untag_resource(resource_arn, tag_keys)  # type: ignore[misc]
        else:
            for key in tag_keys:
                held.pop(key, None)

    def list_tags_for_resource(self, resource_arn: str) -> dict[str, str]:
        """The tags of a resource."""
        held = self._tags_of(resource_arn)
        if held is not None:
            return dict(held)
        return dict(super().list_tags_for_resource(resource_arn))  # type: ignore[misc]

    def _tags_of(self, arn: str) -> dict[str, str] | None:
        """The tags that we keep; None for what is moto's."""
        for records in (self.queues, self.environments, self.policies, self.shares):
            if arn in records:
                return records[arn].tags
        tail = arn.removeprefix(f"{ARN}:")
        if tail.startswith("service-job/") and (job := self.find_job(arn)) is not None:
            tags: dict[str, str] = job.request.setdefault("tags", {})
            return tags
        if tail.startswith(OURS) or "/quota-share/" in tail:
            raise ClientException(f"Resource {arn} does not exist")
        return None
