"""What cannot be read for long: nothing advances on it, no way back waits for it for ever, and a person is shown it."""

from dataclasses import dataclass, replace
from typing import Any

from pointsman.rollouts.observations import UNREAD, AlarmState, AlarmView, Observations, Suspension
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import HoldKind, NoteState, Step
from tests.unit.rollouts.drive import held, until, updates, world
from tests.unit.rollouts.world import Direction, Edges, World


@dataclass
class Blind:
    """Whether auto scaling, or the alarm, cannot be read."""

    scaling: bool = False
    alarm: bool = False

    def __call__(self, seen: Observations) -> Observations:
        if self.scaling:
            seen = replace(seen, scaling=None)
        if self.alarm:
            blind = AlarmView("fleet-errors", AlarmState.INSUFFICIENT_DATA, problem=UNREAD)
            seen = replace(seen, alarms={"fleet-errors": blind})
        return seen


def blinded(**asked: Any) -> tuple[World, Blind]:
    blind = Blind()
    return world(edges=Edges(see=blind), **asked), blind


def test_no_update_is_sent_while_auto_scaling_cannot_be_read_and_the_hold_says_so() -> None:
    made, blind = blinded()
    blind.scaling = True
    record = held(made, HoldKind.STUCK)
    hold = record.hold(HoldKind.STUCK)
    assert hold is not None
    assert "auto scaling cannot be read" in hold.sentence
    assert updates(made, Direction.FORWARD) == []
    blind.scaling = False
    assert made.run().phase is Phase.SUCCEEDED


def test_a_way_back_does_not_wait_for_ever_for_auto_scaling_that_cannot_be_read() -> None:
    made, blind = blinded()
    until(made, Phase.RUNNING, Step.BAKING, wave=1)
    made.truth.alarmed, made.truth.alarm_until = [made.truth.now], made.truth.now + 30
    blind.scaling = True
    assert made.run().phase in {Phase.ROLLED_BACK, Phase.ROLLBACK_INCOMPLETE}
    assert {part.spec.model for part in made.truth.parts.values()} == {"ranker-v1"}


def test_auto_scaling_that_was_suspended_is_resumed_though_it_could_not_be_read_for_a_while() -> None:
    made, blind = blinded()
    made.run(stop=lambda: any(n.state is NoteState.RESTORING for n in made.record.scaling) and not made.running)
    blind.scaling = True
    made.run(until=600.0)
    blind.scaling = False
    assert made.run().phase is Phase.SUCCEEDED
    assert made.truth.parts["m3"].scaling == Suspension()


def test_an_alarm_that_cannot_be_read_for_long_keeps_the_end_waiting_and_is_shown() -> None:
    made, blind = blinded(final_bake=0.0)
    until(made, Phase.FINAL_BAKE, Step.GATED)
    blind.alarm = True
    hold = held(made, HoldKind.STUCK).hold(HoldKind.STUCK)
    assert hold is not None
    assert hold.sentence == "alarm fleet-errors cannot be read"
    blind.alarm = False
    assert made.run().phase is Phase.SUCCEEDED
