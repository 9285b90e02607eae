"""An alarm's effect on a queue, from its history alone, and its end."""

from typing import Any

from pointsman.errors import Transient
from pointsman.loops.inspect import Inspector
from pointsman.queues.jobs import Status
from tests.unit.loops.world import QUEUE, World

HOUR, DAY = 3600.0, 86400.0


def two(**policy: Any) -> World:
    """An old sweep and a new research job compete for the two instances that are free."""
    world = World()
    world.apply(**policy)
    world.run("running", size=6)
    world.submit("old", size=2, waited=20 * HOUR)
    world.submit("explore", size=2, tags={"purpose": "explore"})
    world.clock.advance(5)
    return world


def boost(**rule: Any) -> dict[str, Any]:
    return {"on_alarm": [{"alarm": "drift-*", "boost": "research", "by": "48h", **rule}]}


def first(world: World) -> str:
    world.pass_()
    waiting = world.priorities()
    return max(waiting, key=lambda job_id: waiting[job_id])


def test_without_an_alarm_the_older_job_goes_first() -> None:
    assert first(two()) == "old"


def test_an_alarm_that_has_stood_for_weeks_counts_for_a_policy_that_is_new() -> None:
    world = two(**boost())
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now() - 20 * DAY)
    assert first(world) == "explore"


def test_with_a_time_an_alarm_that_has_stood_for_weeks_counts_no_more() -> None:
    world = two(**boost(**{"for": "2h"}))
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now() - 20 * DAY)
    assert first(world) == "old"


def test_an_alarm_puts_its_class_first_and_the_moves_name_it() -> None:
    world = two()
    world.pass_()
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    assert first(world) == "explore"
    assert ("explore", 4999, "boosted", "done") in world.history()
    assert "Alarm drift-ranker" in world.report.decision.moves[-1].sentence


def test_an_alarm_that_no_rule_names_changes_nothing() -> None:
    world = two()
    world.alarms.set_state("other", "ALARM", world.clock.now())
    assert first(world) == "old"
    assert world.control.effects(QUEUE) == ()


def test_the_boost_ends_with_the_alarm_and_the_order_is_as_before() -> None:
    world = two()
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    world.pass_()
    world.alarms.set_state("drift-ranker", "OK", world.clock.now() + 10)
    assert first(world) == "old"
    assert world.priority("explore") == 0
    (effect,) = world.control.effects(QUEUE)
    assert effect.ended is not None


def test_the_boost_ends_with_its_time_though_the_alarm_goes_on() -> None:
    world = two()
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    assert first(world) == "explore"
    world.clock.advance(2 * HOUR)
    assert first(world) == "old"


def test_one_transition_is_one_effect_however_often_it_is_read() -> None:
    world = two()
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    for _ in range(3):
        world.pass_()
    assert len(world.control.effects(QUEUE)) == 1


def test_an_alarm_that_fires_again_is_another_effect() -> None:
    world = two()
    start = world.clock.now()
    for state, after in (("ALARM", 0.0), ("OK", 60.0), ("ALARM", 120.0)):
        world.alarms.set_state("drift-ranker", state, start + after)
    world.clock.advance(150)
    assert first(world) == "explore"
    assert [e.since - start for e in world.control.effects(QUEUE) if e.ended is None] == [120.0]


def test_an_open_ended_boost_ends_with_its_alarm_weeks_later() -> None:
    world = two(**boost())
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    assert first(world) == "explore"
    world.clock.advance(9 * DAY)
    assert first(world) == "explore"
    world.submit("old2", size=2, waited=20 * HOUR)
    world.alarms.set_state("drift-ranker", "OK", world.clock.now())
    world.clock.advance(5)
    world.pass_()
    assert all(not effect.active(world.clock.now()) for effect in world.report.view.effects)


def test_an_effect_of_a_rule_that_the_policy_no_longer_has_counts_no_more() -> None:
    world = two(**boost())
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    assert first(world) == "explore"
    world.apply(on_alarm=[{"alarm": "other-*", "boost": "production", "by": "1h"}])
    assert first(world) == "old"
    world.apply(on_alarm=[{"alarm": "drift-*", "boost": "production", "by": "1h"}])
    assert first(world) == "old"


def test_the_boost_that_the_policy_gives_now_is_the_one_that_counts() -> None:
    world = two(**boost())
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    assert first(world) == "explore"
    world.apply(**boost(by="1h"))
    assert first(world) == "old"


def test_two_rules_for_one_class_do_not_hide_each_other() -> None:
    rules = [{"alarm": "drift-*", "boost": "research", "by": by} for by in ("48h", "1h")]
    for order in (rules, rules[::-1]):
        world = two(on_alarm=order)
        world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
        assert first(world) == "explore"


def test_an_alarm_does_not_help_a_job_that_has_gone() -> None:
    world = two()
    world.move("explore", Status.FAILED)
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    assert first(world) == "old"


def test_a_look_that_keeps_nothing_sees_the_effect_and_stores_none() -> None:
    world = two()
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    world.pass_(after=0.0)
    world.control._effects.clear()
    look = Inspector(world.observer(keep=False), world.jobs, world.control).look(QUEUE)
    assert [effect.alarm for effect in look.seen.view.effects] == ["drift-ranker"]
    assert world.control.effects(QUEUE) == ()


def test_the_boost_ends_with_an_alarm_that_is_deleted() -> None:
    world = two()
    world.apply(on_alarm=[{"alarm": "drift-*", "boost": "research", "by": "48h"}])
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    assert first(world) == "explore"
    world.alarms.delete("drift-ranker")
    assert first(world) == "old"
    (effect,) = world.control.effects(QUEUE)
    assert effect.ended == world.clock.now()


def test_a_boost_from_a_policy_that_let_it_last_longer_ends_with_its_alarm() -> None:
    world = two(**boost(**{"for": "2h"}))
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    assert first(world) == "explore"
    world.apply(**boost(**{"for": "5m"}))
    world.clock.advance(600)
    world.alarms.set_state("drift-ranker", "OK", world.clock.now())
    assert first(world) == "old"


def test_while_alarms_cannot_be_read_the_stored_effects_count_and_people_are_told() -> None:
    world = two()
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())
    assert first(world) == "explore"
    world.alarms.fail_next("transitions", Transient("Rate exceeded"), times=2)
    assert first(world) == "explore"
    assert world.record.problem == "alarms drift-* count as they were last seen: Rate exceeded"
    world.clock.advance(2 * HOUR)
    assert first(world) == "old", "it ends with its time all the same"
    assert world.log.failures == []
    world.pass_()
    assert world.record.problem == ""
