"""Preemption in the Batch model: for whom, and of whom. Each test is a fact, or a setting at its ends."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman_emulator.models.batch import (
    BatchModel,
    BatchSettings,
    QuotaShare,
    QuotaSharePolicy,
    ServiceJob,
)
from tests.emulator.batch_models import A10G, H100, borrow, evicted, fair, lend, one_share, put, quota, reserve

# For whom


def test_an_owner_with_work_gets_back_what_it_lent() -> None:
    model = quota(4, {"a": borrow(2), "b": lend(2)})
    jobs = [put(model, "a", f"a{n}") for n in range(4)]
    model.advance(10)
    owner = put(model, "b", "owner")
    model.advance(30)
    assert len(evicted(*jobs)) == 1
    assert owner.started_at == 30


def test_an_owner_gets_it_back_without_in_share_preemption_and_whatever_the_priorities() -> None:
    model = quota(2, {"a": borrow(1, in_share_preemption=False), "b": lend(1, in_share_preemption=False)})
    jobs = [put(model, "a", f"a{n}", priority=9999) for n in range(2)]
    model.advance(1)
    owner = put(model, "b", "owner", priority=0)
    model.advance(21)
    assert (evicted(*jobs), owner.status) == (["a1"], "RUNNING")


def test_what_a_share_reserves_idles_though_the_owner_of_lent_capacity_waits() -> None:
    model = quota(3, {"a": borrow(1), "b": lend(1), "c": reserve(1)})
    for n in range(2):
        put(model, "a", f"a{n}")
    model.advance(1)
    owner = put(model, "b", "owner")
    model.advance(2)
    assert (model.capacity_in_use("q"), owner.status) == (2, "RUNNABLE")


def test_borrowers_never_preempt_across_shares() -> None:
    model = quota(3, {"a": borrow(1), "b": borrow(1), "c": lend(1)})
    jobs = [put(model, "a", "a0"), put(model, "a", "a1"), put(model, "b", "b0")]
    model.advance(1)
    late = put(model, "b", "b1", priority=9999)
    model.advance(1000)
    assert (evicted(*jobs), late.status) == ([], "RUNNABLE")


@pytest.mark.parametrize("enabled,names", [(True, ["low"]), (False, [])])
def test_a_higher_priority_evicts_a_lower_one_of_its_share_where_that_is_enabled(
    enabled: bool, names: list[str]
) -> None:
    model = quota(1, {"a": reserve(1, in_share_preemption=enabled)})
    low = put(model, "a", "low", priority=3)
    model.advance(1)
    put(model, "a", "high", priority=4)
    model.advance(2)
    assert evicted(low) == names


def test_no_priority_evicts_a_job_of_another_share_within_its_limits() -> None:
    model = quota(2, {"a": reserve(1, in_share_preemption=True), "b": reserve(1)})
    jobs = [put(model, "a", "a0", priority=9), put(model, "b", "b0")]
    model.advance(1)
    put(model, "a", "a1", priority=9)
    model.advance(100)
    assert evicted(*jobs) == []


def test_a_share_below_its_limit_starts_a_job_before_it_evicts_one() -> None:
    model = one_share(2)
    low = put(model, "a", "low")
    model.advance(1)
    high = put(model, "a", "high", priority=9)
    model.advance(1)
    assert (evicted(low), high.status) == ([], "RUNNING")


def test_a_job_of_higher_priority_evicts_as_many_as_it_needs() -> None:
    model = one_share(8)
    jobs = [put(model, "a", f"a{n}", 2, priority=n) for n in range(4)]
    model.advance(1)
    wide = put(model, "a", "wide", 4, priority=9)
    model.advance(21)
    assert (evicted(*jobs), wide.status) == (["a0", "a1"], "RUNNING")


def test_nobody_is_evicted_in_vain() -> None:
    model = one_share(8)
    jobs = [put(model, "a", f"a{n}", 2, priority=n) for n in range(4)]
    model.advance(1)
    put(model, "a", "wide", 6, priority=2)
    model.advance(1000)
    assert evicted(*jobs) == []


def test_lowering_a_running_jobs_priority_lets_a_waiting_one_evict_it() -> None:
    model = one_share(1)
    running = put(model, "a", "running", priority=4999)
    model.advance(1)
    waiting = put(model, "a", "waiting", priority=4999)
    model.advance(100)
    assert evicted(running) == []
    model.set_priority(running.job_id, 0)
    model.advance(120)
    assert (running.status, waiting.status) == ("RUNNABLE", "RUNNING")


@pytest.mark.parametrize("setting,names", [(False, []), (True, ["newer"])])
def test_an_equal_priority_evicts_what_stands_behind_it_by_setting(setting: bool, names: list[str]) -> None:
    model = one_share(1, BatchSettings(equal_priority_evicts=setting))
    put(model, "a", "now", seconds=10)
    put(model, "a", "older", priority=0)
    newer = put(model, "a", "newer", priority=5)
    model.advance(20)
    assert evicted(newer) == []
    model.set_priority(newer.job_id, 0)
    model.advance(30)
    assert evicted(newer) == names


@pytest.mark.parametrize("setting", [False, True])
def test_an_equal_priority_never_evicts_what_stands_before_it(setting: bool) -> None:
    model = one_share(1, BatchSettings(equal_priority_evicts=setting))
    jobs = [put(model, "a", name) for name in ("older", "newer")]
    model.advance(100)
    assert (evicted(*jobs), jobs[0].status) == ([], "RUNNING")


def test_a_lower_limit_makes_the_jobs_above_it_fair_game_under_every_strategy() -> None:
    for strategy in ("RESERVE", "LEND", "LEND_AND_BORROW"):
        model = quota(4, {"a": QuotaShare({A10G: 4}, strategy)})
        jobs = [put(model, "a", f"a{n}") for n in range(4)]
        model.advance(1)
        model.update_share("q", "a", QuotaShare({A10G: 2}, strategy))
        model.add_share("q", "b", reserve(2))
        model.advance(100)
        assert evicted(*jobs) == []
        put(model, "b", "b0")
        model.advance(101)
        assert len(evicted(*jobs)) == 1


def test_fair_share_never_preempts() -> None:
    model = fair(capacity=1)
    job = model.submit("q", "low", 1, 1000, priority=0, share="a")
    model.advance(1)
    model.submit("q", "high", 1, 10, priority=9999, share="a")
    model.submit("q", "other", 1, 10, priority=9999, share="b")
    model.advance(999)
    assert (job.status, job.preempted_count) == ("RUNNING", 0)


# Of whom


@pytest.mark.parametrize("state,at", [("SCHEDULED", 5), ("STARTING", 15), ("RUNNING", 25)])
def test_a_job_is_preempted_when_it_is_scheduled_starting_or_running(state: str, at: float) -> None:
    model = one_share(1, BatchSettings(scheduled_dwell=10, starting_dwell=10))
    low = put(model, "a", "low")
    model.advance(at)
    assert low.status == state
    put(model, "a", "high", priority=9)
    model.advance(at + 19)
    assert (low.status, model.capacity_in_use("q")) == (state, 1)
    model.advance(at + 20)
    assert low.status == "RUNNABLE"


def eldest_first(settings: BatchSettings) -> list[ServiceJob]:
    """Three jobs of a share, started at 0, 10 and 20 s, priorities 1, 0 and 2; then one that needs one's place."""
    model = one_share(3, settings)
    jobs = [put(model, "a", name, priority=priority, at=at) for name, priority, at in EACH]
    model.advance(30)
    put(model, "a", "high", priority=9)
    model.advance(31)
    return jobs


