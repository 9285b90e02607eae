"""The JSON objects of `pointsman rollout`. They are API: keys are added, never renamed; absent facts are null."""

from collections.abc import Iterable

from pointsman.rollouts.batches import Batch
from pointsman.rollouts.decision import JournalEntry, parking
from pointsman.rollouts.plan import Finding, Member, Need, Plan
from pointsman.rollouts.record import ComponentRecord, Hold, Intent, RolloutRecord
from pointsman.rollouts.request import Request
from pointsman_cli.printing import moment
from pointsman_cli.rollout_next import next_steps

Shape = dict[str, object]

INTENTS = {Intent.FORWARD: "forward", Intent.STOP: "stop", Intent.REVERT: "revert"}


def plan_shape(plan: Plan) -> Shape:
    """`rollout plan`."""
    return {
        "rollout": plan.rollout,
        "at": moment(plan.made_at),
        "ok": not plan.refused,
        "components": len(plan.members),
        "waves": [
            {
                "wave": number + 1,
                "seconds": _round(seconds),
                "approval": number + 1 in plan.approvals,
                "components": [_member(plan.member(name)) for name in names],
            }
            for number, (names, seconds) in enumerate(zip(plan.waves, plan.seconds, strict=True))
        ],
        "capacity": [_need(need) for need in plan.needs],
        "gives_way": [
            {"component": g.component, "endpoint": g.endpoint, "before": g.before, "after": g.after} for g in plan.gives
        ],
        "alarms": [
            {
                "alarm": w.alarm,
                "components": list(w.components),
                "min_samples": w.min_samples,
                "traffic": [str(metric) for metric in w.traffic],
            }
            for w in plan.watches
        ],
        "seconds": _round(plan.duration),
        "checks": [_finding(finding) for finding in plan.findings],
    }


def rollout_shape(record: RolloutRecord, request: Request, plan: Plan | None, next_wake_at: float) -> Shape:
    """`rollout show`, and one line of `rollout list`."""
    return {
        **line_shape(record, next_wake_at),
        "waves": len(plan.waves) if plan else None,
        "capacity": request.capacity.value,
        "retry_of": request.retry_of or None,
        "next": list(next_steps(record)),
        "components": [_component(component, plan) for component in record.components],
        "gives_way": [
            {"component": n.component, "before": n.noted, "wanted": n.wanted, "state": n.state.value}
            for n in record.copies
        ],
        "kill_switch": record.switch.value,
        "needs_human": list(record.needs_human),
    }


def line_shape(record: RolloutRecord, next_wake_at: float) -> Shape:
    """What every look at a rollout has in common."""
    forward = not record.phase.terminal and record.intent is Intent.FORWARD
    return {
        "rollout": record.rollout,
        "phase": record.phase.value,
        "intent": INTENTS[record.intent],
        "wave": record.wave + 1 if record.components else None,
        "step": record.step.value if forward and record.components else None,
        "parked": parking(record),
        "holds": [_hold(hold) for hold in record.holds],
        "cause": record.cause or None,
        "started_at": moment(record.started_at),
        "started_by": record.started_by or None,
        "ended_at": moment(record.ended_at),
        "next_pass": None if record.phase.terminal else moment(next_wake_at),
        "revision": record.rev,
    }


def history_shape(rollout: str, journal: Iterable[JournalEntry]) -> Shape:
    """`rollout history`."""
    return {
        "rollout": rollout,
        "commits": [
            {
                "revision": line.rev,
                "at": moment(line.at),
                "actor": line.actor,
                "said": [
                    {"reason": said.reason.value, "component": said.component, "sentence": said.sentence}
                    for said in line.said
                ],
            }
            for line in journal
        ],
    }


def _member(member: Member) -> Shape:
    return {
        "component": member.name,
        "endpoint": member.endpoint,
        "copies": member.copies,
        "batch": _batch(member.batch),
        "rollback_batch": _batch(member.rollback_batch),
        "native_alarms": list(member.natives),
        "seconds": _round(member.seconds),
        "old": member.old.digest,
        "new": member.new.digest,
    }


def _batch(batch: Batch) -> Shape:
    return {"copies": batch.copies, "reason": batch.reason.value, "sentence": batch.sentence}


def _need(need: Need) -> Shape:
    return {
        "endpoint": need.endpoint,
        "component": need.component,
        "wave": need.wave + 1,
        "direction": need.direction.value,
        "copies": need.copies,
        "instances_needed": need.room.needed,
        "instances_there": need.room.there,
        "instances_most": need.room.most,
        "enough": need.room.enough,
        "assumed": need.room.assumed,
    }


def _finding(finding: Finding) -> Shape:
    return {
        "check": finding.check.value,
        "level": finding.level.value,
        "place": finding.place,
        "sentence": finding.sentence,
        "remedy": finding.remedy or None,
    }


def _component(component: ComponentRecord, plan: Plan | None) -> Shape:
    member = plan.member(component.name) if plan else None
    return {
        "component": component.name,
        "endpoint": member.endpoint if member else None,
        "wave": member.wave + 1 if member else None,
        "state": component.state.value,
        "since": moment(component.since),
        "attempts": len(component.attempts),
        "sentence": component.sentence or None,
    }


def _hold(hold: Hold) -> Shape:
    return {
        "kind": hold.kind.value,
        "owner": hold.owner,
        "since": moment(hold.since),
        "expiry": moment(hold.expiry),
        "sentence": hold.sentence or None,
    }


def _round(seconds: float) -> float:
    return round(seconds, 1)
