"""The kill switch when its makers are slow, or it cannot be made: nothing of it is left, and no end waits for it."""

from pointsman.rollouts.commands import By, start
from pointsman.rollouts.decision import Act, CreateSwitch, DeleteSwitch
from pointsman.rollouts.observations import AlarmState
from pointsman.rollouts.phase import Phase, is_switch, switch_name
from pointsman.rollouts.record import HoldKind, Step, Switch
from tests.unit.rollouts.build import NOW, request
from tests.unit.rollouts.drive import held, until, world
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


def test_two_deployments_of_one_account_have_no_kill_switch_in_common() -> None:
    names = [switch_name(rollout, stack) for rollout in ("r1", "b-r1", "c-b-r1") for stack in ("", "a", "a-b", "a-b-c")]
    assert len(set(names)) == len(names)
    assert not any(name.startswith(switch_name("", "a")) for name in names if not name.startswith("pointsman-kill/a/"))
    assert [is_switch(name, "r1") for name in names] == [True] * 4 + [False] * 8


def test_a_rollout_that_a_release_before_began_has_the_switch_that_it_began_with() -> None:
    assert start(request(), By("ana", NOW)).record.kill_switch == "pointsman-kill-r1"
    assert start(request(), By("ana", NOW), switch_name("r1", "prod")).record.kill_switch == "pointsman-kill/prod/r1"


def test_a_switch_that_someone_deletes_while_nothing_is_in_flight_is_made_again() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING, wave=0)
    made.truth.switch = None
    assert made.run(until=200_000.0).phase is Phase.SUCCEEDED
    told = [said.sentence for line in made.journal for said in line.said if "it is made again" in said.sentence]
    assert told == ["The kill switch pointsman-kill-r1 is gone, though nobody here deleted it: it is made again."]


def test_a_switch_that_someone_deletes_before_the_start_is_made_again() -> None:
    made = world()
    made.run(stop=lambda: made.record.switch is Switch.READY and made.record.phase is Phase.PREFLIGHT)
    made.truth.switch = None
    assert made.run().phase is Phase.SUCCEEDED


def test_a_switch_that_someone_deletes_in_flight_is_made_again_only_after_or_to_be_fired() -> None:
    for fired in (False, True):
        made = world()
        made.run(stop=lambda made=made: bool(made.record.components) and bool(made.truth.parts["m1"].flight))  # type: ignore[misc]
        made.truth.switch = None
        made.run(until=60.0)
        assert (made.truth.switch, made.record.switch) == (None, Switch.READY)
        if fired:
            made.mischief("abort")
        assert made.run().phase is (Phase.STOPPED if fired else Phase.SUCCEEDED)


def test_no_update_begins_on_a_switch_that_somebody_else_made() -> None:
    made = world(
        edges=Edges(carry=lambda act: DeleteSwitch(act.alarm) if lost and isinstance(act, CreateSwitch) else act)
    )
    lost: list[bool] = []
    until(made, Phase.RUNNING, Step.BAKING, wave=0)
    lost.append(True)
    made.truth.switch = None
    hold = held(made, HoldKind.STUCK).hold(HoldKind.STUCK)
    assert hold is not None
    assert hold.sentence.endswith("cannot begin: their kill switch, alarm pointsman-kill-r1, is missing")
    lost.clear()
    assert made.run().phase is Phase.SUCCEEDED


def test_a_switch_that_cannot_be_read_is_not_made_again() -> None:
    made = world()
    until(made, Phase.RUNNING, Step.BAKING, wave=0)
    made.truth.switch = AlarmState.INSUFFICIENT_DATA
    made.run(until=4000.0)
    assert made.record.switch is Switch.READY
    made.truth.switch = AlarmState.OK
    assert made.run().phase is Phase.SUCCEEDED
