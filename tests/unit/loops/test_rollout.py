"""Passes over one rollout: what they change, in which order, and what they tell the state machine."""

from dataclasses import replace
from typing import Any

import pytest

from pointsman.errors import Conflict, Gone, Misconfigured, Refused, Transient
from pointsman.loops.rollout import GENERATION, PASSES
from pointsman.rollouts.commands import By, pause, rollback
from pointsman.rollouts.decision import replay
from pointsman.rollouts.observations import WHOLE, Answer, LockView, ScalingView, Suspension
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import HoldKind, RolloutRecord, State
from pointsman.rollouts.request import Amount, Guard, Target, Yielding
from tests.unit.loops.rollout_world import ALARM, NEW, OLD, World
from tests.unit.rollouts.build import OTHER


def test_a_good_version_reaches_the_whole_fleet() -> None:
    world = World()
    world.ask()

    assert world.run() is Phase.SUCCEEDED
    assert world.models() == {"m1": "ranker-v2", "m2": "ranker-v2"}
    assert world.copies() == {"m1": 2, "m2": 2}
    assert world.table.held == {"e1": LockView("", 1), "e2": LockView("", 1)}
    assert set(world.signals.bells) == {ALARM}
    assert replay(RolloutRecord("r1"), world.table.kept["r1"].journal) == world.stored.record


def test_a_bad_version_is_taken_back_everywhere() -> None:
    world = World()
    world.bad = {"ranker-v2"}
    world.ask(guards=(Guard(ALARM),))

    assert world.run() is Phase.ROLLED_BACK
    assert world.models() == {"m1": "ranker-v1", "m2": "ranker-v1"}
    assert world.sent("m2") == []
    assert set(world.signals.bells) == {ALARM}


def test_what_a_plan_refuses_changes_nothing_and_says_why() -> None:
    world = World()
    world.ask(targets=(Target(component="nothing"),))

    assert world.run() is Phase.REJECTED
    assert "there is no such inference component" in world.stored.record.cause
    assert [notice.key for notice in world.notices.told] == ["r1/started", "r1/ended"]


def test_each_notice_is_sent_once_and_then_nothing_is_left_to_send() -> None:
    world = World()
    world.ask()
    world.run()

    keys = [notice.key for notice in world.notices.told]
    assert len(keys) == len(set(keys))
    assert world.stored.unsent == 0


def test_the_state_machine_is_told_where_to_wait_and_for_how_long() -> None:
    world = World()
    world.ask()
    world.table.wake("r1")
    first = world.run_pass()
    assert first.answer() == {
        "rollout_id": "r1",
        "generation": 1,
        "phase": first.phase,
        "wake_seq": 1,
        "wait_seconds": first.wait_seconds,
        "ended": False,
        "successor": None,
    }
    assert 1 <= first.wait_seconds <= 60
    phases = {first.phase}
    while not (advance := world.run_pass()).ended:
        phases.add(advance.phase)
        world.clock.advance(advance.wait_seconds)

    assert {"Await update", "Bake"} <= phases <= {"Await update", "Bake", "Await capacity"}
    assert advance.phase == "SUCCEEDED"


def test_a_pass_of_an_older_generation_does_nothing() -> None:
    world = World()
    world.ask()
    world.table.succeed("r1", 1)
    advance = world.loop.run("r1", 1)

    assert (advance.phase, advance.ended, advance.successor) == ("SUPERSEDED", True, None)
    assert world.phase is Phase.PLANNED


def test_before_an_execution_s_history_is_full_the_next_generation_is_named() -> None:
    world = World()
    world.ask()
    world.run_pass()
    kept = world.table.kept["r1"]
    kept.stored = replace(kept.stored, passes=GENERATION - 1)
    world.clock.advance(60)
    advance = world.loop.run("r1", 1)

    assert (advance.generation, advance.successor, advance.ended) == (1, 2, False)
    assert world.stored.generation == 2
    assert world.loop.run("r1", 1).phase == "SUPERSEDED"
    assert world.run() is Phase.SUCCEEDED


def test_a_rollout_that_nobody_asked_for_is_gone() -> None:
    with pytest.raises(Gone):
        World().loop.run("r1", 1)


def test_one_run_has_so_many_passes_at_most() -> None:
    world = World()
    world.ask()
    world.run_pass()

    assert len(world.log.passes) <= PASSES


@pytest.mark.parametrize("method", ["load", "commit"])
def test_a_lost_race_or_a_throttled_table_ends_the_pass_without_an_act(method: str) -> None:
    for error in (Conflict("faster"), Transient("throttled")):
        world = World()
        world.ask()
        world.table.fail_next(method, error)
        with pytest.raises(type(error)):
            world.run_pass()
        assert world.sent("m1") == []
        assert world.run() is Phase.SUCCEEDED


