"""What people are told of a queue, through all that is deployed, and `stop` and `start` with a pin between them."""

import json
from collections import Counter
from collections.abc import Iterator

import pytest

from pointsman.ports import Standstill
from pointsman.queues.pins import Pin, PinKind
from tests.flow.day import MINUTE, QUEUE, Day, opened

FAILS = json.dumps(
    {
        "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1},
        "Environment": {"EMULATED_SECONDS": "1800", "EMULATED_EXIT": "fail"},
    }
)


@pytest.fixture
def day() -> Iterator[Day]:
    with opened() as day:
        day.apply()
        yield day


def told(day: Day) -> list[tuple[str, str]]:
    """The id and the sentence of each message on the topic."""
    from moto.sns.models import sns_backends

    topic = sns_backends["123456789012"]["us-east-1"].topics[day.stack.outputs["NoticesTopic"]]
    return [(attributes["notice"]["Value"], text) for _, text, _, attributes, _ in topic.sent_notifications]


def kinds(day: Day) -> Counter[str]:
    return Counter(told_id.split("/")[1] for told_id, _ in told(day))


def test_a_job_that_blocks_its_queue_is_told_once_by_each_of_its_kinds(day: Day) -> None:
    day.submit("sweep-huge", 9)
    day.pass_minutes(60)
    assert kinds(day) == {"blocked": 1, "cannot_fit": 1}
    (sentence,) = (text for told_id, text in told(day) if "/blocked/" in told_id)
    assert "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE" in sentence
    day.terminate("sweep-huge")
    day.pass_minutes(10)
    assert all(notice.over for notice in day.wiring.control.notices(QUEUE))
    day.submit("sweep-huge-again", 9)
    day.pass_minutes(30)
    assert kinds(day) == {"blocked": 2, "cannot_fit": 2}


def test_a_production_job_that_failed_is_told_with_batchs_words(day: Day) -> None:
    day.submit("prod-ranker", serviceRequestPayload=FAILS)
    day.submit("sweep-1", serviceRequestPayload=FAILS)
    day.pass_minutes(60)
    assert kinds(day) == {"failed": 1}
    assert "prod-ranker (production) has failed: " in told(day)[0][1]


def test_nothing_is_moved_between_stop_and_start_and_then_a_pin_counts(day: Day) -> None:
    day.submit("prod-hold", 4, minutes=100)
    day.pass_minutes(2)
    for name in ("sweep-a", "sweep-b"):
        day.submit(name, 3)
    control = day.wiring.control
    control.stand_still(Standstill(day.aws.now, "ana", "a look at things"))
    control.put_pin(QUEUE, Pin(day.ids["sweep-b"], day.aws.now + 500 * MINUTE, PinKind.FIRST, "ana", day.aws.now))
    day.pass_minutes(10)
    assert day.writes == 0
    control.go_on(day.aws.now, "ana", "")
    day.pass_minutes(180)
    assert day.in_order_of_start() == ["prod-hold", "sweep-b", "sweep-a"]
