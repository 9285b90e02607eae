"""The invariants, checked against what SageMaker, its alarms and the clock truly are as a change is made or committed.

Of our own record only the intent that an act must name is taken (S2), what a person allowed, and what is being judged.
A version is a model's name. `TIMEOUT` is the function's: what nobody could have read later than so ago is no fault.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pointsman.rollout_ports import StoredRollout
from pointsman.rollouts.decision import Decision, SubmitUpdate
from pointsman.rollouts.draft import PATIENCE
from pointsman.rollouts.observations import Suspension
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.record import ComponentRecord, Direction, HoldKind, Intent, RolloutRecord, State, Step
from pointsman_emulator.models.inference import Component, InferenceModel
from pointsman_emulator.models.inference_update import Scaling, Update
from tests.proof.frame import Violation
from tests.proof.rollouts import promises, theirs
from tests.proof.rollouts.alarms import LateSignals

if TYPE_CHECKING:
    from tests.proof.rollouts.world import World

TIMEOUT = 120.0  # of the function
WIRE = 50.0  # how long after its sender's end a call may still land
LATE = TIMEOUT + WIRE + 90.0  # what is older than this was there to be read by whoever acts now: a history lags by 60
BOUNDS = {Direction.FORWARD: 3, Direction.BACK: 6}
HOTFIX = "hotfix"
SILENCE = 900.0 + 1800.0 + 1200.0  # the slack of a deadline, what a way back is waited for, and a few passes that fail


@dataclass
class Sent:
    """What SageMaker took of one component's updates, and what came of them."""

    forward: list[tuple[float, int]] = field(default_factory=list)  # taken: when, and the attempt's number
    calls: Counter[Direction] = field(default_factory=Counter)


