"""Guards of the gate, its alarms and the kill switch."""

from dataclasses import replace
from typing import Any

from pointsman.loops import rollout as loop
from pointsman.loops.rollout import RolloutLoop
from pointsman.rollouts import decide, forward, gate, planner, switch
from pointsman.rollouts.decision import Act, Decision, FireSwitch, SubmitUpdate
from pointsman.rollouts.draft import Draft
from pointsman.rollouts.observations import AlarmState, AlarmView, Observations
from pointsman.rollouts.plan import Check, Finding, Plan
from pointsman.rollouts.record import HoldKind, RolloutRecord, Step
from tests.proof.rollouts.patches import Rows, both, carrying, other, seeing, unheld
from tests.unit.rollouts import ablations

_baked, _preflight = forward.baked, decide._preflight
_check_watches, _do = planner.check_watches, RolloutLoop._do


def _window_from_the_commit(record: RolloutRecord, plan: Plan, seen: Observations, now: float) -> Decision:
    decision = decide.decide(record, plan, seen, now)
    if decision.record.step is Step.GATED:
        return replace(decision, record=replace(decision.record, window_from=now))
    return decision


def _baked_in_a_pause(draft: Draft, length: float) -> bool:
    return bool(unheld(draft, HoldKind.OPERATOR, lambda: _baked(draft, length)))


def _long_checked(*given: Any) -> list[Finding]:
    return [found for found in _check_watches(*given) if found.check is not Check.BAKE_TOO_SHORT]


def _sampled(seen: Observations) -> Observations:
    alarms = {name: replace(view, samples=(seen.began,)) for name, view in seen.alarms.items()}
    return replace(seen, alarms=alarms)


def _as_planned(record: RolloutRecord, plan: Plan, seen: Observations, now: float) -> Decision:
    alarms = dict(seen.alarms)
    for watch in plan.watches:
        there = alarms.get(watch.alarm) or AlarmView(watch.alarm, AlarmState.OK, samples=(seen.began,))
        alarms[watch.alarm] = replace(there, settings=watch.settings)
    return decide.decide(record, plan, replace(seen, alarms=alarms), now)


def _waived_for_ever(record: RolloutRecord, plan: Plan, seen: Observations, now: float) -> Decision:
    waivers = tuple(replace(waiver, wave=record.gate) for waiver in record.waivers)
    decision = decide.decide(replace(record, waivers=waivers), plan, seen, now)
    return replace(decision, record=replace(decision.record, waivers=record.waivers))


def _blind_start(draft: Draft) -> None:
    seen, draft.seen = draft.seen, replace(draft.seen, alarms={})
    _preflight(draft)
    draft.seen = seen


def _unlisted(act: Act) -> Act:
    return replace(act, alarms=()) if isinstance(act, SubmitUpdate) else act


GATE_GUARDS: Rows = {
    "an excursion counts though it is over, in the loop": ("bad version", ("S9",), seeing(ablations.no_history)),
    "windows tile, in the loop": ("flickering", ("S9",), other(loop, "decide", _window_from_the_commit)),
    "a pause stops the bake clock": ("paused", ("S21",), other(forward, "baked", _baked_in_a_pause)),
    "a wave bakes": ("calm", ("S21",), other(forward, "baked", lambda *_: True)),
    "unknown is not a pass": ("blind", ("S8",), other(forward, "_gate", lambda *_: True)),
    "a gate waits until its alarm can have fired": (
        "hasty",
        ("S8",),
        both(other(planner, "check_watches", _long_checked), other(gate, "least_bake", lambda *_: 0.0)),
    ),
    "an alarm that nobody feeds proves nothing": ("quiet", ("S8",), seeing(_sampled)),
    "an alarm that was edited or deleted proves nothing": ("edited", ("S8",), other(loop, "decide", _as_planned)),
    "a waiver is for its own gate": ("waived", ("S8",), other(loop, "decide", _waived_for_ever)),
    "nothing begins while an alarm fires": ("fired before", ("S8",), other(decide, "_preflight", _blind_start)),
    "an update waits for the kill switch": (
        "calm",
        ("switch",),
        both(other(decide, "make_switch", lambda _: True), other(forward, "make_switch", lambda _: True)),
    ),
    "an update lists the kill switch": ("calm", ("switch",), carrying(_unlisted)),
    "what is in flight is stopped by the kill switch": (
        "slow updates",
        ("switch",),
        other(RolloutLoop, "_do", lambda run, act: "done" if isinstance(act, FireSwitch) else _do(run, act)),
    ),
    "a kill switch outlives whoever may make it": ("given up", ("S15",), other(switch, "LEASE", 0.0)),
}
