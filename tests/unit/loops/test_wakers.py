"""What wakes queues beside job events: alarms, and the clock."""

import json
from pathlib import Path
from typing import Any

import pytest

from pointsman.errors import Conflict, Transient
from pointsman.loops.due import AHEAD
from pointsman.loops.queue import LEASE
from tests.unit.loops.world import POLICY, QUEUE, World

EVENTS = Path(__file__).parents[3] / "events"


def alarm(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / "relay_alarm.alarm.json").read_text())
    event["detail"]["alarmName"] = name
    return event


def test_an_alarm_wakes_the_queues_whose_policy_names_it_and_no_others() -> None:
    world = World()
    world.apply()
    other = {**POLICY, "queue": "other", "on_alarm": []}
    world.control.put_policy("other", json.dumps(other), world.clock.now(), "someone")
    assert world.relay().relay(alarm("drift-ranker")) == (QUEUE,)
    assert world.wakes.queues == [QUEUE]
    assert world.log.wakes == [((QUEUE,), "alarm drift-ranker")]


def test_an_alarm_that_changes_no_more_than_a_share_wakes_its_queue_too() -> None:
    world = World()
    world.apply(on_alarm=[{"alarm": "gpu-*", "share": "all", "borrow_limit": 200}])
    assert world.relay().relay(alarm("gpu-underused")) == (QUEUE,)


def test_an_alarm_that_no_policy_names_wakes_nobody() -> None:
    world = World()
    world.apply()
    assert world.relay().relay(alarm("cpu-high")) == ()
    assert world.wakes.queues == []


@pytest.mark.parametrize("document", ["{not JSON", '{"version": 2}'])
def test_a_policy_that_cannot_be_read_is_woken_to_say_so_and_keeps_nobody_else_asleep(document: str) -> None:
    world = World()
    world.apply()
    world.control.put_policy("a-broken-one", document, world.clock.now(), "someone")
    assert world.relay().relay(alarm("drift-ranker")) == ("a-broken-one", QUEUE)


@pytest.mark.parametrize("event", [{}, {"detail-type": "Scheduled Event", "source": "aws.events"}, alarm("")])
def test_what_is_no_alarm_is_buried(event: dict[str, Any]) -> None:
    world = World()
    world.apply()
    assert world.relay().relay(event) == ()
    (buried,) = world.dead_letters.buried
    assert json.loads(buried.body) == event
    assert buried.reason
    assert buried.place


def test_an_alarm_whose_wake_cannot_be_sent_is_for_the_platform_to_try_again() -> None:
    world = World()
    world.apply()
    world.wakes.fail_next("wake", Transient("500"))
    with pytest.raises(Transient):
        world.relay().relay(alarm("drift-ranker"))
    assert world.relay().relay(alarm("drift-ranker")) == (QUEUE,)


def test_a_queue_with_a_policy_and_no_event_ever_is_woken_and_gets_a_record() -> None:
    world = World()
    world.apply()
    assert world.due().wake() == (QUEUE,)
    assert world.wakes.queues == [QUEUE]
    assert world.record.version == 1


def test_a_queue_is_woken_by_the_tick_that_is_nearest_to_its_time_and_by_none_before() -> None:
    world = World()
    world.apply()
    world.submit("a")
    world.pass_()
    world.wakes.sent.clear()
    world.clock.advance(60 - AHEAD - 1)
    assert world.due().wake() == ()
    world.clock.advance(1)
    assert world.due().wake() == (QUEUE,)


def test_a_queue_whose_pass_was_killed_is_woken_until_the_next_one_ends() -> None:
    world = World()
    world.apply()
    world.clock.advance(60)
    world.jobs.fail_next("active", KeyboardInterrupt())  # type: ignore[arg-type]  # as a kill: nothing catches it
    with pytest.raises(KeyboardInterrupt):
        world.loop().run(QUEUE)
    world.clock.advance(LEASE + 1)
    assert world.due().wake() == (QUEUE,)
    world.pass_(after=0)
    assert world.due().wake() == ()


def test_how_long_the_most_overdue_queue_has_been_due_is_told_each_minute() -> None:
    world = World()
    world.apply()
    world.submit("a")
    world.pass_()
    world.due().wake()
    assert world.log.overdue_ == [0.0], "its time has not come"
    world.clock.advance(world.record.next_wake_at - world.clock.now() + 700)
    world.due().wake()
    world.pass_(after=0)
    world.due().wake()
    assert world.log.overdue_[1:] == [700.0, 0.0]


def test_a_pass_that_has_just_made_the_record_is_not_disturbed() -> None:
    world = World()
    world.apply()
    world.jobs.fail_next("save_queue", Conflict("a pass was faster"))
    assert world.due().wake() == ()


def test_no_policy_means_nothing_is_due() -> None:
    assert World().due().wake() == ()
