"""From a request and what is there to a plan, with everything that speaks against it. Changes nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pointsman.rollouts.batches import Batch, BatchReason, batch_for, bounds, copies_per_instance, single
from pointsman.rollouts.capacity import CERTAIN_MEMORY, GiveWay, Room, make_room, with_certain_memory, with_copies
from pointsman.rollouts.checks import (
    check_component,
    check_natives,
    check_size,
    check_targets,
    check_watches,
    check_way_back,
)
from pointsman.rollouts.gate import Watch
from pointsman.rollouts.observations import ComponentView, EndpointView, Observations, Occupant
from pointsman.rollouts.plan import (
    LEAST_TIMEOUT,
    LONGEST_TIMEOUT,
    MARKS,
    Check,
    Finding,
    Level,
    Member,
    Need,
    Plan,
    needs_on,
    room_for_both,
    seconds_of_wave,
    seconds_to_roll,
)
from pointsman.rollouts.request import Capacity, Request, WhenShort
from pointsman.rollouts.specs import Compute
from pointsman.rollouts.waves import approved_waves, resolve, wave_sizes


def make_plan(request: Request, seen: Observations, now: float) -> Plan:
    """The plan for this request in the world as seen; what forbids it is among its findings."""
    resolved = resolve(request.targets, seen)
    findings = list(check_targets(request, resolved, seen))
    able: list[tuple[int, ComponentView]] = []
    numbers = [n for n, size in enumerate(wave_sizes(len(resolved.components), request.waves)) for _ in range(size)]
    for wave, view in zip(numbers, resolved.components, strict=True):
        found = list(check_component(view, request, seen))
        findings += found
        if not any(f.level is Level.REFUSED for f in found) or (
            view.desired > 0 and view.base is None and not view.several
        ):
            able.append((wave, view))
    members, needs, gives, shortages = _members(able, request, seen)
    findings += shortages
    watches = _watches(members, request, seen)
    findings += check_watches(watches, request, seen, now)
    for member in members:
        findings += check_natives(member, request, seen)
    findings += check_way_back(seen)
    findings += check_size(members, watches, request)
    findings += _yielding(request, members, seen)
    findings += _too_long(members)
    count = len(set(numbers))
    by_wave = [[m for m in members if m.wave == n] for n in range(count)]
    return Plan(
        request=request,
        made_at=now,
        members=members,
        waves=tuple(tuple(m.name for m in wave) for wave in by_wave),
        approvals=approved_waves(len(resolved.components), request.waves, request.approvals),
        watches=watches,
        needs=needs,
        gives=gives,
        findings=tuple(dict.fromkeys(findings)),
        seconds=tuple(seconds_of_wave(wave, request) for wave in by_wave),
    )


def _members(
    able: Sequence[tuple[int, ComponentView]],
    request: Request,
    seen: Observations,
) -> tuple[tuple[Member, ...], tuple[Need, ...], tuple[GiveWay, ...], list[Finding]]:
    occupants = {name: endpoint.occupants for name, endpoint in seen.endpoints.items()}
    members: list[Member] = []
    needs: list[Need] = []
    gives: dict[str, GiveWay] = {}
    findings: list[Finding] = []
    for wave, view in able:
        endpoint = seen.endpoints.get(view.endpoint)
        if endpoint is None:
            continue
        there = occupants[endpoint.name]
        member = _member(view, wave, request, endpoint, there)
        wanted = needs_on(endpoint, [member], there)
        if any(not need.room.enough for need in wanted):
            given = _room(replace(endpoint, occupants=there), member, request)
            findings.append(_shortage(wanted, given, request))
            for give in given or ():
                first = gives.get(give.component)
                gives[give.component] = replace(give, before=first.before) if first else give
                there = tuple(replace(o, copies=give.after) if o.component == give.component else o for o in there)
        enough = all(need.room.enough for need in wanted)
        certain = needs_on(with_certain_memory(endpoint), [member], there)
        if enough and not all(need.room.enough for need in certain):
            findings.append(_uncertain(member))
        both = room_for_both(endpoint, member, there)
        if enough and not both.enough:
            findings.append(_shared(member, both))
        if any(need.room.assumed for need in wanted):
            text = f"where copies stand on {endpoint.name} is not shown by AWS; the worse of two placements is counted"
            findings.append(Finding(Check.ASSUMED, Level.NOTED, f"endpoint {endpoint.name}", text))
        needs += wanted
        member = replace(member, seconds=seconds_to_roll(member, request, wanted[0].room.launches))
        members.append(replace(member, timeout=_timeout(member)))
        occupants[endpoint.name] = with_copies(there, member.name, member.copies, member.new.compute)
    return tuple(members), tuple(needs), tuple(gives.values()), findings


def _member(
    view: ComponentView,
    wave: int,
    request: Request,
    endpoint: EndpointView,
    there: tuple[Occupant, ...],
) -> Member:
    new = request.change.applied_to(view.spec)
    natives = dict.fromkeys(g.named(view.name, view.endpoint) for g in request.guards if g.native or g.own)
    batch = size_batch(view.desired, request, new_per_instance(endpoint, new.compute))
    member = Member(view.name, view.endpoint, wave, view.desired, view.spec, new, batch, batch, tuple(natives))
    if batch.reason in {BatchReason.ASKED, BatchReason.SINGLE}:
        return member
    least, _ = bounds(view.desired)
    for copies in range(batch.copies, least - 1, -1):
        text = f"{batch.sentence}, lowered to {copies}: there is no room for more"
        smaller = batch if copies == batch.copies else Batch(copies, BatchReason.ROOM, text)
        tried = replace(member, batch=smaller, rollback_batch=smaller)
        if all(need.room.enough for need in needs_on(endpoint, [tried], there)):
            return tried
    text = f"{batch.sentence}, lowered to {least}: there is no room for more"
    last = batch if batch.copies == least else Batch(least, BatchReason.ROOM, text)
    return replace(member, batch=last, rollback_batch=last)


def _timeout(member: Member) -> int:
    """SageMaker's own time limit, less an attempt's number: far beyond the estimate, which knows no model's loading."""
    return min(LONGEST_TIMEOUT - 2 * MARKS, max(LEAST_TIMEOUT, int(4 * member.seconds)))


