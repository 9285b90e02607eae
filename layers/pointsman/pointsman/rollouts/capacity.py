"""Whether an endpoint has room for copies more, and what must give way if not.

AWS shows instances and copies, not which copy is on which instance. So copies are placed twice in mind, packed and
spread; where the two differ the worse one counts, and the answer says that it is assumed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pointsman.rollouts.batches import copies_per_instance
from pointsman.rollouts.observations import EndpointView, Occupant
from pointsman.rollouts.request import Yielding
from pointsman.rollouts.specs import Compute

_SLACK = 1e-9
CERTAIN_MEMORY = 0.8  # of an instance's: SageMaker keeps some of it, and shows nowhere how much


@dataclass(frozen=True, slots=True)
class Room:
    """What an endpoint needs for copies more: instances in all, those there, and the most it may have."""

    needed: int
    there: int
    most: int
    assumed: bool

    @property
    def enough(self) -> bool:
        """Whether it can be had."""
        return self.needed <= self.most

    @property
    def launches(self) -> int:
        """Instances that must be added for it."""
        return max(0, self.needed - self.there)


@dataclass(frozen=True, slots=True)
class GiveWay:
    """A yielding component to be lowered from so many copies to so many."""

    component: str
    endpoint: str
    before: int
    after: int


def room_for(endpoint: EndpointView, occupants: Sequence[Occupant], copies: int, each: Compute) -> Room:
    """What `copies` more of this footprint need beside the occupants."""
    packed = _needed(endpoint, occupants, copies, each, _fullest)
    spread = _needed(endpoint, occupants, copies, each, _emptiest)
    return Room(max(packed, spread), endpoint.instances, endpoint.most, assumed=packed != spread)


def with_certain_memory(endpoint: EndpointView) -> EndpointView:
    """The endpoint with no more memory than SageMaker surely gives to copies: a part, or what one copy has already."""
    largest = max((o.compute.memory_mb for o in endpoint.occupants if o.copies), default=0.0)
    return replace(
        endpoint,
        pools=tuple(
            replace(pool, shape=replace(pool.shape, memory_mb=min(memory, max(CERTAIN_MEMORY * memory, largest))))
            for pool in endpoint.pools
            for memory in (pool.shape.memory_mb,)
        ),
    )


def with_copies(occupants: Iterable[Occupant], name: str, copies: int, each: Compute) -> tuple[Occupant, ...]:
    """The occupants with one of them at so many copies of this footprint."""
    return tuple(replace(o, copies=copies, compute=each) if o.component == name else o for o in occupants)


def make_room(
    endpoint: EndpointView,
    yielding: Sequence[Yielding],
    enough: Callable[[tuple[Occupant, ...]], bool],
) -> tuple[GiveWay, ...] | None:
    """The least that yielding components on the endpoint must give, in the request's order; None when it is too little.

    Empty when nobody has to.
    """
    occupants = endpoint.occupants
    given: list[GiveWay] = []
    if enough(occupants):
        return ()
    for rule in yielding:
        present = next((o for o in occupants if o.component == rule.component), None)
        if present is None:
            continue
        for copies in range(present.copies - 1, rule.least - 1, -1):
            lowered = with_copies(occupants, rule.component, copies, present.compute)
            if enough(lowered):
                return (*given, GiveWay(rule.component, endpoint.name, present.copies, copies))
        if present.copies > rule.least:
            occupants = with_copies(occupants, rule.component, rule.least, present.compute)
            given.append(GiveWay(rule.component, endpoint.name, present.copies, rule.least))
    return None


_Choose = Callable[[list[Compute], list[int]], int]


def _fullest(free: list[Compute], fitting: list[int]) -> int:
    return min(fitting, key=lambda n: (free[n].accelerators, free[n].memory_mb, free[n].cores, n))


def _emptiest(free: list[Compute], fitting: list[int]) -> int:
    return max(fitting, key=lambda n: (free[n].accelerators, free[n].memory_mb, free[n].cores, -n))


def _needed(
    endpoint: EndpointView,
    occupants: Sequence[Occupant],
    copies: int,
    each: Compute,
    choose: _Choose,
) -> int:
    free = [pool.shape for pool in endpoint.pools for _ in range(pool.count)]
    # A launched instance is of the pool whose instances hold the fewest copies: which one SageMaker gets is its matter.
    shapes = [pool.shape for pool in endpoint.pools]
    for occupant in sorted(occupants, key=lambda o: _size(o.compute), reverse=True):
        for _ in range(occupant.copies):
            if not _put(free, occupant.compute, choose):
                # More than the instances seem to hold, so they are growing already.
                _launch(free, shapes, occupant.compute)
    for _ in range(copies):
        if not _put(free, each, choose) and not _launch(free, shapes, each):
            return endpoint.most + 1 + len(free)  # a copy fits on no instance of this endpoint
    return len(free)


def _put(free: list[Compute], one: Compute, choose: _Choose) -> bool:
    fitting = [n for n, room in enumerate(free) if _holds(room, one)]
    if not fitting:
        return False
    n = choose(free, fitting)
    free[n] = _less(free[n], one)
    return True


def _launch(free: list[Compute], shapes: Sequence[Compute], one: Compute) -> bool:
    able = [shape for shape in shapes if _holds(shape, one)]
    if not able:
        return False
    free.append(_less(min(able, key=lambda shape: copies_per_instance(shape, one)), one))
    return True


def _holds(room: Compute, one: Compute) -> bool:
    return (
        room.accelerators + _SLACK >= one.accelerators
        and room.cores + _SLACK >= one.cores
        and room.memory_mb + _SLACK >= one.memory_mb
    )


def _less(room: Compute, one: Compute) -> Compute:
    return Compute(
        room.accelerators - one.accelerators,
        room.cores - one.cores,
        room.memory_mb - one.memory_mb,
    )


def _size(one: Compute) -> tuple[float, float, float]:
    return (one.accelerators, one.memory_mb, one.cores)
