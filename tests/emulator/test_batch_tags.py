"""Tags of Batch's resources through the API."""

from __future__ import annotations

import pytest

from tests.emulator.batch_stacks import Managed, refused


def test_every_resource_carries_tags(managed: Managed) -> None:
    batch = managed.batch
    job = batch.describe_service_job(jobId=managed.submit("search", tags={"team": "a"}))
    (queue,) = batch.describe_job_queues(jobQueues=["training"])["jobQueues"]
    (environment,) = batch.describe_service_environments()["serviceEnvironments"]
    arns = (
        job["jobArn"],
        queue["jobQueueArn"],
        environment["serviceEnvironmentArn"],
        managed.policy,
        managed.shares["ads"],
    )
    for arn in arns:
        batch.tag_resource(resourceArn=arn, tags={"cost": "1", "owner": "me"})
        batch.tag_resource(resourceArn=arn, tags={"cost": "2"})
        batch.untag_resource(resourceArn=arn, tagKeys=["owner", "nobody"])
        assert batch.list_tags_for_resource(resourceArn=arn)["tags"]["cost"] == "2"
    assert batch.describe_service_job(jobId=job["jobId"])["tags"] == {"team": "a", "cost": "2"}
    assert batch.describe_quota_share(quotaShareArn=managed.shares["ads"])["tags"] == {"cost": "2"}
    assert batch.describe_job_queues(jobQueues=["training"])["jobQueues"][0]["tags"] == {"cost": "2"}


@pytest.mark.parametrize(
    "tags,message",
    [
        ({f"k{n}": "" for n in range(51)}, "50 tags|max"),
        ({"k" * 129: "v"}, "128"),
        ({"k": "v" * 257}, "256"),
        ({"aws:x": "v"}, "aws:"),
    ],
    ids=["too many", "a long key", "a long value", "a key of AWS's own"],
)
def test_tags_out_of_bounds_are_refused(managed: Managed, tags: dict[str, str], message: str) -> None:
    with pytest.raises(Exception, match=message):
        managed.batch.tag_resource(resourceArn=managed.policy, tags=tags)


def test_a_resource_that_is_not_there_has_no_tags(managed: Managed) -> None:
    arn = f"{managed.shares['ads']}x"
    refused(managed.batch.tag_resource, "does not exist", resourceArn=arn, tags={"a": "b"})
