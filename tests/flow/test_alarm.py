"""An alarm: from its metric to a boosted decision that names it, and back when its effect has ended.

Three queues on one deployment hear of the same alarm, which stands for twenty minutes:

    brief   boosts for ten minutes         ends by its time, while the alarm still stands
    long    boosts for three hours         ends with the alarm
    deaf    names another alarm            is not touched
"""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from pointsman.ports import RecordedMove
from pointsman.queues.effects import Effect
from pointsman_emulator import Faults
from pointsman_emulator.emulator import START
from tests.flow.day import ALARM, MINUTE, Day, opened

QUEUES = {"brief": {"for": "10m"}, "long": {"for": "3h"}, "deaf": {"alarm": "something-else"}}
HEARING = ["brief", "long"]
BOOST = {"alarm": "ranker-drift-*", "boost": "production", "by": "12h"}
GOES_OFF, CLEARS = 15, 35  # when the alarm has seen a whole period of it
TICK = 35  # the second of each minute at which a queue is woken anyway


@dataclass(frozen=True)
class Heard:
    """What one queue made of the alarm; times are minutes of the day."""

    effects: tuple[Effect, ...]
    moves: list[RecordedMove]
    boosted: list[tuple[str, float]]
    sentences: list[str]


@dataclass(frozen=True)
class Played:
    heard: dict[str, Heard]
    events: list[str]
    relayed: list[set[str]]
    start: float


def play(faults: Faults) -> Played:
    events: list[str] = []
    start = START.timestamp()
    with opened(faults=faults, start=START + timedelta(seconds=TICK)) as day:
        day.aws.watch(lambda event: events.append(event["detail"].get("alarmName", "")))
        for queue, rule in QUEUES.items():
            day.add_queue(queue, 2)
            day.apply(queue, classes=[without_head_start()], on_alarm=[{**BOOST, **rule}])
        for queue in HEARING:
            fill(day, queue)
        day.aws.run(start + MINUTE)
        day.drift(9, 29)
        day.aws.run(start + 20 * MINUTE)
        for queue in HEARING:
            day.submit(f"prod-during-{queue}", queue=queue)
        day.aws.run(start + 40 * MINUTE)
        for queue in HEARING:
            day.submit(f"prod-after-{queue}", queue=queue)
        day.aws.run(start + 44 * MINUTE)
        assert not day.aws.failures
        assert not day.failed_passes()
        relayed = [set(line["queues"]) for line in day.log("RelayAlarmFunction", "woken")]
        return Played({queue: heard(day, queue, start) for queue in QUEUES}, events, relayed, start)


def without_head_start() -> dict[str, object]:
    """Production, ahead of others only when an alarm says so."""
    return {"name": "production", "match": {"job_name": "prod-*"}}


def fill(day: Day, queue: str) -> None:
    """The pool is taken for the whole day; sweeps wait, and a job of production behind them."""
    day.submit(f"sweep-hold-{queue}", 2, minutes=600, queue=queue)
    for number in range(3):
        day.submit(f"sweep-{number}-{queue}", queue=queue)
    day.submit(f"prod-before-{queue}", queue=queue)


def heard(day: Day, queue: str, start: float) -> Heard:
    moves = day.moves(queue)
    boosted = [line for line in moves if line.move.reason == "boosted"]
    return Heard(
        day.wiring.control.effects(queue),
        moves,
        [(line.move.job_name.removesuffix(f"-{queue}"), (line.at - start) / MINUTE) for line in boosted],
        [line.move.sentence for line in boosted],
    )


@pytest.fixture(scope="module")
def told() -> Played:
    return play(Faults())


@pytest.fixture(scope="module")
def untold() -> Played:
    """The same day, and no event of it was ever delivered."""
    return play(Faults(deliver=0))


def minute(played: Played, moment: float) -> int:
    return round((moment - played.start) / MINUTE)


def test_the_alarms_event_wakes_the_queues_whose_policy_names_it_and_no_other(told: Played) -> None:
    assert ALARM in told.events
    assert set(HEARING) in told.relayed
    assert not any("deaf" in queues for queues in told.relayed)


@pytest.mark.parametrize("queue", HEARING)
def test_the_alarm_has_one_effect_which_begins_when_it_went_off(told: Played, queue: str) -> None:
    effects = told.heard[queue].effects
    assert [(effect.alarm, effect.boost, effect.by) for effect in effects] == [(ALARM, "production", 12 * 3600)]
    assert minute(told, effects[0].since) == GOES_OFF


@pytest.mark.parametrize("queue", HEARING)
def test_the_decision_that_the_alarm_caused_names_it_and_lifts_production(told: Played, queue: str) -> None:
    heard = told.heard[queue]
    assert heard.boosted[0][0] == "prod-before"
    assert GOES_OFF < heard.boosted[0][1] < GOES_OFF + TICK / 60  # by the event, and not by the minute
    assert all(ALARM in sentence for sentence in heard.sentences)
    [line] = [line for line in heard.moves if line.move.reason == "boosted" and "before" in line.move.job_name]
    assert line.outcome == "done"
    assert line.move.after > line.move.before


def test_an_effect_ends_with_its_time_though_the_alarm_still_stands(told: Played) -> None:
    brief = told.heard["brief"]
    assert minute(told, brief.effects[0].end) == GOES_OFF + 10
    assert all(at < GOES_OFF + 10 for _, at in brief.boosted)


def test_an_alarm_that_clears_earlier_ends_its_effect(told: Played) -> None:
    heard = told.heard["long"]
    assert heard.effects[0].ended is not None
    assert minute(told, heard.effects[0].end) == CLEARS
    assert "prod-during" in [name for name, _ in heard.boosted]
    assert all(at < CLEARS for _, at in heard.boosted)


@pytest.mark.parametrize("queue", HEARING)
def test_after_the_effect_no_decision_is_boosted(told: Played, queue: str) -> None:
    heard = told.heard[queue]
    after = [line for line in heard.moves if line.at >= heard.effects[0].end]
    assert f"prod-after-{queue}" in [line.move.job_name for line in after]
    assert "boosted" not in [line.move.reason for line in after]
    assert ALARM not in " ".join(line.move.sentence for line in after)


def test_a_queue_whose_policy_names_another_alarm_is_not_touched(told: Played) -> None:
    assert told.heard["deaf"].effects == ()
    assert told.heard["deaf"].boosted == []


@pytest.mark.parametrize("queue", HEARING)
def test_with_the_alarms_event_lost_the_effect_is_the_same_and_decisions_come_later(
    told: Played, untold: Played, queue: str
) -> None:
    assert untold.relayed == []
    with_event, without = told.heard[queue], untold.heard[queue]
    assert without.effects == with_event.effects
    assert [name for name, _ in without.boosted] == [name for name, _ in with_event.boosted]
    assert without.boosted[0][1] > max(with_event.boosted[0][1], GOES_OFF + TICK / 60)
    assert all(0 <= later - at < 3 for (_, at), (_, later) in zip(with_event.boosted, without.boosted, strict=True))