def new_per_instance(endpoint: EndpointView, each: Compute) -> int:
    """Copies that the endpoint's least instance holds."""
    return min((copies_per_instance(pool.shape, each) for pool in endpoint.pools), default=1)


def size_batch(copies: int, request: Request, per_instance: int) -> Batch:
    """The batch for a component that has so many copies now; sized again before each update is sent."""
    return single() if copies <= 1 else batch_for(copies, per_instance, request.batch)


def _room(endpoint: EndpointView, member: Member, request: Request) -> tuple[GiveWay, ...] | None:
    def enough(occupants: tuple[Occupant, ...]) -> bool:
        return all(need.room.enough for need in needs_on(endpoint, [member], occupants))

    return make_room(endpoint, request.yielding, enough)


def _shortage(wanted: Sequence[Need], given: tuple[GiveWay, ...] | None, request: Request) -> Finding:
    need = max(wanted, key=lambda n: n.room.needed)
    place = f"endpoint {need.endpoint}"
    if given:
        names = ", ".join(f"{g.component} from {g.before} to {g.after} copies" for g in given)
        return Finding(
            Check.GIVES_WAY, Level.NOTED, place, f"{need.sentence}, so room is made: {names}, restored after"
        )
    if request.capacity is Capacity.TRY:
        text = f"{need.sentence}; tried all the same: {request.reason} ({request.person})"
        return Finding(Check.CAPACITY_TRIED, Level.WARNED, place, text)
    if request.when_short is WhenShort.WAIT:
        text = f"{need.sentence}; the rollout will wait {request.capacity_wait:.0f} s for room"
        return Finding(Check.WAITS_FOR_CAPACITY, Level.WARNED, place, text)
    room = f"raise its maximum to {need.room.needed} (and its reservation, if it has one)"
    cure = f"{room}, name a yielding component, or ask `capacity: try`"
    return Finding(Check.NO_CAPACITY, Level.REFUSED, place, need.sentence, cure)


def _uncertain(member: Member) -> Finding:
    text = (
        f"there is room for {member.name} only if SageMaker gives over {CERTAIN_MEMORY:.0%} of an instance's memory to "
        "copies, which AWS does not show"
    )
    cure = "raise its maximum, or ask for less memory in `change.compute`"
    return Finding(Check.MEMORY_ASSUMED, Level.WARNED, f"endpoint {member.endpoint}", text, cure)


def _shared(member: Member, both: Room) -> Finding:
    text = (
        "a batch and its way back share room: should SageMaker not drop new copies before it adds old ones, a way "
        f"back in the middle of a batch fails, and {member.name} is left to a person"
    )
    cure = f"a maximum of {both.needed} is safe from that"
    return Finding(Check.SHARED_ROOM, Level.NOTED, f"endpoint {member.endpoint}", text, cure)


def _watches(members: Sequence[Member], request: Request, seen: Observations) -> tuple[Watch, ...]:
    watches: dict[str, Watch] = {}
    for guard in request.guards:
        for member in members:
            name = guard.named(member.name, member.endpoint)
            view = seen.alarms.get(name)
            earlier = watches.get(name, Watch(name))
            owners = (*earlier.components, member.name) if guard.own else ()
            counted = (guard.counted.of(member.name, member.endpoint),) if guard.counted else ()
            traffic = tuple(dict.fromkeys((*earlier.traffic, *counted)))
            watches[name] = Watch(name, guard.min_samples, view.settings if view else "", owners, traffic)
    return tuple(watches.values())


def _yielding(request: Request, members: Sequence[Member], seen: Observations) -> Iterator[Finding]:
    moved = {member.name for member in members}
    cure = "name a component outside of this rollout"
    for rule in request.yielding:
        place = f"yielding component {rule.component}"
        if rule.component in moved:
            yield Finding(Check.YIELDING, Level.REFUSED, place, "it is moved by this rollout itself", cure)
        elif not any(o.component == rule.component for e in seen.endpoints.values() for o in e.occupants):
            yield Finding(Check.YIELDING, Level.REFUSED, place, "it is on none of the endpoints", cure)


def _too_long(members: Sequence[Member]) -> Iterator[Finding]:
    for member in members:
        if member.seconds > LONGEST_TIMEOUT - 2 * MARKS:
            text = f"it would take about {member.seconds / 3600:.1f} h, and SageMaker ends an update after 8 h"
            cure = "ask for a larger `batch` or a shorter `wait`"
            yield Finding(Check.TOO_LONG, Level.REFUSED, f"component {member.name}", text, cure)
