"""When a rollout looks again. In this world no event is ever delivered: all that is seen is seen by a look."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from pointsman.rollouts.commands import pause
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import HoldKind, Intent, Step
from pointsman.rollouts.request import Amount, Freeze, NoTraffic
from tests.unit.rollouts.build import NOW
from tests.unit.rollouts.drive import held, until, world
from tests.unit.rollouts.world import World

PASS = 10.0  # the small world's clock goes on in steps of five seconds at least


def flying(made: World, seconds: float, name: str = "m1") -> float:
    """Run until this component's update is in flight, and let it end so much later."""
    made.run(stop=lambda: made.truth.parts[name].flight is not None and not made.running)
    flight = made.truth.parts[name].flight
    assert flight is not None
    flight.ends = made.truth.now + seconds
    return flight.ends


def looks(made: World, stop: Callable[[], bool]) -> list[float]:
    """Run until then; when it looked meanwhile."""
    seen: list[float] = []
    passes = made.passes

    def watch() -> bool:
        nonlocal passes
        if made.passes > passes:
            passes = made.passes
            seen.append(made.truth.now)
        return stop()

    made.run(stop=watch)
    return seen


def updating(made: World) -> None:
    flying(made, 4000.0)
    made.run(until=1500.0)


def baking(made: World) -> None:
    until(made, Phase.RUNNING, Step.BAKING)


def finally_baking(made: World) -> None:
    until(made, Phase.FINAL_BAKE, Step.BAKING)


def paused(made: World) -> None:
    until(made, Phase.RUNNING, Step.BAKING)
    made.command(pause)
    made.run(until=2000.0)


WHERE = [("an update runs", updating), ("it bakes", baking), ("it bakes last", finally_baking), ("it is held", paused)]


@pytest.mark.parametrize("poll", [60.0, 300.0])
@pytest.mark.parametrize("go", [w[1] for w in WHERE], ids=[w[0] for w in WHERE])
def test_an_alarm_whose_event_is_lost_is_acted_on_within_one_poll_interval_while(
    go: Callable[[World], None], poll: float
) -> None:
    made = world(poll=poll, bake=900.0, final_bake=900.0)
    go(made)
    made.run(until=7.0)
    fired = made.truth.now
    made.truth.alarm_until, made.truth.alarmed = fired + 5000, [fired]
    made.run(stop=lambda: made.record.intent is Intent.REVERT)
    assert made.truth.now - fired <= poll + PASS


@pytest.mark.parametrize("poll", [30.0, 120.0, 900.0])
@pytest.mark.parametrize("seconds", [300.0, 1800.0, 7000.0])
def test_the_end_of_an_update_is_seen_soon_for_the_time_that_it_took(seconds: float, poll: float) -> None:
    made = world(poll=poll, wait=60.0)
    ends = flying(made, seconds)
    made.run(stop=lambda: made.record.step is not Step.UPDATING)
    assert made.truth.now - ends <= min(poll, max(30.0, 0.1 * (seconds + poll))) + PASS


def test_a_long_update_takes_few_looks() -> None:
    made = world(poll=120.0, wait=180.0, batch=Amount(1))
    ends = flying(made, 1650.0)
    seen = looks(made, lambda: made.truth.now >= ends)
    assert len(seen) <= 20
    assert max(after - before for before, after in pairwise(seen)) <= 120 + PASS


def test_nothing_is_looked_for_before_the_batches_can_have_been_watched() -> None:
    """Four copies one at a time, each watched for ten minutes: no end before forty."""
    made = world(poll=900.0, wait=600.0, batch=Amount(1))
    begun = made.truth.now
    ends = flying(made, 2400.0)
    seen = looks(made, lambda: made.truth.now >= ends)
    assert {round(at - begun, -2) for at in seen} == {0, 900, 1800, 2400}
    assert len(seen) <= 6


def test_a_bake_is_looked_at_as_often_as_asked_and_at_its_end() -> None:
    made = world(poll=400.0, bake=900.0)
    until(made, Phase.RUNNING, Step.BAKING)
    began = made.truth.now
    seen = looks(made, lambda: made.record.step is Step.GATED)
    assert len(seen) <= 4
    assert made.truth.now - began <= 900 + PASS


def test_what_is_held_by_the_calendar_goes_on_when_that_ends() -> None:
    made = world(poll=900.0, freezes=(Freeze(NOW, NOW + 2000),))
    held(made, HoldKind.FREEZE)
    made.run(stop=lambda: made.record.hold(HoldKind.FREEZE) is None)
    assert made.truth.now - NOW <= 2000 + PASS


def test_a_longer_bake_for_want_of_traffic_ends_when_it_should() -> None:
    made = world(poll=900.0, bake=600.0, no_traffic=NoTraffic.EXTEND, extend=1000.0)
    until(made, Phase.RUNNING, Step.BAKING)
    made.truth.quiet = True
    began = made.truth.now
    held(made, HoldKind.NO_TRAFFIC)
    assert made.truth.now - began <= 1600 + PASS
