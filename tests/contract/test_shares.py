"""Shares' settings, records and checkpoints: one contract on the fakes and on the stand-ins for AWS."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from pointsman.aws.checkpoints import PAGES, S3Checkpoints
from pointsman.aws.clients import Clients
from pointsman.aws.share_records import DynamoShareRecords
from pointsman.aws.share_settings import AwsShareSettings
from pointsman.errors import Gone
from pointsman.ports import BatchQueues
from pointsman.queues.evictions import Eviction, Party, Progress
from pointsman.queues.kinds import QueueKind
from pointsman.queues.policy import How
from pointsman.queues.quota import QuotaShare, Strategy
from pointsman.queues.share_changes import Setting, ShareChange
from pointsman.share_ports import ShareRecords, ShareSettings
from pointsman_emulator import Emulator
from tests.contract.batch_worlds import EmulatedWorld
from tests.contract.jobs import QUEUE, T0
from tests.fakes.batch import FakeBatchQueues
from tests.fakes.clock import FakeClock
from tests.fakes.share_records import FakeShareRecords

GPU = "ml.p4d.24xlarge"
TEAM = QuotaShare("team", "", ((GPU, 4),), Strategy.LEND_AND_BORROW, 100, preempts=True)
OTHER = QuotaShare("other", "", ((GPU, 2),), Strategy.LEND)


class Made:
    """A queue with two quota shares, and the ports on it."""

    def __init__(self, settings: ShareSettings, queues: BatchQueues, wait: Callable[[float], object]) -> None:
        self.settings, self.queues, self.wait = settings, queues, wait

    def shares(self) -> dict[str, QuotaShare]:
        return {share.name: replace(share, arn="") for share in self.settings.quota_shares(QUEUE)}


@pytest.fixture
def emulated(clients: Clients) -> Iterator[EmulatedWorld]:
    with Emulator(seed=1) as emulator:
        yield EmulatedWorld(emulator, clients)


@pytest.fixture(params=["fake", "emulator"])
def made(request: pytest.FixtureRequest) -> Made:
    if request.param == "fake":
        clock = FakeClock()
        batch = FakeBatchQueues(clock)
        batch.add_quota_queue(QUEUE, GPU, *(replace(share, arn=f"arn:{share.name}") for share in (TEAM, OTHER)))
        return Made(batch, batch, clock.advance)
    world: EmulatedWorld = request.getfixturevalue("emulated")
    world.add_quota_queue(QUEUE, TEAM, OTHER)
    return Made(AwsShareSettings(world.clients.batch), world.port, world.pass_time)


def test_quota_shares_are_told_with_all_that_they_may_use_lend_and_borrow(made: Made) -> None:
    assert made.shares() == {"team": TEAM, "other": replace(OTHER, borrow_limit=-1)}
    queue = made.queues.describe_queue(QUEUE)
    assert (queue.kind, queue.capacity, queue.limits) == (QueueKind.QUOTA_SHARE, 6, ((GPU, 6),))
    assert {share.name for share in queue.quota_shares} == {"team", "other"}


def test_a_borrow_limit_is_set_and_nothing_else_of_the_share(made: Made) -> None:
    team = next(share for share in made.settings.quota_shares(QUEUE) if share.name == "team")
    made.settings.set_borrow_limit(team, 200)
    made.wait(30)
    assert made.shares()["team"] == replace(TEAM, borrow_limit=200)


def test_in_share_preemption_is_turned_off_and_nothing_else_of_the_share(made: Made) -> None:
    team = next(share for share in made.settings.quota_shares(QUEUE) if share.name == "team")
    made.settings.set_preemption(team, on=False)
    made.wait(30)
    assert made.shares()["team"] == replace(TEAM, preempts=False)


def test_what_is_not_there_is_gone(made: Made) -> None:
    with pytest.raises(Gone):
        made.settings.quota_shares("other-queue")
    arn = "arn:aws:batch:us-east-1:123456789012:job-queue/q/quota-share/none"
    with pytest.raises(Gone):
        made.settings.set_borrow_limit(replace(TEAM, arn=arn), 100)


def test_the_weights_of_a_policy_are_changed_and_all_else_of_it_is_kept(emulated: EmulatedWorld) -> None:
    batch = emulated.clients.batch
    fair = {"shareDecaySeconds": 900, "computeReservation": 10, "shareDistribution": [{"shareIdentifier": "teamA"}]}
    arn = batch.create_scheduling_policy(name="weights", fairsharePolicy=fair)["arn"]
    settings = AwsShareSettings(batch)
    assert settings.weights(arn) == (("teamA", 1.0),)
    settings.set_weights(arn, (("teamA", 2.0), ("teamB", 0.5)))
    told = batch.describe_scheduling_policies(arns=[arn])["schedulingPolicies"][0]["fairsharePolicy"]
    assert (told["shareDecaySeconds"], told["computeReservation"]) == (900, 10)
    assert settings.weights(arn) == (("teamA", 2.0), ("teamB", 0.5))
    with pytest.raises(Gone):
        settings.weights(arn + "-none")


def test_queues_that_share_an_environment_or_a_policy_are_named(emulated: EmulatedWorld) -> None:
    batch = emulated.clients.batch
    emulated.add_queue("one", 4, QueueKind.FAIR_SHARE, ("all",))
    policy = emulated.port.describe_queue("one").policy
    emulated.pass_time(30)
    batch.create_job_queue(
        jobQueueName="two",
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy,
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "one-environment"}],
    )
    one, two = emulated.port.describe_queue("one"), emulated.port.describe_queue("two")
    assert (one.siblings, one.others) == (("two",), ("two",))
    assert (two.siblings, two.others) == (("one",), ("one",))


def test_a_job_of_a_quota_share_is_described_with_what_an_eviction_depends_on(emulated: EmulatedWorld) -> None:
    emulated.add_quota_queue(QUEUE, TEAM, OTHER)
    payload = {
        "ResourceConfig": {"InstanceGroups": [{"InstanceType": GPU, "InstanceCount": n + 1} for n in range(2)]},
        "CheckpointConfig": {"S3Uri": "s3://checkpoints/job"},
    }
    more = {"quotaShareName": "team", "preemptionConfiguration": {"preemptionRetriesBeforeTermination": 3}}
    detail = emulated.port.describe_job(emulated.submit_raw(QUEUE, "job", payload, **more)).detail
    assert detail is not None
    assert (detail.share, detail.size, detail.types) == ("team", 3, ((GPU, 3),))
    assert (detail.checkpoints, detail.outlives) == ("s3://checkpoints/job", 3)


# Records


@pytest.fixture(params=["fake", "DynamoDB"])
def records(request: pytest.FixtureRequest) -> ShareRecords:
    if request.param == "fake":
        return FakeShareRecords()
    aws: Clients = request.getfixturevalue("aws")
    return DynamoShareRecords(aws.dynamodb, request.getfixturevalue("table_name"))


def eviction(asked: float) -> Eviction:
    victims = (Party("v", "sweep-1", "sweep", 2, 1),)
    return Eviction("team", asked, Party("e", "prod-1", "production", 2), victims, How.SWITCH, 60.5)


def test_evictions_are_kept_in_order_and_the_last_of_each_counts(records: ShareRecords) -> None:
    first, second = eviction(T0), eviction(T0 + 100)
    for each in (second, first):
        records.put_eviction(QUEUE, each)
    over = replace(first, progress=Progress.DONE, ended=T0 + 60)
    records.put_eviction(QUEUE, over)
    records.put_eviction("other-queue", second)
    assert records.evictions(QUEUE, 0.0) == (over, second)
    assert records.evictions(QUEUE, T0 + 1) == (second,)


def test_a_change_of_a_share_is_noted_until_it_is_forgotten(records: ShareRecords) -> None:
    note = ShareChange("team", Setting.BORROW_LIMIT, 100, 200, T0, "alarm x")
    switch = ShareChange("team", Setting.PREEMPTION, 0, 1, T0, "prod-1")
    records.put_share_change(QUEUE, note)
    records.put_share_change(QUEUE, switch)
    again = replace(note, after=300, was=200, seen=True)
    records.put_share_change(QUEUE, again)
    assert sorted(records.share_changes(QUEUE), key=lambda each: each.setting) == [again, switch]
    records.drop_share_change(QUEUE, note)
    assert again in records.share_changes(QUEUE), "it was noted in the place of the other"
    records.drop_share_change(QUEUE, again)
    assert records.share_changes(QUEUE) == (switch,)
    records.drop_share_change(QUEUE, again)


# Checkpoints


def test_the_newest_object_under_a_prefix_says_how_much_is_saved(aws: Clients) -> None:
    aws.s3.create_bucket(Bucket="checkpoints")
    checkpoints = S3Checkpoints(lambda: aws.s3)
    assert checkpoints.newest("s3://checkpoints/job") == 0.0
    for key in ("job/1", "job/2", "job-2/3", "other/3"):
        aws.s3.put_object(Bucket="checkpoints", Key=key, Body=b"")
    written = aws.s3.head_object(Bucket="checkpoints", Key="job/2")["LastModified"].timestamp()
    assert checkpoints.newest("s3://checkpoints/job") == written
    assert checkpoints.newest("s3://checkpoints/job/") == written
    assert checkpoints.newest("s3://checkpoints") is not None


def test_a_folder_whose_name_goes_on_is_another_jobs(aws: Clients) -> None:
    aws.s3.create_bucket(Bucket="checkpoints")
    aws.s3.put_object(Bucket="checkpoints", Key="run-10/model", Body=b"")
    assert S3Checkpoints(lambda: aws.s3).newest("s3://checkpoints/run-1") == 0.0


@pytest.mark.parametrize("folder", ["run#1", "run?1", "run;1", "run%231"])
def test_a_folder_of_any_letters_is_looked_at_and_no_other(aws: Clients, folder: str) -> None:
    aws.s3.create_bucket(Bucket="checkpoints")
    aws.s3.put_object(Bucket="checkpoints", Key="run/model", Body=b"")
    checkpoints = S3Checkpoints(lambda: aws.s3)
    assert checkpoints.newest(f"s3://checkpoints/{folder}") == 0.0
    aws.s3.put_object(Bucket="checkpoints", Key=f"{folder}/model", Body=b"")
    assert checkpoints.newest(f"s3://checkpoints/{folder}")


@pytest.mark.parametrize("code, status", [("AccessDenied", 403), ("NoSuchBucket", 404), ("PermanentRedirect", 301)])
def test_a_bucket_that_may_not_be_listed_is_not_known_and_no_fault_of_the_pass(code: str, status: int) -> None:
    class Refusing:
        def list_objects_v2(self, **_: str) -> dict[str, Any]:
            answer: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
            raise ClientError(answer, "ListObjectsV2")

    assert S3Checkpoints(Refusing).newest("s3://checkpoints/job") is None


ODD_PLACES = ("s3://${BUCKET}/ckpt", "s3://my bucket/x", "s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/ap/x",
              "s3://[a/x", "s3:///x")  # fmt: skip


@pytest.mark.parametrize("place", ["s3://no-such-bucket/x", "file:///tmp/x", "s3://", "nonsense", *ODD_PLACES])
def test_a_place_that_cannot_be_looked_at_is_not_known(aws: Clients, place: str) -> None:
    assert S3Checkpoints(lambda: aws.s3).newest(place) is None


def test_more_objects_than_one_cares_to_list_are_not_known() -> None:
    class Endless:
        calls = 0

        def list_objects_v2(self, **_: str) -> dict[str, Any]:
            self.calls += 1
            return {"IsTruncated": True, "NextContinuationToken": "more"}

    s3 = Endless()
    assert S3Checkpoints(lambda: s3).newest("s3://checkpoints/job") is None
    assert s3.calls == PAGES
