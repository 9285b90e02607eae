"""The guards, each taken away for one world: a function of the product, or a condition of the fake table."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from pointsman.loops import rollout as loop
from pointsman.loops.rollout import RolloutLoop
from pointsman.loops.rollout_notices import Teller
from pointsman.rollout_ports import StoredRollout
from pointsman.rollouts import backward, decide, follow, forward, submit
from pointsman.rollouts.classify import Accepted, Verdict, classify
from pointsman.rollouts.decision import Act, Decision
from pointsman.rollouts.draft import Draft
from pointsman.rollouts.observations import ComponentView, LockView, Observations, Status
from pointsman.rollouts.record import ComponentRecord, HoldKind, RolloutRecord, Step
from tests.fakes.rollout_table import FakeRolloutTable
from tests.proof.frame import Guard
from tests.unit.rollouts import ablations

Patch = Callable[[ExitStack], None]


def _set(owner: Any, name: str, value: Any) -> Patch:
    return lambda stack: stack.enter_context(patch.object(owner, name, value))


def _both(*patches: Patch) -> Patch:
    def apply(stack: ExitStack) -> None:
        for each in patches:
            each(stack)

    return apply


def _believing(change: Callable[[RolloutRecord], RolloutRecord]) -> Patch:
    return _set(loop, "decide", lambda record, plan, seen, now: decide.decide(change(record), plan, seen, now))


def _seeing(change: Callable[[Observations], Observations]) -> Patch:
    return _set(loop, "decide", lambda record, plan, seen, now: decide.decide(record, plan, change(seen), now))


def _hasty(run: RolloutLoop, stored: StoredRollout) -> Decision:
    decision = _decide(run, stored)
    run._carry_out(decision.record, decision.acts)
    return replace(decision, acts=())


def _carrying(change: Callable[[Act], Act]) -> Patch:
    return _set(RolloutLoop, "_do", lambda run, act: _do(run, change(act)))


def _undated(act: Act) -> Act:
    return replace(act, not_after=float("inf")) if hasattr(act, "not_after") else act  # type: ignore[call-arg]


def _by_status(view: Any, expected: Any, sent: Any, began: float) -> Verdict:
    if isinstance(view, ComponentView) and view.status is Status.IN_SERVICE and view.modified > sent.attempt.modified:
        return Verdict.APPLIED
    return classify(view, expected, sent, began)


def _window_from_the_commit(record: RolloutRecord, plan: Any, seen: Observations, now: float) -> Decision:
    decision = decide.decide(record, plan, seen, now)
    if decision.record.step is Step.GATED:
        return replace(decision, record=replace(decision.record, window_from=now))
    return decision


def _as_it_is(draft: Draft, component: ComponentRecord) -> str:
    view = draft.seen.component(component.name)
    return view.spec.digest if isinstance(view, ComponentView) else _old_digest(draft, component)


def _baked_in_a_pause(draft: Draft, length: float) -> bool:
    held = draft.record.holds
    draft.record = replace(draft.record, holds=tuple(h for h in held if h.kind is not HoldKind.OPERATOR))
    passed = _baked(draft, length)
    kinds = {hold.kind for hold in draft.record.holds}
    draft.record = replace(draft.record, holds=(*draft.record.holds, *(h for h in held if h.kind not in kinds)))
    return passed


def _without_locks(record: RolloutRecord, request: Any, seen: Observations, now: float) -> Decision:
    return decide.freeze(record, request, replace(seen, locks={}), now)


def _take_any(table: FakeRolloutTable, rollout: str, decision: Decision) -> None:
    table.held |= {endpoint: LockView(rollout, fence) for endpoint, fence in decision.locks}


def _asked_for_ever(draft: Draft, _needed: Any) -> None:
    _advance_notes(draft, {note.component for note in draft.record.copies})


def _over(draft: Draft) -> bool:
    return decide.dispose_of_switch(draft)


_decide, _do, _old_digest, _baked = RolloutLoop._decide, RolloutLoop._do, Draft.old_digest, forward.baked
_advance_notes = decide.advance_notes
_NO_SIGN = _both(
    _set(follow, "accepted", lambda _view, _attempt: Accepted.NO_SIGN),
    _set(follow, "classify", lambda v, e, s, b: _without_a_sign(classify(v, e, s, b), s, b)),
)


def _without_a_sign(verdict: Verdict, sent: Any, began: float) -> Verdict:
    if verdict is Verdict.ROLLED_BACK:
        return Verdict.UNKNOWN if began <= sent.lease_until else Verdict.NOT_APPLIED
    return verdict


_NEW: dict[str, tuple[str, tuple[str, ...], Patch]] = {
    "an act is committed before it is done, in the loop": (
        "lost replies",
        ("S2", "S4"),
        _set(RolloutLoop, "_decide", _hasty),
    ),
    "a commit is on condition of the revision, in the table": (
        "lost replies",
        ("S2", "S3", "S4", "S7", "S15", "S16", "S20"),
        _set(FakeRolloutTable, "_unchanged", staticmethod(lambda _read, _kept: None)),
    ),
    "an endpoint has one rollout at a time": (
        "two at once",
        ("S1",),
        _both(_set(loop, "freeze", _without_locks), _set(FakeRolloutTable, "_take", _take_any)),
    ),
    "an act is not carried out after its time": (
        "thawed",
        ("S2", "S3", "S4", "S11", "S15", "S22"),
        _carrying(_undated),
    ),
    "a way back lists no alarms, in the loop": ("bad version", ("S12",), _carrying(ablations.alarms_on_the_way_back)),
    "an excursion counts though it is over, in the loop": ("bad version", ("S9",), _seeing(ablations.no_history)),
    "windows tile, in the loop": ("bad version", ("S9",), _set(loop, "decide", _window_from_the_commit)),
    "the digest decides, not the status": ("lost replies", ("S8", "S10"), _set(follow, "classify", _by_status)),
    "evidence of acceptance, in the loop": ("lost replies", ("S4",), _NO_SIGN),
    "a lease, in the loop": ("lost replies", ("S3", "S4", "S11", "S15"), _believing(ablations.no_lease)),
    "what is in doubt is not untouched, in the loop": (
        "aborted",
        ("S3", "S11", "S15"),
        _believing(ablations.doubt_is_untouched),
    ),
    "auto scaling is suspended, in the loop": ("lost replies", ("S22",), _seeing(ablations.no_scaling)),
    "one in flight per endpoint, and the concurrency": (
        "calm",
        ("S3", "S6"),
        _set(forward, "_turn", lambda _draft, _component: True),
    ),
    "room is reserved, and looked at again before each update": (
        "crowded",
        ("S14",),
        _both(_set(forward, "has_room", lambda *_: ""), _set(forward, "_shortages", lambda *_: "")),
    ),
    "one surge of an endpoint at a time": ("crowded", ("S14",), _set(forward, "surging", lambda _note: False)),
    "other copies are asked for while they are needed": (
        "aborted",
        ("L1", "L3"),
        _set(decide, "advance_notes", _asked_for_ever),
    ),
    "attempts are bounded": (
        "refused",
        ("S20",),
        _both(*(_set(module, "exhausted", lambda *_: False) for module in (submit, follow, backward))),
    ),
    "what drifted is not overwritten": ("interfered", ("S13",), _set(Draft, "old_digest", _as_it_is)),
    "the end waits for what is in flight": (
        "aborted",
        ("S11",),
        _both(*(_set(decide, name, lambda _draft: True) for name in ("stopped", "dispose_of_switch"))),
    ),
    "the end waits until all is given back": ("aborted", ("S22",), _set(decide, "_closed", _over)),
    "success is every component whole": ("interfered", ("S10",), _set(decide, "_whole", lambda *_: True)),
    "a pause stops the bake clock": ("paused", ("S21",), _set(forward, "baked", _baked_in_a_pause)),
    "a wave bakes": ("calm", ("S21",), _set(forward, "baked", lambda *_: True)),
    "unknown is not a pass": ("blind", ("S8",), _set(forward, "_gate", lambda *_: True)),
    "silence is called stuck": ("silent", ("L2",), _set(follow, "_silence", lambda *_: None)),
    "notices are sent until they were": ("lost replies", ("S18",), _set(Teller, "tell_of", lambda *_: None)),
}


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
