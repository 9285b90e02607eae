"""What must hold of any queue with pins, deadlines and bounds of classes."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.queues.cases import Tier, cases_of
from pointsman.queues.decide import decide
from pointsman.queues.explain import in_order
from pointsman.queues.jobs import Due
from pointsman.queues.moves import FRONT, RESERVED
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.policy import Policy
from pointsman.queues.view import QueueView
from tests.unit.queues.build import HOUR, NOW, POLICY, UNLIMITED, after_moves, busy, view, waiting

few = settings(max_examples=60, deadline=None)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[QueueView, Policy]:
    drawn = draw(st.lists(st.tuples(
        st.sampled_from(("production", "research", "sweep")), st.sampled_from((1, 1, 2, 4, 40)),
        st.integers(0, 20 * 3600), st.sampled_from((0, 0, 0, 4000, 4997, RESERVED, FRONT)),
        st.sampled_from((None, None, Due(NOW + HOUR), Due(NOW + 9 * HOUR), Due(NOW - 1), Due(None, "x"))),
        st.sampled_from((0, 0, 0, 3)),
    ), max_size=24))  # fmt: skip
    jobs = [
        replace(waiting(f"{n:02}", c, size=s, waited=w, priority=p if s == 1 or p > 4997 else 0), due=d, crashes=k)
        for n, (c, s, w, p, d, k) in enumerate(drawn)
    ]
    pins = [
        Pin(f"{n:02}", NOW + until, kind, "ana", NOW - 9)
        for n, until, kind in draw(st.lists(st.tuples(st.integers(0, 30), st.sampled_from((0.0, 60.0)),
                                                      st.sampled_from(PinKind)), max_size=4))
    ]  # fmt: skip
    running = draw(st.lists(st.tuples(st.sampled_from(("production", "sweep")), st.integers(1, 4)), max_size=4))
    of = view(
        *jobs,
        capacity=draw(st.integers(1, 16)),
        used=sum(size for _, size in running),
        busy=[busy(f"busy{n}", size, job_class=c) for n, (c, size) in enumerate(running)],
        pins=pins,
    )
    ceiling, entitlement = draw(st.sampled_from((None, 0.3, 0.6))), draw(st.sampled_from((None, 0.2, 0.9)))
    policy = draw(st.sampled_from((POLICY, UNLIMITED)))
    bounds = {"sweep": {"ceiling": ceiling}, "production": {"entitlement": entitlement}}
    classes = tuple(replace(c, **bounds.get(c.name, {})) for c in policy.classes)  # type: ignore[arg-type]
    return of, replace(policy, classes=classes)


@few
@given(worlds())
def test_no_class_is_lifted_above_its_ceiling_and_none_at_its_entitlement_is_given_a_place(
    world: tuple[QueueView, Policy],
) -> None:
    of, policy = world
    decision = decide(of, policy)
    (ceiling,) = (c.ceiling for c in policy.classes if c.name == "sweep")
    held = sum(job.kind.size for job in of.busy if job.kind.job_class == "sweep")
    raised = {move.job_id for move in decision.moves if move.after > move.before}
    given = sum(job.size for job in of.waiting if job.job_id in raised and job.kind.job_class == "sweep")
    if ceiling is not None and given:
        assert held + given <= ceiling * of.capacity + 1e-6
    if decision.hold is not None:
        assert decision.hold.job.kind.job_class not in cases_of(of, policy).satisfied
        assert decision.hold.job.size <= of.capacity


@few
@given(worlds())
def test_what_goes_last_is_never_put_before_what_does_not(world: tuple[QueueView, Policy]) -> None:
    of, policy = world
    tiers = [candidate.tier for candidate in in_order(of, policy)]
    assert tiers == sorted(tiers)
    assert sum(tier is Tier.FIRST for tier in tiers) <= len(of.pins)


@few
@given(worlds(), st.floats(0.0, 0.99))
def test_nobody_goes_first_or_last_for_another_reason_before_the_next_change(
    world: tuple[QueueView, Policy], part: float
) -> None:
    of, policy = world
    found = cases_of(of, policy)
    later = NOW + part * (min(found.next_change, NOW + 1e6) - NOW)
    assert cases_of(replace(of, now=later), policy).tiers == found.tiers
    if found.next_change < NOW + 1e6:
        assert cases_of(replace(of, now=found.next_change), policy).next_change > found.next_change


@few
@given(worlds())
def test_carrying_out_such_a_decision_leaves_nothing_to_move(world: tuple[QueueView, Policy]) -> None:
    of, policy = world
    moved = replace(of, waiting=after_moves(of.waiting, decide(of, policy).moves))
    assert decide(moved, policy).moves == ()


@few
@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_in_which_such_jobs_are_known_makes_no_difference(
    world: tuple[QueueView, Policy], shuffle: object
) -> None:
    of, policy = world
    mixed = list(of.waiting)
    shuffle.shuffle(mixed)  # type: ignore[attr-defined]
    assert decide(replace(of, waiting=mixed), policy) == decide(of, policy)


@few
@given(worlds())
def test_every_idle_instance_of_such_a_queue_is_named_once(world: tuple[QueueView, Policy]) -> None:
    of, policy = world
    decision = decide(of, policy)
    after = {job.job_id: job for job in after_moves(of.waiting, decision.moves)}
    assert sum(count for _, count in decision.idle) <= of.free
    assert all(after[told.job_id].job_id for told in decision.told)