EACH = (("first", 1, 0), ("second", 0, 10), ("third", 2, 20))


@pytest.mark.parametrize("rule,name", [("lowest", "second"), ("longest", "first"), ("shortest", "third")])
def test_the_victim_is_chosen_by_the_rule_of_the_setting(rule: Any, name: str) -> None:
    assert evicted(*eldest_first(BatchSettings(victim_rule=rule))) == [name]


def test_of_equal_priorities_the_shortest_run_is_lost_under_the_rule_of_the_lowest() -> None:
    model = one_share(3)
    jobs = [put(model, "a", name, at=at) for name, _, at in EACH]
    model.advance(30)
    put(model, "a", "high", priority=9)
    model.advance(31)
    assert evicted(*jobs) == ["third"]


def test_a_random_victim_is_the_same_for_the_same_seed() -> None:
    def victims(seed: int) -> list[str]:
        model = BatchModel(BatchSettings(victim_rule="random"), seed)
        model.add_environment("gpus", {A10G: 20})
        model.add_queue("q", "gpus", QuotaSharePolicy())
        model.add_share("q", "a", reserve(20, in_share_preemption=True))
        jobs = [put(model, "a", f"{n}") for n in range(20)]
        model.advance(1)
        put(model, "a", "high", 5, priority=9)
        model.advance(2)
        return evicted(*jobs)

    assert victims(1) == victims(1)
    assert victims(1) != victims(2)


