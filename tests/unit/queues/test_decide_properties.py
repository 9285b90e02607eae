"""What holds of every decision, whatever the queue."""

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.queues.decide import decide
from pointsman.queues.effects import Effect
from pointsman.queues.moves import FRONT, RESERVED
from pointsman.queues.plan import plan_for
from pointsman.queues.policy import Policy, Reservation
from pointsman.queues.ranking import ranks_at
from pointsman.queues.reasons import Reason
from pointsman.queues.standby import STANDBY_JOBS, stands_by
from pointsman.queues.view import QueueView
from tests.unit.queues.build import HOUR, NOW, POLICY, after_moves, busy, started_by_batch, waiting

few = settings(max_examples=60, deadline=None)  # the machine is shared, and the cases are small

CLASSES = ("production", "research", "sweep")
PRIORITIES = (0, 0, 0, 0, 4000, 4600, 4993, 4997, RESERVED, FRONT)


# Only one-instance jobs are ever put on the standby list, each with a number of its own.
@st.composite
def jobs(draw: st.DrawFn, priorities: tuple[int, ...] = PRIORITIES, *, foreign: bool = True) -> tuple[object, ...]:
    drawn = draw(
        st.lists(
            st.tuples(
                st.sampled_from(CLASSES),
                st.sampled_from((1, 1, 1, 2, 4, 8, 40)),
                st.integers(0, 20 * 3600),
                st.sampled_from(priorities),
                st.sampled_from((False, False, False, foreign)),
                st.sampled_from("xy"),
            ),
            max_size=36,
        )
    )
    return tuple(
        waiting(f"{n:02}", c, size=s, waited=w, priority=p if s == 1 or not 4000 <= p <= 4997 else 0, foreign=f, team=t)
        for n, (c, s, w, p, f, t) in enumerate(drawn)
    )


@st.composite
def views(draw: st.DrawFn, priorities: tuple[int, ...] = PRIORITIES, *, foreign: bool = True) -> QueueView:
    running = draw(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 9000)), max_size=6))
    used = sum(size for size, _ in running)
    return QueueView(
        "search-training",
        NOW,
        capacity=draw(st.integers(1, 24)),
        used=used,
        movable=True,
        waiting=draw(jobs(priorities, foreign=foreign)),
        busy=[busy(f"busy{n}", size, ran=float(ran)) for n, (size, ran) in enumerate(running)],
        effects=draw(st.sampled_from(((), (Effect("drift", NOW - 9, "research", 12 * HOUR),)))),
    )


policies = st.builds(
    replace,
    st.just(POLICY),
    spread=st.sampled_from((0.0, 6 * HOUR)),
    reservation=st.sampled_from((None, Reservation(after=2 * HOUR), Reservation(after=0.0))),
)


@few
@given(views(), policies, st.randoms(use_true_random=False))
def test_the_order_in_which_jobs_are_known_makes_no_difference(of: QueueView, policy: Policy, shuffle: object) -> None:
    mixed = list(of.waiting)
    shuffle.shuffle(mixed)  # type: ignore[attr-defined]
    assert decide(replace(of, waiting=mixed), policy) == decide(of, policy)


@few
@given(views(), policies)
def test_the_front_never_takes_more_than_is_free(of: QueueView, policy: Policy) -> None:
    plan = plan_for(of, policy, ranks_at(policy, of.effects, of.now))
    assert sum(candidate.job.size for candidate, _ in plan.front) <= of.free


@few
@given(views(), policies)
def test_a_job_is_moved_once_at_most_and_never_one_that_someone_else_set(of: QueueView, policy: Policy) -> None:
    moves = decide(of, policy).moves
    foreign = {job.job_id for job in of.waiting if job.foreign}
    counted = Counter(move.job_id for move in moves)
    assert not foreign & counted.keys()
    assert all(times == 1 for times in counted.values())
    before = {job.job_id: job.priority for job in of.waiting}
    assert all(move.before == before[move.job_id] != move.after for move in moves)


@few
@given(views(), policies)
def test_carrying_out_a_decision_leaves_nothing_to_move(of: QueueView, policy: Policy) -> None:
    moved = replace(of, waiting=after_moves(of.waiting, decide(of, policy).moves))
    assert decide(moved, policy).moves == ()


@few
@given(views(), policies)
def test_at_most_one_place_is_held_and_the_standby_list_stays_within_its_cap(of: QueueView, policy: Policy) -> None:
    decision = decide(of, policy)
    after = [job for job in after_moves(of.waiting, decision.moves) if not job.foreign]
    held = [job.job_id for job in after if job.priority == RESERVED]
    assert held == ([decision.hold.job.job_id] if decision.hold else [])
    assert sum(map(stands_by, after)) <= max(2 * STANDBY_JOBS, sum(map(stands_by, of.waiting)))


@few
@given(views(), policies)
def test_every_idle_instance_is_named_once(of: QueueView, policy: Policy) -> None:
    taken = sum(c.job.size for c, _ in plan_for(of, policy, ranks_at(policy, of.effects, of.now)).front)
    assert sum(count for _, count in decide(of, policy).idle) == of.free - taken


@few
@given(views((0, 0, 0, 3), foreign=False), policies)
def test_batch_then_starts_exactly_the_front(of: QueueView, policy: Policy) -> None:
    plan = plan_for(of, policy, ranks_at(policy, of.effects, of.now))
    after = after_moves(of.waiting, decide(of, policy).moves)
    assert started_by_batch(after, of.free) == {candidate.job.job_id for candidate, _ in plan.front}


@few
@given(views(foreign=False), policies)
def test_batch_then_starts_as_much_as_the_front_where_a_standby_list_stands(of: QueueView, policy: Policy) -> None:
    plan = plan_for(of, policy, ranks_at(policy, of.effects, of.now))
    front = {candidate.job.job_id: candidate.job for candidate, _ in plan.front}
    after = {job.job_id: job for job in after_moves(of.waiting, decide(of, policy).moves)}
    started = started_by_batch(list(after.values()), of.free)
    assert sum(after[i].size for i in started) == sum(job.size for job in front.values())
    # Among one-instance jobs the list's own order counts, which follows the ranking but for small differences.
    assert all(stands_by(after[i]) for i in started - front.keys())


@few
@given(views(foreign=False), policies)
def test_in_batch_the_next_instance_freed_is_not_given_past_a_held_place(of: QueueView, policy: Policy) -> None:
    decision = decide(of, policy)
    if decision.hold is None:
        return
    after = after_moves(of.waiting, decision.moves)
    lifted = [job for job in after if job.priority > RESERVED]
    assert {job.priority for job in lifted} <= {FRONT}
    assert sum(job.size for job in lifted) <= of.free


@few
@given(views(), policies)
def test_the_next_wake_is_neither_too_soon_nor_too_late(of: QueueView, policy: Policy) -> None:
    assert 30.0 <= decide(of, policy).next_wake - of.now <= 300.0


@few
@given(views(), policies)
def test_backfills_are_among_the_front_and_reasons_fit_their_numbers(of: QueueView, policy: Policy) -> None:
    decision = decide(of, policy)
    for move in decision.moves:
        if move.reason is Reason.RETURNED:
            assert move.after == 0
        elif move.reason is Reason.RESERVED:
            assert move.after == RESERVED
        elif move.reason in (Reason.FRONT, Reason.BACKFILL, Reason.OVERDUE):
            assert move.after == FRONT
        assert move.sentence
