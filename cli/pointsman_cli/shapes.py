"""The JSON objects of `pointsman queue`. They are API: keys are added, never renamed; absent facts are null."""

from collections.abc import Iterable
from statistics import fmean

from pointsman.loops.inspect import Look
from pointsman.ports import RecordedMove, Standstill
from pointsman.queues.effects import Effect
from pointsman.queues.explain import Standing
from pointsman.queues.forecast import Expected
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.moves import Hold
from pointsman.queues.pins import Pin
from pointsman.queues.ranking import Candidate
from pointsman.queues.reasons import Move
from pointsman.wall_clock import Weekly
from pointsman_cli.printing import moment
from pointsman_cli.shares import evictions_shape, shares_shape
from pointsman_cli.standing import Elsewhere, Waiting
from pointsman_cli.standstill import stop_shape

Shape = dict[str, object]


def queue_shape(look: Look, *, still: Standstill | None, head: Iterable[Candidate]) -> Shape:
    """`queue show`."""
    view, record, description = look.seen.view, look.record, look.seen.description
    return _top(look, still) | {
        "kind": description.kind.value,
        "enabled": description.enabled,
        "policy": {
            "version": look.stored.number,
            "applied_at": moment(look.stored.applied_at),
            "applied_by": look.stored.applied_by,
        },
        "capacity": view.capacity,
        "in_use": view.used,
        "working": working(look),
        "free": view.free,
        "used_elsewhere": view.elsewhere,
        "kept_back": view.withheld,
        "waiting": len(view.waiting),
        "classes": [_class(name, waits) for name, waits in waits_by_class(look).items()],
        "head": [
            _job(c.job) | {"waited_seconds": _round(view.now - c.job.submitted), "expected_seconds": _round(c.expected)}
            for c in head
        ],
        "held": _held(look.decision.hold),
        "shares": shares_shape(look),
        "evictions": evictions_shape(look),
        "pins": [pin_shape(pin) | {"name": name} for pin, name in pinned(look)],
        "effects": [_effect(e) for e in active_effects(look)],
        "windows": [{"when": str(w), "ends": moment(w.next_edge(view.now))} for w in open_windows(look)],
        "last_pass": moment(record.passed_at),
        "last_pass_problem": record.problem or None,
        "next_wake": moment(record.next_wake_at),
        "problems": list(look.seen.problems),
    }


def plan_shape(look: Look, *, still: Standstill | None) -> Shape:
    """`queue plan`."""
    decision = look.decision
    return _top(look, still) | {
        "moves": [_move(move) for move in decision.moves],
        "backfills": decision.backfills,
        "held": _held(decision.hold),
        "idle": [{"reason": reason.value, "instances": count} for reason, count in decision.idle],
        "told": [
            {"what": t.what.value, "job_id": t.job_id, "name": t.job_name, "class": t.job_class, "sentence": t.sentence}
            for t in decision.told
        ],
        "next_wake": moment(decision.next_wake),
        "problems": list(look.seen.problems),
    }


def standing_shape(queue: str, found: Waiting | Elsewhere, expected: Expected | None) -> Shape:
    """`queue explain`: the same keys whether the job waits, holds capacity, has ended or is unknown."""
    if isinstance(found, Elsewhere):
        nothing = dict.fromkeys(
            ("class", "size", "gpus", "priority", "submitted_priority", "position", "waiting", "waited_seconds",
             "expected_seconds", "ahead", "pin", "expected_start", "head_holds", "batch_says")
        )  # fmt: skip
        told = {"state": found.state, "status": found.status, "holds": found.sentence, "score_parts": None}
        return {"queue": queue, "job_id": found.job_id, "name": found.name} | nothing | told
    standing = found.standing
    return {
        "queue": queue,
        **_job(standing.job),
        "submitted_priority": standing.job.submitted_priority,
        "position": standing.position,
        "waiting": standing.waiting,
        "waited_seconds": _round(standing.waited),
        "expected_seconds": _round(standing.expected),
        "ahead": [_job(one.job) | {"why": one.why} for one in standing.ahead],
        "head_holds": standing.head_holds or None,
        "batch_says": found.batch_says or None,
        "state": "waiting",
        "status": found.status,
        "holds": standing.holds,
        "score_parts": [{"part": part, "value": value} for part, value in standing.score_parts],
        "pin": pin_shape(standing.pin) if standing.pin else None,
        "expected_start": _expected(standing, expected),
    }


