"""The kill switch when its makers are slow, or it cannot be made: nothing of it is left, and no end waits for it."""

from pointsman.rollouts.decision import Act, CreateSwitch, DeleteSwitch
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import Step, Switch
from tests.unit.rollouts.drive import until, world
from tests.unit.rollouts.world import Edges


def test_a_switch_that_a_slow_pass_makes_after_all_is_not_left() -> None:
    stalled: list[float] = []

    def stall(act: Act) -> Act:
        if isinstance(act, CreateSwitch) and not stalled:
            stalled.append(made.truth.now)
            return DeleteSwitch(act.alarm)  # which does nothing: there is none
        return act

    made = world(edges=Edges(carry=stall))
    made.run(stop=lambda: made.record.switch is Switch.READY and not made.running)
    made.mischief("abort")
    made.run(stop=lambda: made.truth.now > stalled[0] + 150)
    made.carry_out(CreateSwitch("pointsman-kill-r1"))
    assert made.run().phase is Phase.STOPPED
    assert made.truth.switch is None


def test_an_end_does_not_wait_for_a_switch_that_cannot_be_made() -> None:
    made = world(edges=Edges(carry=lambda act: DeleteSwitch(act.alarm) if isinstance(act, CreateSwitch) else act))
    made.run(until=500.0)
    made.mischief("abort")
    assert made.run(until=2000.0).phase is Phase.REJECTED


def test_a_switch_is_not_given_up_before_its_deletion_was_asked_for_and_seen_to_fail() -> None:
    lost: list[Act] = []

    def lose_the_first(act: Act) -> Act:
        if isinstance(act, DeleteSwitch) and not lost:
            lost.append(act)
            return CreateSwitch(act.alarm)  # which does nothing: it is there
        return act

    made = world(edges=Edges(carry=lose_the_first))
    until(made, Phase.RUNNING, Step.UPDATING)
    made.mischief("abort")
    made.run(stop=lambda: made.record.switch is Switch.DELETING and made.record.switch_asked_at is None)
    made.truth.advance(4000)  # in which no pass came through
    assert made.run().phase is Phase.STOPPED
    assert made.truth.switch is None
