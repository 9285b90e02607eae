"""What wakes rollouts: alarms, endpoints and the clock; and that none of it is needed."""

import pytest

from pointsman.errors import Transient
from pointsman.loops.rollout_wakers import WATCHED_AFTER
from pointsman.rollout_wake_ports import Life
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.request import Target
from tests.unit.loops.rollout_world import ALARM, World


def running() -> World:
    world = World()
    world.ask()
    world.run(stop=lambda: bool(world.sent("m1")))
    world.run_pass()
    world.table.park("r1", world.stored.wake_seq, "token-1")
    return world


def test_an_alarm_wakes_the_rollouts_that_watch_it_and_no_other() -> None:
    world = running()

    assert world.relay.alarm("other", fired=True) == ()
    assert world.execution.answered == []
    assert world.relay.alarm(ALARM, fired=True) == ("r1",)
    assert world.execution.answered == ["token-1"]
    assert world.relay.alarm("pointsman-kill/prod/r1", fired=False) == ("r1",)


def pair() -> World:
    """Two rollouts under way, each on its own endpoint."""
    world = World()
    for rollout, component in (("r1", "m1"), ("r2", "m2")):
        world.ask(rollout=rollout, targets=(Target(component=component),))
        while not world.sent(component):
            world.loop.run(rollout, 1)
    return world


def test_two_rollouts_side_by_side_reach_their_ends() -> None:
    world = pair()
    phases = {world.loop.run(rollout, 1).phase for rollout in ("r1", "r2")}
    while phases - {Phase.SUCCEEDED}:
        world.clock.advance(30)
        world.react()
        phases = {world.loop.run(rollout, 1).phase for rollout in ("r1", "r2")}
        assert world.clock.now() < world.stored.record.started_at + 20_000

    assert set(world.models().values()) == {"ranker-v2"}
    assert {lock.owner for lock in world.table.held.values()} == {""}


def test_a_fault_with_one_rollout_keeps_no_other_from_their_alarm() -> None:
    world = pair()
    world.table.fail_next("wake", Transient("throttled"))

    with pytest.raises(Transient, match="throttled"):
        world.relay.alarm(ALARM, fired=True)
    assert sorted(world.table.load(rollout).wake_seq for rollout in ("r1", "r2")) == [0, 1]
    assert set(world.relay.alarm(ALARM, fired=True)) == {"r1", "r2"}


def test_an_endpoint_wakes_the_rollout_on_it() -> None:
    world = running()

    assert world.relay.endpoint("e9") == ()
    assert world.relay.endpoint("e2") == ("r1",)


def test_a_wake_before_anyone_waits_is_counted() -> None:
    world = World()
    world.ask()
    world.waker.wake("r1")

    assert (world.stored.wake_seq, world.execution.answered) == (1, [])
    assert not world.table.park("r1", 0, "too-late")


def test_what_is_overdue_is_woken_and_carried_on_where_no_execution_lives() -> None:
    world = running()
    assert world.due.wake() == ()
    world.clock.advance(120)
    assert world.due.wake() == ("r1",)
    assert world.execution.lives == {("r1", 1): Life.RUNNING}
    world.execution.lives["r1", 1] = Life.ENDED

    assert world.due.wake() == ("r1",)
    assert world.execution.lives == {("r1", 1): Life.ENDED, ("r1", 2): Life.RUNNING}
    assert world.stored.generation == 2
    assert world.run() is Phase.SUCCEEDED


def test_a_successor_that_was_named_and_never_started_is_started() -> None:
    world = running()
    world.table.succeed("r1", 1)
    world.clock.advance(120)
    world.due.wake()

    assert world.execution.lives["r1", 2] is Life.RUNNING
    assert world.stored.generation == 2


def test_notices_of_a_rollout_that_has_ended_are_sent_by_the_clock() -> None:
    world = World()
    world.ask()
    world.run(stop=lambda: world.phase is Phase.FINAL_BAKE)
    world.notices.fail_next("send", Transient("throttled"), times=1)
    while not world.phase.terminal:
        world.notices.fail_next("send", Transient("throttled"), times=1)
        world.run(30)
    assert "r1/ended" not in [notice.key for notice in world.notices.told]
    world.notices._planned.clear()
    world.clock.advance(60)
    world.due.wake()

    assert [notice.key for notice in world.notices.told].count("r1/ended") == 1
    assert world.stored.unsent == 0


def test_an_alarm_after_the_end_starts_nothing_and_is_told_of_once() -> None:
    world = World()
    world.ask()
    world.run()
    told = len(world.notices.told)
    record = world.stored.record
    for _ in range(3):
        assert world.relay.alarm(ALARM, fired=True) == ()
        assert world.relay.alarm(ALARM, fired=False) == ()
        world.clock.advance(60)
        world.due.wake()

    (late,) = world.notices.told[told:]
    assert "pointsman rollout rollback r1" in late.sentence
    assert world.stored.record == record


def test_a_rollout_that_ended_long_ago_is_done_with() -> None:
    world = World()
    world.ask()
    world.run()
    world.clock.advance(60)
    world.due.wake()
    assert [line.rollout for line in world.table.open()] == ["r1"]
    world.clock.advance(WATCHED_AFTER)
    world.due.wake()

    assert world.table.open() == ()
    assert world.phase is Phase.SUCCEEDED


def test_how_long_the_most_overdue_rollout_has_been_due_is_told_each_minute_and_ended_ones_are_not() -> None:
    world = pair()
    world.due.wake()
    world.clock.advance(900)
    latest = min(world.table.kept[name].stored.next_wake_at for name in ("r1", "r2"))
    world.due.wake()
    assert world.log.overdue_[-1] == world.clock.now() - latest > 0
    while any(not world.loop.run(rollout, 1).ended for rollout in ("r1", "r2")):
        world.clock.advance(30)
        world.react()
    world.clock.advance(5000)
    world.due.wake()
    assert world.log.overdue_[-1] == 0.0


def test_an_execution_that_is_over_before_its_rollout_is_told_of_once() -> None:
    world = running()
    world.execution.lives["r1", 1] = Life.ENDED
    world.clock.advance(5000)
    world.due.wake()
    world.due.wake()
    assert world.log.died_ == [("r1", 1)]
