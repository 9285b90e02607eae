"""What one pass of a rollout reads: the fleet, its alarms, its scaling. Evidence is dated by when the reading began.

What cannot be read of one component, endpoint or alarm, or of auto scaling, is unknown, and the pass goes on with that.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from pointsman.errors import Gone, Misconfigured, Transient
from pointsman.loops.way_back import WayBack
from pointsman.ports import Clock
from pointsman.rollout_ports import (
    AlarmQuery,
    EndpointFacts,
    Gauges,
    InferenceFleet,
    Permissions,
    RolloutTable,
    Scaling,
    StopSwitch,
    StoredRollout,
)
from pointsman.rollouts.observations import (
    UNREAD,
    Absent,
    AlarmState,
    AlarmView,
    Answer,
    ComponentView,
    EndpointView,
    Observations,
    Occupant,
    Seen,
)
from pointsman.rollouts.phase import switch_name
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.record import HoldKind, Intent, Step
from pointsman.rollouts.request import Request
from pointsman.rollouts.waves import may_name, names, resolve

_Read = TypeVar("_Read")
ALARMS = 100  # read at once: what keeps these from being read hides no others


@dataclass(frozen=True, slots=True)
class RolloutObserver:
    """Looks at what a rollout touches; changes nothing."""

    clock: Clock
    fleet: InferenceFleet
    gauges: Gauges
    scaling: Scaling
    permissions: Permissions
    table: RolloutTable
    stop: StopSwitch
    grounds: WayBack

    def survey(self, request: Request, switch: str = "") -> Observations:
        """What a plan is made from; `switch` is what the kill switch will be called.

        Raises `Transient` where a gap would look like a fault of the request.
        """
        began = self.clock.now()
        components = self._targets(request)
        views = [view for view in components.values() if isinstance(view, ComponentView)]
        where = {view.endpoint for view in views} | {t.endpoint for t in request.targets if t.endpoint is not None}
        facts = {name: found for name in sorted(where) if (found := _unless_gone(self.fleet.endpoint, name))}
        occupants = self._occupants(facts, components)
        seen = Observations(began, components=components, endpoints=_endpoints(facts, occupants, components))
        members = resolve(request.targets, seen).components
        alarms = {g.named(m.name, m.endpoint) for g in request.guards for m in members}
        wanted = {view.spec.model for view in members} | {request.change.model}
        models = {name: self.fleet.model(name) for name in sorted(filter(None, wanted))}
        return replace(
            seen,
            endpoints={
                name: replace(view, reads_alarms=self._reads_alarms(request, facts[name], members, switch))
                for name, view in seen.endpoints.items()
            },
            alarms=_whole(self.gauges.read([AlarmQuery(name) for name in sorted(alarms)], began)),
            locks=self.table.locks(sorted(facts)),
            models={name: model.there for name, model in models.items()},
            proofs=self.grounds.proofs(members, models),
        )

    def look(self, stored: StoredRollout, plan: Plan) -> Observations:
        """What a pass over a planned rollout is decided on."""
        began, record = self.clock.now(), stored.record
        components: dict[str, Seen] = {}
        where = {*plan.endpoints, *(note.endpoint for note in record.copies), *(n.endpoint for n in record.scaling)}
        facts = {name: found for name in sorted(where) if (found := _readable(self.fleet.endpoint, name))}
        wanted = [member.name for member in plan.members]
        wanted += [rule.component for rule in plan.request.yielding]
        for name in wanted:
            components[name] = self._component(name)
        occupants = self._occupants(facts, components, patient=True)
        switch = record.kill_switch
        alarms = self._alarms(stored, plan, began, switch)
        fired = alarms.pop(switch, None)
        return Observations(
            began,
            components=components,
            endpoints=_endpoints(facts, occupants, components),
            alarms=alarms,
            scaling=_unless_unread(self.scaling.describe, wanted),
            kill_switch=fired.state if fired is not None else None,
            refusals=_refusals(stored),
            stopped=self.stop.stopped(),
        )

    def single(self, component: str) -> Observations:
        """What is decided on one component alone; nothing else of the fleet is read, however large it is."""
        return Observations(self.clock.now(), components={component: self._component(component)})

    def way_back(self, stored: StoredRollout, plan: Plan) -> Observations:
        """What a rollback of a rollout that has ended is decided on."""
        began = self.clock.now()
        models = {member.old.model for member in plan.members}
        models |= {part.adopted.model for part in stored.record.components if part.adopted is not None}
        return Observations(
            began,
            locks=self.table.locks(plan.endpoints),
            models={name: self.fleet.model(name).there for name in sorted(filter(None, models))},
        )

    def _targets(self, request: Request) -> dict[str, Seen]:
        found: dict[str, Seen] = {}
        tagged = any(target.tag is not None for target in request.targets)
        for target in request.targets:
            if target.component is not None:
                listed: Iterable[str] = (target.component,)
            elif target.endpoint is not None:
                listed = self.fleet.components(endpoint=target.endpoint)
            else:
                listed = self.fleet.components(prefix=target.prefix)
            for name in listed:
                if name not in found:
                    found[name] = self._component(name, tags=tagged, patient=False)
        asked_for = {target.component for target in request.targets}
        return {
            name: view
            for name, view in found.items()
            if name in asked_for
            or (isinstance(view, ComponentView) and any(names(target, view) for target in request.targets))
            or (view is Absent.UNREADABLE and any(may_name(target, name) for target in request.targets))
        }

    def _component(self, name: str, *, tags: bool = False, patient: bool = True) -> Seen:
        """What is known of a component; without patience, what may be readable in a moment is not taken for less."""
        try:
            view = self.fleet.component(name)
            return replace(view, tags=self.fleet.tags(name)) if tags else view
        except Gone:
            return Absent.NOT_FOUND
        except Transient:
            if patient:
                return Absent.UNREADABLE
            raise
        except Misconfigured:
            return Absent.UNREADABLE

    def _occupants(
        self, facts: Iterable[str], components: dict[str, Seen], *, patient: bool = False
    ) -> dict[str, tuple[str, ...]]:
        """The names of all components on each endpoint; what is new among them is described.

        With patience, an endpoint whose components cannot be listed is left out.
        """
        found: dict[str, tuple[str, ...]] = {}
        for endpoint in facts:
            try:
                found[endpoint] = self.fleet.components(endpoint=endpoint)
            except (Transient, Misconfigured):
                if patient:
                    continue
                raise
            for name in found[endpoint]:
                if name not in components:
                    components[name] = self._component(name)
        return found

    def _reads_alarms(
        self, request: Request, facts: EndpointFacts, members: Iterable[ComponentView], switch: str
    ) -> Answer:
        """Whether the endpoint's role may read the alarms that its components will list."""
        guards = [guard for guard in request.guards if guard.native or guard.own]
        mine = [member for member in members if member.endpoint == facts.name]
        alarms = {guard.named(member.name, member.endpoint) for guard in guards for member in mine}
        if not facts.role or not mine:
            return Answer.UNKNOWN
        return self.permissions.reads_alarms(facts.role, [*sorted(alarms), switch or switch_name(request.rollout)])

    def _alarms(self, stored: StoredRollout, plan: Plan, now: float, switch: str) -> dict[str, AlarmView]:
        since = stored.record.window_from
        watches = () if stored.record.intent is Intent.REVERT else plan.watches
        known = {watch.alarm: watch.settings for watch in watches}
        bakes = stored.record.step is Step.BAKING and stored.record.hold(HoldKind.OPERATOR) is None
        settled = stored.record.settled_at if bakes else None  # nothing else asks for samples
        touched = [component.name for component in stored.record.components if component.touched]
        counted = {watch.alarm for watch in plan.watched(touched)}
        queries = [AlarmQuery(switch)]
        for watch in watches:
            begin = settled if watch.alarm in counted else None
            queries.append(AlarmQuery(watch.alarm, since, watch.traffic, begin, watch.min_samples))
        found: dict[str, AlarmView] = {}
        for start in range(0, len(queries), ALARMS):
            some = queries[start : start + ALARMS]
            try:
                found |= self.gauges.read(some, now)
            except (Transient, Misconfigured):
                # Neither gone nor OK: nothing advances on it, and the switch is asked for again.
                found |= {q.alarm: AlarmView(q.alarm, AlarmState.INSUFFICIENT_DATA, problem=UNREAD) for q in some}
        return {
            name: replace(view, settings=view.settings or known.get(name, "")) if view.problem == UNREAD else view
            for name, view in found.items()
        }


