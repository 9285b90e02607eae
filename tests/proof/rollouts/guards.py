"""The guards, each taken away for one world: a function of the product, or a condition of the fake table."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from pointsman.loops import rollout as loop
from pointsman.loops.rollout import RolloutLoop
from pointsman.rollout_ports import StoredRollout
from pointsman.rollouts import backward, decide, follow, forward, submit
from pointsman.rollouts.classify import Accepted, Verdict, classify
from pointsman.rollouts.decision import Act, Decision
from pointsman.rollouts.draft import Draft
from pointsman.rollouts.observations import ComponentView, LockView, Observations, Status
from pointsman.rollouts.record import ComponentRecord, RolloutRecord
from tests.fakes.rollout_table import FakeRolloutTable
from tests.proof.frame import Guard
from tests.proof.rollouts.gate_guards import GATE_GUARDS
from tests.proof.rollouts.order_guards import ORDER_GUARDS
from tests.proof.rollouts.patches import Rows, believing, both, carrying, other, seeing
from tests.unit.rollouts import ablations


def _hasty(run: RolloutLoop, stored: StoredRollout) -> Decision:
    decision = _decide(run, stored)
    run._carry_out(decision.record, decision.acts)
    return replace(decision, acts=())


def _undated(act: Act) -> Act:
    return replace(act, not_after=float("inf")) if hasattr(act, "not_after") else act  # type: ignore[call-arg]


def _by_status(view: Any, expected: Any, sent: Any, began: float) -> Verdict:
    if isinstance(view, ComponentView) and view.status is Status.IN_SERVICE and view.modified > sent.attempt.modified:
        return Verdict.APPLIED
    return classify(view, expected, sent, began)


def _as_it_is(draft: Draft, component: ComponentRecord) -> str:
    view = draft.seen.component(component.name)
    return view.spec.digest if isinstance(view, ComponentView) else _old_digest(draft, component)


def _without_locks(record: RolloutRecord, request: Any, seen: Observations, now: float) -> Decision:
    return decide.freeze(record, request, replace(seen, locks={}), now)


def _take_any(table: FakeRolloutTable, rollout: str, decision: Decision) -> None:
    table.held |= {endpoint: LockView(rollout, fence) for endpoint, fence in decision.locks}


def _asked_for_ever(draft: Draft, _needed: Any) -> None:
    _advance_notes(draft, {note.component for note in draft.record.copies})


def _over(draft: Draft) -> bool:
    return decide.dispose_of_switch(draft)


_decide, _old_digest = RolloutLoop._decide, Draft.old_digest
_advance_notes = decide.advance_notes
_NO_SIGN = both(
    other(follow, "accepted", lambda _view, _attempt: Accepted.NO_SIGN),
    other(follow, "classify", lambda v, e, s, b: _without_a_sign(classify(v, e, s, b), s, b)),
)


def _without_a_sign(verdict: Verdict, sent: Any, began: float) -> Verdict:
    if verdict is Verdict.ROLLED_BACK:
        return Verdict.UNKNOWN if began <= sent.lease_until else Verdict.NOT_APPLIED
    return verdict


_ACT_GUARDS: Rows = {
    "an act is committed before it is done, in the loop": (
        "lost replies",
        ("S2", "S4"),
        other(RolloutLoop, "_decide", _hasty),
    ),
    "a commit is on condition of the revision, in the table": (
        "lost replies",
        ("S2", "S3", "S4", "S7", "S15", "S16", "S20"),
        other(FakeRolloutTable, "_unchanged", staticmethod(lambda _read, _kept: None)),
    ),
    "an endpoint has one rollout at a time": (
        "two at once",
        ("S1",),
        both(other(loop, "freeze", _without_locks), other(FakeRolloutTable, "_take", _take_any)),
    ),
    "an act is not carried out after its time": (
        "thawed",
        ("S2", "S3", "S4", "S11", "S15", "S22"),
        carrying(_undated),
    ),
    "a way back lists no alarms, in the loop": ("bad version", ("S12",), carrying(ablations.alarms_on_the_way_back)),
    "the digest decides, not the status": ("lost replies", ("S8", "S10"), other(follow, "classify", _by_status)),
    "evidence of acceptance, in the loop": ("lost replies", ("S4",), _NO_SIGN),
    "a lease, in the loop": ("lost replies", ("S3", "S4", "S11", "S15"), believing(ablations.no_lease)),
    "what is in doubt is not untouched, in the loop": (
        "aborted",
        ("S3", "S11", "S15"),
        believing(ablations.doubt_is_untouched),
    ),
    "auto scaling is suspended, in the loop": ("lost replies", ("S22",), seeing(ablations.no_scaling)),
    "one in flight per endpoint, and the concurrency": (
        "calm",
        ("S3", "S6"),
        other(forward, "_turn", lambda _draft, _component: True),
    ),
    "room is reserved, and looked at again before each update": (
        "crowded",
        ("S14",),
        both(other(forward, "has_room", lambda *_: ""), other(forward, "_shortages", lambda *_: "")),
    ),
    "other copies are asked for while they are needed": (
        "aborted",
        ("L1", "L3"),
        other(decide, "advance_notes", _asked_for_ever),
    ),
    "attempts are bounded": (
        "refused",
        ("S20",),
        both(*(other(module, "exhausted", lambda *_: False) for module in (submit, follow, backward))),
    ),
    "what drifted is not overwritten": ("interfered", ("S13",), other(Draft, "old_digest", _as_it_is)),
    "the end waits for what is in flight": (
        "aborted",
        ("S11",),
        both(*(other(decide, name, lambda _draft: True) for name in ("stopped", "dispose_of_switch"))),
    ),
    "the end waits until all is given back": ("aborted", ("S22",), other(decide, "_closed", _over)),
    "success is every component whole": ("interfered", ("S10",), other(decide, "_whole", lambda *_: True)),
    "silence is called stuck": ("silent", ("L2",), other(follow, "_silence", lambda *_: None)),
}
_NEW: Rows = _ACT_GUARDS | GATE_GUARDS | ORDER_GUARDS


@contextmanager
def taken_away(name: str) -> Iterator[None]:
    """The product without this guard, inside; all of it for the empty name."""
    with ExitStack() as stack:
        if name in _NEW:
            _NEW[name][2](stack)
        yield


GUARDS = (
    *(Guard(name, "interleaved", frozenset(codes)) for name, (_, codes) in ablations.GUARDS.items()),
    *(Guard(name, profile, frozenset(codes)) for name, (profile, codes, _) in _NEW.items()),
)