@pytest.mark.parametrize("setting,name", [(True, "borrowed"), (False, "owned")])
def test_borrowed_capacity_is_taken_first_or_the_rule_alone_counts(setting: bool, name: str) -> None:
    model = quota(2, {"a": borrow(1), "b": lend(1)}, BatchSettings(borrowers_first=setting))
    owned = put(model, "a", "owned", priority=0)
    borrowed = put(model, "a", "borrowed", priority=5, at=1)
    model.advance(10)
    assert (owned.borrowed, borrowed.borrowed) == (0, 1)
    put(model, "b", "owner")
    model.advance(11)
    assert evicted(owned, borrowed) == [name]


@pytest.mark.parametrize("setting,names", [("any", ["wide"]), ("whole", [])])
def test_a_job_that_lies_partly_above_the_limit_is_reclaimed_by_setting(setting: Any, names: list[str]) -> None:
    model = quota(6, {"a": borrow(4), "b": lend(2)}, BatchSettings(reclaim=setting))
    wide = put(model, "a", "wide", 6)
    model.advance(1)
    put(model, "b", "owner")
    model.advance(2)
    assert evicted(wide) == names


def test_only_jobs_of_the_type_that_is_needed_are_evicted() -> None:
    share = QuotaShare({A10G: 1, H100: 1}, in_share_preemption=True)
    model = quota({A10G: 1, H100: 1}, {"a": share})
    jobs = [put(model, "a", "a10g", priority=0), put(model, "a", "h100", priority=5, instance_type=H100)]
    model.advance(1)
    put(model, "a", "high", priority=9, instance_type=H100)
    model.advance(2)
    assert evicted(*jobs) == ["h100"]


def test_what_its_own_jobs_do_not_free_an_owner_reclaims_beside_them() -> None:
    model = quota(5, {"a": lend(4, in_share_preemption=True), "b": borrow(1)})
    low = put(model, "a", "low", 2)
    lent = [put(model, "b", f"b{n}") for n in range(3)]
    model.advance(1)
    assert model.capacity_in_use("q") == 5
    high = put(model, "a", "high", 4, priority=9)
    model.advance(21)
    assert (evicted(low, *lent), high.status) == (["low", "b1", "b2"], "RUNNING")


def test_a_claim_that_others_have_met_in_part_is_planned_anew() -> None:
    model = quota(2, {"a": borrow(1, in_share_preemption=True), "b": lend(1)}, BatchSettings(preemption_stop=60))
    jobs = [put(model, "a", "a0", priority=1), put(model, "a", "a1", priority=2)]
    model.advance(10)
    high = put(model, "a", "high", priority=9)
    owner = put(model, "b", "owner", at=30)
    model.advance(200)
    assert [job.status for job in (*jobs, high, owner)] == ["RUNNABLE", "RUNNABLE", "RUNNING", "RUNNING"]
