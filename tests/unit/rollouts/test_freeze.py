"""The first pass: the plan is frozen and its endpoints are locked, or all is refused and nothing is touched."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pointsman.rollouts.commands import By, start
from pointsman.rollouts.decide import freeze
from pointsman.rollouts.decision import replay
from pointsman.rollouts.observations import LockView
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import RolloutRecord, State
from pointsman.rollouts.request import Target
from pointsman.rollouts.submit import mark_for
from tests.unit.rollouts.build import NOW, component, request, seen

STARTED = start(request(), By("maria", NOW)).record


def test_the_plan_its_members_and_the_locks_are_frozen_in_one_commit() -> None:
    views = (component("m1"), component("m2", endpoint="e2"))
    decision = freeze(STARTED, request(), seen(*views, locks={"e2": LockView("", 7)}), NOW + 5)
    assert decision.plan is not None
    assert decision.locks == decision.record.fences == (("e1", 1), ("e2", 8))
    assert [(c.name, c.state) for c in decision.record.components] == [("m1", State.PENDING), ("m2", State.PENDING)]
    assert decision.record.phase is Phase.PREFLIGHT
    assert not decision.acts


def test_of_two_rollouts_on_one_endpoint_the_second_is_refused() -> None:
    """The lock is taken in the first one's transaction; the second's fails, and its next try sees the owner."""
    first = freeze(STARTED, request(), seen(component()), NOW)
    second = freeze(RolloutRecord("r2", rev=1), request(rollout="r2"), seen(component()), NOW)
    assert first.locks == second.locks
    again = freeze(
        RolloutRecord("r2", rev=1),
        request(rollout="r2"),
        seen(component(), locks={"e1": LockView("r1", 1)}),
        NOW,
    )
    assert again.record.phase is Phase.REJECTED
    assert "rollout r1 is under way" in again.record.cause
    assert not again.locks


def test_a_refusal_is_an_end_with_every_cause_and_no_lock() -> None:
    asked = request(targets=(Target(component="zz"), Target(endpoint="yy")), bake=1.0)
    decision = freeze(STARTED, asked, seen(component()), NOW)
    assert decision.record.phase is Phase.REJECTED
    assert all(word in decision.record.cause for word in ("component zz", "endpoint yy"))
    assert (decision.locks, decision.unlocks, decision.acts, decision.next_wake_at) == ((), (), (), None)
    assert [notice.key for notice in decision.notices] == ["r1/ended"]


def test_a_plan_is_frozen_once() -> None:
    frozen = freeze(STARTED, request(), seen(component()), NOW)
    again = freeze(frozen.record, request(), seen(component("m9")), NOW)
    assert (again.record, again.plan, again.journal) == (frozen.record, None, None)


def test_the_journal_alone_rebuilds_the_record() -> None:
    first = start(request(), By("maria", NOW))
    frozen = freeze(first.record, request(), seen(component()), NOW)
    assert first.journal is not None
    assert frozen.journal is not None
    assert replay(RolloutRecord("r1"), [first.journal, frozen.journal]) == frozen.record
    assert replace(frozen.record, rev=2) == frozen.record


@given(base=st.integers(600, 28_736), before=st.none() | st.integers(600, 28_800))
def test_an_attempts_mark_is_its_own_and_one_that_sagemaker_takes(base: int, before: int | None) -> None:
    marks: list[int] = []
    present = before
    for number in range(1, 31):
        mark = mark_for(base, number, present)
        assert mark != present
        assert mark not in marks
        assert 600 <= mark <= 28_800
        marks.append(mark)
        present = mark if number % 2 else present
