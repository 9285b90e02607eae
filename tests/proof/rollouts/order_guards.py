"""Guards of what may begin and when, of commands, of the record, and of whoever is told."""

from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import count
from typing import Any, cast

from pointsman.errors import Transient
from pointsman.loops import rollout as loop
from pointsman.loops import rollout_observe
from pointsman.loops.rollout_notices import Teller
from pointsman.loops.rollout_observe import RolloutObserver
from pointsman.loops.rollout_wakers import DueRollouts
from pointsman.rollouts import backward, checks, commands, decide, draft, forward, notes, submit
from pointsman.rollouts.commands import By
from pointsman.rollouts.decision import Decision
from pointsman.rollouts.draft import Draft
from pointsman.rollouts.observations import Absent, ComponentView, Observations
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Member, Plan
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import (
    GIVEN_UP,
    ComponentRecord,
    CopyNote,
    Direction,
    HoldKind,
    Intent,
    RolloutRecord,
    State,
)
from tests.fakes.rollout_table import FakeRolloutTable
from tests.proof.rollouts.patches import Patch, Rows, both, other, seeing, unheld
from tests.proof.rollouts.truth import HOTFIX

_admit, _update, _end, _copies_changed = forward._admit, forward._update, Draft.end, forward.copies_changed
_entry = draft.entry
_prepare = submit.prepare
_component, _look, _endpoints = RolloutObserver._component, RolloutObserver.look, rollout_observe._endpoints
_FAR = 1_000_000.0
_NEW_STATES = frozenset({State.SETTLING, State.BAKING, State.DONE_NEW, State.FAILED})


def _in_spite_of(kind: HoldKind) -> Patch:
    return both(
        other(forward, "_admit", lambda it, wave: unheld(it, kind, lambda: _admit(it, wave))),
        other(forward, "_update", lambda it, wave: unheld(it, kind, lambda: _update(it, wave))),
    )


def _unapproved(it: Draft, wave: list[Any]) -> None:
    plan, it.plan = it.plan, replace(it.plan, approvals=())
    _admit(it, wave)
    it.plan = plan


def _aborted_at_any_time(record: RolloutRecord, by: By) -> Decision:
    commands._open(record)
    return commands._commanded(record, commands.turned(record, Intent.STOP, by), by, "abort")


def _in_service(seen: Observations) -> Observations:
    return replace(seen, endpoints={name: replace(view, in_service=True) for name, view in seen.endpoints.items()})


def _unreadable_is_gone(seen: Observations) -> Observations:
    gone = {n: Absent.NOT_FOUND if v is Absent.UNREADABLE else v for n, v in seen.components.items()}
    return replace(seen, components=gone)


def _at_once(it: Draft, component: str, endpoint: str, wanted: int) -> bool:
    return wanted == 2 or _copies_changed(it, component, endpoint, wanted)


def _any_is_ours(record: RolloutRecord, plan: Plan, seen: Observations, now: float) -> Decision:
    if record.intent is Intent.REVERT:
        change = plan.request.change
        views = {
            name: replace(view, spec=change.applied_to(view.spec))
            if isinstance(view, ComponentView) and view.spec.model == HOTFIX
            else view
            for name, view in seen.components.items()
        }
        seen = replace(seen, components=views)
    return decide.decide(record, plan, seen, now)


def _planned_again(record: RolloutRecord, plan: Plan, seen: Observations, now: float) -> Decision:
    def member(old: Member) -> Member:
        view = seen.component(old.name)
        return replace(old, copies=view.desired) if isinstance(view, ComponentView) else old

    again = replace(plan, members=tuple(map(member, plan.members)))
    return replace(decide.decide(record, again, seen, now), plan=again)


def _asleep(record: RolloutRecord, plan: Plan, seen: Observations, now: float) -> Decision:
    decision = decide.decide(record, plan, seen, now)
    waits = decision.journal is None and not record.phase.terminal
    return replace(decision, next_wake_at=now + _FAR) if waits else decision


