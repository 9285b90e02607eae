"""The contract of the table of days."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.day_table import DynamoDayTable
from pointsman.day_ports import DayTable
from pointsman.errors import Conflict
from pointsman.queues.day_sums import ClassSums, DaySums, Use
from pointsman.queues.days import Counted, Day, Ledger
from tests.contract.jobs import QUEUE, T0
from tests.fakes.day_table import FakeDayTable

SUMS = DaySums(evictions={"evicted": 1}).over(Use(8, 7, 6, 5, 4), 33.5)
SUMS = SUMS.of_class("production", replace(ClassSums().with_start(620.25), evictions=1, lost=12.5, moves=3))
LEDGER = Ledger(T0 + 0.25, Use(8, 7, 6, 5, 4), {"job-1": Counted(1, 2, T0, float(round(T0))), "job-2": Counted()})


@pytest.fixture(params=["fake", "DynamoDB"])
def days(request: pytest.FixtureRequest) -> DayTable:
    if request.param == "fake":
        return FakeDayTable()
    make: Callable[[str], str] = request.getfixturevalue("make_table")
    aws: Clients = request.getfixturevalue("aws")
    return DynamoDayTable(aws.dynamodb, make("ControlTable"))


def test_a_queue_that_was_never_counted_has_no_day(days: DayTable) -> None:
    assert days.newest(QUEUE) is None
    assert days.days(QUEUE, "2026-01-01", "2026-12-31") == ()


def test_a_day_is_read_as_it_was_stored(days: DayTable) -> None:
    days.save([Day(QUEUE, "2026-11-30", SUMS, LEDGER)])

    assert days.newest(QUEUE) == Day(QUEUE, "2026-11-30", SUMS, LEDGER, version=1)


def test_the_newest_day_is_the_last_and_a_span_of_days_comes_in_order(days: DayTable) -> None:
    for name in ("2026-11-30", "2026-12-02", "2026-12-01"):
        days.save([Day(QUEUE, name, SUMS, LEDGER)])
    days.save([Day("other", "2026-12-03", SUMS, LEDGER)])

    newest = days.newest(QUEUE)

    assert newest is not None
    assert newest.day == "2026-12-02"
    assert [(day.day, day.ledger) for day in days.days(QUEUE, "2026-11-30", "2026-12-01")] == [
        ("2026-11-30", None),
        ("2026-12-01", None),
    ]


def test_of_two_who_count_the_same_day_one_is_refused(days: DayTable) -> None:
    days.save([Day(QUEUE, "2026-11-30", SUMS, LEDGER)])
    read = days.newest(QUEUE)
    assert read is not None
    days.save([replace(read, sums=SUMS + SUMS)])

    with pytest.raises(Conflict):
        days.save([read])
    with pytest.raises(Conflict):
        days.save([Day(QUEUE, "2026-11-30", SUMS, LEDGER)])

    assert days.newest(QUEUE) == replace(read, sums=SUMS + SUMS, version=2)


def test_at_midnight_both_days_are_stored_or_neither(days: DayTable) -> None:
    days.save([Day(QUEUE, "2026-11-30", SUMS, LEDGER)])
    read = days.newest(QUEUE)
    assert read is not None
    over, opened = replace(read, ledger=None), Day(QUEUE, "2026-12-01", DaySums(), LEDGER)
    with pytest.raises(Conflict):
        days.save([replace(over, version=7), opened])
    assert days.newest(QUEUE) == read

    days.save([over, opened])

    assert days.newest(QUEUE) == replace(opened, version=1)
    assert days.days(QUEUE, "2026-11-30", "2026-11-30") == (replace(over, version=2),)


def test_a_day_expires_after_four_hundred(aws: Clients, make_table: Callable[[str], str]) -> None:
    name = make_table("ControlTable")
    DynamoDayTable(aws.dynamodb, name).save([Day(QUEUE, "1970-01-02", SUMS, LEDGER)])

    (item,) = aws.dynamodb.scan(TableName=name)["Items"]

    assert item["expires_at"] == {"N": str(401 * 86_400)}


def test_what_a_later_release_adds_is_left_alone(aws: Clients, make_table: Callable[[str], str]) -> None:
    name = make_table("ControlTable")
    sums: dict[str, Any] = {"S": '{"seen":60.0,"colour":1,"classes":{"sweep":{"started":2,"shape":3}}}'}
    item = {"pk": {"S": f"DAY#{QUEUE}"}, "sk": {"S": "2026-11-30"}, "v": {"N": "4"}, "sums": sums}
    aws.dynamodb.put_item(TableName=name, Item=item)

    (day,) = DynamoDayTable(aws.dynamodb, name).days(QUEUE, "2026-11-30", "2026-11-30")

    assert day.sums == DaySums(seen=60.0, classes={"sweep": ClassSums(started=2)})
