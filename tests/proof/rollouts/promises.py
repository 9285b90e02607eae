"""What the contract promises beside its numbered invariants, and evidence that a gate must have, by the truth.

A violation's name says which: `switch` (what is in flight can be stopped), `hold` (a hold stops what has not begun),
`approval` (only a person lets a wave begin that needs one), `way back` (nothing begins that could not go back).
"""

from typing import TYPE_CHECKING

from pointsman.rollouts.decision import SubmitUpdate
from pointsman.rollouts.gate import LAG
from pointsman.rollouts.phase import Phase, is_switch
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.record import HoldKind, Intent, RolloutRecord, State, Switch
from pointsman_emulator.models.inference import Component
from pointsman_emulator.models.inference_update import Update

if TYPE_CHECKING:
    from tests.proof.rollouts.truth import Truth

ALARM = "fleet-errors"
BLUNT = 15.0  # seconds that two functions' clocks may differ, and a little
SLOW = 1_200.0  # in which some pass came through, whatever the trouble
EVENTS = 300.0  # in which everything is told of that a pass could have seen


def begins(truth: "Truth", act: SubmitUpdate, part: Component, late: float) -> None:
    """An update on the way forward, as it arrives; what nobody could have read `late` seconds ago is no fault."""
    plan, name, people = truth.plan, act.component, truth.world.people
    if plan is None:
        return
    switch = next((alarm for alarm in act.alarms if is_switch(alarm, truth.name)), "")
    gone_late = people.switch_gone.get(switch, 0.0) >= truth.now() - late  # somebody has just deleted it
    if not switch or (switch not in truth.signals.bells and not gone_late):
        truth.wrongly("switch", f"{name} is updated, and nothing could stop it")
    natives = {guard.named(name, part.endpoint.name) for guard in plan.request.guards if guard.native}
    if left := natives - set(act.alarms):
        truth.wrongly("switch", f"{name} is updated, and SageMaker does not watch {min(left)}")
    for since in (people.paused.get(truth.name), people.stopped_at):
        if since is not None and since < truth.now() - late:
            truth.wrongly("hold", f"{name} is updated {truth.now() - since:.0f} s after everything was to stand still")
    for freeze in plan.request.freezes:
        if freeze.since + late < truth.now() < freeze.until - BLUNT:
            truth.wrongly("hold", f"{name} is updated within a freeze")
    wave = plan.member(name).wave + 1
    if wave in plan.approvals and (truth.name, wave) not in people.approved:
        truth.wrongly("approval", f"{name} of wave {wave} is updated, and no person has approved that")
    if part.spec.model not in truth.model.models:
        truth.wrongly("way back", f"{name} is updated, and its model {part.spec.model} is gone")
    if part.endpoint.status != "InService" and part.endpoint.modified_at < truth.now() - late:
        truth.wrongly("S6", f"{name} is updated, and endpoint {part.endpoint.name} is {part.endpoint.status}")


def owns(truth: "Truth", name: str, endpoint: str, late: float) -> None:
    """S1: whoever updates a component has its endpoint's lock."""
    lock, lost = truth.world.table.held.get(endpoint), truth.world.people.took_lock.get(endpoint)
    if lost is not None and lost < truth.now() - late and (lock is None or lock.owner != truth.name):
        truth.wrongly("S1", f"{name} is updated, and {endpoint} is not {truth.name}'s")


def planned(truth: "Truth", plan: Plan) -> None:
    """S19: what the targets name is in the plan, whether it could be read at once or not."""
    names = {member.name for member in plan.members}
    left = {n for n, part in truth.model.components.items() if n.startswith("m") and part.status != "Deleting"} - names
    if left and not plan.refused and not plan.request.retry_of:
        truth.wrongly("S19", f"{min(left)} is not in the plan")


