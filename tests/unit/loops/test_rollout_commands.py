"""Commands on rollouts: who may, what it does, and what a mistake is answered with."""

from typing import Any

import pytest

from pointsman.errors import Conflict, Poison, UserMistake
from pointsman.rollout_wake_ports import Life
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import HoldKind, State
from tests.unit.loops.rollout_world import ALARM, World
from tests.unit.rollouts.build import OLD, OTHER

ANA = "arn:aws:iam::123456789012:user/ana"
DOCUMENT: dict[str, Any] = {
    "version": 1,
    "rollout": "r1",
    "targets": [{"prefix": "m"}],
    "change": {"model": "ranker-v2"},
    "waves": [1, "100%"],
    "wait": "1m",
    "bake": "5m",
    "final_bake": "5m",
    "guards": [{"alarm": ALARM}],
}


def invoked(verb: str, **more: Any) -> dict[str, Any]:
    return {"verb": verb, "caller": ANA, "rollout": "r1", **more}


def event(kind: str, detail: dict[str, Any]) -> dict[str, Any]:
    return {"version": "0", "id": "1", "source": "deploys", "detail-type": kind, "detail": detail}


def asked(**changes: Any) -> World:
    world = World()
    world.commands.receive(event("Rollout Requested", {**DOCUMENT, **changes}))
    return world


def test_a_request_by_an_event_starts_a_rollout_and_its_execution() -> None:
    world = asked()

    assert world.execution.lives == {("r1", 1): Life.RUNNING}
    assert world.stored.record.started_by == "event:deploys"
    assert world.run() is Phase.SUCCEEDED


def test_the_same_request_twice_is_one_rollout() -> None:
    world = asked()
    world.run_pass()
    world.commands.receive(event("Rollout Requested", DOCUMENT))

    assert world.dead_letters.buried == []
    assert len(world.table.kept) == 1
    assert world.stored.record.rev > 1


def test_another_request_of_the_same_id_is_refused() -> None:
    world = asked()

    with pytest.raises(UserMistake, match="there is a rollout of this name already"):
        world.commands.receive(invoked("request", request={**DOCUMENT, "bake": "10m"}))


def test_the_function_answers_what_was_done_or_why_not() -> None:
    world = asked()

    assert world.commands.respond(invoked("pause", reason="lunch"))["phase"] == "PLANNED"
    again = world.commands.respond(invoked("pause"))
    assert again == {"refused": {"problem": "it is paused already", "place": "rollout r1", "remedy": "resume it"}}
    assert world.commands.respond({"verb": "dance", "caller": ANA})["refused"]["place"] == "command.verb"
    assert world.commands.respond(event("Rollout Command", {"verb": "dance"})) == {}


def test_an_execution_that_could_not_be_started_is_started_by_the_clock() -> None:
    world = World()
    world.execution.fail_next("start", Conflict("lost"))
    with pytest.raises(Conflict):
        world.commands.receive(event("Rollout Requested", DOCUMENT))
    world.clock.advance(60)

    assert world.due.wake() == ("r1",)
    assert world.execution.lives == {("r1", 1): Life.RUNNING}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({**DOCUMENT, "surprise": 1}, id="an unknown key"),
        pytest.param({**DOCUMENT, "rollout": "x" * 70}, id="an id that is too long"),
        pytest.param({**DOCUMENT, "targets": [{"component": "c" * 60 + str(n)} for n in range(5000)]}, id="300 KB"),
        pytest.param({}, id="nothing"),
    ],
)
def test_a_request_that_is_wrong_is_refused_in_one_message_and_starts_nothing(body: dict[str, Any]) -> None:
    world = World()
    with pytest.raises(UserMistake) as refused:
        world.commands.receive(invoked("request", request=body))
    world.commands.receive(event("Rollout Requested", body))

    assert 0 < len(refused.value.problem) < 2000
    assert [letter.reason for letter in world.dead_letters.buried] == [refused.value.problem]
    assert world.table.kept == {}


@pytest.mark.parametrize(
    "sent, place",
    [
        (event("Rollout Command", {"verb": "dance"}), "command.verb"),
        (event("Something Else", {}), "command.detail-type"),
        ({"verb": "pause"}, "command.caller"),
    ],
)
def test_what_is_no_command_names_the_part_that_is_wrong(sent: dict[str, Any], place: str) -> None:
    world = World()
    if "detail-type" in sent:
        world.commands.receive(sent)
        assert world.dead_letters.buried[0].place == place
    else:
        with pytest.raises(Poison, match=place):
            world.commands.receive(sent)