class Truth:
    """One rollout's checks, and what they found wrong."""

    def __init__(self, world: "World", name: str) -> None:
        self.world, self.name = world, name
        self.model: InferenceModel = world.model
        self.signals: LateSignals = world.signals
        self.now: Callable[[], float] = world.true_now
        self.wrong: list[Violation] = []
        self.plan: Plan | None = None
        self.record = RolloutRecord(name)
        self.sent: dict[str, Sent] = {}
        self.named: set[tuple[str, int, float]] = set()  # attempts that a commit said were sent
        self.before: dict[str, tuple[str, int, Suspension | None]] = {}
        self.meddled: dict[str, float] = {}  # when someone else last wrote a component
        self.taken_back: set[str] = set()  # by SageMaker itself
        self.first_change: float | None = None
        self.paused: list[tuple[float, float | None]] = []
        self.stood: list[tuple[float, float | None]] = []  # while a hold kept everybody from looking
        self.begun: dict[str, float] = {}  # when a commit first said that an update forward is sent
        self.ended_at: float | None = None
        self.turned_at: float | None = None
        self.told_of_alarm = False  # when it had ended, and had left something new

    def wrongly(self, invariant: str, sentence: str) -> None:
        """Note a violation, once for each sentence."""
        violation = Violation(invariant, sentence)
        if violation not in self.wrong:
            self.wrong.append(violation)

    def version(self, name: str) -> str | None:
        """What a component runs: the version that it was last brought to, whole."""
        part = self.model.components.get(name)
        return None if part is None else part.spec.model

    @property
    def new(self) -> str:
        """The version that the rollout goes to."""
        return self.plan.request.change.model or "" if self.plan is not None else ""

    def steady(self, name: str, seconds: float = LATE) -> bool:
        """Whether nobody else wrote the component in this time."""
        return self.meddled.get(name, 0.0) < self.now() - seconds

    # ------------------------------------------------------------------------------------------- changes outside

    def changes(self, what: str) -> None:
        """S15, for every kind of change: none comes after the end."""
        if self.ended_at is not None:
            self.wrongly("S15", f"{what} after the rollout has ended")

    def updates(self, act: SubmitUpdate, taken: Callable[[], Any]) -> Any:
        """An update, checked as it arrives; `taken` gives it to SageMaker, which may refuse it."""
        name, attempt = act.component, act.attempt
        part, record = self.model.components.get(name), self._recorded(name)
        forward = attempt.direction is Direction.FORWARD
        mine = self.sent.setdefault(name, Sent())
        self._s2(act, record)
        self._s20(act, record, mine)
        self.changes(f"an update of {name}")
        if part is None:
            return taken()
        self._s12(act)
        before = part.spec.model
        flying = [c.name for c in self._flying() if c.endpoint is part.endpoint and c.name != name]
        short = self._s14(part, act) if forward or not self._waited() else ""
        answer = taken()  # what is refused changes nothing
        if isinstance(part.change, Update):
            self.world.ours.append(part.change)
        if short:
            self.wrongly("S14", short)
        promises.owns(self, name, part.endpoint.name, TIMEOUT + WIRE)
        if flying:
            self.wrongly("S3", f"{name} is updated while {flying} is in flight on {part.endpoint.name}")
        if part.desired < 2 and self.steady(name):
            self.wrongly("S6", f"{name} has {part.desired} copies, and is rolled")
        self._s13(name, before, record)
        self._scaled(name)
        if forward:
            self._forward(act, before, mine, record)
        else:
            self._back(act, record)
        self.first_change = self.first_change or self.now()
        return answer

    def _forward(self, act: SubmitUpdate, before: str | None, mine: Sent, record: ComponentRecord | None) -> None:
        name = act.component
        allowed = record is not None and (record.granted or record.adopted is not None)
        if mine.forward and not allowed and self.steady(name, 1e9):
            at = mine.forward[-1][0]
            back = "was taken back by SageMaker" if name in self.taken_back else "was taken"
            self.wrongly("S4", f"{name} is updated again, and the update at {at:.0f} {back}")
        mine.forward.append((self.now(), act.attempt.number))
        self._s5(name)
        promises.begins(self, act, self.model.components[name], TIMEOUT + WIRE)
        self._s6()
        self._s9(f"{name} is updated", wave=self._wave(name))
        if before == self.new and self.steady(name, 1e9):
            self.wrongly("S4", f"{name} has the new version, and is updated to it")

    def _back(self, act: SubmitUpdate, record: ComponentRecord | None) -> None:
        adopted = record.adopted if record is not None else None
        wanted = adopted.model if adopted is not None else self.before.get(act.component, ("", 0, None))[0]
        if act.spec.model != wanted:
            self.wrongly("S7", f"the way back of {act.component} goes to {act.spec.model}, not to {wanted}")
        flying = [c.name for c in self._flying() if c.name in self.before and c.change and c.change.towards is not None
                  and c.change.towards.model != self.new]  # fmt: skip
        if self.plan is not None and len(flying) > self.plan.request.revert_concurrency:
            self.wrongly("S6", f"{len(flying)} ways back at once")

    def _s2(self, act: SubmitUpdate, record: ComponentRecord | None) -> None:
        named = (act.component, act.attempt.number, act.attempt.prepared_at)
        if record is None or named not in self.named:
            self.wrongly("S2", f"no committed intent names attempt {act.attempt.number} of {act.component}")

    def notes(self, component: str, kind: str, noted: bool) -> None:
        """S2, for copies and for auto scaling."""
        self.changes(f"a change of the {kind} of {component}")
        if not noted:
            self.wrongly("S2", f"no committed note names the {kind} of {component}")

    def _s5(self, name: str) -> None:
        if self.plan is None:
            return
        wave = self._wave(name)
        for member in self.plan.members:
            if member.wave < wave and not self._excused(member.name) and self.version(member.name) != self.new:
                self.wrongly("S5", f"{name} of wave {wave + 1} changes, and {member.name} is not new")

    def _s6(self) -> None:
        if self.plan is None:
            return
        out = {c.name for c in self._flying() if c.change and c.change.towards and c.change.towards.model == self.new}
        out |= {name for name in self.taken_back if not self._excused(name)}
        if len(out & set(self.before)) > self.plan.request.concurrency:
            self.wrongly("S6", f"{len(out)} in flight or failed, of {self.plan.request.concurrency}")

    def excursions(self) -> list[float]:
        """When the fleet's alarm fired after the first change, and could be seen."""
        since = self.first_change
        bell = self.signals.bells.get("fleet-errors")
        if since is None or bell is None:
            return []
        return [at for at in bell.entered if since <= at < self.now() - LATE]

    def _s9(self, what: str, wave: int = 1) -> None:
        if wave > 0 and (late := self.excursions()):
            self.wrongly("S9", f"{what} in spite of an excursion {self.now() - late[0]:.0f} s ago")

    def _s12(self, act: SubmitUpdate) -> None:
        if act.attempt.direction is Direction.BACK and act.alarms:
            self.wrongly("S12", f"the way back of {act.component} lists alarms")

    def _s13(self, name: str, before: str | None, record: ComponentRecord | None) -> None:
        adopted = record is not None and record.adopted is not None
        planned = self.before.get(name, ("", 0, None))[0]
        if before == HOTFIX != planned and self.steady(name) and not adopted:
            self.wrongly("S13", f"{name} was changed by someone else, and is overwritten")

    def _scaled(self, name: str) -> None:
        target = self.model.targets.get(name)
        if target is not None and not (target.suspended_in and target.suspended_out):
            self.wrongly("S22", f"{name} is rolled while auto scaling may move its copies")

    def _s14(self, part: Component, act: SubmitUpdate) -> str:
        alike = [c for c in self.model.components.values() if c.endpoint is part.endpoint]
        wanted = sum(max(c.desired, len(c.alive())) for c in alike) + act.attempt.batch.copies
        there = sum(part.variant.maximum * pool.size.accelerators for pool in part.variant.pools)
        if wanted <= there or not all(self.steady(c.name) for c in alike):
            return ""
        return f"{part.name} is updated with room for {there:.0f} copies, and {wanted} wanted"

    def _waited(self) -> bool:
        """Whether a way back has waited for room, or whatever it lacks, as long as it may."""
        held = self.record.hold(HoldKind.CAPACITY)
        went_on = max([self.record.since, *(component.since for component in self.record.components)])
        return min(went_on, held.since if held is not None else went_on) < self.now() - PATIENCE + LATE

    def _s20(self, act: SubmitUpdate, record: ComponentRecord | None, mine: Sent) -> None:
        mine.calls[act.attempt.direction] += 1
        most = BOUNDS[act.attempt.direction] + (record.granted if record is not None else 0)
        if mine.calls[act.attempt.direction] > most:
            self.wrongly("S20", f"{act.component} is updated {most + 1} times {act.attempt.direction.value}")

    # ----------------------------------------------------------------------------------------------------- commits

    def commits(self, read: StoredRollout, decision: Decision) -> None:
        """What a commit that went through says, against what is true now."""
        before, after = read.record, decision.record
        if self.record.phase.terminal:
            self.wrongly("S15", f"a record that has ended ({self.record.phase.value}) is changed")
        if after.intent < self.record.intent:
            self.wrongly("S7", f"the intent falls from {self.record.intent.name} to {after.intent.name}")
        self._s19(decision, after)
        if self.plan is None and decision.plan is not None:
            self.plan = decision.plan
            self._remember()
            promises.planned(self, decision.plan)
        self._s1(decision)
        promises.advances(self, self.record, after, TIMEOUT + WIRE)
        promises.turns(self, self.record.intent, after.intent)
        theirs.commits(self, self.record, decision, TIMEOUT + WIRE)
        self._paused(after)
        for component in after.components:
            if component.sent_at is not None and component.attempt is not None:
                self.named.add((component.name, component.attempt.number, component.attempt.prepared_at))
            old = next((c for c in self.record.components if c.name == component.name), None)
            if old is not None and old.state is not component.state:
                self._s8(old, component, after)
        if after.step is Step.GATED and self.record.step is not Step.GATED:
            self._gate(after)
        if any(c.sent_at != self._sent_at(before, c.name) and c.sent_at is not None and c.attempt is not None
               and c.attempt.direction is Direction.FORWARD for c in after.components) and after.intent:  # fmt: skip
            self.wrongly("S7", "an update is sent forward though the intent has risen")
        self.record = after

    def goes_on(self, decision: Decision, earlier: "Truth | None") -> None:
        """It takes back what an earlier rollout did: what was before that one counts."""
        self.plan, self.record = decision.plan, decision.record
        self._s1(decision)
        if earlier is not None:
            self.before, self.sent = dict(earlier.before), {name: Sent(it.forward) for name, it in earlier.sent.items()}
            self.meddled = dict(earlier.meddled)

    def _s1(self, decision: Decision) -> None:
        for endpoint, _fence in decision.locks:
            for other in self.rivals(endpoint):
                self.wrongly("S1", f"{endpoint} is taken while {other} is under way on it")

    def rivals(self, endpoint: str) -> list[str]:
        """Which other rollouts are under way on an endpoint, with a plan and no end."""
        return [
            other.name
            for other in self.world.truths.values()
            if other is not self and other.ended_at is None and other.plan is not None
            and endpoint in other.plan.endpoints
        ]  # fmt: skip

    def kept(self, name: str) -> Suspension | None:
        """What its auto scaling is kept from; None: it has none."""
        return self.world.scaling.kept.get(name)

    def _s8(self, old: ComponentRecord, component: ComponentRecord, after: RolloutRecord) -> None:
        new = {State.SETTLING, State.BAKING}
        since = old.sent_at
        if component.state in new and self.version(component.name) != self.new and self.steady(component.name):
            self.wrongly("S8", f"{component.name} counts as new, and has {self.version(component.name)}")
        if (
            component.state is State.SETTLING
            and since is not None
            and not self.sent.get(component.name, Sent()).forward
            and not self._by_hand(component.name)
        ):
            self.wrongly("S8", f"{component.name} counts as updated, and SageMaker never took an update of it")
        theirs = component.adopted is not None and component.adopted.model == self.new  # a person let it stay
        back = component.state is State.REVERTED and after.intent is Intent.REVERT and not theirs
        if back and self.version(component.name) == self.new and self.steady(component.name):
            self.wrongly("S8", f"{component.name} counts as back, and has the new version")
        silent = component.state is State.STUCK and old.sent_at is not None and component.sent_at is not None
        if silent and self.now() < (old.deadline or 0.0) - 20:
            self.wrongly("S21", f"{component.name} is stuck before its deadline")

    def _by_hand(self, name: str) -> bool:
        """Whether someone else brought it to the new version: no describe tells that from ours, and new is new."""
        return self.version(name) == self.new and name in self.meddled

    def _gate(self, after: RolloutRecord) -> None:
        """S8, S9 and S21 at a gate that passed."""
        if self.plan is None:
            return
        final = after.phase is Phase.FINAL_BAKE
        length = self.plan.request.final_bake if final else self.plan.request.bake
        since = after.settled_at or 0.0
        paused = sum(max(0.0, (end or self.now()) - max(begin, since)) for begin, end in self.paused
                     if (end or self.now()) > since)  # fmt: skip
        if self.now() - since - paused < length - 30:
            self.wrongly("S21", f"gate {after.gate} passed {self.now() - since - paused:.0f} s after it settled")
        waived = any(waiver.wave == after.gate for waiver in after.waivers)
        if length and not waived and not self.signals.healthy_since("fleet-errors", since):
            self.wrongly("S8", f"gate {after.gate} passed, and the alarm was never OK since it settled")
        self._s9(f"gate {after.gate} passed")
        promises.judges(self, after, TIMEOUT + WIRE)

    def _s19(self, decision: Decision, after: RolloutRecord) -> None:
        if self.plan is None:
            return
        if decision.plan is not None and decision.plan != self.plan:
            self.wrongly("S19", "the plan has changed")
        members = {c.name for c in self.record.components}
        if members and {c.name for c in after.components} != members:
            self.wrongly("S19", "the members have changed")

    def _paused(self, after: RolloutRecord) -> None:
        held = after.hold(HoldKind.OPERATOR) is not None
        open_ = bool(self.paused) and self.paused[-1][1] is None
        if held and not open_:
            self.paused.append((self.now(), None))
        elif open_ and not held:
            self.paused[-1] = (self.paused[-1][0], self.now())

    # ------------------------------------------------------------------------------------------------------- parts

    def looks(self) -> None:
        """What SageMaker does by itself: it takes back, or is silent (L2)."""
        promises.goes_on(self)
        for component in self.record.components:
            at, attempt = component.sent_at, component.attempt
            silent = at is not None and attempt is not None and component.outstanding and self.ended_at is None
            if silent and component.state is not State.STUCK and self.now() > at + attempt.mark + SILENCE:
                self.wrongly("L2", f"{component.name} is silent beyond its deadline, and nobody is told")
        for name, mine in self.sent.items():
            part = self.model.components.get(name)
            if part is None or not mine.forward:
                continue
            if isinstance(part.change, Update) and part.change.going_back and part.change.new.model == self.new:
                self.taken_back.add(name)

    def _remember(self) -> None:
        """What there was before the first change."""
        for name, part in self.model.components.items():
            self.before[name] = (part.spec.model or "", part.desired, self.kept(name))

    def _flying(self) -> list[Component]:
        """What we have in flight, whichever rollout it was."""
        return [c for c in self.model.components.values() if c.change in self.world.ours]

    def scaling_now(self, name: str) -> bool:
        """Whether its copies are being changed."""
        part = self.model.components.get(name)
        return part is not None and isinstance(part.change, Scaling)

    def _recorded(self, name: str) -> ComponentRecord | None:
        return next((c for c in self.record.components if c.name == name), None)

    @staticmethod
    def _sent_at(record: RolloutRecord, name: str) -> float | None:
        return next((c.sent_at for c in record.components if c.name == name), None)

    def _wave(self, name: str) -> int:
        return self.plan.member(name).wave if self.plan is not None else 0

    def _excused(self, name: str) -> bool:
        """Left out, gone, or written by someone else: its version is no longer ours to answer for."""
        record = self._recorded(name)
        left = record is not None and (record.state is State.SKIPPED or record.adopted is not None)
        return left or name not in self.model.components or name in self.meddled