def test_no_update_is_sent_by_a_pass_that_lost_the_race_for_its_commit() -> None:
    world = World()
    world.ask()
    real = world.table.commit

    def race(*args: Any) -> Any:
        read, decision = args[0], args[1]
        if any(type(act).__name__ == "SubmitUpdate" for act in decision.acts):
            real(read, pause(read.record, By("ben", world.clock.now())), world.clock.now(), 1)
        return real(*args)

    world.table.commit = race  # type: ignore[method-assign]
    world.run(stop=lambda: world.stored.record.hold(HoldKind.OPERATOR) is not None)

    assert world.stored.record.hold(HoldKind.OPERATOR) is not None
    assert world.sent("m1") == []


def test_an_update_that_is_refused_is_told_in_the_words_of_sagemaker_and_tried_again() -> None:
    world = World()
    world.ask()
    world.fleet.fail_next("update", Refused("cannot update m1 while in state UPDATE_RC_IN_PROGRESS"))

    assert world.run() is Phase.SUCCEEDED
    said = [said.sentence for line in world.table.kept["r1"].journal for said in line.said]
    assert any("UPDATE_RC_IN_PROGRESS" in sentence for sentence in said)
    assert [act.attempt.number for act in world.sent("m1")] == [2]


def test_an_act_that_fails_in_an_unknown_way_stops_no_other_and_is_read_again() -> None:
    world = World()
    world.ask(waves=(Amount(100, percent=True),))
    world.fleet.fail_next("update", ValueError("a code that nobody knows"))

    assert world.run() is Phase.SUCCEEDED
    assert ("SubmitUpdate: a code that nobody knows", False) in world.log.stumbles
    outcomes = [(r.decision.acts, r.outcomes) for r in world.log.passes if "unknown" in r.outcomes]
    assert [(len(acts), told) for acts, told in outcomes] == [(2, ("unknown", "done"))]


def test_an_update_whose_answer_was_lost_is_not_sent_again() -> None:
    world = World()
    world.ask()
    real = world.fleet.update

    def lost(act: Any) -> None:
        real(act)
        raise Transient("the answer was lost")

    world.fleet.update = lost  # type: ignore[method-assign]

    assert world.run() is Phase.SUCCEEDED
    assert [len(world.sent(name)) for name in ("m1", "m2")] == [1, 1]


def test_what_cannot_be_read_for_a_while_is_waited_for() -> None:
    world = World()
    world.ask()
    world.run(stop=lambda: bool(world.sent("m1")))
    for method in ("component", "endpoint"):
        world.fleet.fail_next(method, Transient("throttled"), times=7)
    world.signals.fail_next("read", Transient("throttled"), times=3)
    world.scaling.fail_next("describe", Transient("throttled"), times=3)

    assert world.run() is Phase.SUCCEEDED
    assert [len(world.sent(name)) for name in ("m1", "m2")] == [1, 1]


def test_a_kill_switch_that_cannot_be_read_is_not_taken_for_deleted() -> None:
    world = World()
    world.ask()
    world.run(stop=lambda: world.stored.record.step.value == "GATED" and world.phase is Phase.FINAL_BAKE)
    world.signals.fail_next("delete", Transient("throttled"))
    world.signals.fail_next("read", Transient("throttled"), times=2)

    assert world.run() is Phase.SUCCEEDED
    assert set(world.signals.bells) == {ALARM}


def test_a_deployment_that_lacks_a_permission_waits_for_the_person_who_mends_it() -> None:
    world = World()
    world.ask()
    world.control.fail_next("stopped", Misconfigured("AccessDenied"), times=3)
    world.run(stop=lambda: bool(world.log.stumbles))
    assert world.log.stumbles == [("AccessDenied", True)]

    assert world.run() is Phase.SUCCEEDED


def test_a_plan_that_may_not_read_what_it_needs_is_refused_in_words() -> None:
    world = World()
    world.ask()
    world.signals.fail_next("read", Misconfigured("AccessDenied: cloudwatch:DescribeAlarms"), times=99)

    assert world.run() is Phase.REJECTED
    assert "cloudwatch:DescribeAlarms" in world.stored.record.cause


def test_a_fault_of_ours_is_logged_with_its_traceback_and_the_rollout_waits_a_minute() -> None:
    world = World()
    world.ask()
    world.fleet.fail_next("components", ZeroDivisionError("ours"))
    advance = world.run_pass()

    assert (advance.ended, advance.wait_seconds) == (False, 60)
    assert world.log.stumbles == [("ours", False)]
    assert world.run() is Phase.SUCCEEDED


def test_a_notice_that_could_not_be_sent_is_sent_by_a_later_pass() -> None:
    world = World()
    world.ask()
    world.notices.fail_next("send", Transient("throttled"), times=2)
    world.run()

    assert world.notices.told[0].key == "r1/started"
    assert world.stored.unsent == 0


