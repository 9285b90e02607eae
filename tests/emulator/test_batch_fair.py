"""Fair share in the Batch model: use, weights, active shares, reservation. Each test is a fact, or a setting."""

from __future__ import annotations

from math import exp
from typing import Any

import pytest

from pointsman_emulator.models.batch import BatchModel, BatchRefusedError, BatchSettings, FairShare, ServiceJob
from pointsman_emulator.models.batch_usage import UsageMeter
from tests.emulator.batch_models import fair, started


def submit(model: BatchModel, share: str, name: str, seconds: float = 10, **more: Any) -> ServiceJob:
    return model.submit("q", name, more.pop("instances", 1), seconds, share=share, **more)


@pytest.mark.parametrize(
    "curve,now,later",
    [
        ("linear", 20 * (1 - 5 / 600), 20 * (1 - 305 / 600)),
        ("flat", 20, 20),
        ("exponential", 1200 * (1 - exp(-10 / 600)), 1200 * (1 - exp(-10 / 600)) * exp(-300 / 600)),
    ],
)
def test_use_fades_along_the_curve_of_the_setting(curve: Any, now: float, later: float) -> None:
    meter = UsageMeter(600, 1e9, curve)
    meter.change(1e9, 2)
    meter.change(1e9 + 10, -2)
    assert meter.usage(1e9 + 10) == pytest.approx(now)
    assert meter.usage(1e9 + 310) == pytest.approx(later)


def test_flat_use_is_gone_when_the_window_has_passed() -> None:
    meter = UsageMeter(600, 0, "flat")
    meter.change(0, 2)
    meter.change(10, -2)
    assert meter.usage(605) == pytest.approx(10)
    assert meter.usage(611) == 0


def test_use_goes_on_while_a_job_runs() -> None:
    meter = UsageMeter(600, 0, "flat")
    meter.change(0, 3)
    assert [meter.usage(at) for at in (10, 20, 600, 5000)] == pytest.approx([30, 60, 1800, 1800])


@pytest.mark.parametrize("curve,names", [("linear", ["long", "recent"]), ("flat", ["recent", "long"])])
def test_recent_use_outweighs_older_use_as_the_curve_has_it(curve: Any, names: list[str]) -> None:
    model = fair(capacity=1, settings=BatchSettings(decay_curve=curve), decay_seconds=6000)
    submit(model, "long-ago", "x", 1100)
    model.advance(1100)
    submit(model, "gap", "y", 2900)
    model.advance(4000)
    submit(model, "just-now", "z", 1000)
    model.advance(4999)
    jobs = [submit(model, "long-ago", "long"), submit(model, "just-now", "recent")]
    model.advance(6000)
    assert started(*jobs) == names


@pytest.mark.parametrize("minutes,order", [(0, ["a", "b"]), (60, ["b", "a"])])
def test_order_minutes_lengthen_the_window_by_setting(minutes: float, order: list[str]) -> None:
    model = fair(capacity=1, settings=BatchSettings(order_minutes=minutes))
    submit(model, "a", "used", 100)
    model.advance(1000)
    jobs = [submit(model, "a", "a"), submit(model, "b", "b")]
    model.advance(2000)
    assert started(*jobs) == order


@pytest.mark.parametrize("weight,names", [(1.0, ["b", "a"]), (0.25, ["a", "b"])])
def test_the_share_of_the_lowest_use_times_weight_is_next(weight: float, names: list[str]) -> None:
    model = fair(capacity=1, weights={"a": weight, "b": 1.0})
    submit(model, "a", "a-used", 300)
    submit(model, "b", "b-used", 100, at=300)
    model.advance(399)
    jobs = [submit(model, "b", "b"), submit(model, "a", "a")]
    model.advance(1000)
    assert started(*jobs) == names


def test_of_two_shares_without_use_the_older_job_goes_first() -> None:
    model = fair(capacity=1)
    submit(model, "c", "now", 10)
    model.advance(1)
    jobs = [submit(model, "b", "older", at=2), submit(model, "a", "newer", at=3)]
    model.advance(100)
    assert started(*jobs) == ["older", "newer"]


def test_a_share_that_is_not_listed_has_the_full_weight_of_one() -> None:
    model = fair(capacity=1, weights={"research": 0.1}, decay_seconds=604800)
    for n in range(40):
        submit(model, "research", f"r{n}", 60)
        submit(model, "reserach", f"t{n}", 60)
    model.advance(22 * 60)
    ended = [job.share for job in model.jobs.values() if job.finished]
    assert ended.count("research") == pytest.approx(10 * ended.count("reserach"), rel=0.2)


def test_each_more_share_under_a_prefix_is_weaker_while_it_has_jobs() -> None:
    model = fair(capacity=1, weights={"team*": 1.0, "solo": 1.0}, decay_seconds=604800)
    for n in range(90):
        submit(model, "solo", f"s{n}", 60)
        submit(model, "teamA", f"a{n}", 60)
        submit(model, "teamB", f"b{n}", 60)
    model.advance(80 * 60)
    ended = [job.share for job in model.jobs.values() if job.finished]
    assert [ended.count(share) for share in ("solo", "teamA", "teamB")] == pytest.approx([40, 20, 20], abs=2)


