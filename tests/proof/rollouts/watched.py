"""The ports of a world, each change checked by the truth as it arrives."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pointsman.aws.sagemaker import SageMakerFleet
from pointsman.errors import Conflict
from pointsman.loops import rollout as loop
from pointsman.loops.rollout_observe import RolloutObserver
from pointsman.rollout_ports import AlarmQuery, StoredRollout
from pointsman.rollouts.decision import Decision, SubmitUpdate
from pointsman.rollouts.observations import UNREAD, AlarmView, Observations, Suspension
from pointsman.rollouts.phase import is_switch
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.record import RolloutRecord
from pointsman.rollouts.request import Request
from tests.fakes.rollout_table import FakeRolloutTable
from tests.proof.rollouts import theirs
from tests.proof.rollouts.alarms import LateSignals
from tests.proof.rollouts.ends import at_the_end
from tests.proof.rollouts.sagemaker import ModelScaling
from tests.proof.rollouts.truth import LATE

if TYPE_CHECKING:
    from tests.proof.rollouts.truth import Truth
    from tests.proof.rollouts.world import World


OFTEN = 5  # one commit of so many is decided a second time


class _Watched:
    """Everything as the port has it, but for what is watched."""

    def __init__(self, world: "World", port: Any) -> None:
        self._world, self._port = world, port

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)

    def _whose(self, component: str) -> "tuple[Truth, RolloutRecord]":
        """The rollout that has the component's endpoint now, or the first one."""
        world = self._world
        part = world.model.components.get(component)
        lock = world.table.held.get(part.endpoint.name) if part is not None else None
        name = lock.owner if lock is not None and lock.owner in world.truths else next(iter(world.truths))
        return world.truths[name], world.table.kept[name].stored.record


class WatchedFleet(_Watched):
    """Updates and copies."""

    _port: SageMakerFleet

    def update(self, act: SubmitUpdate) -> None:
        world = self._world
        mine = [world.truths[name] for alarm in act.alarms for name in world.truths if is_switch(alarm, name)]
        truth = mine[0] if mine else self._whose(act.component)[0]
        truth.updates(act, lambda: self._port.update(act))

    def set_copies(self, component: str, copies: int) -> None:
        truth, record = self._whose(component)
        theirs.copies(truth, record, component, copies, LATE)
        self._port.set_copies(component, copies)
        noted = any(note.component == component and copies in {note.noted, note.wanted} for note in record.copies)
        truth.notes(component, "copies", noted=noted)


class WatchedScaling(_Watched):
    """Auto scaling suspended and resumed."""

    _port: ModelScaling

    def suspend(self, component: str) -> None:
        self._note(component)
        self._port.suspend(component)

    def restore(self, component: str, suspension: Suspension) -> None:
        self._note(component)
        self._port.restore(component, suspension)

    def _note(self, component: str) -> None:
        truth, record = self._whose(component)
        truth.notes(component, "auto scaling", noted=any(note.component == component for note in record.scaling))


class WatchedSignals(_Watched):
    """The kill switch; and alarms, of which single ones cannot be read whole."""

    _port: LateSignals

    def read(self, queries: Iterable[AlarmQuery], now: float) -> Mapping[str, AlarmView]:
        """The state of each is told, whatever of its history cannot be."""
        asked = {query.alarm: query for query in queries}
        views = dict(self._port.read(asked.values(), now))
        for name, view in views.items():
            if asked[name].since is not None and self._world.throttles():
                views[name] = replace(view, entered=(), samples=(), problem=UNREAD)
        return views

    def make(self, alarm: str) -> None:
        self._change(alarm, "the kill switch is made")
        self._port.make(alarm)

    def fire(self, alarm: str) -> None:
        self._change(alarm, "the kill switch is fired")
        self._port.fire(alarm)

    def _change(self, alarm: str, what: str) -> None:
        for name, truth in self._world.truths.items():
            if is_switch(alarm, name):
                truth.changes(what)


class WatchedObserver(_Watched):
    """What passes look at, kept beside the function that runs."""

    _port: RolloutObserver

    def look(self, stored: StoredRollout, plan: Plan) -> Observations:
        seen = self._port.look(stored, plan)
        self._world.sinking.frames[-1].seen = seen
        return seen


class WatchedTable(_Watched):
    """Commits."""

    _port: FakeRolloutTable

    def create(self, request: Request, decision: Decision) -> None:
        self._port.create(request, decision)
        truth = self._world.watch(request.rollout)
        if decision.plan is not None:
            truth.goes_on(decision, self._world.truths.get(request.retry_of))

    def commit(self, read: StoredRollout, decision: Decision, wake_at: float, generation: int) -> StoredRollout:
        people, rollout = self._world.people, read.record.rollout
        try:
            written = self._port.commit(read, decision, wake_at, generation)
        except Conflict as error:
            if str(error) in people.took_lock:
                people.locked_out[rollout] = self._world.true_now()
            raise
        truth = self._world.truths[rollout]
        if written.record.rev % OFTEN == 0:
            self._again(truth, read, decision)
        truth.commits(read, decision)
        if decision.record.phase.terminal:
            at_the_end(truth, decision.record, self.held())
        return written

    def _again(self, truth: "Truth", read: StoredRollout, decision: Decision) -> None:
        """S17: the same facts, read in another order, decide the same."""
        frames, line = self._world.sinking.frames, decision.journal
        seen = frames[-1].seen if frames else None
        if seen is None or read.plan is None or line is None or line.actor != "pointsman":
            return
        turned = {
            name: dict(reversed(getattr(seen, name).items()))
            for name in ("components", "endpoints", "alarms", "scaling")
            if getattr(seen, name) is not None
        }
        other = loop.decide(read.record, read.plan, replace(seen, **turned), line.at)
        if (other.record, other.journal) != (decision.record, line):
            truth.wrongly("S17", "the same facts decide otherwise")

    def held(self) -> Mapping[str, Any]:
        """The locks."""
        return self._port.held