def test_a_pause_holds_and_a_resume_goes_on_and_both_wake() -> None:
    world = asked()
    world.run_pass()
    world.table.park("r1", world.stored.wake_seq, "token-1")
    obeyed = world.commands.receive(invoked("pause", reason="lunch"))

    assert obeyed is not None
    assert obeyed.answer() == {
        "rollout": "r1",
        "phase": world.phase.value,
        "rev": world.stored.record.rev,
        "said": f"pause by claimed:{ANA}: lunch.",
    }
    assert world.execution.answered == ["token-1"]
    assert world.stored.wake_seq == 1
    sent = len(world.sent("m2"))
    world.run(3_000)
    assert (len(world.sent("m2")), world.phase.terminal) == (sent, False)
    world.commands.receive(invoked("resume"))
    assert world.run() is Phase.SUCCEEDED


def test_an_abort_keeps_what_is_done() -> None:
    world = asked()
    world.run(stop=lambda: bool(world.sent("m2")))
    world.commands.receive(invoked("abort"))

    assert world.run() is Phase.STOPPED
    assert world.models() == {"m1": "ranker-v2", "m2": "ranker-v1"}


def test_a_rollback_by_an_event_is_obeyed() -> None:
    world = asked()
    world.run(stop=lambda: bool(world.sent("m2")))
    world.commands.receive(event("Rollout Command", {"verb": "rollback", "rollout": "r1"}))

    assert world.run() is Phase.ROLLED_BACK


@pytest.mark.parametrize(
    "detail",
    [
        {"verb": "approve", "wave": 2},
        {"verb": "waive", "hold": "no_traffic", "reason": "quiet"},
        {"verb": "adopt", "component": "m1", "reason": "ours"},
    ],
)
def test_an_event_may_never_approve_waive_or_adopt(detail: dict[str, Any]) -> None:
    world = asked(approvals=[2])
    world.run(20_000)
    before = world.stored.record
    world.commands.receive(event("Rollout Command", {"rollout": "r1", **detail}))

    assert "an event may not" in world.dead_letters.buried[0].reason
    assert world.stored.record == before


def test_a_wave_that_needs_an_approval_waits_for_a_person() -> None:
    world = asked(approvals=[2])
    world.run(20_000)
    assert world.stored.record.hold(HoldKind.APPROVAL) is not None
    world.commands.receive(invoked("approve", wave=2))

    assert world.run() is Phase.SUCCEEDED
    assert world.stored.record.approvals[0].actor == f"claimed:{ANA}"


def test_a_quiet_endpoint_is_waived_by_a_person_with_a_reason() -> None:
    world = asked()
    world.signals.bells[ALARM].sampled = False
    world.run(stop=lambda: world.stored.record.hold(HoldKind.NO_TRAFFIC) is not None)
    with pytest.raises(UserMistake, match="reason"):
        world.commands.receive(invoked("waive", hold="no_traffic"))
    with pytest.raises(UserMistake, match="one of"):
        world.commands.receive(invoked("waive", hold="weather", reason="rain"))
    world.commands.receive(invoked("waive", hold="no_traffic", reason="night"))
    world.run(600)

    assert world.stored.record.waivers[0].reason == "night"
    assert world.stored.record.component("m1").state is State.DONE_NEW


def test_a_component_that_drifted_is_adopted_by_a_person_and_planned_again() -> None:
    world = asked()
    world.run(stop=lambda: bool(world.sent("m1")))
    world.fleet.change("m2", OTHER)
    world.run(3_000)
    world.commands.receive(invoked("adopt", component="m2", reason="the hotfix is fine"))

    assert world.run() is Phase.SUCCEEDED
    assert world.models() == {"m1": "ranker-v2", "m2": "ranker-v2"}


def test_an_adoption_reads_the_component_and_nothing_else_of_the_fleet() -> None:
    read: list[str] = []

    class Noting:
        def __init__(self, port: Any, name: str) -> None:
            self.port, self.name = port, name

        def __getattr__(self, method: str) -> Any:
            read.append(f"{self.name}.{method}")
            return getattr(self.port, method)

    world = World(Noting)
    world.commands.receive(event("Rollout Requested", DOCUMENT))
    world.run(stop=lambda: bool(world.sent("m1")))
    world.fleet.change("m2", OTHER)
    world.run(3_000)
    read.clear()
    world.commands.receive(invoked("adopt", component="m2", reason="the hotfix is fine"))

    asked_of_aws = [call for call in read if not call.startswith(("table.", "execution."))]
    assert asked_of_aws == ["fleet.component"]


