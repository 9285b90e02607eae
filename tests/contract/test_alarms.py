"""The contract of alarms' moves into ALARM, and what only CloudWatch can answer."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Protocol

import pytest

from pointsman.aws.alarms import CloudWatchAlarms
from pointsman.aws.clients import Clients
from pointsman.errors import Transient
from pointsman.ports import Alarms
from pointsman.queues.effects import AlarmTransition
from pointsman_emulator import Emulator
from tests.contract.interference import Interfered
from tests.fakes.alarms import FakeAlarms

T0 = datetime(2026, 3, 2, tzinfo=UTC).timestamp()


class AlarmWorld(Protocol):
    """What a test can make alarms do, and the port to look at them."""

    port: Alarms

    def set_state(self, alarm: str, state: str, at: float) -> None: ...


class FakeWorld:
    def __init__(self) -> None:
        self.alarms = FakeAlarms()
        self.port: Alarms = self.alarms

    def set_state(self, alarm: str, state: str, at: float) -> None:
        self.alarms.set_state(alarm, state, at)


class EmulatedWorld:
    """Alarms on a metric without data, whose states are set by hand."""

    def __init__(self, emulator: Emulator, clients: Clients) -> None:
        self.emulator = emulator
        self.cloudwatch = clients.cloudwatch
        self.port: Alarms = CloudWatchAlarms(clients.cloudwatch)
        self._known: set[str] = set()

    def set_state(self, alarm: str, state: str, at: float) -> None:
        self.emulator.run(at)
        if alarm not in self._known:
            self._known.add(alarm)
            self.cloudwatch.put_metric_alarm(
                AlarmName=alarm,
                Namespace="Search/Models",
                MetricName="PredictionDrift",
                Statistic="Average",
                Period=86_400,
                EvaluationPeriods=1,
                Threshold=0.2,
                ComparisonOperator="GreaterThanThreshold",
                TreatMissingData="ignore",
            )
        self.cloudwatch.set_alarm_state(AlarmName=alarm, StateValue=state, StateReason="a test")


@pytest.fixture
def emulated(clients: Clients) -> Iterator[EmulatedWorld]:
    with Emulator(seed=1, start=datetime.fromtimestamp(T0, UTC)) as emulator:
        yield EmulatedWorld(emulator, clients)


@pytest.fixture(params=["fake", "emulator"])
def world(request: pytest.FixtureRequest) -> AlarmWorld:
    if request.param == "fake":
        return FakeWorld()
    emulated: EmulatedWorld = request.getfixturevalue("emulated")
    return emulated


def test_an_alarm_that_went_into_alarm_and_left_says_when(world: AlarmWorld) -> None:
    world.set_state("drift", "OK", T0 + 10)
    world.set_state("drift", "ALARM", T0 + 60)
    world.set_state("drift", "OK", T0 + 600)
    world.set_state("drift", "ALARM", T0 + 900)

    moves = world.port.transitions("drift", T0)

    assert moves == (AlarmTransition("drift", T0 + 60, T0 + 600), AlarmTransition("drift", T0 + 900))


def test_a_move_to_insufficient_data_is_a_move_out_of_alarm(world: AlarmWorld) -> None:
    world.set_state("drift", "ALARM", T0 + 60)
    world.set_state("drift", "INSUFFICIENT_DATA", T0 + 90)

    assert world.port.transitions("drift", T0) == (AlarmTransition("drift", T0 + 60, T0 + 90),)


def test_only_alarms_that_the_glob_matches_count_oldest_first(world: AlarmWorld) -> None:
    for n, alarm in enumerate(
        ("ranker-drift-b", "ranker-drift-a", "Ranker-drift-c", "ranker-loss", "x-ranker-drift-d")
    ):
        world.set_state(alarm, "ALARM", T0 + 60 + n)

    assert [move.alarm for move in world.port.transitions("ranker-drift-*", T0)] == ["ranker-drift-b", "ranker-drift-a"]
    assert [move.alarm for move in world.port.transitions("*-drift-[ad]", T0)] == ["ranker-drift-a", "x-ranker-drift-d"]
    assert world.port.transitions("unheard-of", T0) == ()


def test_moves_before_the_time_asked_for_do_not_count_once_their_alarm_has_left(world: AlarmWorld) -> None:
    world.set_state("old", "ALARM", T0 + 60)
    world.set_state("old", "OK", T0 + 90)
    world.set_state("new", "ALARM", T0 + 120)

    assert [move.alarm for move in world.port.transitions("*", T0 + 100)] == ["new"]
    assert [move.alarm for move in world.port.transitions("*", T0 + 60)] == ["old", "new"]


def test_an_alarm_that_stands_in_alarm_counts_however_long_ago_it_moved(world: AlarmWorld) -> None:
    world.set_state("drift", "ALARM", T0 + 30)
    world.set_state("drift", "OK", T0 + 60)
    world.set_state("drift", "ALARM", T0 + 90)

    assert world.port.transitions("drift", T0 + 9 * 86_400) == (AlarmTransition("drift", T0 + 90),)


def test_an_alarm_that_stays_in_alarm_moved_once(world: AlarmWorld) -> None:
    world.set_state("drift", "ALARM", T0 + 60)
    world.set_state("drift", "ALARM", T0 + 120)

    assert world.port.transitions("drift", T0) == (AlarmTransition("drift", T0 + 60),)


# ----------------------------------------------------------------------------------------------- CloudWatch only


def test_a_history_of_many_pages_is_read_to_its_end(emulated: EmulatedWorld) -> None:
    for n in range(1, 241):
        emulated.set_state("drift", "ALARM" if n % 2 else "OK", T0 + 10 * n)

    moves = emulated.port.transitions("drift", T0)

    assert len(moves) == 120
    assert moves[-1] == AlarmTransition("drift", T0 + 2390, T0 + 2400)


def test_an_alarm_whose_history_is_late_counts_by_its_own_time(emulated: EmulatedWorld) -> None:
    emulated.set_state("drift", "ALARM", T0 + 60)
    late = Interfered(emulated.cloudwatch, describe_alarm_history=_no_history)

    assert CloudWatchAlarms(late).transitions("dr*", T0) == (AlarmTransition("drift", T0 + 60),)


def test_an_alarm_whose_history_is_late_does_not_count_when_it_is_in_another_state(emulated: EmulatedWorld) -> None:
    emulated.set_state("drift", "ALARM", T0 + 60)
    emulated.set_state("drift", "OK", T0 + 90)
    late = Interfered(emulated.cloudwatch, describe_alarm_history=_no_history)

    assert CloudWatchAlarms(late).transitions("dr*", T0) == ()


def test_a_last_move_that_the_history_lacks_is_added_to_it(emulated: EmulatedWorld) -> None:
    for state, at in (("ALARM", 60), ("OK", 120), ("ALARM", 180)):
        emulated.set_state("drift", state, T0 + at)

    def all_but_the_last(real: Callable[..., Any], **request: Any) -> Any:
        return {"AlarmHistoryItems": real(**request)["AlarmHistoryItems"][:-1]}

    late = Interfered(emulated.cloudwatch, describe_alarm_history=all_but_the_last)

    moves = CloudWatchAlarms(late).transitions("drift", T0)
    assert moves == (AlarmTransition("drift", T0 + 60, T0 + 120), AlarmTransition("drift", T0 + 180))


def test_an_item_of_the_history_that_cannot_be_read_is_passed_over(emulated: EmulatedWorld) -> None:
    emulated.set_state("drift", "ALARM", T0 + 60)

    def torn(real: Callable[..., Any], **request: Any) -> Any:
        items = real(**request)["AlarmHistoryItems"]
        return {"AlarmHistoryItems": [*({**item, "HistoryData": '{"oldState": {'} for item in items), *items]}

    alarms = CloudWatchAlarms(Interfered(emulated.cloudwatch, describe_alarm_history=torn))

    assert alarms.transitions("drift", T0) == (AlarmTransition("drift", T0 + 60),)


def test_the_history_of_alarms_that_did_not_change_is_not_asked_for(emulated: EmulatedWorld) -> None:
    for alarm in ("a", "b", "c"):
        emulated.set_state(alarm, "ALARM", T0 + 60)
    emulated.set_state("b", "OK", T0 + 120)

    assert [move.alarm for move in emulated.port.transitions("*", T0 + 61)] == ["a", "c"]
    assert emulated.emulator.count("cloudwatch", "DescribeAlarmHistory") == 1


def test_throttling_is_transient_once_the_client_has_tried_enough(emulated: EmulatedWorld) -> None:
    emulated.emulator.fail_next("cloudwatch", "DescribeAlarms", "Throttling", 3)

    with pytest.raises(Transient):
        emulated.port.transitions("*", T0)


def _no_history(_real: Callable[..., Any], **_request: Any) -> Any:
    return {"AlarmHistoryItems": []}
