"""The levels of priorities in a queue with quota shares, and that they evict nobody who is not meant to go."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.queues.decide import decide
from pointsman.queues.effects import Effect
from pointsman.queues.evictions import Progress
from pointsman.queues.jobs import BusyJob
from pointsman.queues.levels import EVICTS, IN_LINE, PROTECTED, SHIELD, VICTIM
from pointsman.queues.moves import FRONT, RESERVED
from pointsman.queues.policy import How, Policy, Preemption, Reservation
from pointsman.queues.reasons import Reason
from pointsman.queues.view import QueueView
from pointsman.queues.wake import LEAST_GAP
from tests.unit.queues.build import HOUR, NOW
from tests.unit.queues.quota_build import (
    PATIENT,
    POLICY,
    borrowing,
    eviction,
    lending,
    quota_view,
    runs,
    share,
    waits,
)

CALM = replace(POLICY, preemption=None)


def moves(of: QueueView, policy: Policy = CALM) -> dict[str, int]:
    return {move.job_id: move.after for move in decide(of, policy).moves}


def test_what_fits_its_share_is_lifted_and_what_runs_needs_no_write() -> None:
    of = quota_view(waits("a"), waits("b", waited=9.0), runs("r", 6))
    assert moves(of) == {"a": FRONT, "b": FRONT}


def test_each_share_has_a_front_of_its_own() -> None:
    of = quota_view(
        waits("big", size=9, waited=99.0),
        waits("a"),
        waits("b", of="other"),
        shares=(share(limit=1), share("other", 1)),
    )
    assert moves(of) == {"a": FRONT, "b": FRONT}


def test_a_job_fits_by_what_its_share_may_borrow() -> None:
    shares = (borrowing("team", 2, 100), lending("other", 4))
    assert moves(quota_view(waits("a", size=4), shares=shares)) == {"a": FRONT}
    assert moves(quota_view(waits("a", size=5), shares=shares)) == {}


def test_before_small_jobs_are_lined_up_what_runs_lower_is_protected() -> None:
    of = quota_view(waits("a"), waits("b"), runs("r", 7), runs("s", 1, priority=FRONT))
    wanted = decide(of, CALM).moves
    assert [(m.job_id, m.after, m.reason) for m in wanted] == [
        ("r", PROTECTED, Reason.PROTECTED),
        ("a", IN_LINE, Reason.STANDBY),
        ("b", IN_LINE, Reason.STANDBY),
    ]


def test_one_who_runs_at_the_level_of_those_who_wait_is_protected_only_from_older_ones() -> None:
    young, old = runs("young", 4, priority=IN_LINE, ran=10.0), runs("old", 4, priority=IN_LINE, ran=9 * HOUR)
    of = quota_view(waits("a", waited=HOUR, priority=IN_LINE), young, old)
    assert moves(of) == {"young": PROTECTED}


def test_of_two_that_were_submitted_at_one_moment_the_one_who_runs_is_protected() -> None:
    of = quota_view(waits("b", waited=9.0), runs("a", 8, priority=IN_LINE, submitted=waits("b", waited=9.0).submitted))
    assert moves(of) == {"a": PROTECTED, "b": IN_LINE}


def test_where_in_share_preemption_is_off_the_list_has_numbers_and_nobody_is_protected() -> None:
    of = quota_view(waits("a", waited=9.0), waits("b"), runs("r", 8), shares=(share(preempts=False),))
    assert moves(of) == {"a": 4800, "b": 4798}


def test_a_place_is_held_below_what_is_lifted() -> None:
    policy = replace(CALM, reservation=Reservation(after=HOUR))
    of = quota_view(waits("big", "research", size=6, waited=2 * HOUR), runs("r", 5, priority=FRONT))
    decision = decide(of, policy)
    assert {move.job_id: move.after for move in decision.moves} == {"big": RESERVED}
    assert decision.holds[0].job.job_id == "big"


def test_on_one_level_nobody_joins_the_line_before_one_that_has_waited_too_long() -> None:
    hour = replace(CALM, classes=(replace(CALM.classes[0], max_wait=HOUR), *CALM.classes[1:]))
    late = waits("late", "production", waited=3 * HOUR, priority=IN_LINE)
    of = quota_view(late, waits("older", waited=4 * HOUR), waits("younger"), runs("r", 8, priority=FRONT))
    assert moves(of, hour) == {"younger": IN_LINE}


# Evictions

PROD = waits("prod", "production", size=4, waited=2 * HOUR)


def full(*jobs: BusyJob, **more: object) -> QueueView:
    others = sum(job.size for job in jobs)
    return quota_view(PROD, *jobs, runs("rest", 8 - others, job_class="production", priority=FRONT), **more)


def test_an_eviction_is_asked_for_only_when_both_parties_were_described() -> None:
    victim = runs("v", 4)
    first = decide(full(victim), POLICY)
    assert first.describe == ("prod", "v")
    assert first.evictions == ()
    assert {move.job_id for move in first.moves} <= {"rest"}
    second = decide(full(victim, described=frozenset(first.describe)), POLICY)
    assert [e.parties for e in second.evictions] == [("prod", "v")]
    assert [(m.job_id, m.after, m.reason) for m in second.moves] == [
        ("rest", SHIELD, Reason.PROTECTED),
        ("v", VICTIM, Reason.EVICTED),
        ("prod", EVICTS, Reason.PREEMPTOR),
    ]


def test_an_eviction_goes_on_only_when_all_its_jobs_were_described_again() -> None:
    victim = runs("v", 4)
    going = full(victim, evictions=(eviction(PROD, victim),))
    assert (decide(going, POLICY).moves, decide(going, POLICY).describe) == ((), ("prod", "v"))
    assert moves(replace(going, described=frozenset(("prod", "v"))), POLICY) == {
        "rest": SHIELD,
        "v": VICTIM,
        "prod": EVICTS,
    }


def test_an_eviction_that_goes_on_while_it_is_not_sure_what_runs_shields_and_raises_nobody_to_evict() -> None:
    victim = runs("v", 4)
    sure = full(victim, evictions=(eviction(PROD, victim),), described=frozenset(("prod", "v")))
    assert [e.parties for e in decide(sure, POLICY).ready] == [("prod", "v")]
    doubted = decide(replace(sure, settled=False), POLICY)
    assert ({m.job_id: m.after for m in doubted.moves}, doubted.ready) == ({"rest": SHIELD}, ())
    gone = decide(replace(sure, waiting=[], unsure=frozenset(("prod",))), POLICY)
    assert (gone.moves, gone.evictions, gone.ready) == ((), (), ()), "it may wait at any priority"


def test_who_is_to_evict_stands_first_for_a_pass_before_anybody_can_be_evicted() -> None:
    held = waits("held", size=6, waited=99 * HOUR, priority=RESERVED)
    of = replace(full(runs("v", 4)), described=frozenset(("prod", "v")))
    crowded = replace(of, waiting=[*of.waiting, held, waits("small", priority=IN_LINE)])
    first = decide(crowded, POLICY)
    assert first.evictions == ()
    assert {m.job_id: m.after for m in first.moves} == {"v": PROTECTED, "held": 0, "prod": RESERVED}
    assert first.next_wake == NOW + LEAST_GAP
    then = replace(crowded, waiting=[replace(PROD, priority=RESERVED), replace(held, priority=0), crowded.waiting[-1]])
    assert [e.parties for e in decide(then, POLICY).evictions] == [("prod", "v")]


def test_nobody_else_who_waits_may_evict_the_victims_and_both_sentences_name_both_parties() -> None:
    victim = runs("v", 4)
    wanted = {m.job_id: m for m in decide(full(victim, described=frozenset(("prod", "v"))), POLICY).moves}
    assert max(IN_LINE, RESERVED) < wanted["v"].after < wanted["prod"].after
    assert "production-prod (production, 4 instances)" in wanted["v"].sentence
    assert "v (sweep)" in wanted["prod"].sentence


def test_while_an_eviction_goes_on_nothing_else_in_its_share_is_moved() -> None:
    victim = runs("v", 4, priority=VICTIM)
    asked = eviction(PROD, victim)
    of = quota_view(PROD, waits("small"), victim, runs("r", 3, priority=SHIELD), evictions=(asked,))
    of = replace(of, described=frozenset(asked.parties))
    assert moves(of, POLICY) == {"prod": EVICTS}
    done = replace(of, waiting=[replace(PROD, priority=EVICTS), *of.waiting[1:]])
    assert moves(done, POLICY) == {}


def test_once_the_victims_are_out_the_evictor_stays_first_until_it_runs() -> None:
    victim = runs("v", 4)
    asked = eviction(PROD, victim)
    of = quota_view(
        replace(PROD, priority=EVICTS), waits("v", priority=0), waits("small"), runs("r", 4), evictions=(asked,)
    )
    decision = decide(of, POLICY)
    assert [e.progress for e in decision.evictions] == [Progress.SEEN]
    assert decision.moves == ()


def test_an_eviction_is_done_when_the_evictor_runs_and_it_stays_protected() -> None:
    victim = runs("v", 4)
    asked = eviction(PROD, victim)
    of = quota_view(
        waits("v", priority=0),
        runs("prod", 4, job_class="production", priority=EVICTS),
        runs("r", 4),
        evictions=(asked,),
    )
    decision = decide(of, POLICY)
    assert [e.progress for e in decision.evictions] == [Progress.DONE]
    assert "prod" not in {move.job_id for move in decision.moves}


@pytest.mark.parametrize(
    "case, runner, wanted",
    [
        ("who runs lower is raised", runs("r", 2), PROTECTED),
        ("and who is younger than the other above it", runs("r", 2, ran=10.0), SHIELD),
        ("one of the same level only if it is younger", runs("r", 2, priority=FRONT), None),
    ],
)
def test_where_others_may_take_what_is_free_for_a_job_before_it_starts_nobody_who_runs_is_below_it(
    case: str, runner: BusyJob, wanted: int | None
) -> None:
    shares = lending("team", 4), borrowing("other", 4)
    assert moves(quota_view(waits("a", size=2, waited=HOUR), runner, shares=shares)).get("r") == wanted, case
    reserved = share("team", 4), share("other", 4)
    assert "r" not in moves(quota_view(waits("a", size=2, waited=HOUR), runner, shares=reserved))


@pytest.mark.parametrize(
    "case, held, wanted",
    [
        ("a share that borrows", 5, {"shielded": FRONT, "evictor": FRONT}),
        ("one that has what is its own", 4, {}),
    ],
)
def test_who_an_eviction_left_above_all_others_is_lowered_where_batch_may_take_it_back_to_wait(
    case: str, held: int, wanted: dict[str, int]
) -> None:
    shares = (borrowing("team", 4, 100), lending("other", 4))
    left = runs("shielded", held - 3, priority=SHIELD), runs("evictor", 2, priority=EVICTS)
    of = quota_view(*left, runs("front", 1, priority=FRONT), waits("big", size=8), shares=shares)
    assert moves(of) == wanted, case


def test_an_eviction_that_takes_too_long_is_given_up_and_its_priorities_are_taken_back() -> None:
    victim = runs("v", 4, priority=0)
    asked = eviction(PROD, victim)
    of = quota_view(
        replace(PROD, priority=EVICTS),
        victim,
        runs("r", 4, priority=SHIELD),
        evictions=(replace(asked, asked=asked.asked - 2000),),
    )
    decision = decide(of, POLICY)
    assert [e.progress for e in decision.evictions] == [Progress.TIMED_OUT]
    assert {m.job_id: m.after for m in decision.moves} == {"prod": 0}


@pytest.mark.parametrize(
    "case, of, policy",
    [
        ("its patience has not passed",
         quota_view(waits("p", "production", size=4, waited=60.0), runs("v", 8)), POLICY),
        ("there is no rule for it", full(runs("v", 4)), CALM),
        ("in-share preemption is off and stays off", full(runs("v", 4), shares=(share(preempts=False),)), POLICY),
        ("somebody else set its priority",
         quota_view(waits("p", "production", size=4, waited=9 * HOUR, priority=9, foreign=True), runs("v", 8)), POLICY),
        ("its class holds its entitlement", full(runs("v", 4)),
         replace(POLICY, classes=(replace(POLICY.classes[0], entitlement=0.5), *POLICY.classes[1:]))),
    ],
)  # fmt: skip
def test_nobody_is_evicted_when(case: str, of: QueueView, policy: Policy) -> None:
    decision = decide(of, policy)
    assert (decision.describe, decision.evictions) == ((), ()), case


def test_where_preemption_is_switched_for_each_eviction_it_may_be_off_before() -> None:
    policy = replace(POLICY, preemption=replace(PATIENT, how=How.SWITCH))
    of = full(runs("v", 4), shares=(share(preempts=False),))
    assert decide(of, policy).describe == ("prod", "v")


def outranks(priority: int, submitted: float, job: BusyJob, *, equal: bool) -> bool:
    """Whether a waiting job could evict a running one; with `equal`, also one of its own priority that is younger."""
    return priority > job.priority or (equal and priority == job.priority and submitted < job.submitted)


@given(
    st.lists(st.tuples(st.sampled_from(("production", "research", "sweep")), st.integers(1, 4), st.integers(0, 20000),
                       st.sampled_from((0, 7, IN_LINE, RESERVED))), max_size=8),
    st.lists(st.tuples(st.sampled_from(("production", "sweep")), st.integers(1, 3), st.integers(0, 20000),
                       st.sampled_from((0, IN_LINE, FRONT, EVICTS, SHIELD))), max_size=6),
    st.sampled_from((None, Preemption())),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_whatever_batchs_rule_nobody_but_the_victims_can_be_evicted_by_what_we_raise(
    lines: list[tuple[str, int, int, int]], running: list[tuple[str, int, int, int]], rule: Preemption | None
) -> None:
    policy = replace(POLICY, preemption=rule, reservation=Reservation(after=HOUR))
    of = quota_view(
        *(waits(f"w{n}", c, size=s, waited=float(w), priority=p) for n, (c, s, w, p) in enumerate(lines)),
        *(runs(f"r{n}", s, job_class=c, ran=float(r), priority=p) for n, (c, s, r, p) in enumerate(running)),
        shares=(share(limit=max(8, sum(s for _, s, _, _ in running))),),
    )
    first = decide(of, policy)
    decision = decide(replace(of, described=frozenset(first.describe)), policy)
    to = {move.job_id: move.after for move in decision.moves}
    victims = {v.job_id for e in decision.evictions for v in e.victims}
    fits = {job_id for job_id, after in to.items() if after == FRONT}
    after = [replace(job, priority=to.get(job.job_id, job.priority)) for job in of.busy]
    for job in of.waiting:
        level = to.get(job.job_id, job.priority)
        if job.job_id in fits or level == job.submitted_priority:
            continue  # it starts without anybody's going, or stands where its owner put it
        exposed = {b.job_id for b in after if outranks(level, job.submitted, b, equal=True)}
        if victims and job.job_id not in {e.evictor.job_id for e in decision.evictions}:
            lower = {b.job_id for b in after if outranks(level, job.submitted, b, equal=False)}
            assert not lower & victims, (job, decision.moves)
        if job.job_id not in to and level == job.priority and not victims:
            exposed &= set(to)  # what stood there before this pass is the pass before's to answer for
        assert exposed <= victims, (job, decision.moves)


def test_while_it_is_not_sure_what_runs_nobody_is_raised_where_that_would_evict() -> None:
    of = quota_view(waits("a"), waits("b", priority=IN_LINE), runs("r", 7), settled=False)
    assert moves(of) == {"r": PROTECTED}
    lifted = quota_view(waits("big", size=2, priority=FRONT), runs("r", 7, priority=FRONT))
    assert moves(lifted) == {"big": 0}
    assert moves(replace(lifted, settled=False)) == {}, "it may have started, and is protected by what it has"
    off = quota_view(waits("a"), runs("r", 7), shares=(share(preempts=False),), settled=False)
    assert moves(off) == {"a": FRONT}
    assert decide(full(runs("v", 4), settled=False), POLICY).describe == ()


def test_where_preemption_may_be_on_though_it_was_seen_off_nobody_is_raised() -> None:
    switching = replace(POLICY, preemption=replace(PATIENT, how=How.SWITCH))
    off = quota_view(waits("a"), runs("r", 7), shares=(share(preempts=False),))
    assert moves(off, switching) == {"a": FRONT}
    unsettled = quota_view(waits("a"), runs("r", 7), shares=(share(preempts=False, settled=False),))
    assert moves(unsettled, switching) == {}
    assert moves(unsettled) == {"a": FRONT}, "nobody switches it"


def test_an_alarm_that_boosts_a_class_takes_no_reason_from_an_eviction_and_one_that_goes_on_is_looked_at_soon() -> None:
    of = full(runs("v", 4), described=frozenset(("prod", "v")), effects=(Effect("drift", NOW - 9, "production", HOUR),))
    decision = decide(of, POLICY)
    assert [m.reason for m in decision.moves] == [Reason.PROTECTED, Reason.EVICTED, Reason.PREEMPTOR]
    assert decision.next_wake == NOW + LEAST_GAP
