"""Quota shares in the Batch model: what they lend, borrow and refuse. Each test is a fact, or a setting at its ends."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman_emulator.models.batch import (
    BatchModel,
    BatchRefusedError,
    BatchSettings,
    FairShare,
    JobChange,
    QuotaShare,
    QuotaSharePolicy,
)
from tests.emulator.batch_models import A10G, H100, borrow, fair, fifo, in_state, lend, put, quota, reserve, started

OVER_QUOTA = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
TOO_LARGE = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"


def running(model: BatchModel, share: str) -> int:
    return sum(job.instances for job in model.jobs.values() if job.quota_share == share and job.holding)


def fill(model: BatchModel, share: str, jobs: int, **more: Any) -> None:
    for number in range(jobs):
        put(model, share, f"{share}{number}", **more)


def test_the_documented_example_of_three_shares_plays_as_described() -> None:
    model = quota(
        3, {"one": borrow(1, borrow_limit=200, in_share_preemption=True), "two": lend(1), "three": reserve(1)}
    )
    jobs = [put(model, "one", f"priority-{priority}", priority=priority) for priority in (3, 2, 1)]
    model.advance(10)
    assert [job.status for job in jobs] == ["RUNNING", "RUNNING", "RUNNABLE"]
    owner = put(model, "two", "owner")
    model.advance(30)
    assert [job.status for job in (*jobs, owner)] == ["RUNNING", "RUNNABLE", "RUNNABLE", "RUNNING"]
    model.set_priority(jobs[2].job_id, 4)
    model.advance(60)
    assert [job.status for job in (*jobs, owner)] == ["RUNNABLE", "RUNNABLE", "RUNNING", "RUNNING"]
    assert [job.preempted_count for job in (*jobs, owner)] == [1, 1, 0, 0]


@pytest.mark.parametrize("strategy,most", [("RESERVE", 2), ("LEND", 2), ("LEND_AND_BORROW", 4)])
def test_only_a_share_that_lends_and_borrows_exceeds_its_limit(strategy: Any, most: int) -> None:
    model = quota(4, {"a": QuotaShare({A10G: 2}, strategy), "b": lend(2)})
    fill(model, "a", 9)
    model.advance(1)
    assert running(model, "a") == most


@pytest.mark.parametrize("other,most", [(reserve(2), 2), (lend(2), 4), (borrow(2), 4)])
def test_only_a_share_that_lends_is_borrowed_from(other: QuotaShare, most: int) -> None:
    model = quota(4, {"a": borrow(2), "b": other})
    fill(model, "a", 9)
    model.advance(1)
    assert running(model, "a") == most


@pytest.mark.parametrize("per_cent,most", [(-1, 8), (0, 2), (50, 3), (100, 4), (200, 6)])
def test_a_borrow_limit_is_a_per_cent_of_the_shares_own_limit(per_cent: int, most: int) -> None:
    model = quota(8, {"a": borrow(2, borrow_limit=per_cent), "b": lend(6)})
    fill(model, "a", 9)
    model.advance(1)
    assert running(model, "a") == most


def test_nobody_borrows_more_than_others_can_lend() -> None:
    model = quota(8, {"a": borrow(4, borrow_limit=200), "b": borrow(4, borrow_limit=200)})
    fill(model, "a", 20)
    model.advance(1)
    assert running(model, "a") == 8


def test_two_borrowers_share_what_is_lent() -> None:
    model = quota(6, {"a": borrow(1), "b": borrow(1), "c": lend(4)})
    fill(model, "a", 3)
    fill(model, "b", 9)
    model.advance(1)
    assert (running(model, "a"), running(model, "b")) == (3, 3)


@pytest.mark.parametrize("rounding,most", [("down", 3), ("up", 4)])
def test_a_borrow_limit_of_half_an_instance_is_rounded_by_setting(rounding: Any, most: int) -> None:
    model = quota(9, {"a": borrow(3, borrow_limit=33), "b": lend(6)}, BatchSettings(borrow_rounding=rounding))
    fill(model, "a", 9)
    model.advance(1)
    assert running(model, "a") == most


@pytest.mark.parametrize("setting,most", [("idle", 2), ("lendable", 4)])
def test_what_no_share_owns_is_idle_or_lendable_by_setting(setting: Any, most: int) -> None:
    model = quota(4, {"a": borrow(1), "b": lend(1)}, BatchSettings(unassigned_capacity=setting))
    fill(model, "a", 9)
    model.advance(1)
    assert running(model, "a") == most


@pytest.mark.parametrize("key,names", [("job", ["b-old", "a-new"]), ("share", ["a-new", "b-old"])])
def test_idle_capacity_goes_to_the_oldest_job_or_the_first_share_by_setting(key: Any, names: list[str]) -> None:
    model = quota(3, {"a": borrow(1), "b": borrow(1), "c": lend(1)}, BatchSettings(idle_key=key))
    fill(model, "a", 1)
    fill(model, "b", 1)
    lent = put(model, "c", "c0", seconds=100)
    model.advance(1)
    old, new = put(model, "b", "b-old"), put(model, "a", "a-new", at=2)
    model.advance(99)
    assert in_state("RUNNABLE", old, new) == ["b-old", "a-new"]
    model.advance(3600)
    assert lent.status == "SUCCEEDED"
    assert started(old, new)[0] == names[0]


def test_higher_priority_goes_first_within_a_quota_share() -> None:
    model = quota(1, {"a": reserve(1)})
    jobs = [put(model, "a", f"{priority}", priority=priority, seconds=10) for priority in (0, 9, 4)]
    model.advance(100)
    assert started(*jobs) == ["9", "4", "0"]


def test_priority_never_compares_across_quota_shares() -> None:
    model = quota(2, {"a": lend(1), "b": lend(1)})
    high = [put(model, "a", f"a{n}", priority=9) for n in range(2)]
    low = put(model, "b", "b0")
    model.advance(1)
    assert in_state("RUNNING", *high, low) == ["a0", "b0"]


@pytest.mark.parametrize("setting,names", [("strict", ["other"]), ("skip", ["small", "other"])])
def test_a_head_that_does_not_fit_holds_back_its_own_share_only(setting: Any, names: list[str]) -> None:
    model = quota(4, {"a": reserve(2), "b": reserve(2)}, BatchSettings(head_of_line=setting))
    put(model, "a", "first")
    model.advance(1)
    jobs = [put(model, "a", "big", 2), put(model, "a", "small"), put(model, "b", "other")]
    model.advance(2)
    assert in_state("RUNNING", *jobs) == names


@pytest.mark.parametrize(
    "visit,names",
    [("created", ["z1", "z2", "a1", "a2"]), ("name", ["a1", "a2", "z1", "z2"]), ("rotating", ["z1", "a1", "z2", "a2"])],
)
def test_shares_are_visited_in_the_order_of_a_setting(visit: Any, names: list[str]) -> None:
    model = quota(1, {"z": reserve(2), "a": reserve(2)}, BatchSettings(share_visit=visit))
    jobs = [put(model, share, f"{share}{n}", seconds=10) for share in "az" for n in (1, 2)]
    model.advance(100)
    assert started(*jobs) == names


@pytest.mark.parametrize("setting", ["accept", "refuse"])
def test_limits_of_shares_may_exceed_the_environments_by_setting(setting: Any) -> None:
    model = quota(3, {"a": reserve(2)}, BatchSettings(limits_over_environment=setting))
    if setting == "refuse":
        with pytest.raises(BatchRefusedError, match="exceed the service environment's"):
            model.add_share("q", "b", reserve(2))
        model.add_share("q", "b", reserve(1))
        with pytest.raises(BatchRefusedError, match="exceed the service environment's"):
            model.update_share("q", "a", reserve(3))
        return
    model.add_share("q", "b", reserve(2))
    fill(model, "a", 2)
    fill(model, "b", 2)
    model.advance(1)
    assert model.capacity_in_use("q") == 3


def test_each_instance_type_has_limits_of_its_own() -> None:
    model = quota({A10G: 2, H100: 1}, {"a": QuotaShare({A10G: 2, H100: 1})})
    jobs = [
        put(model, "a", "h1", instance_type=H100),
        put(model, "a", "g1", 2),
        put(model, "a", "h2", instance_type=H100),
    ]
    model.advance(1)
    assert in_state("RUNNING", *jobs) == ["h1", "g1"]
    assert model.snapshot("q").usage == {A10G: 2, H100: 1}


def test_a_job_of_several_instance_groups_needs_room_for_each_type() -> None:
    model = quota({A10G: 2, H100: 1}, {"a": QuotaShare({A10G: 2, H100: 1})})
    first = put(model, "a", "first", instance_type=H100, seconds=50)
    mixed = put(model, "a", "mixed", 3, instance_type=None, instance_groups={A10G: 2, H100: 1})
    model.advance(1)
    assert in_state("RUNNING", first, mixed) == ["first"]
    model.advance(60)
    assert model.snapshot("q").usage == {A10G: 2, H100: 1}


@pytest.mark.parametrize("setting,code", [("wait", None), ("blocked", TOO_LARGE)])
def test_a_job_of_a_type_without_limit_waits(setting: Any, code: str | None) -> None:
    model = quota(2, {"a": reserve(2)}, BatchSettings(type_without_limit=setting))
    job = put(model, "a", "odd", instance_type=H100)
    model.advance(10_000)
    assert (job.status, job.stuck) == ("RUNNABLE", code)


@pytest.mark.parametrize("setting,code", [("wait", None), ("blocked", OVER_QUOTA)])
@pytest.mark.parametrize("strategy", ["RESERVE", "LEND_AND_BORROW"])
def test_a_job_of_a_type_that_its_share_has_no_limit_for_waits(setting: Any, code: str | None, strategy: Any) -> None:
    shares = {"a": QuotaShare({A10G: 1}, strategy), "b": QuotaShare({H100: 2}, "LEND")}
    model = quota({A10G: 1, H100: 2}, shares, BatchSettings(type_without_limit=setting))
    job = put(model, "a", "odd", instance_type=H100)
    model.advance(10_000)
    assert (job.status, job.stuck) == ("RUNNABLE", code)


@pytest.mark.parametrize(
    "shares,instances,code",
    [
        ({"a": reserve(2), "b": lend(2)}, 5, TOO_LARGE),
        ({"a": reserve(2), "b": lend(2)}, 3, OVER_QUOTA),
        ({"a": lend(2), "b": lend(2)}, 3, OVER_QUOTA),
        ({"a": borrow(2, borrow_limit=50), "b": lend(2)}, 4, OVER_QUOTA),
        ({"a": borrow(1), "b": lend(1), "c": reserve(2)}, 3, OVER_QUOTA),
        ({"a": borrow(2, borrow_limit=50), "b": lend(2)}, 3, None),
    ],
    ids=["environment", "RESERVE", "LEND", "limit and borrow limit", "all that is lendable", "it fits"],
)
def test_a_head_that_no_limit_allows_is_found_stuck(shares: dict[str, QuotaShare], instances: int, code: str) -> None:
    told: list[JobChange] = []
    model = quota(4, shares)
    model.listener = told.append
    put(model, "b", "other")
    jobs = [put(model, "a", "head", instances), put(model, "a", "behind", 9)]
    model.advance(1)
    blocked = [(change.job.name, change.job.stuck) for change in told if change.kind == "blocked"]
    assert blocked == ([("head", code)] if code else [("behind", TOO_LARGE)])
    assert [job.name for job in model.queues["q"].stuck.values()] == [name for name, _ in blocked]
    assert (jobs[0].status_reason or "").startswith(f"{code} - " if code else "")


def test_a_stuck_head_goes_on_when_its_limit_is_raised() -> None:
    model = quota(4, {"a": reserve(1)})
    job = put(model, "a", "wide", 3)
    model.advance(1)
    assert job.stuck == OVER_QUOTA
    model.update_share("q", "a", reserve(3))
    model.advance(2)
    assert [job.status, job.stuck, job.status_reason] == ["RUNNING", None, None]


def test_a_state_time_limit_terminates_a_job_over_its_quota() -> None:
    model = quota(4, {"a": reserve(1)})
    job = put(model, "a", "wide", 3)
    model.advance(300)
    model.update_queue("q", time_limits={OVER_QUOTA: 600})
    model.advance(599)
    assert job.status == "RUNNABLE"
    model.advance(600)
    assert job.status_reason == f"Terminated by JobStateTimeLimit action due to reason: {OVER_QUOTA}"


def test_a_disabled_share_refuses_new_jobs_and_finishes_those_it_has() -> None:
    model = quota(1, {"a": reserve(1)})
    jobs = [put(model, "a", f"{n}", seconds=10) for n in range(2)]
    model.update_share("q", "a", reserve(1, enabled=False))
    with pytest.raises(BatchRefusedError, match="disabled"):
        put(model, "a", "late")
    model.advance(100)
    assert in_state("SUCCEEDED", *jobs) == ["0", "1"]


def test_a_share_is_disabled_before_it_is_deleted_and_its_jobs_are_terminated() -> None:
    model = quota(1, {"a": reserve(1)})
    jobs = [put(model, "a", f"{n}") for n in range(2)]
    model.advance(1)
    with pytest.raises(BatchRefusedError, match="must be disabled"):
        model.remove_share("q", "a")
    model.update_share("q", "a", reserve(1, enabled=False))
    model.remove_share("q", "a")
    assert in_state("FAILED", *jobs) == ["0", "1"]
    with pytest.raises(BatchRefusedError, match="does not exist"):
        put(model, "a", "late")


def test_a_queue_has_twenty_quota_shares_at_most() -> None:
    model = quota(30, {f"s{n}": reserve(1) for n in range(20)})
    with pytest.raises(BatchRefusedError, match="20"):
        model.add_share("q", "one-more", reserve(1))


@pytest.mark.parametrize(
    "share,message",
    [
        (QuotaShare({}), "Between 1 and 5"),
        (QuotaShare({f"ml.c5.{n}xlarge": 1 for n in range(6)}), "Between 1 and 5"),
        (QuotaShare({A10G: 0}), "at least 1"),
        (QuotaShare({"NUM_INSTANCES": 1}), "instance types"),
        (QuotaShare({A10G: 1}, "LEND", borrow_limit=10), "LEND_AND_BORROW"),
        (QuotaShare({A10G: 1}, "LEND_AND_BORROW", borrow_limit=-2), "-1 or more"),
    ],
)
def test_what_no_quota_share_can_be_is_refused(share: QuotaShare, message: str) -> None:
    with pytest.raises(BatchRefusedError, match=message):
        quota(4, {"a": share})


def test_an_environment_under_quota_management_feeds_one_queue() -> None:
    model = quota(4, {})
    with pytest.raises(BatchRefusedError, match="one job queue only"):
        model.add_queue("second", "gpus", QuotaSharePolicy())


def test_quota_management_needs_limits_by_type_and_others_need_instances() -> None:
    model = quota(4, {})
    with pytest.raises(BatchRefusedError, match="needs a quota-share"):
        model.add_queue("fair", "gpus", FairShare())
    model.add_environment("any", {"NUM_INSTANCES": 4})
    with pytest.raises(BatchRefusedError, match="limits by instance type"):
        model.add_queue("managed", "any", QuotaSharePolicy())
    with pytest.raises(BatchRefusedError, match="cannot change"):
        model.update_environment("any", capacity={A10G: 4})


def test_a_policy_is_replaced_by_one_of_its_kind_only() -> None:
    for model, policy in (
        (quota(4, {}), FairShare()),
        (fair(), QuotaSharePolicy()),
        (fifo(), FairShare()),
    ):
        with pytest.raises(BatchRefusedError):
            model.update_queue("q", policy=policy)


def test_a_job_names_the_share_that_its_queue_has_and_no_other() -> None:
    for model, share in (
        (quota(4, {"a": reserve(1)}), {"share": "a"}),
        (quota(4, {"a": reserve(1)}), {}),
        (fair(), {"quota_share": "a"}),
        (fair(), {"share": "a", "quota_share": "a"}),
        (fifo(), {"quota_share": "a"}),
    ):
        with pytest.raises(BatchRefusedError, match="be specified"):
            model.submit("q", "job", 1, 10, **share)  # type: ignore[arg-type]


def test_a_snapshot_tells_the_front_and_the_use_of_each_quota_share() -> None:
    model = quota(4, {"a": borrow(1), "b": lend(2), "c": reserve(1)}, BatchSettings(snapshot_lag=20))
    fill(model, "a", 5)
    fill(model, "c", 3, priority=4)
    model.advance(25)
    seen = model.snapshot("q")
    assert {share: place.job.name for share, place in seen.front_of_shares.items()} == {"a": "a3", "c": "c1"}
    assert (seen.shares, seen.in_use) == ((("a", 3), ("c", 1)), 4)
    assert (seen.usage, dict(seen.share_usage)) == ({A10G: 4}, {"a": {A10G: 3}, "c": {A10G: 1}})
    assert {place.job.name for place in seen.front} == {"a3", "a4", "c1", "c2"}
    put(model, "b", "b0")
    model.advance(39)
    assert model.snapshot("q").shares == seen.shares


def test_a_lower_cap_of_the_environment_stops_no_job_under_quota_management() -> None:
    model = quota(4, {"a": borrow(2, in_share_preemption=True), "b": lend(2)})
    fill(model, "a", 4)
    model.advance(1)
    model.update_environment("gpus", capacity={A10G: 1})
    put(model, "a", "behind")
    model.advance(1000)
    assert model.capacity_in_use("q") == 4
    assert not any(job.preempted_count or job.preempting for job in model.jobs.values())
