"""Items of the tables that someone has damaged: one clear line for each, and the queues go on."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.flow.day import QUEUE, Day, opened

OTHER = "other-training"
WAITING = ("sweep-a", "sweep-b", "prod-a")


@pytest.fixture(scope="module")
def day() -> Iterator[Day]:
    with opened() as day:
        day.apply()
        day.add_queue(OTHER, 4)
        day.apply(OTHER)
        day.submit("prod-hold", 4, minutes=100_000)
        day.submit("other-hold", 4, minutes=100_000, queue=OTHER)
        for name in WAITING:
            day.submit(name)
        day.pass_minutes(3)
        yield day


def put(day: Day, table: str, pk: str, sk: str = "", **item: Any) -> None:
    key = {"pk": {"S": pk}, **({"sk": {"S": sk}} if sk else {})}
    day.aws.client("dynamodb").put_item(TableName=table, Item={**key, **item})


def test_damaged_items_of_jobs_and_queues_are_made_anew_while_the_line_stands_as_it_should(day: Day) -> None:
    jobs = day.wiring.settings.jobs_table
    put(day, jobs, f"JOB#{day.ids['prod-a']}", q={"S": QUEUE}, s={"S": "W#what"}, st={"S": "[7]"}, v={"N": "3"})
    put(day, jobs, f"JOB#{day.ids['sweep-a']}", q={"S": QUEUE}, s={"S": "W#1800000000000"})
    put(day, jobs, f"QUEUE#{QUEUE}", st={"S": "{"}, v={"N": "1"})
    put(day, jobs, "BUDGET", tokens={"S": "many"})
    day.pass_minutes(25)
    assert [*day.line()] == ["prod-a", "sweep-a", "sweep-b"]
    assert len(day.rows()) == len(day.ids)
    assert day.record().problem == ""
    told = {line["why"].split(" cannot")[0] for line in day.log("PrioritizeQueueFunction", "unreadable item")}
    assert {f"item JOB#{day.ids['prod-a']}", f"item JOB#{day.ids['sweep-a']}", "item BUDGET"} <= told
    before = len(day.log("PrioritizeQueueFunction", "unreadable item"))
    day.pass_minutes(5)
    assert len(day.log("PrioritizeQueueFunction", "unreadable item")) == before
    assert not day.aws.failures


def test_a_damaged_pin_is_its_queues_problem_and_no_other_queue_s_until_it_is_deleted(day: Day) -> None:
    control = day.wiring.settings.control_table
    put(day, control, f"PIN#{QUEUE}", day.ids["sweep-b"], kind={"S": "first"})
    day.pass_minutes(3)
    assert day.record().problem.startswith(f"item PIN#{QUEUE} {day.ids['sweep-b']} cannot be read (KeyError")
    assert "delete that item of the control table" in day.record().problem
    passes = len(day.passes(OTHER))
    day.pass_minutes(7)
    assert len(day.passes(OTHER)) > passes
    key = {"pk": {"S": f"PIN#{QUEUE}"}, "sk": {"S": day.ids["sweep-b"]}}
    day.aws.client("dynamodb").delete_item(TableName=control, Key=key)
    day.pass_minutes(3)
    assert day.record().problem == ""
    assert not day.aws.failures


def test_a_damaged_policy_stops_its_queue_with_one_line_and_nobody_else_until_it_is_applied_again(day: Day) -> None:
    number = day.wiring.control.policy(QUEUE)
    assert number is not None
    put(day, day.wiring.settings.control_table, f"POLICY#{QUEUE}", f"v#{number.number:08d}", document={"S": "{}"})
    passes, others = len(day.passes()), len(day.passes(OTHER))
    day.pass_minutes(7)
    assert len(day.passes()) == passes
    assert len(day.passes(OTHER)) > others
    assert "apply the policy again" in day.failed_passes()[-1]
    assert day.left_in("QueueWakesUrl") <= 2
    assert day.dead_letters() == []
    day.apply()
    day.pass_minutes(3)
    assert len(day.passes()) > passes
    assert not day.aws.failures