def test_auto_scaling_is_suspended_while_a_component_is_rolled_and_restored_after() -> None:
    world = World()
    world.scaling.targets["m1"] = ScalingView(2, 4, Suspension(scale_in=True))
    world.ask()
    world.run(stop=lambda: bool(world.sent("m1")))
    assert world.scaling.targets["m1"].suspension == WHOLE

    assert world.run() is Phase.SUCCEEDED
    assert world.scaling.targets["m1"].suspension == Suspension(scale_in=True)


def test_a_component_that_yields_is_lowered_and_restored() -> None:
    world = World()
    world.fleet.add_endpoint("e2", 3, 3, OLD.compute)
    world.fleet.add("y1", "e2", OLD, 1)
    world.fleet.parts["y1"].view = replace(world.fleet.parts["y1"].view, name="y1")
    world.ask(targets=(Target(component="m2"),), waves=(Amount(100, percent=True),), yielding=(Yielding("y1", 0),))
    lowest = 9

    def watch() -> bool:
        nonlocal lowest
        lowest = min(lowest, world.copies()["y1"])
        return False

    assert world.run(stop=watch) is Phase.SUCCEEDED, world.stored.record.cause
    assert (lowest, world.copies()["y1"]) == (0, 1)


def test_a_component_that_someone_else_changes_is_never_overwritten() -> None:
    world = World()
    world.ask()
    world.run(stop=lambda: bool(world.sent("m1")))
    world.fleet.change("m2", OTHER)
    world.run(3_000)

    assert world.stored.record.hold(HoldKind.DRIFT) is not None
    assert world.stored.record.component("m2").state is State.DRIFTED
    assert world.sent("m2") == []


def test_a_role_that_may_not_read_the_alarms_is_refused_and_an_unknown_one_warned_of() -> None:
    for answer, phase in ((Answer.NO, Phase.REJECTED), (Answer.UNKNOWN, Phase.SUCCEEDED)):
        world = World()
        world.permissions.answers["r"] = answer
        world.ask(guards=(Guard(ALARM, native=True),))
        assert world.run() is phase


def test_a_second_rollout_on_an_endpoint_is_refused_with_the_name_of_the_first() -> None:
    world = World()
    world.ask()
    world.run(stop=lambda: world.phase is Phase.RUNNING)
    world.ask(rollout="r2")
    world.loop.run("r2", 1)

    assert world.table.kept["r2"].stored.record.phase is Phase.REJECTED
    assert "rollout r1 is under way" in world.table.kept["r2"].stored.record.cause


def test_targets_are_found_by_tag_and_by_endpoint() -> None:
    for target in (Target(tag=("team", "search")), Target(endpoint="e2")):
        world = World()
        world.fleet.add("m2", "e2", OLD, 2, {"team": "search"})
        world.ask(targets=(target,))
        assert world.run() is Phase.SUCCEEDED
        assert world.models() == {"m1": "ranker-v1", "m2": NEW.model}


def test_while_everything_is_stopped_nothing_new_is_begun() -> None:
    world = World()
    world.ask()
    world.control.stop()
    world.run(3_000)
    assert world.sent("m1") == []
    world.control.resume()

    assert world.run() is Phase.SUCCEEDED


def test_a_rollout_that_is_asked_for_while_everything_is_stopped_is_held_and_then_goes_on() -> None:
    world = World()
    world.control.stop()
    world.ask()
    world.run(3_000)
    held = world.stored.record.hold(HoldKind.OPERATOR)
    assert (held is not None and held.owner, world.sent("m1")) == ("stop", [])
    world.control.resume()

    assert world.run() is Phase.SUCCEEDED


def test_a_pause_of_an_operator_outlasts_a_stop_and_a_start() -> None:
    world = World()
    world.ask()
    world.control.stop()
    world.run(3_000)
    by = By("ana", world.clock.now(), "lunch")
    world.table.commit(world.stored, pause(world.stored.record, by), world.clock.now(), 1)
    world.control.resume()
    world.run(3_000)
    held = world.stored.record.hold(HoldKind.OPERATOR)
    assert (held is not None and held.owner, world.sent("m1")) == ("ana", [])


def test_from_an_alarm_to_the_kill_switch_it_is_one_run() -> None:
    world = World()
    world.ask()
    world.run(stop=lambda: bool(world.sent("m1")))
    world.run(60)
    world.bad = {"ranker-v2"}
    world.react()
    world.run_pass()

    acts = [type(act).__name__ for report in world.log.passes for act in report.decision.acts]
    assert "FireSwitch" in acts
    assert world.phase in {Phase.ROLLING_BACK, Phase.ROLLED_BACK}
    assert world.models()["m1"] == "ranker-v1"


def test_a_rollback_that_a_person_asks_for_takes_back_what_is_done() -> None:
    world = World()
    world.ask()
    world.run(stop=lambda: bool(world.sent("m2")))
    stored = world.table.load("r1")
    world.table.commit(stored, rollback(stored.record, By("ana", world.clock.now())), world.clock.now(), 1)

    assert world.run() is Phase.ROLLED_BACK
    assert world.models() == {"m1": "ranker-v1", "m2": "ranker-v1"}
