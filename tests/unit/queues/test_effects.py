"""What alarms do to a queue."""

from dataclasses import replace

import pytest

from pointsman.queues.effects import AlarmTransition, Effect, effects_of
from pointsman.queues.policy import AlarmBoost
from pointsman.queues.ranking import ranks_at
from tests.unit.queues.build import HOUR, NOW, POLICY

BOOST = AlarmBoost("ranker-drift-*", "production", by=12 * HOUR, lasts=2 * HOUR)
ALARMED = replace(POLICY, on_alarm=(BOOST,))


def test_a_transition_of_an_alarm_that_a_rule_names_is_an_effect_from_then_for_so_long() -> None:
    (effect,) = effects_of(ALARMED, [AlarmTransition("ranker-drift-search", NOW)])
    assert effect == Effect("ranker-drift-search", NOW, "production", 12 * HOUR, NOW + 2 * HOUR)


def test_an_alarm_that_no_rule_names_has_no_effect() -> None:
    assert effects_of(ALARMED, [AlarmTransition("gpu-underused", NOW)]) == ()


def test_the_same_transition_is_the_same_effect_and_the_next_one_another() -> None:
    first, again = (effects_of(ALARMED, [AlarmTransition("ranker-drift-search", NOW)]) for _ in range(2))
    later = effects_of(ALARMED, [AlarmTransition("ranker-drift-search", NOW + 60)])
    assert first == again != later


def test_one_alarm_may_boost_several_classes() -> None:
    policy = replace(POLICY, on_alarm=(BOOST, replace(BOOST, boost="research")))
    assert [e.boost for e in effects_of(policy, [AlarmTransition("ranker-drift-x", NOW)])] == ["production", "research"]


@pytest.mark.parametrize(
    "case, effect, active",
    [
        ("from its first second", Effect("a", NOW, "sweep", 1.0), True),
        ("not before it", Effect("a", NOW + 1, "sweep", 1.0), False),
        ("as long as the alarm lasts", Effect("a", NOW - 9e6, "sweep", 1.0), True),
        ("not once the alarm has left ALARM", Effect("a", NOW - 9, "sweep", 1.0, ended=NOW), False),
        ("until its time is over", Effect("a", NOW - 9, "sweep", 1.0, NOW + 1), True),
        ("not in the second in which it is", Effect("a", NOW - 9, "sweep", 1.0, NOW), False),
        ("the alarm's end counts though time is left", Effect("a", NOW - 9, "sweep", 1.0, NOW + 9, NOW - 1), False),
        ("time counts though the alarm went on", Effect("a", NOW - 9, "sweep", 1.0, NOW - 1, NOW + 9), False),
    ],
)
def test_an_effect_counts(case: str, effect: Effect, active: bool) -> None:
    assert effect.active(NOW) is active, case


def test_a_boost_lengthens_the_head_start_of_its_class_alone() -> None:
    ranks = ranks_at(POLICY, [Effect("a", NOW, "research", 12 * HOUR)], NOW)
    assert ranks.head_starts == {"production": 24 * HOUR, "research": 18 * HOUR, "sweep": 0.0}


def test_two_alarms_on_one_class_do_not_add_up_and_the_larger_counts() -> None:
    effects = [Effect("a", NOW, "research", 12 * HOUR), Effect("b", NOW, "research", HOUR)]
    assert ranks_at(POLICY, effects, NOW).head_starts["research"] == 18 * HOUR
    assert ranks_at(POLICY, effects[::-1], NOW).head_starts["research"] == 18 * HOUR


def test_a_boost_of_a_class_that_the_policy_no_longer_has_is_left_out() -> None:
    assert "gone" not in ranks_at(POLICY, [Effect("a", NOW, "gone", HOUR)], NOW).head_starts


def test_an_effect_that_is_over_leaves_the_head_start_as_the_policy_has_it() -> None:
    over = Effect("a", NOW - HOUR, "research", 12 * HOUR, NOW - 1)
    assert ranks_at(POLICY, [over], NOW) == ranks_at(POLICY, (), NOW)