def _unless_gone(read: Callable[[str], _Read], name: str) -> _Read | None:
    try:
        return read(name)
    except (Gone, Misconfigured):
        return None


def _readable(read: Callable[[str], _Read], name: str) -> _Read | None:
    try:
        return read(name)
    except (Gone, Transient, Misconfigured):
        return None


def _unless_unread(read: Callable[[list[str]], _Read], names: list[str]) -> _Read | None:
    try:
        return read(names)
    except (Transient, Misconfigured):
        return None


def _whole(alarms: Mapping[str, AlarmView]) -> Mapping[str, AlarmView]:
    """These alarms; raises `Misconfigured` when one of them cannot be understood."""
    for name, view in alarms.items():
        if view.problem == UNREAD:
            raise Misconfigured(f"what AWS answered of alarm {name} cannot be read")
    return alarms


def _endpoints(
    facts: Mapping[str, EndpointFacts], occupants: Mapping[str, Iterable[str]], components: Mapping[str, Seen]
) -> dict[str, EndpointView]:
    """Endpoints with all that lives on them; one of whose components cannot be read is left out, as unknown."""
    found: dict[str, EndpointView] = {}
    for name, fact in facts.items():
        if name not in occupants:
            continue
        views = [components.get(each, Absent.UNREADABLE) for each in occupants[name]]
        if Absent.UNREADABLE in views:
            continue
        lives = tuple(
            Occupant(view.name, max(view.desired, view.current), view.spec.compute)
            for view in views
            if isinstance(view, ComponentView)
        )
        found[name] = EndpointView(name, fact.in_service, fact.pools, fact.most, lives)
    return found


def _refusals(stored: StoredRollout) -> dict[str, str]:
    """What was answered to attempts that are still the present ones."""
    found: dict[str, str] = {}
    for component in stored.record.components:
        refusal = stored.refusals.get(component.name)
        if refusal is not None and component.attempt is not None and refusal.attempt == component.attempt.number:
            found[component.name] = refusal.sentence
    return found
