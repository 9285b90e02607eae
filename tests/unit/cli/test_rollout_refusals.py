"""What is wrong with a request is told in one message that says what to do, by whichever way it was asked for.

Nothing is changed by it: no update, no lock, no kill switch, no copy.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from pointsman.rollouts.observations import AlarmState, Answer, Status
from pointsman.rollouts.phase import Phase
from tests.unit.cli.rollout_harness import REQUEST, RolloutCommand
from tests.unit.loops.rollout_world import ALARM, World
from tests.unit.rollouts.build import OTHER, SMALL_BOX

TEN_ALARMS = ", ".join(f"{{alarm: a{number}, native: true}}" for number in range(10))


def as_written(_: World) -> None:
    """The world is in order, the request is not."""


def shown(**changes: Any) -> Callable[[World], None]:
    def change(world: World) -> None:
        part = world.fleet.parts["m1"]
        part.view = replace(part.view, **changes)

    return change


def of_copies(count: int, room: int = 90) -> Callable[[World], None]:
    def change(world: World) -> None:
        world.fleet.add_endpoint("e1", room, room, SMALL_BOX)
        shown(desired=count, current=count)(world)

    return change


def without_model(name: str) -> Callable[[World], None]:
    return lambda world: world.fleet.models.discard(name)


def with_alarm(state: AlarmState) -> Callable[[World], None]:
    return lambda world: world.signals.set_state(ALARM, state)


def without_alarm(world: World) -> None:
    del world.signals.bells[ALARM]


def unreadable_to_roles(world: World) -> None:
    world.permissions.answers["r"] = Answer.NO


def with_ten_alarms(world: World) -> None:
    for number in range(10):
        world.signals.add(f"a{number}")


def full(world: World) -> None:
    world.fleet.add_endpoint("e1", 2, 2, SMALL_BOX)


def locked(world: World) -> None:
    world.ask(rollout="r0")
    world.loop.run("r0", 1)


CASES = [
    ("an unknown component", as_written, "{prefix: m}", "{component: nobody}",
     "component nobody: there is no such inference component (check its name and the region)"),
    ("an unknown endpoint", as_written, "{prefix: m}", "{endpoint: nowhere}",
     "endpoint nowhere: there is no such endpoint (check its name and the region)"),
    ("a prefix of nothing", as_written, "{prefix: m}", "{prefix: zz}",
     "prefix zz: it names no inference component (take it out, or correct it)"),
    ("a tag of nothing", as_written, "{prefix: m}", "{tag: {team: zz}}",
     "tag team=zz: it names no inference component (take it out, or correct it)"),
    ("the present version", as_written, "ranker-v2", "ranker-v1",
     ("component m1, component m2: the specification asked for is the one it has "
     "(change model, image, artifact, environment or compute)")),
    ("no way back", without_model("ranker-v1"), "", "",
     ("component m1, component m2: its present model ranker-v1 is gone, so there is no way back to it "
     "(create model ranker-v1 again before the rollout)")),
    ("a new model that is not there", without_model("ranker-v2"), "", "",
     "the new model ranker-v2 does not exist (create it, or correct `change.model`)"),
    ("a bake in which the alarm cannot fire", as_written, "\nbake: 5m", "\nbake: 1s",
     (f"alarm {ALARM}: a bake of 1 s is over before this alarm can fire, which takes 180 s "
     "(set `bake` to 180s at least)")),
    ("an alarm that is missing", without_alarm, "", "",
     f"alarm {ALARM}: there is no such alarm in this account and region (create it, or take it out)"),
    ("an alarm that fires", with_alarm(AlarmState.ALARM), "", "",
     (f"alarm {ALARM}: it is in ALARM already, so it could not tell a bad version from today's trouble "
     "(mend that first, or waive the alarm by name)")),
    ("alarms that the endpoint's role cannot read", unreadable_to_roles, f"[{ALARM}]",
     f"[{{alarm: {ALARM}, native: true}}]",
     ("endpoint e1, endpoint e2: its execution role may not read the alarms, so SageMaker's own rollback would be "
      "inert (allow it cloudwatch:DescribeAlarms on them)")),
    ("an adapter", shown(base="m9"), "", "",
     ("component m1: it is an adapter of m9, which has no copies of its own to roll "
     "(update the adapter directly, or name m9)")),
    ("one copy that may not surge", of_copies(1), "wait: 1m", "wait: 1m\nsingle_copy: refuse",
     ("component m1: it has one copy, which cannot be replaced without a gap "
     "(allow `single_copy: surge`, or scale it to two)")),
    ("no copies", of_copies(0), "", "",
     "component m1: it has no copies, so there is nothing to roll (scale it up first)"),
    ("a batch under 5 % of many copies", of_copies(25), "wait: 1m", "wait: 1m\nbatch: 1",
     ("component m1: a batch of 1 is under 5 % of its 25 copies, which SageMaker refuses "
     "(ask for 2 at least, or leave `batch` out)")),
    ("a batch over half of the copies", of_copies(4), "wait: 1m", "wait: 1m\nbatch: 3",
     ("component m1: a batch of 3 is over half of its 4 copies, which SageMaker refuses "
     "(ask for 2 at most, or leave `batch` out)")),
    ("more than nine alarms", with_ten_alarms, f"[{ALARM}]", f"[{TEN_ALARMS}]",
     ("component m1, component m2: 10 alarms of its own; SageMaker takes 9 beside the kill switch "
     "(leave some to the fleet's gate)")),
    ("no room", full, "", "", "e1 needs 3 instances to roll m1 with 1 copy more; 2 are there and 2 is the most"),
    ("a component that failed", shown(status=Status.FAILED), "", "",
     "component m1: it is Failed, so it would refuse an update (delete it and create it anew)"),
    ("another rollout on the endpoint", locked, "", "",
     ("endpoint e1, endpoint e2: rollout r0 is under way on it, and an alarm could not tell the two apart "
     "(wait for r0 to end, or abort it; one that ended incomplete is rolled back once more)")),
]  # fmt: skip


@pytest.fixture(params=CASES, ids=[case[0] for case in CASES])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[RolloutCommand, Path, str]:
    """The command in a world, the file of a request, and what is wrong."""
    _, setup, before, after, told = request.param
    assert before in REQUEST
    command, file = RolloutCommand(), tmp_path / "rollout.yaml"
    setup(command.world)
    file.write_text(REQUEST.replace(before, after, 1) if before else REQUEST)
    return command, file, told


def untouched(world: World) -> None:
    switch = "pointsman-kill/prod/r1"
    assert not any(switch in act.alarms for part in world.fleet.parts.values() for act in part.sent)
    assert switch not in world.signals.bells
    assert "r1" not in {lock.owner for lock in world.table.locks(["e1", "e2"]).values()}


def test_the_plan_tells_it_and_exits_with_1(case: tuple[RolloutCommand, Path, str]) -> None:
    command, file, told = case
    result = command.run("rollout", "plan", str(file))
    assert result.exit_code == 1
    lines = " ".join(line.strip() for line in result.stdout.splitlines())
    assert f"refused     {told}" in lines or told in lines
    assert "it would be refused, nothing would change" in lines
    untouched(command.world)


def test_a_rollout_that_was_asked_for_ends_with_it_and_changes_nothing(case: tuple[RolloutCommand, Path, str]) -> None:
    command, file, told = case
    assert command.run("rollout", "start", str(file)).exit_code == 0
    command.world.run_pass()
    assert command.world.phase is Phase.REJECTED
    assert told in command.world.stored.record.cause
    assert told in next(n.sentence for n in command.world.notices.told if n.key == "r1/ended")
    untouched(command.world)


def test_one_that_an_event_asked_for_does_so_too(case: tuple[RolloutCommand, Path, str]) -> None:
    command, file, told = case
    detail = YAML(typ="safe", pure=True).load(file.read_text())
    command.world.commands.receive({"source": "deploys", "detail-type": "Rollout Requested", "detail": detail})
    command.world.run_pass()
    assert command.world.phase is Phase.REJECTED
    assert told in command.world.stored.record.cause
    untouched(command.world)


def test_what_is_wrong_with_very_much_is_told_in_part(tmp_path: Path) -> None:
    command, file = RolloutCommand(), tmp_path / "rollout.yaml"
    file.write_text(REQUEST.replace("{prefix: m}", ", ".join(f"{{component: none-{n:02d}}}" for n in range(60))))
    command.run("rollout", "start", str(file))
    command.world.run_pass()
    cause = command.world.stored.record.cause
    assert cause == (
        "component none-00, component none-01, component none-02 and 57 more: there is no such inference component "
        "(check its name and the region)."
    )


def test_a_component_that_someone_else_changes_midway_is_left_as_it_is_and_shown_with_the_way_on(
    tmp_path: Path,
) -> None:
    command, file = RolloutCommand(), tmp_path / "rollout.yaml"
    file.write_text(REQUEST)
    command.run("rollout", "start", str(file))
    world = command.world
    world.run(stop=lambda: world.stored.record.wave == 1 and bool(world.fleet.parts["m1"].sent))
    world.fleet.change("m1", OTHER)
    world.run(seconds=300)
    text = command.run("rollout", "show", "r1").stdout
    assert "held        drift by" in text
    assert "m1" in text.partition("held        drift")[2].partition("\n")[0]
    assert "next        pointsman rollout adopt r1 m1 --reason TEXT" in text
    assert world.models()["m1"] == "hotfix"


def test_two_rollouts_of_one_name_at_once_are_one_message(tmp_path: Path) -> None:
    command, file = RolloutCommand(), tmp_path / "rollout.yaml"
    file.write_text(REQUEST)
    command.run("rollout", "start", str(file))
    file.write_text(REQUEST.replace("wait: 1m", "wait: 2m"))
    result = command.run("rollout", "start", str(file))
    assert (result.exit_code, result.stderr) == (
        2,
        (
            "Error: rollout r1: there is a rollout of this name already, with another request "
            "(give it a new name; `pointsman rollout show r1` shows that one)\n"
        ),
    )


LARGE = {
    "version": 1,
    "rollout": "r1",
    "targets": [{"component": f"c{number:059d}"} for number in range(4000)],
    "change": {"model": "ranker-v2"},
}
TOO_LARGE = "bytes, and at most 100000 are taken (name targets by endpoint, prefix or tag, or split the rollout)"


def test_a_request_of_300_kb_by_an_invocation_is_answered_with_what_to_do() -> None:
    world = World()
    answer = world.commands.respond({"verb": "request", "caller": "ana", "request": LARGE})
    assert TOO_LARGE in answer["refused"]["problem"]
    assert (world.table.kept, world.execution.lives) == ({}, {})


def test_a_request_of_300_kb_by_an_event_is_buried_with_what_to_do() -> None:
    world = World()
    event = {"source": "deploys", "detail-type": "Rollout Requested", "detail": LARGE}
    assert world.commands.respond(event) == {}
    assert [TOO_LARGE in letter.reason for letter in world.dead_letters.buried] == [True]
    assert (world.table.kept, world.execution.lives) == ({}, {})
