"""The plan: targets, waves, batch sizes, room, and every bad input that can be told before anything changes."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.rollouts.batches import BatchReason, batch_for, bounds, copies_per_instance
from pointsman.rollouts.observations import Absent, AlarmState, Answer, LockView, Observations, Status
from pointsman.rollouts.plan import Check, Level, Plan
from pointsman.rollouts.planner import make_plan
from pointsman.rollouts.request import (
    AlarmWaiver,
    Amount,
    Capacity,
    Guard,
    Request,
    SingleCopy,
    Target,
    WhenShort,
    Yielding,
)
from pointsman.rollouts.specs import Change, Compute
from pointsman.rollouts.waves import wave_sizes
from tests.unit.rollouts.build import (
    BIG_BOX,
    NOW,
    OLD,
    ONE_GPU,
    SMALL_BOX,
    alarm,
    component,
    endpoint,
    request,
    seen,
)


def plan(asked: Request | None = None, there: Observations | None = None) -> Plan:
    return make_plan(asked or request(), there or seen(component()), NOW)


def refused(made: Plan) -> dict[Check, str]:
    return {finding.check: str(finding) for finding in made.refused}


# ------------------------------------------------------------------------------------------------------------- waves


def test_targets_name_components_by_name_endpoint_prefix_and_tag() -> None:
    there = seen(
        component("a1"),
        component("b1", endpoint="e2"),
        component("b2", endpoint="e2"),
        component("c-x"),
        component("d", tags=(("team", "search"),)),
        component("left"),
    )
    targets = (
        Target(component="a1"),
        Target(endpoint="e2"),
        Target(prefix="c-"),
        Target(tag=("team", "search")),
    )
    made = plan(request(targets=targets), there)
    assert [member.name for member in made.members] == ["a1", "b1", "b2", "c-x", "d"]
    assert not made.refused


WAVES = [
    ((Amount(1), Amount(25, percent=True), Amount(100, percent=True)), 12, (1, 2, 9)),
    ((Amount(1), Amount(25, percent=True), Amount(100, percent=True)), 2, (1, 1)),
    ((Amount(1), Amount(2)), 5, (1, 4)),
    ((Amount(50, percent=True),), 3, (3,)),
    ((Amount(10),), 3, (3,)),
]


@pytest.mark.parametrize("amounts,total,sizes", WAVES)
def test_waves_are_totals_reached(amounts: tuple[Amount, ...], total: int, sizes: tuple[int, ...]) -> None:
    assert wave_sizes(total, amounts) == sizes


@given(
    st.integers(1, 200),
    st.lists(st.builds(Amount, st.floats(1, 100), st.booleans()), min_size=1, max_size=6),
)
def test_every_component_is_in_exactly_one_wave(total: int, amounts: list[Amount]) -> None:
    sizes = wave_sizes(total, amounts)
    assert sum(sizes) == total
    assert all(size > 0 for size in sizes)


# ------------------------------------------------------------------------------------------------------------ batches

BATCHES = [
    ("a large model goes one at a time", 12, 1, None, 1, BatchReason.LARGE),
    ("a small one an instance at a time", 12, 4, None, 4, BatchReason.SMALL),
    ("never more than half", 4, 8, None, 2, BatchReason.LOWERED),
    ("never less than 5 %", 50, 1, None, 3, BatchReason.RAISED),
    ("as asked", 12, 1, Amount(3), 3, BatchReason.ASKED),
    ("as asked in percent, rounded down", 10, 1, Amount(25, percent=True), 2, BatchReason.ASKED),
    ("an odd number is halved downwards", 5, 8, None, 2, BatchReason.LOWERED),
]


@pytest.mark.parametrize("copies,each,asked,size,reason", [b[1:] for b in BATCHES], ids=[b[0] for b in BATCHES])
def test_a_batch_and_the_rule_that_chose_it(
    copies: int,
    each: int,
    asked: Amount | None,
    size: int,
    reason: BatchReason,
) -> None:
    batch = batch_for(copies, each, asked)
    assert (batch.copies, batch.reason) == (size, reason)
    assert batch.sentence


@given(st.integers(2, 1000), st.integers(0, 64), st.none() | st.builds(Amount, st.integers(1, 100), st.booleans()))
def test_sagemaker_takes_every_batch(copies: int, each: int, asked: Amount | None) -> None:
    batch = batch_for(copies, each, asked)
    least, greatest = bounds(copies)
    assert least <= batch.copies <= greatest
    assert 0.05 <= batch.copies / copies <= 0.5


def test_the_scarcest_resource_counts() -> None:
    assert copies_per_instance(BIG_BOX, Compute(1, 48, 1000)) == 2
    assert copies_per_instance(BIG_BOX, Compute(0, 0, 0)) == 1


# ----------------------------------------------------------------------------------------------------------- capacity


def gpus(count: int, most: int, *views: Any, **changes: Any) -> Observations:
    """An endpoint of one-GPU instances with these components."""
    there = endpoint("e1", views, count=count, shape=SMALL_BOX, most=most)
    return seen(*views, endpoints={"e1": there}, **changes)


def test_three_full_one_gpu_instances_are_rolled_with_a_fourth() -> None:
    made = plan(there=gpus(3, 4, component(copies=3)))
    assert not made.refused
    member, (forward, back) = made.members[0], made.needs
    assert member.batch.copies == 1
    assert (forward.room.needed, forward.room.there, forward.room.most) == (4, 3, 4)
    assert (back.room.needed, back.copies) == (4, 1)
    assert not forward.room.assumed


def test_a_full_endpoint_is_refused_with_the_numbers() -> None:
    text = refused(plan(there=gpus(3, 3, component(copies=3))))[Check.NO_CAPACITY]
    assert "needs 4 instances" in text
    assert "3 are there and 3 is the most" in text
    assert "raise its maximum to 4" in text


def test_trying_skips_the_verdict_on_capacity_and_says_so() -> None:
    asked = request(capacity=Capacity.TRY, reason="no other way", person="maria")
    made = plan(asked, gpus(3, 3, component(copies=3)))
    assert not made.refused
    assert any(f.check is Check.CAPACITY_TRIED and "maria" in f.sentence for f in made.findings)


def test_trying_never_skips_the_check_of_the_way_back() -> None:
    asked = request(capacity=Capacity.TRY, reason="no other way", person="maria")
    there = gpus(3, 3, component(copies=3), models={"ranker-v1": Answer.NO})
    assert Check.NO_WAY_BACK in refused(plan(asked, there))


def test_waiting_is_an_answer_to_a_shortage() -> None:
    made = plan(request(when_short=WhenShort.WAIT), gpus(3, 3, component(copies=3)))
    assert not made.refused
    assert any(f.check is Check.WAITS_FOR_CAPACITY for f in made.findings)


def test_a_yielding_component_gives_the_least_that_is_enough() -> None:
    views = (component(copies=3), component("y", copies=3))
    made = plan(request(yielding=(Yielding("y", 1),)), gpus(6, 6, *views))
    assert not made.refused
    assert [(g.component, g.before, g.after) for g in made.gives] == [("y", 3, 2)]


def test_a_yielding_component_keeps_its_least() -> None:
    views = (component(copies=3), component("y", copies=1))
    made = plan(request(yielding=(Yielding("y", 1),)), gpus(4, 4, *views))
    assert Check.NO_CAPACITY in refused(made)


def test_every_component_on_the_endpoint_is_counted() -> None:
    views = (component(copies=2), component("other", copies=2))
    assert Check.NO_CAPACITY in refused(plan(there=gpus(4, 4, *views)))
    assert not plan(there=gpus(5, 5, *views)).refused


def test_the_way_back_needs_its_room_too() -> None:
    """The new version takes half an instance and fits; the old one, which takes a whole one, would not."""
    small = Compute(accelerators=0.5, cores=4, memory_mb=16_000)
    asked = request(change=Change(model="ranker-v2", compute=small))
    there = endpoint("e1", [component(copies=2)], count=2, shape=SMALL_BOX, most=2)
    made = plan(asked, seen(component(copies=2), endpoints={"e1": there}))
    assert Check.NO_CAPACITY in refused(made)


def test_a_batch_is_lowered_to_the_room_there_is() -> None:
    big = component(copies=8)
    there = endpoint("e1", [big], count=1, shape=replace(BIG_BOX, accelerators=10), most=1)
    member = plan(there=seen(big, endpoints={"e1": there})).members[0]
    assert (member.batch.copies, member.batch.reason) == (2, BatchReason.ROOM)


def test_fragments_are_no_room_and_a_guess_is_called_one() -> None:
    """Two boxes of two GPUs with one copy of one GPU on them: a copy of two GPUs fits, or not, as they stand."""
    two = Compute(accelerators=2, cores=4, memory_mb=1000)
    box = Compute(accelerators=4, cores=96, memory_mb=700_000)
    wide = component("m1", copies=2, spec=replace(OLD, compute=two))
    filler = component("filler", copies=2, spec=replace(OLD, compute=replace(ONE_GPU, memory_mb=1000)))
    there = endpoint("e1", [wide, filler], count=2, shape=box, most=2)
    made = plan(there=seen(wide, filler, endpoints={"e1": there}))
    assert any(f.check is Check.ASSUMED for f in made.findings)
    assert Check.NO_CAPACITY in refused(made)


@pytest.mark.parametrize(
    "memory,warned",
    [
        pytest.param(16_000, False, id="little memory"),
        pytest.param(24_000, True, id="eight copies on an instance need more than four fifths of its memory"),
    ],
)
def test_room_that_depends_on_the_last_fifth_of_the_memory_is_warned_of(memory: int, warned: bool) -> None:
    each = Compute(accelerators=1, cores=4, memory_mb=memory)
    box = Compute(accelerators=8, cores=96, memory_mb=8 * 24_000)
    view = component(copies=7, spec=replace(OLD, compute=each))
    full = endpoint("e1", [view], count=1, most=1, shape=box)
    made = plan(there=seen(view, endpoints={"e1": full}))
    assert not made.refused
    assert [f.level for f in made.findings if f.check is Check.MEMORY_ASSUMED] == ([Level.WARNED] if warned else [])


def test_a_copy_that_has_nearly_all_memory_of_an_instance_proves_that_it_may() -> None:
    each = Compute(accelerators=1, cores=4, memory_mb=31_000)
    view = component(copies=2, spec=replace(OLD, compute=each))
    made = plan(there=seen(view, endpoints={"e1": endpoint("e1", [view], count=2, most=3, shape=SMALL_BOX)}))
    assert not [f for f in made.findings if f.check is Check.MEMORY_ASSUMED]


def test_a_copy_that_fits_on_no_instance_is_refused() -> None:
    huge = request(change=Change(model="ranker-v2", compute=Compute(accelerators=16, cores=4, memory_mb=1000)))
    assert Check.NO_CAPACITY in refused(plan(huge))


# ---------------------------------------------------------------------------------------------------------- bad input

MINE = Guard("{component}-5xx")
BAD: list[tuple[str, dict[str, Any], dict[str, Any], Check, str]] = [
    ("an unknown component", {"targets": (Target(component="nope"),)}, {}, Check.UNKNOWN_COMPONENT, "no such"),
    ("an unknown endpoint", {"targets": (Target(endpoint="nope"),)}, {}, Check.UNKNOWN_ENDPOINT, "no such"),
    ("a prefix of nothing", {"targets": (Target(prefix="z"),)}, {}, Check.NO_TARGET, "names no"),
    ("a target twice", {"targets": (Target(prefix="m"),) * 2}, {}, Check.TWICE, "given twice"),
    ("the present spec", {"change": Change(model="ranker-v1")}, {}, Check.SAME_SPEC, "is the one it has"),
    ("no way back", {}, {"models": {"ranker-v1": Answer.NO, "ranker-v2": Answer.YES}}, Check.NO_WAY_BACK, "is gone"),
    ("a new model that is none", {}, {"models": {"ranker-v2": Answer.NO}}, Check.NO_SUCH_MODEL, "does not exist"),
    ("a bake too short", {"bake": 100.0}, {}, Check.BAKE_TOO_SHORT, "before this alarm can fire"),
    ("a final bake too short", {"final_bake": 100.0}, {}, Check.BAKE_TOO_SHORT, "`final_bake`"),
    ("a missing alarm", {}, {"alarms": {}}, Check.ALARM_MISSING, "no such alarm"),
    ("a firing alarm", {}, {"alarms": {"fleet-errors": alarm(state=AlarmState.ALARM)}}, Check.ALARM_FIRING, "already"),
    ("two rollouts on one endpoint", {}, {"locks": {"e1": LockView("r0", 4)}}, Check.LOCKED, "rollout r0"),
    ("a batch too small", {"batch": Amount(1)}, {"copies": 40}, Check.BATCH_TOO_SMALL, "ask for 2 at least"),
    ("a batch too large", {"batch": Amount(3)}, {"copies": 4}, Check.BATCH_TOO_LARGE, "ask for 2 at most"),
    ("an adapter", {}, {"base": "m0"}, Check.ADAPTER, "adapter of m0"),
    ("a specification for each of several instance types", {}, {"several": True}, Check.SEVERAL_SPECIFICATIONS,
     "each of several instance types"),
    ("one copy, refused", {"single_copy": SingleCopy.REFUSE}, {"copies": 1}, Check.SINGLE_COPY, "single_copy: surge"),
    ("no copies", {}, {"copies": 0}, Check.NO_COPIES, "scale it up"),
    ("a busy component", {}, {"status": Status.UPDATING}, Check.BUSY, "wait until it is InService"),
    ("a failed component", {}, {"status": Status.FAILED}, Check.BUSY, "create it anew"),
    ("a yielding one that is moved", {"yielding": (Yielding("m1"),)}, {}, Check.YIELDING, "itself"),
    ("a yielding one that is nowhere", {"yielding": (Yielding("zz"),)}, {}, Check.YIELDING, "none of the endpoints"),
    ("ten alarms of its own", {"guards": tuple(Guard(f"{{component}}-{n}") for n in range(10))}, {},
     Check.TOO_MANY_ALARMS, "SageMaker takes 9"),
    ("an update of over 8 h", {"wait": 3600.0, "batch": Amount(1)}, {"copies": 16}, Check.TOO_LONG, "after 8 h"),
]  # fmt: skip
OF_THE_COMPONENT = {"copies", "base", "several", "status"}


@pytest.mark.parametrize("asked,there,check,said", [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input_is_refused_with_one_clear_message(
    asked: dict[str, Any],
    there: dict[str, Any],
    check: Check,
    said: str,
) -> None:
    view = component(**{k: v for k, v in there.items() if k in OF_THE_COMPONENT})
    world = {k: v for k, v in there.items() if k not in OF_THE_COMPONENT}
    names = [f"m1-{n}" for n in range(10)]
    world.setdefault("alarms", {name: alarm(name) for name in (*names, "fleet-errors")})
    made = plan(request(**asked), seen(view, **world))
    found = [finding for finding in made.refused if finding.check is check]
    assert found, made.findings
    assert said in str(found[0])
    assert found[0].remedy


def test_what_the_role_may_not_read_is_refused_and_what_is_unknown_is_warned() -> None:
    for answer, check, level in (
        (Answer.NO, Check.ALARM_UNREADABLE, Level.REFUSED),
        (Answer.UNKNOWN, Check.ALARM_UNCHECKED, Level.WARNED),
    ):
        there = seen(component(), endpoints={"e1": endpoint("e1", [component()], reads_alarms=answer)})
        assert [f.level for f in plan(there=there).findings if f.check is check] == [level]


def test_what_cannot_be_read_is_not_taken_for_missing() -> None:
    asked = request(targets=(Target(component="m9"),))
    there = seen(component(), components={"m9": Absent.UNREADABLE})
    assert Check.UNREADABLE in refused(plan(asked, there))


def many(components: int, endpoints: int) -> Observations:
    return seen(*(component(f"m{n}", endpoint=f"e{n % endpoints}", copies=2) for n in range(components)))


def test_a_rollout_moves_500_components_on_50_endpoints_and_no_more() -> None:
    assert Check.TOO_MANY not in refused(plan(there=many(500, 50)))
    assert Check.TOO_MANY in refused(plan(there=many(501, 50)))
    assert Check.TOO_MANY in refused(plan(there=many(51, 51)))


def test_a_rollout_whose_record_could_outgrow_an_item_is_refused() -> None:
    guards = tuple(Guard(f"{'a' * 240}-{n}-{{component}}") for n in range(3))
    assert Check.TOO_MANY not in refused(plan(request(guards=guards), many(200, 10)))
    assert Check.TOO_MANY in refused(plan(request(guards=guards), many(360, 10)))


def test_a_rollout_that_no_pass_could_read_in_its_time_is_refused() -> None:
    guards = tuple(Guard(f"{n}-{{component}}") for n in range(3))
    assert Check.TOO_MANY not in refused(plan(request(guards=guards[:1]), many(500, 50)))
    assert Check.TOO_MANY in refused(plan(request(guards=guards), many(500, 50)))


@pytest.mark.parametrize("target", [Target(prefix="m"), Target(tag=("team", "search"))])
def test_what_targets_may_name_and_cannot_be_read_is_not_left_out(target: Target) -> None:
    there = seen(component(tags=(("team", "search"),)), components={"m1": component(), "m9": Absent.UNREADABLE})
    assert Check.UNREADABLE in refused(plan(request(targets=(target,)), there))
    beside = seen(component(), components={"m1": component(), "y9": Absent.UNREADABLE})
    assert Check.UNREADABLE not in refused(plan(request(targets=(Target(prefix="m"),)), beside))


def test_a_firing_alarm_can_be_waived_by_name_for_a_time() -> None:
    firing = {"fleet-errors": alarm(state=AlarmState.ALARM)}
    waiver = AlarmWaiver("fleet-errors", "it is being mended", "maria", NOW + 1)
    assert not plan(request(waived=(waiver,)), seen(component(), alarms=firing)).refused
    late = replace(waiver, until=NOW)
    assert Check.ALARM_FIRING in refused(plan(request(waived=(late,)), seen(component(), alarms=firing)))


def test_one_copy_goes_to_two_by_default() -> None:
    member = plan(there=seen(component(copies=1))).members[0]
    assert (member.single, member.batch.reason, member.batch.copies) == (True, BatchReason.SINGLE, 1)


def test_own_alarms_are_listed_natively_and_watch_their_own_component_only() -> None:
    views = (component("m1"), component("m2"))
    alarms = {name: alarm(name) for name in ("fleet-errors", "m1-5xx", "m2-5xx")}
    made = plan(request(guards=(Guard("fleet-errors"), MINE)), seen(*views, alarms=alarms))
    assert made.member("m1").natives == ("m1-5xx",)
    assert [w.alarm for w in made.watched(["m2"])] == ["fleet-errors", "m2-5xx"]


def test_a_plan_estimates_its_waves() -> None:
    made = plan(
        there=seen(component("m1", copies=2), component("m2", copies=2), component("m3", endpoint="e2", copies=2))
    )
    assert len(made.seconds) == len(made.waves) == 2
    assert made.duration > 2 * 600 + 1800


def test_every_member_leaves_room_for_its_attempts_marks() -> None:
    member = plan(there=seen(component(copies=40))).members[0]
    assert 600 <= member.timeout <= 28_800 - 64