def history_shape(queue: str, since: float, moves: Iterable[RecordedMove]) -> Shape:
    """`queue history`."""
    return {
        "queue": queue,
        "since": moment(since),
        "moves": [
            {"at": moment(line.at), **_move(line.move), "policy": line.policy, "outcome": line.outcome}
            for line in moves
        ],
    }


def waits_by_class(look: Look) -> dict[str, list[float]]:
    """How long the waiting jobs of each class have waited, in the policy's order of classes."""
    waits: dict[str, list[float]] = {c.name: [] for c in look.policy.classes}
    for job in look.seen.view.waiting:
        waits[job.kind.job_class].append(look.seen.view.now - job.submitted)
    return waits


def pinned(look: Look) -> list[tuple[Pin, str | None]]:
    """The pins that count now, each with the name of its job where that is known."""
    rows = look.seen.records
    return [(pin, rows[pin.job_id].name if pin.job_id in rows else None) for pin in look.seen.view.pins]


def pin_shape(pin: Pin) -> Shape:
    """What a person said of one job."""
    since, until = moment(pin.at), moment(pin.until)
    return {"job_id": pin.job_id, "goes": pin.kind.value, "by": pin.by, "since": since, "until": until}


def working(look: Look) -> int:
    """Instances of the jobs that are RUNNING; the event of one that has just ended may still be on its way."""
    view = look.seen.view
    return min(view.used, sum(job.kind.size for job in view.busy if job.started is not None))


def active_effects(look: Look) -> list[Effect]:
    """The effects of alarms that count now."""
    return [effect for effect in look.seen.view.effects if effect.active(look.seen.view.now)]


def open_windows(look: Look) -> list[Weekly]:
    """The windows of the policy that are open now."""
    return [window.when for window in look.policy.windows if window.when.open(look.seen.view.now)]


def _top(look: Look, still: Standstill | None) -> Shape:
    at, mode = moment(look.seen.view.now), look.policy.mode.value
    stopped = {"stopped": still is not None, "stop": stop_shape(still)}
    return {"queue": look.policy.queue, "at": at, "mode": mode, **stopped}


def _expected(standing: Standing, expected: Expected | None) -> Shape | None:
    if expected is None:
        return None
    now = standing.job.submitted + standing.waited
    return {"p50": moment(now + expected.p50), "p90": moment(now + expected.p90)}


def _class(name: str, waits: list[float]) -> Shape:
    return {
        "class": name,
        "waiting": len(waits),
        "mean_wait_seconds": _round(fmean(waits)) if waits else None,
        "longest_wait_seconds": _round(max(waits)) if waits else None,
    }


def _job(job: WaitingJob) -> Shape:
    return {
        "job_id": job.job_id,
        "name": job.name,
        "class": job.kind.job_class,
        "size": job.size,
        "gpus": job.gpus,
        "priority": job.priority,
    }


def _held(hold: Hold | None) -> Shape | None:
    return _job(hold.job) | {"until": moment(hold.until), "spare": hold.spare} if hold else None


def _effect(effect: Effect) -> Shape:
    return {
        "alarm": effect.alarm,
        "boost": effect.boost,
        "by_seconds": _round(effect.by),
        "since": moment(effect.since),
        "ends": moment(effect.end),
    }


def _move(move: Move) -> Shape:
    return {
        "job_id": move.job_id,
        "name": move.job_name,
        "class": move.job_class,
        "before": move.before,
        "after": move.after,
        "reason": move.reason.value,
        "sentence": move.sentence,
    }


def _round(seconds: float) -> float:
    return round(seconds, 1)
