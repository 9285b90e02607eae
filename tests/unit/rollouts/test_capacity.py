"""Room on an endpoint: against exact sums where all copies are alike, and in its order where they are not."""

import math

from hypothesis import given
from hypothesis import strategies as st

from pointsman.rollouts.batches import Batch, BatchReason
from pointsman.rollouts.capacity import make_room, room_for
from pointsman.rollouts.observations import EndpointView, Occupant, Pool
from pointsman.rollouts.plan import Member, needs_on
from pointsman.rollouts.request import Yielding
from pointsman.rollouts.specs import Compute
from tests.unit.rollouts.build import BIG_BOX, NEW, OLD, ONE_GPU, SMALL_BOX

TWO_GPUS = Compute(accelerators=2, cores=8, memory_mb=32_000)
sizes = st.sampled_from([ONE_GPU, TWO_GPUS, Compute(accelerators=4, cores=16, memory_mb=100_000)])
occupants = st.lists(st.tuples(st.integers(0, 10), sizes), max_size=4).map(
    lambda found: tuple(Occupant(f"c{n}", copies, size) for n, (copies, size) in enumerate(found)),
)


def box(there: tuple[Occupant, ...], count: int, most: int, shape: Compute = BIG_BOX) -> EndpointView:
    return EndpointView("e1", in_service=True, pools=(Pool("box", count, shape),), most=most, occupants=there)


@given(used=st.integers(0, 30), more=st.integers(0, 20), count=st.integers(1, 5))
def test_copies_that_are_all_alike_need_what_their_sum_needs(used: int, more: int, count: int) -> None:
    there = (Occupant("c", used, ONE_GPU),)
    room = room_for(box(there, count, 9), there, more, ONE_GPU)
    assert room.needed == max(count, math.ceil((used + more) / 8))
    assert not room.assumed


@given(there=occupants, more=st.integers(0, 8), size=sizes, count=st.integers(1, 6))
def test_more_copies_never_need_less(there: tuple[Occupant, ...], more: int, size: Compute, count: int) -> None:
    endpoint = box(there, count, 50)
    needed = [room_for(endpoint, there, copies, size).needed for copies in (more, more + 1)]
    assert count <= needed[0] <= needed[1]


@given(there=occupants, more=st.integers(1, 8), size=sizes, count=st.integers(1, 6))
def test_what_is_needed_holds_all_that_is_asked(
    there: tuple[Occupant, ...],
    more: int,
    size: Compute,
    count: int,
) -> None:
    wanted = sum(o.copies * o.compute.accelerators for o in there) + more * size.accelerators
    assert room_for(box(there, count, 50), there, more, size).needed * BIG_BOX.accelerators >= wanted


def test_one_copy_that_was_scaled_up_since_the_plan_needs_what_it_has_by_now() -> None:
    batch = Batch(1, BatchReason.LARGE, "one at a time")
    member = Member("m", "e1", 0, 1, OLD, NEW, batch, batch)
    for copies, needed in ((1, 3), (2, 3), (3, 4)):
        there = (Occupant("m", copies, ONE_GPU),)
        needs = needs_on(box(there, 3, 3, SMALL_BOX), [member], there)
        assert [need.room.needed for need in needs] == [needed, needed]


@given(yields=st.integers(0, 6), least=st.integers(0, 3), more=st.integers(1, 4))
def test_a_yielding_component_gives_no_more_than_is_needed(yields: int, least: int, more: int) -> None:
    there = (Occupant("m", 2, ONE_GPU), Occupant("y", yields, ONE_GPU))
    endpoint = box(there, 2 + yields, 2 + yields, SMALL_BOX)

    def enough(after: tuple[Occupant, ...]) -> bool:
        return room_for(endpoint, after, more, ONE_GPU).enough

    given_way = make_room(endpoint, (Yielding("y", least),), enough)
    if yields - least >= more:
        assert given_way is not None
        assert [(g.before, g.after) for g in given_way] == [(yields, yields - more)]
    else:
        assert given_way is None


def test_yielding_components_give_in_the_order_of_the_request() -> None:
    there = (Occupant("m", 2, ONE_GPU), Occupant("a", 2, ONE_GPU), Occupant("b", 3, ONE_GPU))
    endpoint = box(there, 7, 7, SMALL_BOX)

    def enough(after: tuple[Occupant, ...]) -> bool:
        return room_for(endpoint, after, 3, ONE_GPU).enough

    given_way = make_room(endpoint, (Yielding("b"), Yielding("a")), enough)
    assert given_way is not None
    assert [(g.component, g.after) for g in given_way] == [("b", 1), ("a", 1)]


def test_of_several_pools_the_least_instance_is_what_may_be_launched() -> None:
    pools = (Pool("small", 1, SMALL_BOX), Pool("big", 1, BIG_BOX))
    there = (Occupant("m", 9, ONE_GPU),)
    endpoint = EndpointView("e1", in_service=True, pools=pools, most=4, occupants=there)
    assert room_for(endpoint, there, 2, ONE_GPU).needed == 4
    assert not room_for(endpoint, there, 3, ONE_GPU).enough
