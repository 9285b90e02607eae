"""GPUs that idle: from what hosts say, over the queue's metric and the example's alarm, to a share that borrows."""

import json
from collections.abc import Iterator

import pytest

from tests.flow import test_quota_shares as quota
from tests.flow.day import QUEUE, Day

SHARES = {
    "team": {"limit": 2, "strategy": "LEND_AND_BORROW", "borrow": 50},
    "other": {"limit": 2, "strategy": "LEND"},
}
LENDING = {"alarm": "gpu-underused", "share": "team", "borrow_limit": 100, "for": "6h"}


@pytest.fixture
def day() -> Iterator[Day]:
    """The example's queue of four instances, and a queue with quota shares whose policy names the example's alarm."""
    with quota.quota_day(shares=SHARES, on_alarm=[LENDING]) as day:
        day.apply()
        yield day


def work(day: Day, name: str, percent: float, minutes: float = 90.0) -> None:
    """Four instances whose hosts say so much of their GPUs."""
    payload = {
        "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 4},
        "Environment": {"EMULATED_SECONDS": str(minutes * 60), "EMULATED_GPU_PERCENT": str(percent)},
    }
    day.submit(name, 4, serviceRequestPayload=json.dumps(payload))


def state(day: Day) -> str:
    (alarm,) = day.aws.client("cloudwatch").describe_alarms(AlarmNames=["gpu-underused"])["MetricAlarms"]
    return str(alarm["StateValue"])


def limit(day: Day) -> int:
    return int(quota.share_now(day)["resourceSharingConfiguration"]["borrowLimit"])


def test_idle_gpus_let_a_share_borrow_more_and_busy_ones_end_it(day: Day) -> None:
    work(day, "prod-idles", 10)
    day.pass_minutes(60)
    assert state(day) == "ALARM"
    assert limit(day) == 100
    day.terminate("prod-idles")
    work(day, "prod-works", 95)
    day.pass_minutes(60)
    assert state(day) == "OK"
    assert limit(day) == 50


def test_hosts_that_say_nothing_raise_no_alarm(day: Day) -> None:
    day.submit("prod-silent", 4, minutes=90.0)
    day.pass_minutes(60)
    assert state(day) != "ALARM"
    assert limit(day) == 50
    assert day.passes(QUEUE)[-1]["problems"] == []