def test_what_stuck_is_tried_again() -> None:
    world = asked(on_failure="stop")
    world.fleet.does_not_start = {"ranker-v2"}
    world.run()
    assert world.phase is Phase.STOPPED
    world.fleet.does_not_start = set()
    obeyed = world.commands.receive(invoked("retry", new_rollout="r1-again"))

    assert obeyed is not None
    assert obeyed.rollout == "r1-again"
    assert world.table.kept["r1-again"].stored.request.retry_of == "r1"
    assert world.execution.lives["r1-again", 1] is Life.RUNNING


def test_a_rollback_of_a_rollout_that_has_ended_is_a_new_one_that_is_linked() -> None:
    world = asked()
    assert world.run() is Phase.SUCCEEDED
    obeyed = world.commands.receive(invoked("rollback", new_rollout="r1-back"))

    assert obeyed is not None
    advance = world.loop.run("r1-back", 1)
    for _ in range(200):
        if advance.ended:
            break
        world.clock.advance(30)
        advance = world.loop.run("r1-back", 1)
    assert advance.phase == "ROLLED_BACK"
    assert world.models() == {"m1": "ranker-v1", "m2": "ranker-v1"}
    assert {lock.owner for lock in world.table.held.values()} == {""}


def test_what_ended_incomplete_is_carried_on_by_one_that_is_linked_and_takes_its_locks() -> None:
    world = asked()
    world.run(stop=lambda: world.phase is Phase.FINAL_BAKE)
    world.fleet.change("m1", OTHER)
    world.commands.receive(invoked("rollback"))
    assert world.run() is Phase.ROLLBACK_INCOMPLETE
    assert world.table.held["e1"].owner == "r1"
    with pytest.raises(UserMistake, match="pointsman rollout rollback r1"):
        world.commands.receive(invoked("retry", new_rollout="r1-again"))
    world.fleet.change("m1", OLD)
    world.commands.receive(invoked("rollback", new_rollout="r1-again"))
    advance = world.loop.run("r1-again", 1)
    for _ in range(400):
        if advance.ended:
            break
        world.clock.advance(30)
        world.react()
        advance = world.loop.run("r1-again", 1)

    assert advance.phase == "ROLLED_BACK"
    assert {lock.owner for lock in world.table.held.values()} == {""}


def test_a_second_way_back_names_the_first_one_which_has_ended_too() -> None:
    world = asked()
    world.run(stop=lambda: world.phase is Phase.FINAL_BAKE)
    world.fleet.change("m1", OTHER)
    world.commands.receive(invoked("rollback"))
    assert world.run() is Phase.ROLLBACK_INCOMPLETE
    world.commands.receive(invoked("rollback", new_rollout="r1-back"))
    with pytest.raises(UserMistake, match="wait for r1-back"):
        world.commands.receive(invoked("rollback", new_rollout="r1-more"))
    while not world.loop.run("r1-back", 1).ended:
        world.clock.advance(60)
    with pytest.raises(UserMistake, match=r"r1-back has ended.*pointsman rollout rollback r1-back"):
        world.commands.receive(invoked("rollback", new_rollout="r1-more"))


def test_an_unknown_rollout_is_told_with_the_last_ones() -> None:
    world = asked()

    with pytest.raises(UserMistake, match="r1"):
        world.commands.receive({**invoked("pause"), "rollout": "r9"})


def test_a_rollout_that_has_ended_is_never_commanded() -> None:
    world = asked()
    world.run()

    for verb in ("pause", "resume", "abort"):
        with pytest.raises(UserMistake, match="ended"):
            world.commands.receive(invoked(verb))


def test_a_command_that_a_pass_was_faster_than_is_decided_again() -> None:
    world = asked()
    world.run_pass()
    world.table.fail_next("commit", Conflict("faster"), times=2)
    world.commands.receive(invoked("pause"))
    assert world.stored.record.hold(HoldKind.OPERATOR) is not None

    world.table.fail_next("commit", Conflict("faster"), times=9)
    with pytest.raises(Conflict):
        world.commands.receive(invoked("resume"))
