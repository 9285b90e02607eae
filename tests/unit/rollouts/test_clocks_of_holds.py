"""A hold that is given up after a time: that stands still while nobody looks whether what it waits for has come."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pointsman.rollouts.commands import pause, resume
from pointsman.rollouts.observations import Observations
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import HoldKind, Step
from pointsman.rollouts.request import Freeze
from tests.unit.rollouts.build import BIG_BOX, NOW, OLD, OTHER, SMALL_BOX
from tests.unit.rollouts.drive import held, until, world
from tests.unit.rollouts.world import Edges, World

WAIT = 1800.0  # for room


def _short(made: World) -> None:
    """Until there is no room for the last wave, as what could give way cannot any more."""
    until(made, Phase.RUNNING, Step.BAKING, wave=1)
    part = made.truth.parts["y1"]
    part.copies, part.scaling = 1, None
    part.current, made.before["y1"] = 1, (1, None)
    made.truth.boxes["e3"] = (3, 3, SMALL_BOX)
    held(made, HoldKind.CAPACITY)


def _room(made: World) -> None:
    made.truth.boxes["e3"] = (3, 9, SMALL_BOX)


class _Stop:
    """`pointsman stop`, and `pointsman start`."""

    def __init__(self) -> None:
        self.stopped = False

    def __call__(self, seen: Observations) -> Observations:
        return replace(seen, stopped=self.stopped)


def _paused() -> tuple[World, Callable[[], None], Callable[[], None]]:
    made = world()
    return made, lambda: made.command(pause), lambda: made.command(resume)


def _stopped() -> tuple[World, Callable[[], None], Callable[[], None]]:
    stop = _Stop()
    made = world(edges=Edges(see=stop))
    return made, lambda: setattr(stop, "stopped", True), lambda: setattr(stop, "stopped", False)


def _changed_by_others() -> tuple[World, Callable[[], None], Callable[[], None]]:
    made = world()
    part = made.truth.parts["m4"]
    return made, lambda: setattr(part, "spec", OTHER), lambda: setattr(part, "spec", OLD)


STANDSTILLS = pytest.mark.parametrize("standstill", [_paused, _stopped, _changed_by_others])


@STANDSTILLS
def test_room_that_comes_while_nobody_looks_for_it_is_taken_after(
    standstill: Callable[[], tuple[World, Callable[[], None], Callable[[], None]]],
) -> None:
    made, begin, end = standstill()
    _short(made)
    begin()
    made.run(until=300.0)
    _room(made)
    made.run(until=4 * WAIT)
    assert made.record.phase is Phase.RUNNING
    end()
    assert made.run().phase is Phase.SUCCEEDED


@STANDSTILLS
def test_a_wait_for_room_goes_on_with_the_time_that_was_left(
    standstill: Callable[[], tuple[World, Callable[[], None], Callable[[], None]]],
) -> None:
    made, begin, end = standstill()
    _short(made)
    made.run(until=600.0)
    begin()
    made.run(until=4 * WAIT)
    end()
    began = made.truth.now
    assert made.run().phase is Phase.STOPPED
    assert "held (capacity) too long" in made.record.cause
    assert WAIT - 600.0 - 180.0 < (made.record.ended_at or 0.0) - began < WAIT


def test_a_wait_for_room_stands_still_within_a_freeze() -> None:
    made = world(freezes=(Freeze(NOW + 2600.0, NOW + 9800.0),))
    _short(made)
    made.run(stop=lambda: made.record.hold(HoldKind.FREEZE) is not None)
    _room(made)
    assert made.run().phase is Phase.SUCCEEDED


def test_two_standstills_that_overlap_are_one() -> None:
    made = world(freezes=(Freeze(NOW + 2600.0, NOW + 9800.0),))
    _short(made)
    made.run(stop=lambda: made.record.hold(HoldKind.FREEZE) is not None and not made.running)
    made.command(pause)
    made.run(until=20_000.0)
    assert made.record.phase is Phase.RUNNING
    made.command(resume)
    made.run(until=200.0)
    assert made.record.phase is Phase.RUNNING
    assert made.run().phase is Phase.STOPPED


@pytest.mark.parametrize("kind", [HoldKind.INCONCLUSIVE, HoldKind.NO_TRAFFIC])
def test_a_gate_that_cannot_tell_is_not_given_up_in_a_pause(kind: HoldKind) -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING)
    made.truth.quiet, made.truth.problem = kind is HoldKind.NO_TRAFFIC, "partial data" * (kind is HoldKind.INCONCLUSIVE)
    held(made, kind)
    made.command(pause)
    made.truth.quiet, made.truth.problem = False, ""
    made.run(until=20_000.0)
    assert made.record.phase is Phase.RUNNING
    made.command(resume)
    assert made.run().phase is Phase.SUCCEEDED


def test_the_last_look_for_room_is_made_as_the_wait_ends() -> None:
    """A pause that begins when the wait is over, and is seen late, leaves one look after it."""
    made = world()
    _short(made)
    hold = made.record.hold(HoldKind.CAPACITY)
    assert hold is not None
    assert hold.expiry is not None
    made.truth.advance(hold.expiry + 5.0 - made.truth.now)
    made.command(pause)
    made.run(until=200.0)
    _room(made)
    made.command(resume)
    assert made.run().phase is Phase.SUCCEEDED
    assert made.truth.boxes["e1"][2] == BIG_BOX