def test_a_replaced_policy_is_in_effect_from_the_next_look_on() -> None:
    model = fair(capacity=1, weights={"a": 1.0, "b": 1.0}, decay_seconds=604800)
    for n in range(60):
        submit(model, "a", f"a{n}", 60)
        submit(model, "b", f"b{n}", 60)
    model.advance(20 * 60)
    model.update_queue("q", policy=FairShare({"a": 0.125, "b": 1.0}, 604800))
    model.advance(50 * 60)
    ended = [job.share for job in model.jobs.values() if job.finished]
    assert ended.count("a") > 4 * ended.count("b") / 2


@pytest.mark.parametrize("shares,held", [(1, 4), (2, 2), (3, 1)])
def test_a_reservation_of_half_holds_a_half_a_quarter_an_eighth(shares: int, held: int) -> None:
    model = fair(capacity=8, compute_reservation=50)
    for n in range(shares):
        for job in range(8):
            submit(model, f"s{n}", f"{n}-{job}", 1000)
    model.advance(1)
    assert model.capacity_in_use("q") == 8 - held


@pytest.mark.parametrize("after,used", [(599, 6), (601, 4)])
def test_a_share_is_active_until_the_decay_period_has_passed(after: float, used: int) -> None:
    model = fair(capacity=8, compute_reservation=50)
    submit(model, "gone", "gone", 10)
    model.advance(10)
    for job in range(8):
        submit(model, "here", f"{job}", 1000, at=10 + after)
    model.advance(10 + after)
    assert model.capacity_in_use("q") == used


def test_a_submission_that_adds_one_more_than_500_active_shares_fails() -> None:
    model = fair(capacity=1)
    for n in range(500):
        submit(model, f"s{n}", f"{n}", 1000)
    with pytest.raises(BatchRefusedError, match="500"):
        submit(model, "one-more", "late")
    submit(model, "s7", "known")


def test_shares_of_two_queues_are_never_pooled() -> None:
    model = fair(capacity=2)
    model.add_queue("other", "gpus", FairShare())
    submit(model, "a", "used", 5000)
    model.submit("other", "theirs", 1, 500, share="b")
    model.advance(400)
    jobs = [model.submit("other", name, 1, 10, share=name) for name in ("b", "a")]
    model.advance(2000)
    assert started(*jobs) == ["a", "b"]


def test_the_active_shares_of_a_snapshot_are_those_that_use_capacity() -> None:
    model = fair(capacity=3)
    for share, instances in (("a", 1), ("b", 2), ("c", 1)):
        submit(model, share, share, 100, instances=instances)
    model.advance(1)
    seen = model.snapshot("q")
    assert (seen.shares, dict(seen.usage)) == ((("b", 2), ("a", 1)), {"NUM_INSTANCES": 3})
    assert dict(seen.share_usage) == {"b": {"NUM_INSTANCES": 2}, "a": {"NUM_INSTANCES": 1}}
    assert dict(seen.front_of_shares) == {}


@pytest.mark.parametrize("setting,names", [("drain", ["h1", "h2", "l1"]), ("one", ["h1", "l1", "h2"])])
def test_queues_of_one_environment_are_visited_in_cycles(setting: Any, names: list[str]) -> None:
    model = BatchModel(BatchSettings(queue_cycle=setting), seed=7)
    model.add_environment("gpus", 3)
    model.add_queue("low", "gpus", priority=1)
    model.add_queue("high", "gpus", priority=9)
    order: list[str] = []
    model.listener = lambda change: order.append(change.job.name) if change.job.status == "SCHEDULED" else None
    for queue, name in (("low", "l1"), ("low", "l2"), ("high", "h1"), ("high", "h2")):
        model.submit(queue, name, 1, 100)
    model.advance(1)
    assert order == names


def test_a_queue_that_lacks_resources_is_passed_over_so_that_lower_ones_refill_the_environment() -> None:
    model = BatchModel(seed=7)
    model.add_environment("gpus", 4)
    model.add_queue("high", "gpus", priority=9)
    model.add_queue("low", "gpus", priority=1)
    low = [model.submit("low", f"l{n}", 1, 100 + 10 * n) for n in range(40)]
    model.advance(1)
    wide = model.submit("high", "wide", 4, 10)
    model.advance(1000)
    assert wide.status == "RUNNABLE"
    assert sum(job.finished for job in low) > 12


@pytest.mark.parametrize("setting,names", [("strict", []), ("share", ["other"]), ("skip", ["small", "other"])])
def test_a_head_that_does_not_fit_holds_back_its_queue_or_its_share_or_nobody(setting: Any, names: list[str]) -> None:
    model = fair(capacity=4, settings=BatchSettings(head_of_line=setting))
    submit(model, "b", "running", 100, instances=2)
    model.advance(1)
    jobs = [submit(model, "a", "big", instances=3), submit(model, "a", "small"), submit(model, "b", "other")]
    model.advance(99)
    assert started(*jobs) == names