def _ended_with(unlocks: bool) -> Patch:
    def end(it: Draft, phase: Phase, sentence: str) -> None:
        _end(it, phase, sentence)
        it.unlocks = tuple(endpoint for endpoint, _ in it.record.fences) if unlocks else ()

    return other(Draft, "end", end)


def _of_many_times(stack: ExitStack) -> None:
    clock = count(1)  # from one in every world
    other(loop, "decide", lambda r, p, seen, now: decide.decide(r, p, seen, now + next(clock)))(stack)


def _in_part(before: RolloutRecord, after: RolloutRecord, *given: Any) -> Any:
    line = _entry(before, after, *given)
    return replace(line, fields=tuple(pair for pair in line.fields if pair[0] != "holds"))


def _settled_at_all(table: FakeRolloutTable, rollout: str, _unsent: int) -> None:
    kept = table.kept[rollout]
    kept.stored = replace(kept.stored, unsent=0)


def _impatient(observer: RolloutObserver, name: str, *, tags: bool = False, patient: bool = True) -> Any:
    return _component(observer, name, tags=tags, patient=patient or True)


def _sent_at_once(it: Draft, component: ComponentRecord, view: ComponentView, direction: Direction) -> None:
    _prepare(it, component, view, direction)
    part, before = it.record.component(component.name), it.before
    it.before = before.with_component(part)
    submit.send(it, part, view)
    it.before = before


class _Lenient:
    """Auto scaling that has no targets where they cannot be read."""

    def __init__(self, port: Any) -> None:
        self.port = port

    def describe(self, components: list[str]) -> Any:
        with suppress(Transient):
            return self.port.describe(components)
        return {}


def _looked_at_lightly(observer: RolloutObserver, *given: Any) -> Observations:
    return _look(replace(observer, scaling=cast("Any", _Lenient(observer.scaling))), *given)


def _without_the_unread(facts: Any, occupants: Any, components: dict[str, Any]) -> Any:
    read = {name: view for name, view in components.items() if view is not Absent.UNREADABLE}
    there = {name: tuple(each for each in names if each in read) for name, names in occupants.items()}
    return _endpoints(facts, there, read)


def _clock_of_its_own(it: Draft) -> None:
    """Every hold is given up after its time, whatever else holds."""
    for hold in it.record.holds:
        if hold.kind in GIVEN_UP and hold.expiry is not None:
            it.wake(hold.expiry)
            if it.now >= hold.expiry:
                it.say(Reason.GAVE_UP, "The hold lasted too long.")
                it.raise_intent(Intent.STOP, f"held ({hold.kind.value}) too long")


def _all_they_did(it: Draft) -> Any:
    return dict(it.seen.alarms)


def _given_back_anyway(it: Draft, note: CopyNote, _view: ComponentView) -> None:
    notes.put_copies(it, notes._returning(note, it.now))


