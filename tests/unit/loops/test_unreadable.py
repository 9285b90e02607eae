"""A stored item that cannot be read: whose it is says so, once and clearly; nobody else suffers from it."""

import json

import pytest

from pointsman.errors import Unreadable
from pointsman.queues.jobs import Sighting, Status
from tests.unit.loops.world import QUEUE, World

WHY = "item PIN#search-training job-7 cannot be read (KeyError: 'by'): mend or delete that item of the control table"
OTHER = "other-training"


def world() -> World:
    """A queue with a job to lift."""
    made = World()
    made.apply()
    made.run("running", size=6)
    made.submit("big", size=4, waited=600.0)
    made.submit("small", size=2, name="prod-small")
    made.clock.advance(5)
    return made


def test_a_policy_that_cannot_be_read_is_said_and_its_message_is_done_with() -> None:
    queue = world()
    queue.control.fail_next("policy", Unreadable(WHY))
    assert queue.passes().run([queue.message(f'{{"queue": "{QUEUE}"}}')]) == ()
    assert queue.log.failures == [(WHY, True)]
    queue.pass_()
    assert queue.priority("small") == 4999


def test_an_alarm_wakes_the_queue_whose_policy_cannot_be_read_and_all_others_that_name_it() -> None:
    queue = world()
    rule = {"alarm": "drift-*", "boost": "research", "by": "48h"}
    queue.control.put_policy(OTHER, json.dumps({"version": 1, "on_alarm": [rule]}), queue.clock.now(), "ana")
    queue.control.fail_next("policy", Unreadable(WHY))
    event = {
        "source": "aws.cloudwatch",
        "detail-type": "CloudWatch Alarm State Change",
        "time": "2027-01-01T00:00:00Z",
        "detail": {"alarmName": "drift-ranker", "state": {"value": "ALARM"}},
    }
    assert len(queue.relay().relay(event)) == 2


@pytest.mark.parametrize("method", ["effects", "pins"])
def test_what_a_decision_needs_and_cannot_be_read_is_the_queues_problem_and_nothing_is_moved(method: str) -> None:
    queue = world()
    queue.control.fail_next(method, Unreadable(WHY))
    queue.pass_()
    assert (queue.record.problem, queue.batch.priorities) == (WHY, [])
    queue.pass_(after=90)
    assert (queue.record.problem, queue.batch.priorities) == ("", [("small", 4999)])


def test_figures_and_notices_that_cannot_be_read_are_said_and_the_queue_is_ordered_all_the_same() -> None:
    queue = world()
    queue.days.fail_next("newest", Unreadable("item DAY#q cannot be read"))
    queue.control.fail_next("notices", Unreadable(WHY))
    queue.pass_()
    assert queue.batch.priorities == [("small", 4999)]
    assert queue.record.problem == (
        f"the day is not counted: item DAY#q cannot be read; people are told of nothing: {WHY}"
    )
    queue.pass_(after=90)
    assert queue.record.problem == ""


def test_a_notice_that_cannot_be_read_keeps_a_job_that_failed_until_it_can_and_the_queue_is_ordered() -> None:
    queue = world()
    for job_id, name in (("failed", "prod-1"), ("sweep", "sweep-1")):
        queue.run(job_id, name=name)
    queue.clock.advance(5)
    for job_id in ("failed", "sweep"):
        queue.move(job_id, Status.FAILED)
    queue.clock.advance(5)
    queue.control.fail_next("notices", Unreadable(WHY), times=9)
    for _ in range(2):
        queue.pass_(after=90)
    assert (queue.priority("small"), queue.log.failures, queue.notices.kinds) == (4999, [], [])
    assert f"people are told of no job that failed: {WHY}" in queue.record.problem
    assert {i: queue.jobs.jobs[i].folded for i in ("failed", "sweep")} == {"failed": False, "sweep": True}
    queue.control._planned.clear()
    queue.pass_(after=90)
    assert (queue.notices.kinds, queue.record.problem) == (["failed/failed"], "")
    assert queue.jobs.jobs["failed"].folded


def test_a_job_of_which_batch_tells_something_new_is_left_as_it_is_and_the_others_are_ordered() -> None:
    queue = world()
    why = "what AWS answered to describe_job of 'odd' cannot be read (ValueError: 'ASLEEP' is not a valid Status)"
    queue.submit("odd", size=1, waited=900.0)
    describe = queue.batch.describe_job

    def odd(job_id: str) -> Sighting:
        if job_id == "odd":
            raise Unreadable(why)
        return describe(job_id)

    queue.batch.describe_job = odd  # type: ignore[method-assign]
    queue.pass_()
    assert queue.batch.priorities == [("small", 4999)]
    assert queue.record.problem == f"job odd is left as it is: {why}"
    queue.batch.describe_job = describe  # type: ignore[method-assign]
    queue.pass_(after=90)
    assert queue.record.problem == ""
