"""What a pass and a plan see, and what they make of that which cannot be read."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from pointsman.errors import Gone, Misconfigured, Transient
from pointsman.rollout_ports import AlarmQuery, Refusal
from pointsman.rollouts.gate import Watch
from pointsman.rollouts.observations import (
    UNREAD,
    Absent,
    AlarmState,
    AlarmView,
    Answer,
    ComponentView,
    LockView,
    Observations,
    Occupant,
    ScalingView,
)
from pointsman.rollouts.record import Hold, HoldKind, Intent, Step
from pointsman.rollouts.request import Guard, Target, Yielding
from tests.unit.loops.rollout_world import ALARM, OLD, World, small
from tests.unit.rollouts.build import SMALL_BOX


def planned() -> World:
    world = World()
    world.fleet.add_endpoint("e2", 3, 4, SMALL_BOX)
    world.fleet.add("y1", "e2", OLD, 1)
    world.ask(yielding=(Yielding("y1"),))
    world.run_pass()
    assert world.stored.plan is not None
    return world


def look(world: World) -> Observations:
    assert world.stored.plan is not None
    return world.observer.look(world.stored, world.stored.plan)


def test_a_plan_sees_its_targets_and_all_that_lives_beside_them() -> None:
    world = World()
    world.fleet.add("beside", "e2", OLD, 1)
    world.fleet.add("elsewhere", "e3", OLD, 1)
    world.table.held["e2"] = LockView("r0", 4)
    seen = world.observer.survey(small(targets=(Target(component="m2"), Target(component="nothing"))))

    assert set(seen.components) == {"m2", "beside", "nothing"}
    assert seen.component("nothing") is Absent.NOT_FOUND
    assert seen.endpoints["e2"].occupants == (Occupant("beside", 1, OLD.compute), Occupant("m2", 2, OLD.compute))
    assert seen.locks == {"e2": LockView("r0", 4)}
    assert seen.models == {"ranker-v1": Answer.YES, "ranker-v2": Answer.YES}
    assert set(seen.alarms) == {ALARM}


def test_tags_are_read_only_where_a_target_names_one() -> None:
    world = World()
    world.fleet.add("m2", "e2", OLD, 2, {"team": "search"})
    world.observer.survey(small())
    world.fleet.fail_next("tags", Gone("never asked for"))
    world.observer.survey(small())
    world.fleet._planned.clear()
    seen = world.observer.survey(small(targets=(Target(tag=("team", "search")),)))

    assert set(seen.components) == {"m2"}
    view = seen.component("m2")
    assert isinstance(view, ComponentView)
    assert view.tags == (("team", "search"),)


def test_a_plan_is_not_made_of_what_may_be_readable_in_a_moment() -> None:
    for method in ("component", "components", "endpoint"):
        world = World()
        world.fleet.fail_next(method, Transient("throttled"))
        with pytest.raises(Transient):
            world.observer.survey(small())
    world = World()
    world.signals.fail_next("read", Transient("throttled"))
    with pytest.raises(Transient):
        world.observer.survey(small())


def test_a_component_that_we_may_not_read_is_unreadable() -> None:
    world = World()
    world.fleet.fail_next("component", Misconfigured("AccessDenied"))
    seen = world.observer.survey(small(targets=(Target(component="m1"),)))

    assert seen.component("m1") is Absent.UNREADABLE


@pytest.mark.parametrize("target", [Target(prefix="m1"), Target(tag=("team", "search"))])
def test_what_a_prefix_or_a_tag_may_name_is_not_left_out_for_want_of_permission(target: Target) -> None:
    world = World()
    world.fleet.fail_next("component", Misconfigured("AccessDenied"))
    assert world.observer.survey(small(targets=(target,))).components.get("m1") is Absent.UNREADABLE


def test_roles_are_asked_about_the_alarms_that_their_components_list_and_the_kill_switch() -> None:
    world = World()
    guards = (Guard("{component}-errors"), Guard("fleet", native=True), Guard("gate-only"))
    world.observer.survey(small(guards=guards), "pointsman-kill/prod/r1")

    assert [(role, resources) for role, _, resources in world.permissions.asked if role == "r"] == [
        ("r", ("fleet", "m1-errors", "pointsman-kill/prod/r1")),
        ("r", ("fleet", "m2-errors", "pointsman-kill/prod/r1")),
    ]


def test_an_endpoint_without_a_known_role_leaves_the_question_open() -> None:
    world = World()
    world.fleet.endpoints["e1"] = replace(world.fleet.endpoints["e1"], role="")

    seen = world.observer.survey(small())
    assert {name: view.reads_alarms for name, view in seen.endpoints.items()} == {
        "e1": Answer.UNKNOWN,
        "e2": Answer.YES,
    }


def test_a_pass_sees_its_members_what_yields_and_its_scaling() -> None:
    world = planned()
    world.scaling.targets["m1"] = ScalingView(1, 2)
    seen = look(world)

    assert set(seen.components) == {"m1", "m2", "y1"}
    assert seen.scaling == {"m1": ScalingView(1, 2)}
    assert seen.kill_switch is AlarmState.OK
    assert set(seen.alarms) == {ALARM}
    assert seen.began == world.clock.now()


def test_what_a_pass_cannot_read_is_unknown_and_never_gone() -> None:
    world = planned()
    world.fleet.fail_next("component", Transient("throttled"))
    world.fleet.fail_next("endpoint", Transient("throttled"))
    seen = look(world)

    assert seen.component("m1") is Absent.UNREADABLE
    assert "e1" not in seen.endpoints
    del world.fleet.parts["m2"]
    assert look(world).component("m2") is Absent.NOT_FOUND


def test_an_endpoint_on_which_one_component_cannot_be_read_is_unknown() -> None:
    world = planned()
    world.fleet.add("beside", "e1", OLD, 9)
    real = world.fleet.component

    def component(name: str) -> ComponentView:
        if name == "beside":
            raise Transient("throttled")
        return real(name)

    world.fleet.component = component  # type: ignore[method-assign]
    assert set(look(world).endpoints) == {"e2"}


def test_alarms_that_cannot_be_read_are_neither_ok_nor_missing_nor_edited() -> None:
    world = planned()
    world.signals.fail_next("read", Transient("throttled"))
    seen = look(world)

    assert seen.kill_switch is AlarmState.INSUFFICIENT_DATA
    assert (seen.alarms[ALARM].state, seen.alarms[ALARM].settings) == (AlarmState.INSUFFICIENT_DATA, "as made")
    assert seen.alarms[ALARM].problem


@pytest.mark.parametrize("fault", [Transient("throttled"), Misconfigured("AccessDenied")])
def test_one_batch_of_alarms_that_cannot_be_read_hides_no_other(fault: Exception) -> None:
    world = World()
    names = [f"m{number}-errors" for number in range(1, 151)]
    for name in names:
        world.signals.add(name)
    world.ask()
    world.run_pass()
    plan = world.stored.plan
    assert plan is not None
    plan = replace(plan, watches=tuple(Watch(name, settings="as made") for name in names))
    world.signals.set_state("m150-errors", AlarmState.ALARM)
    world.signals.fail_next("read", fault)
    seen = world.observer.look(world.stored, plan)

    assert set(seen.alarms) == set(names)
    assert seen.alarms["m1-errors"].problem == UNREAD
    assert seen.alarms["m150-errors"].state is AlarmState.ALARM


def test_on_the_way_back_no_alarm_is_read_but_the_kill_switch() -> None:
    world = planned()
    kept = world.table.kept["r1"]
    kept.stored = replace(kept.stored, record=replace(kept.stored.record, intent=Intent.REVERT))
    seen = look(world)

    assert (seen.kill_switch, seen.alarms) == (AlarmState.OK, {})


def test_samples_are_asked_for_only_while_a_bake_goes_on_from_where_it_settled_and_of_what_was_updated() -> None:
    """What a pass reads must not grow with the days that a rollout waits."""
    world = World()
    for name in ("m1-errors", "m2-errors"):
        world.signals.add(name)
    world.ask(guards=(Guard(ALARM, min_samples=3), Guard("{component}-errors")))
    world.run(stop=lambda: world.stored.record.step is Step.BAKING)
    parts = tuple(replace(part, touched=part.name == "m1") for part in world.stored.record.components)
    asked: list[AlarmQuery] = []
    real = world.signals.read

    def read(queries: Iterable[AlarmQuery], now: float) -> Mapping[str, AlarmView]:
        asked.extend(queries)
        return real(asked, now)

    def samples(**changes: object) -> dict[str, tuple[float | None, int]]:
        kept = world.table.kept["r1"]
        kept.stored = replace(kept.stored, record=replace(kept.stored.record, **changes))  # type: ignore[arg-type]
        asked.clear()
        look(world)
        return {query.alarm: (query.settled, query.enough) for query in asked if query.settled is not None}

    world.signals.read = read  # type: ignore[assignment,method-assign]
    settled = world.stored.record.settled_at
    assert samples(components=parts) == {ALARM: (settled, 3), "m1-errors": (settled, 1)}
    assert samples(holds=(Hold(HoldKind.OPERATOR, "ana", 0.0),)) == {}
    for step in set(Step) - {Step.BAKING}:
        assert samples(step=step, holds=()) == {}


@pytest.mark.parametrize("fault", [Transient("throttled"), Misconfigured("AccessDenied")])
def test_an_endpoint_whose_components_cannot_be_listed_is_unknown_and_no_other_is(fault: Exception) -> None:
    world = planned()
    world.fleet.fail_next("components", fault)

    assert set(look(world).endpoints) == {"e2"}


@pytest.mark.parametrize("fault", [Transient("throttled"), Misconfigured("AccessDenied")])
def test_scaling_that_cannot_be_read_is_not_taken_for_none(fault: Exception) -> None:
    world = planned()
    world.scaling.fail_next("describe", fault)

    assert look(world).scaling is None


def test_a_refusal_of_an_earlier_attempt_is_not_told_of_the_present_one() -> None:
    world = World()
    world.ask()
    world.run(stop=lambda: bool(world.sent("m1")))
    kept = world.table.kept["r1"]
    for number, told in ((1, {"m1": "busy"}), (9, {})):
        kept.stored = replace(kept.stored, refusals={"m1": Refusal(number, "busy"), "m2": Refusal(1, "busy")})
        assert look(world).refusals == told
