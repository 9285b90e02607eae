"""How small a job is in the index, and that nothing is lost in making it so."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.aws import job_items
from pointsman.queues.jobs import Detail, JobRecord, Status
from tests.contract.jobs import T0, job

INDEXED = ("pk", "q", "s", "st", "v")  # its keys, the table's key, and what the adapter reads
NAME = "prod-ranker-refresh-2027-01-15-eu-west-1"
DETAIL = Detail(4, 32, "ranking", 0, {"team": "ranking", "purpose": "explore"})
SAVING = Detail(4, 32, "all", 0, {"team": "ranking"}, (("ml.p5.48xlarge", 4),), f"s3://acme-checkpoints/{NAME}/")
TAGGED = Detail(4, 32, "ranking", 0, {"team": "ranking", **{f"cost-centre-{n}": "x" * 200 for n in range(49)}})
LIFTED = Detail(4, 32, "ranking", 4999, {"team": "ranking", "purpose": "explore"})


def size_of(attribute: dict[str, str]) -> int:
    """Bytes that DynamoDB counts for a value: UTF-8 for text, one for two digits of a number and one more."""
    ((kind, value),) = attribute.items()
    return len(value.encode()) if kind == "S" else (len(value.strip("-")) + 1) // 2 + 1


@pytest.mark.parametrize(
    "record",
    [
        job(name=NAME, at=T0 + 2.5, detail=DETAIL, version=2),
        job(name=NAME, at=T0 + 3 * 86_400, detail=DETAIL, version=12),
        job(name=NAME, at=T0 + 3 * 86_400, detail=LIFTED, version=12),
        job(1, Status.RUNNING, name=NAME, at=T0 + 7200, detail=LIFTED, started=T0 + 7200, attempts=1, version=12),
        job(name=NAME, at=T0 + 2.5, detail=SAVING, version=2),
        job(name=NAME, at=T0 + 2.5, detail=TAGGED.with_tags_of(("team",)), version=2),
    ],
    ids=["new", "waiting for days", "lifted", "running", "with checkpoints", "of fifty tags"],
)
def test_a_typical_job_takes_at_most_200_bytes_of_the_index_and_one_that_saves_its_work_245(record: JobRecord) -> None:
    assert len(record.name) == 40
    item = job_items.encode(record)
    most = 245 if record.detail and record.detail.checkpoints else 200  # 100,000 of these take 3,000 read units

    assert sum(len(name) + size_of(item[name]) for name in INDEXED) <= most


moments = st.integers(1_500_000_000_000, 2_500_000_000_000).map(lambda ms: ms / 1000)
details = st.builds(
    Detail,
    size=st.integers(1, 5000),
    gpus=st.integers(0, 80_000),
    share=st.none() | st.text(),
    priority=st.integers(0, 9999),
    tags=st.dictionaries(st.text("aZ0é _.:/=+-@", min_size=1), st.text(), max_size=4),
    tags_of=st.text(),
    types=st.sampled_from([(), (("ml.g5.xlarge", 2),)]),
    checkpoints=st.sampled_from([None, "", "s3://bucket/", "s3://bucket/0", "s3://bucket/prefix/run-1"]),
)
records = st.builds(
    JobRecord,
    job_id=st.uuids().map(str),
    queue=st.text(),
    name=st.text(),
    status=st.sampled_from(Status),
    at=moments,
    created=moments,
    attempts=st.integers(0, 10),
    preemptions=st.integers(0, 1000),
    started=st.none() | moments,
    stopped=st.none() | moments,
    detail=st.none() | details,
    submitted_priority=st.none() | st.integers(0, 9999),
    doubtful=st.booleans(),
    folded=st.booleans(),
    foreign=st.booleans(),
    version=st.integers(1, 10**6),
    foreign_since=st.just(0.0) | moments,
    crashes=st.integers(0, 10),
    refused=st.booleans(),
)


@given(record=records)
def test_any_record_is_the_same_after_it_was_an_item(record: JobRecord) -> None:
    item = job_items.encode(record)

    assert job_items.decode(item) == record
    if "q" in item:
        assert job_items.decode({name: item[name] for name in ("pk", "s", "st", "v")}, record.queue) == record


@pytest.mark.parametrize(
    "record, days",
    [(job(at=T0), 90), (job(1, Status.SUCCEEDED, at=T0 + 9, stopped=T0), 7), (job(1, Status.FAILED, at=T0), 7)],
    ids=["waiting", "ended", "ended without saying when"],
)
def test_an_item_expires_a_week_after_the_end_or_a_quarter_after_the_last_sign(record: JobRecord, days: int) -> None:
    assert job_items.encode(record)["expires_at"] == {"N": str(int(T0) + days * 86_400)}


def test_a_record_of_a_later_release_with_more_to_it_can_be_read() -> None:
    record = job(1, Status.RUNNING, started=T0, attempts=3, crashes=2, version=1)
    assert record.detail is not None
    record = replace(record, training="AWSBatchranker0f")  # whole: its last field is written
    item = job_items.encode(record)
    item["st"] = {"S": item["st"]["S"].removesuffix("]") + ',"invented later"]'}

    assert job_items.decode(item) == record