ORDER_GUARDS: Rows = {
    "an act needs the lock of its endpoint": (
        "locked out",
        ("S1",),
        other(FakeRolloutTable, "_touched", staticmethod(lambda *_: set())),
    ),
    "what cannot be read is not left out of a plan": (
        "lost replies",
        ("S19",),
        both(other(RolloutObserver, "_component", _impatient), other(checks, "may_name", lambda *_: False)),
    ),
    "targets that cannot be read are not none": (
        "lost replies",
        ("S22",),
        other(RolloutObserver, "look", _looked_at_lightly),
    ),
    "an endpoint of which something cannot be read has no room": (
        "crowded and unread",
        ("S14",),
        other(rollout_observe, "_endpoints", _without_the_unread),
    ),
    "a way back waits for room": ("crowded and bad", ("S14",), other(backward, "room_back", lambda *_: "")),
    "a pause holds what has not begun": ("paused", ("hold",), _in_spite_of(HoldKind.OPERATOR)),
    "a freeze holds what has not begun": ("held", ("hold",), _in_spite_of(HoldKind.FREEZE)),
    "a wave waits for its approval": ("held", ("approval",), other(forward, "_admit", _unapproved)),
    "an event approves nothing": ("held", ("approval",), other(commands, "_person", lambda *_: None)),
    "a hold ends in time": ("blind", ("L1",), other(decide, "_expire", lambda *_: None)),
    "what has ended takes no command": ("aborted", ("S15",), other(commands, "_open", lambda *_: None)),
    "an abort ends no rollback": ("aborted", ("S7",), other(commands, "abort", _aborted_at_any_time)),
    "an endpoint that is busy gets no update": ("busy", ("S6", "S10"), seeing(_in_service)),
    "one copy goes to two before it is rolled": ("surges", ("S6",), other(forward, "copies_changed", _at_once)),
    "an update is sent by a later pass than the one that records it": (
        "surges",
        ("S14",),
        both(other(forward, "prepare", _sent_at_once), other(backward, "prepare", _sent_at_once)),
    ),
    "one surge of an endpoint at a time": ("surges", ("S14",), other(forward, "surging", lambda _note: False)),
    "ways back have a limit of their own": ("aborted", ("S6",), other(backward, "_RUNNING", frozenset())),
    "what cannot be read is not gone": ("lost replies", ("S19",), seeing(_unreadable_is_gone)),
    "a way back overwrites nothing of others": ("drifted", ("S13",), other(loop, "decide", _any_is_ours)),
    "a way back ends when all that was touched is seen": (
        "drifted and busy",
        ("S11",),
        other(backward, "_in_question", lambda component: component.state in _NEW_STATES),
    ),
    "nothing begins that could not go back": (
        "no way back",
        ("way back",),
        other(Plan, "refused", property(lambda _plan: ())),
    ),
    "plan and members are frozen": ("interfered", ("S19",), other(loop, "decide", _planned_again)),
    "the journal has all that a commit changes": ("lost replies", ("S16",), other(draft, "entry", _in_part)),
    "a decision has one time, its pass's": ("calm", ("S17",), _of_many_times),
    "a rollout looks again by itself": ("calm", ("L1", "L2", "L4"), other(loop, "decide", _asleep)),
    "the clock carries on what has died": (
        "lost replies",
        ("L1", "L2", "L3", "S18"),
        other(DueRollouts, "wake", lambda _: ()),
    ),
    "an end gives its endpoints free": ("calm", ("L5",), _ended_with(unlocks=False)),
    "an update waits while its component's own alarm fires": (
        "own alarms",
        ("own alarm",),
        other(forward, "_firing", lambda *_: []),
    ),
    "an own alarm counts from its component's first update": (
        "own alarms",
        ("own alarm",),
        other(Draft, "_alarms", _all_they_did),
    ),
    "time stands still for a hold while nobody looks": (
        "crowded and paused",
        ("S21",),
        other(decide, "_expire", _clock_of_its_own),
    ),
    "copies that someone else set are theirs": (
        "scaled by hand",
        ("S22",),
        both(other(notes, "_beyond", lambda *_: 0), other(notes, "_leave", _given_back_anyway)),
    ),
    "what needs a person stays locked": ("drifted", ("L2",), _ended_with(unlocks=True)),
    "what is given back is not undone by who is late": (
        "given up",
        ("S22",),
        other(notes, "_settled", lambda *_: True),
    ),
    "each attempt has a mark of its own": (
        "lost replies",
        ("S4", "S8", "S10", "S11", "L1", "L2", "L3"),
        other(submit, "mark_for", lambda base, _number, _present: base),
    ),
    "notices are sent until they were": ("lost replies", ("S18",), other(Teller, "tell_of", lambda *_: None)),
    "what was told settles no later notice": (
        "left behind",
        ("S18",),
        other(FakeRolloutTable, "settle", _settled_at_all),
    ),
    "people hear of an alarm after the end": ("left behind", ("S18",), other(Teller, "late_alarm", lambda *_: None)),
}