def advances(truth: "Truth", before: RolloutRecord, after: RolloutRecord, late: float) -> None:
    """A commit: what begins with an alarm, and what is left out."""
    if before.phase is Phase.PREFLIGHT and after.phase is Phase.RUNNING:
        bell = truth.signals.bells.get(ALARM)
        if bell is not None and bell.state.value == "ALARM" and bell.entered[-1] < truth.now() - late:
            truth.wrongly("S8", "it begins, and the alarm is in ALARM")
    known = {component.name: component for component in before.components}
    for component in after.components:
        left = component.state is State.SKIPPED and component.adopted is None
        if left and known[component.name].state is not State.SKIPPED and component.name in truth.model.components:
            truth.wrongly("S19", f"{component.name} is left out, and it is there")


def judges(truth: "Truth", after: RolloutRecord, late: float) -> None:
    """A gate that passed without a waiver for it: what its alarm can have shown."""
    plan, since, now = truth.plan, after.settled_at or 0.0, truth.now()
    length = plan.request.final_bake if plan is not None and after.phase is Phase.FINAL_BAKE else 1.0
    if plan is None or not length or any(waiver.wave == after.gate for waiver in after.waivers):
        return
    bell = truth.signals.bells.get(ALARM)
    if now - since < 60.0 + LAG - BLUNT:
        truth.wrongly("S8", f"gate {after.gate} passed before its alarm could fire")
    if bell is not None and not bell.sampled and (truth.world.quiet_at or now) < now - late:
        truth.wrongly("S8", f"gate {after.gate} passed, and nobody had asked anything")
    unfit = truth.signals.unfit_since
    planned = next((watch.settings for watch in plan.watches if watch.alarm == ALARM), "")
    same = bell is not None and bell.settings == planned  # edited to what it was planned with
    if unfit is not None and plan.made_at < unfit < now - late and not same:
        truth.wrongly("S8", f"gate {after.gate} passed, and its alarm was gone or another one")


def goes_on(truth: "Truth") -> None:
    """As time passes: what turned is stopped in flight, and no hold lasts longer than it may."""
    record, now = truth.record, truth.now()
    if record.phase.terminal or truth.ended_at is not None:
        return
    if truth.turned_at is not None and now > truth.turned_at + SLOW:
        bell = next((bell for alarm, bell in truth.signals.bells.items() if is_switch(alarm, truth.name)), None)
        for name in truth.sent:
            part = truth.model.components.get(name)
            change = part.change if part is not None else None
            ours = isinstance(change, Update) and change in truth.world.ours and not change.going_back
            forward = ours and isinstance(change, Update) and change.new.model == truth.new
            if forward and (bell is None or bell.state.value != "ALARM"):
                truth.wrongly("switch", f"{name} goes on to {truth.new}, and its rollout has turned long ago")
    gone = truth.world.people.switch_gone.get(record.kill_switch)
    if gone is not None and record.kill_switch in truth.signals.bells:
        del truth.world.people.switch_gone[record.kill_switch]
    elif gone is not None and record.phase is Phase.RUNNING and record.switch is Switch.READY:
        # S1 refuses whole what acts where someone took a lock: neither a remake nor a turn that needs none is recorded.
        out = truth.world.people.locked_out.get(truth.name, gone)
        quiet = max([gone, out, *(component.since for component in record.components)])
        if now > quiet + SLOW and not any(component.outstanding for component in record.components):
            truth.wrongly("switch", f"{record.kill_switch} is gone, and is not made again")
    for hold in record.holds:
        if hold.expiry is not None and hold.kind is not HoldKind.FREEZE and now > hold.expiry + SLOW:
            truth.wrongly("L1", f"held ({hold.kind.value}) beyond its time")


def turns(truth: "Truth", before: Intent, after: Intent) -> None:
    """When the rollout first turned."""
    if truth.turned_at is None and after > before:
        truth.turned_at = truth.now()


def alarmed(truth: "Truth") -> None:
    """An alarm was told of after the end: where something new was left, people hear of it."""
    left = [name for name, mine in truth.sent.items() if mine.forward and truth.version(name) == truth.new]
    others = {name for other in truth.world.truths.values() if other is not truth for name in other.sent}
    if left and not others & set(left) and all(truth.steady(name, 1e9) for name in left):
        truth.told_of_alarm = True
