"""What people may do to a rollout, what is refused to them and why, and what the journal says of it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pointsman.rollouts.commands import (
    By,
    CommandRefused,
    abort,
    adopt,
    approve,
    pause,
    resume,
    retry,
    rollback,
    start,
    waive,
)
from pointsman.rollouts.decision import Decision, alarm_after_end, parking, replay
from pointsman.rollouts.draft import ATTEMPTS, MOST_CHANGES
from pointsman.rollouts.linked import retried_request, rollback_ended
from pointsman.rollouts.observations import Answer, LockView, Status
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.planner import make_plan
from pointsman.rollouts.record import (
    Back,
    ComponentRecord,
    Direction,
    Hold,
    HoldKind,
    Intent,
    RolloutRecord,
    State,
    Step,
)
from pointsman.rollouts.submit import exhausted
from tests.unit.rollouts.build import NOW, OTHER, attempt, component, request, seen
from tests.unit.rollouts.drive import until, world

MARIA = By("maria", NOW, "a good reason")
EVENT = By("event:deploys", NOW, "a good reason")
PLAN: Plan = make_plan(request(approvals=(2,)), seen(component("m1"), component("m2", endpoint="e2")), NOW)


def record(phase: Phase = Phase.RUNNING, *states: State, **changes: object) -> RolloutRecord:
    names = ("m1", "m2")
    components = tuple(ComponentRecord(n, s) for n, s in zip(names, states or (State.PENDING,) * 2, strict=False))
    return replace(RolloutRecord("r1", phase, rev=5, components=components), **changes)  # type: ignore[arg-type]


def hold(kind: HoldKind) -> tuple[Hold, ...]:
    return (Hold(kind, "someone", NOW),)


REFUSED: list[tuple[str, Callable[[], Decision], str]] = [
    ("a pause of what is paused", lambda: pause(record(holds=hold(HoldKind.OPERATOR)), MARIA), "paused already"),
    ("a pause of a way back", lambda: pause(record(Phase.ROLLING_BACK, intent=Intent.REVERT), MARIA), "never paused"),
    ("a resumption of what runs", lambda: resume(record(), MARIA), "not paused"),
    ("a second abort", lambda: abort(record(Phase.STOPPING, intent=Intent.STOP), MARIA), "STOPPING already"),
    ("a second rollback", lambda: rollback(record(Phase.ROLLING_BACK, intent=Intent.REVERT), MARIA), "already"),
    ("an approval that nobody asked for", lambda: approve(record(), PLAN, 1, MARIA), "needs no approval"),
    ("an approval by an event", lambda: approve(record(), PLAN, 2, EVENT), "a person must"),
    ("a waiver by an event", lambda: waive(record(), HoldKind.NO_TRAFFIC, EVENT), "a person must"),
    ("an adoption by an event", lambda: adopt(record(), PLAN, "m1", seen(), EVENT), "a person must"),
    ("a waiver of a pause", lambda: waive(record(holds=hold(HoldKind.OPERATOR)), HoldKind.OPERATOR, MARIA), "only"),
    ("a waiver of no hold", lambda: waive(record(), HoldKind.NO_TRAFFIC, MARIA), "not held"),
    ("a waiver without a reason", lambda: waive(record(holds=hold(HoldKind.NO_TRAFFIC)), HoldKind.NO_TRAFFIC,
                                                By("maria", NOW)), "--reason"),
    ("an adoption of what did not drift", lambda: adopt(record(), PLAN, "m1", seen(component()), MARIA), "not drifted"),
    ("an adoption of a stranger", lambda: adopt(record(), PLAN, "zz", seen(), MARIA), "one of: m1, m2"),
    ("an adoption of what is gone", lambda: adopt(record(Phase.RUNNING, State.DRIFTED), PLAN, "m1", seen(), MARIA),
     "unreadable"),
    ("an adoption of what is being changed", lambda: adopt(record(Phase.RUNNING, State.DRIFTED), PLAN, "m1",
        seen(component(status=Status.UPDATING)), MARIA), "is Updating"),
    ("a retry of what may still be under way", lambda: retry(
        record(holds=hold(HoldKind.STUCK), components=(ComponentRecord("m1", State.STUCK, sent_at=NOW),)), MARIA),
     "may be at m1 still"),
    ("a retry of what is well", lambda: retry(record(), MARIA), "nothing of it"),
]  # fmt: skip


@pytest.mark.parametrize("command,said", [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_a_command_that_cannot_be_obeyed_is_refused(command: Callable[[], Decision], said: str) -> None:
    with pytest.raises(CommandRefused, match=said):
        command()


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase.terminal])
def test_no_command_changes_what_has_ended(phase: Phase) -> None:
    ended = record(phase)
    for command in (pause, resume, abort, rollback, retry):
        with pytest.raises(CommandRefused, match="has ended"):
            command(ended, MARIA)


def test_a_command_is_one_revision_with_its_actor_in_the_journal() -> None:
    before = record(Phase.RUNNING, State.DONE_NEW, State.UPDATING)
    for command in (pause, abort, rollback):
        decision = command(before, MARIA)
        assert decision.journal is not None
        assert (decision.record.rev, decision.journal.actor) == (6, "maria")
        assert "a good reason" in decision.said[0].sentence
        assert replay(before, [decision.journal]) == decision.record
        assert decision.next_wake_at == NOW
        assert not decision.acts


def test_an_event_may_start_a_rollout_and_the_record_says_who() -> None:
    decision = start(request(), EVENT)
    assert (decision.record.phase, decision.record.started_by, decision.record.rev) == (
        Phase.PLANNED,
        "event:deploys",
        1,
    )


def test_a_rollback_rises_from_a_stop_and_sheds_what_only_holds_the_way_on() -> None:
    holds = (*hold(HoldKind.OPERATOR), *hold(HoldKind.FREEZE), *hold(HoldKind.STUCK))
    after = rollback(record(Phase.STOPPING, intent=Intent.STOP, holds=holds, cause="first"), MARIA).record
    assert (after.phase, after.intent, after.back) == (Phase.ROLLING_BACK, Intent.REVERT, Back.DRAIN)
    assert [h.kind for h in after.holds] == [HoldKind.STUCK]
    assert after.cause == "first"


def test_an_abort_before_the_plan_is_a_rejection() -> None:
    assert abort(record(Phase.PLANNED), MARIA).record.phase is Phase.REJECTED


def test_what_was_adopted_counts_as_old_and_is_planned_again_while_its_wave_is_ahead() -> None:
    there = seen(component("m2", endpoint="e2", spec=OTHER))
    ahead = adopt(record(Phase.RUNNING, State.DONE_NEW, State.DRIFTED), PLAN, "m2", there, MARIA).record
    assert (ahead.component("m2").state, ahead.component("m2").adopted) == (State.PENDING, OTHER)
    late = replace(record(Phase.FINAL_BAKE, State.DONE_NEW, State.DRIFTED), wave=1, step=Step.BAKING)
    assert adopt(late, PLAN, "m2", there, MARIA).record.component("m2").state is State.SKIPPED


def test_what_was_adopted_and_is_planned_again_has_all_its_attempts_once_more() -> None:
    used = tuple(attempt(number=n) for n in range(1, ATTEMPTS + 1))
    drifted = (ComponentRecord("m1", State.DONE_NEW), ComponentRecord("m2", State.DRIFTED, attempts=used))
    there = seen(component("m2", endpoint="e2", spec=OTHER))
    again = adopt(record(Phase.RUNNING, components=drifted), PLAN, "m2", there, MARIA).record.component("m2")
    assert again.state is State.PENDING
    assert not exhausted(again, Direction.FORWARD)
    worn = replace(again, attempts=tuple(attempt(number=n) for n in range(1, ATTEMPTS * 2 + 1)))
    assert exhausted(worn, Direction.FORWARD)


def test_what_was_adopted_and_has_several_specifications_by_now_is_left_out() -> None:
    there = seen(component("m2", endpoint="e2", spec=OTHER, several=True))
    ahead = adopt(record(Phase.RUNNING, State.DONE_NEW, State.DRIFTED), PLAN, "m2", there, MARIA).record
    assert ahead.component("m2").state is State.SKIPPED


def test_a_retry_allows_no_more_at_once_than_a_commit_may_change() -> None:
    names = [f"m{n}" for n in range(60)]
    stuck = record(holds=hold(HoldKind.STUCK), components=tuple(ComponentRecord(n, State.STUCK) for n in names))
    once = retry(stuck, MARIA)
    assert len(once.changed) == MOST_CHANGES
    twice = retry(replace(once.record, holds=stuck.holds), MARIA)
    assert {c.state for c in twice.record.components} == {State.RESERVED}


def test_attempts_are_never_so_many_that_their_marks_meet() -> None:
    worn = ComponentRecord("m1", State.STUCK, attempts=tuple(attempt(number=n) for n in range(1, 31)))
    stuck = record(holds=hold(HoldKind.STUCK), components=(worn,))
    with pytest.raises(CommandRefused, match="as often as"):
        retry(stuck, MARIA)


# ------------------------------------------------------------------------------------------------------ linked rollouts


def test_what_a_rollout_left_is_tried_again_by_a_linked_one() -> None:
    ended = record(Phase.STOPPED, State.DONE_NEW, State.PENDING)
    again = retried_request(ended, request(), "r2")
    assert ([t.component for t in again.targets], again.retry_of, again.rollout) == (["m2"], "r1", "r2")
    with pytest.raises(CommandRefused, match="not ended"):
        retried_request(record(), request(), "r2")
    with pytest.raises(CommandRefused, match="left nothing"):
        retried_request(record(Phase.SUCCEEDED, State.DONE_NEW, State.SKIPPED), request(), "r2")


def test_a_rollout_that_has_ended_is_taken_back_by_a_linked_one() -> None:
    made = world()
    until(made, Phase.SUCCEEDED)
    assert made.plan is not None
    linked = rollback_ended(made.record, made.plan, "r1-back", made.truth.observe(), replace(MARIA, at=made.truth.now))
    back = world()
    back.truth, back.plan, back.request = made.truth, None, replace(made.request, rollout="r1-back")
    back.record = back.first = RolloutRecord("r1-back")
    back.journal, back.notices = [], []
    back.before = {name: (part.copies, part.scaling) for name, part in made.truth.parts.items()}
    assert back.commit(back.first, linked)
    assert back.run().phase is Phase.ROLLED_BACK
    assert {made.truth.parts[n].spec.model for n in ("m1", "m2", "m3", "m4")} == {"ranker-v1"}
    assert not made.truth.wrong


def test_what_is_not_all_back_is_not_tried_again_forward() -> None:
    """Who looks for the rest of a way back must not be sent forward again."""
    left = record(Phase.ROLLBACK_INCOMPLETE, State.NEEDS_HUMAN, State.REVERTED)
    with pytest.raises(CommandRefused, match="pointsman rollout rollback r1"):
        retried_request(left, request(), "r2")
    assert retried_request(replace(left, phase=Phase.ROLLED_BACK), request(), "r2").retry_of == "r1"


def test_a_linked_way_back_is_refused_where_there_is_none() -> None:
    done = record(Phase.SUCCEEDED, components=(ComponentRecord("m1", State.DONE_NEW, touched=True),))
    with pytest.raises(CommandRefused, match="is gone"):
        rollback_ended(done, PLAN, "r2", seen(component(), models={"ranker-v1": Answer.NO}), MARIA)
    with pytest.raises(CommandRefused, match="rollout r7"):
        rollback_ended(done, PLAN, "r2", seen(component(), locks={"e1": LockView("r7", 1)}), MARIA)
    with pytest.raises(CommandRefused, match=r"r7 has ended.*pointsman rollout rollback r7"):
        rollback_ended(done, PLAN, "r2", seen(component(), locks={"e1": LockView("r7", 1)}), MARIA, ended={"r7"})
    with pytest.raises(CommandRefused, match="changed nothing"):
        rollback_ended(record(Phase.REJECTED), PLAN, "r2", seen(component()), MARIA)


def test_a_late_alarm_has_one_notice_with_the_command_that_helps() -> None:
    done = record(Phase.SUCCEEDED, components=(ComponentRecord("m1", State.DONE_NEW, touched=True),))
    notice = alarm_after_end(done, "fleet-errors")
    assert notice is not None
    assert notice == alarm_after_end(done, "fleet-errors")
    assert "pointsman rollout rollback r1" in notice.sentence


def test_an_alarm_is_none_of_a_rollout_that_left_nothing() -> None:
    back = (ComponentRecord("m1", State.REVERTED, touched=True), ComponentRecord("m2", State.PENDING))
    for ended in (
        record(Phase.REJECTED),
        record(Phase.REJECTED, components=()),
        record(Phase.ROLLED_BACK, components=back),
    ):
        assert alarm_after_end(ended, "fleet-errors") is None


# -------------------------------------------------------------------------------------------------------------- parking

PARKED = [
    ("nothing is reserved yet", record(step=Step.ADMITTING), "Await capacity"),
    ("it waits for room", record(step=Step.UPDATING, holds=hold(HoldKind.CAPACITY)), "Await capacity"),
    ("updates run", record(step=Step.UPDATING), "Await update"),
    ("copies settle", record(step=Step.SETTLING), "Await update"),
    ("it bakes", record(step=Step.BAKING), "Bake"),
    ("it bakes for the last time", record(Phase.FINAL_BAKE, step=Step.BAKING), "Bake"),
    ("a person paused it", record(step=Step.BAKING, holds=hold(HoldKind.OPERATOR)), "Await operator"),
    ("it waits for an approval", record(holds=hold(HoldKind.APPROVAL)), "Await operator"),
    ("it has drifted", record(holds=hold(HoldKind.DRIFT)), "Await operator"),
    ("it goes back", record(Phase.ROLLING_BACK, holds=hold(HoldKind.STUCK)), "Await rollback"),
    ("it stops", record(Phase.STOPPING), "Await rollback"),
    ("it has ended", record(Phase.SUCCEEDED), "Done"),
]


@pytest.mark.parametrize("parked,name", [p[1:] for p in PARKED], ids=[p[0] for p in PARKED])
def test_an_execution_parks_where_an_operator_would_look(parked: RolloutRecord, name: str) -> None:
    assert parking(parked) == name
