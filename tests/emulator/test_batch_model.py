"""The Batch model: order, capacity, states. Each test is one fact of the documentation, or one setting at its ends."""

from __future__ import annotations

import time
from typing import Any

import pytest

from pointsman_emulator.models.batch import (
    BatchModel,
    BatchRefusedError,
    BatchSettings,
    FairShare,
    JobChange,
)
from tests.emulator.batch_models import fair, fifo, started


def test_an_hour_takes_a_moment() -> None:
    model = fifo()
    job = model.submit("q", "a", 1, 3600)
    before = time.perf_counter()
    model.advance(3599)
    assert job.status == "RUNNING"
    model.advance(3600)
    assert (job.status, job.stopped_at) == ("SUCCEEDED", 3600)
    assert time.perf_counter() - before < 1


def test_a_job_takes_every_state_in_order() -> None:
    seen: list[JobChange] = []
    model = fifo(
        settings=BatchSettings(submitted_dwell=1, scheduled_dwell=20, starting_dwell=lambda job: 10.0 * job.instances)
    )
    model.listener = seen.append
    job = model.submit("q", "a", 2, 100)
    model.advance(1000)
    assert job.history == [
        (0, "SUBMITTED"),
        (1, "RUNNABLE"),
        (21 - 20, "SCHEDULED"),
        (21, "STARTING"),
        (41, "RUNNING"),
        (141, "SUCCEEDED"),
    ]
    assert [change.previous for change in seen] == ["SUBMITTED", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING"]


def test_scheduled_starting_and_running_jobs_hold_capacity() -> None:
    model = fifo(capacity=2, settings=BatchSettings(scheduled_dwell=10, starting_dwell=10))
    first, second = model.submit("q", "a", 2, 10), model.submit("q", "b", 1, 10)
    for at in (0, 10, 20):
        model.advance(at)
        assert model.capacity_in_use("q") == 2
        assert second.status == "RUNNABLE"
    model.advance(30)
    assert first.status == "SUCCEEDED"
    assert model.capacity_in_use("q") == 1


def test_a_head_that_does_not_fit_holds_back_what_would_fit() -> None:
    model = fifo(capacity=4)
    jobs = [model.submit("q", "a", 3, 100), model.submit("q", "big", 4, 100), model.submit("q", "small", 1, 10)]
    model.advance(99)
    assert started(*jobs) == ["a"]


def test_with_head_of_line_skip_what_fits_goes_first() -> None:
    model = fifo(capacity=4, settings=BatchSettings(head_of_line="skip"))
    jobs = [model.submit("q", "a", 3, 100), model.submit("q", "big", 4, 100), model.submit("q", "small", 1, 10)]
    model.advance(99)
    assert started(*jobs) == ["a", "small"]


def test_without_a_policy_priority_has_no_effect() -> None:
    model = fifo(capacity=1)
    jobs = [model.submit("q", name, 1, 10, priority=priority) for name, priority in (("a", 0), ("b", 1), ("c", 9))]
    model.advance(0)
    model.set_priority(jobs[2].job_id, 9999)
    model.advance(100)
    assert started(*jobs) == ["a", "b", "c"]


def test_higher_priority_goes_first_within_a_share() -> None:
    model = fair(capacity=1)
    jobs = [
        model.submit("q", name, 1, 10, priority=priority, share="all")
        for name, priority in (("a", 0), ("b", 1), ("c", 9))
    ]
    model.advance(100)
    assert started(*jobs) == ["c", "b", "a"]


def test_raising_a_small_job_over_a_stuck_head_lets_it_start_at_once() -> None:
    model = fair(capacity=4)
    model.submit("q", "a", 3, 100, share="all")
    model.submit("q", "big", 4, 100, share="all")
    small = model.submit("q", "small", 1, 10, share="all")
    model.advance(5)
    model.set_priority(small.job_id, 4999)
    model.advance(5)
    assert small.started_at == 5


def test_priority_never_compares_across_shares() -> None:
    model = fair(capacity=1)
    jobs = [
        model.submit("q", "a1", 1, 10, priority=9, share="a"),
        model.submit("q", "a2", 1, 10, priority=9, share="a"),
        model.submit("q", "b1", 1, 10, priority=0, share="b"),
    ]
    model.advance(100)
    assert started(*jobs) == ["a1", "b1", "a2"]


def test_a_lower_weight_earns_more() -> None:
    model = fair(capacity=1, weights={"light": 0.125, "heavy": 1.0}, decay_seconds=604800)
    for n in range(100):
        model.submit("q", f"l{n}", 1, 60, share="light")
        model.submit("q", f"h{n}", 1, 60, share="heavy")
    model.advance(90 * 60)
    ended = [job.share for job in model.jobs.values() if job.finished]
    assert ended.count("light") == pytest.approx(8 * ended.count("heavy"), rel=0.2)


def test_shares_under_one_prefix_split_its_weight() -> None:
    policy = FairShare({"team*": 1.0, "solo": 0.5})
    assert policy.weight_of("teamA", members=2) == 2.0
    assert policy.weight_of("solo") == 0.5
    assert policy.weight_of("typo") == 1.0


def test_a_reservation_leaves_instances_idle_for_shares_that_are_absent() -> None:
    model = fair(capacity=8, compute_reservation=50)
    for n in range(8):
        model.submit("q", f"a{n}", 1, 1000, share="a")
    model.advance(1)
    assert model.capacity_in_use("q") == 4
    for n in range(8):
        model.submit("q", f"b{n}", 1, 1000, share="b")
    model.advance(2)
    assert model.capacity_in_use("q") == 6


@pytest.mark.parametrize("tie_break,order", [("created", ["a", "b", "c"]), ("newest", ["c", "b", "a"])])
def test_equal_priorities_go_by_the_tie_break(tie_break: Any, order: list[str]) -> None:
    model = fair(capacity=1, settings=BatchSettings(tie_break=tie_break))
    model.submit("q", "running", 1, 10, share="all")
    model.advance(0)
    jobs = [model.submit("q", name, 1, 10, share="all") for name in "abc"]
    model.advance(100)
    assert started(*jobs) == order


def test_a_random_tie_break_is_the_same_for_the_same_seed() -> None:
    def order(seed: int) -> list[str]:
        model = BatchModel(BatchSettings(tie_break="random"), seed)
        model.add_environment("gpus", 1)
        model.add_queue("q", "gpus", FairShare())
        jobs = [model.submit("q", f"{n}", 1, 10, share="all") for n in range(20)]
        model.advance(1000)
        return started(*jobs)

    assert order(1) == order(1)
    assert order(1) != order(2)


@pytest.mark.parametrize("absent", [0, 5000])
def test_an_absent_priority_is_a_setting(absent: int) -> None:
    model = fair(capacity=1, settings=BatchSettings(priority_when_absent=absent))
    model.submit("q", "running", 1, 10, share="all")
    model.advance(0)
    jobs = [model.submit("q", "said", 1, 10, 100, "all"), model.submit("q", "unsaid", 1, 10, share="all")]
    model.advance(100)
    assert started(*jobs) == (["unsaid", "said"] if absent else ["said", "unsaid"])


def test_a_lower_cap_stops_no_job() -> None:
    model = fifo(capacity=4)
    jobs = [model.submit("q", name, 2, 100) for name in "abc"]
    model.advance(10)
    model.update_environment("gpus", capacity=2)
    model.advance(99)
    assert model.capacity_in_use("q") == 4
    model.advance(100)
    assert [job.status for job in jobs] == ["SUCCEEDED", "SUCCEEDED", "RUNNING"]


def test_a_disabled_environment_starts_nothing_until_it_is_enabled() -> None:
    model = fifo()
    model.update_environment("gpus", enabled=False)
    job = model.submit("q", "a", 1, 10)
    model.advance(100)
    assert job.status == "RUNNABLE"
    model.update_environment("gpus", enabled=True)
    model.advance(100)
    assert job.status == "RUNNING"


def test_of_two_queues_on_one_environment_the_higher_is_looked_at_first() -> None:
    model = fifo(capacity=1)
    model.add_queue("above", "gpus", priority=9)
    running = model.submit("q", "running", 1, 10)
    model.advance(0)
    low, high = model.submit("q", "low", 1, 10), model.submit("above", "high", 1, 10)
    model.advance(100)
    assert started(running, low, high) == ["running", "high", "low"]


@pytest.mark.parametrize("setting", ["refuse", "accept"])
def test_a_priority_for_a_job_that_ended_is_refused_or_accepted_by_setting(setting: Any) -> None:
    model = fair(settings=BatchSettings(update_on_terminal=setting))
    job = model.submit("q", "a", 1, 10, share="all")
    model.advance(100)
    if setting == "refuse":
        with pytest.raises(BatchRefusedError, match="terminal state"):
            model.set_priority(job.job_id, 1)
    else:
        model.set_priority(job.job_id, 1)


@pytest.mark.parametrize("setting", ["refuse", "accept"])
def test_a_priority_in_a_queue_without_policy_is_refused_or_accepted_by_setting(setting: Any) -> None:
    model = fifo(settings=BatchSettings(update_on_fifo=setting))
    job = model.submit("q", "a", 1, 10)
    if setting == "refuse":
        with pytest.raises(BatchRefusedError, match="no scheduling policy"):
            model.set_priority(job.job_id, 1)
    else:
        model.set_priority(job.job_id, 1)


def test_a_share_is_required_in_a_fair_share_queue_and_refused_in_others() -> None:
    with pytest.raises(BatchRefusedError, match="must be specified"):
        fair().submit("q", "a", 1, 10)
    with pytest.raises(BatchRefusedError, match="cannot be specified"):
        fifo().submit("q", "a", 1, 10, share="all")


def test_a_snapshot_shows_the_first_hundred_in_dispatch_order() -> None:
    model = fair(capacity=1)
    model.submit("q", "running", 1, 1000, share="all")
    model.advance(0)
    for n in range(150):
        model.submit("q", f"{n}", 1, 10, priority=n % 10, share="all")
    model.advance(5)
    snapshot = model.snapshot("q")
    places = [(job.priority, job.order) for job, _ in snapshot.front]
    assert len(places) == 100
    assert places == sorted(places, key=lambda place: (-place[0], place[1]))
    assert (snapshot.in_use, snapshot.shares, snapshot.updated_at) == (1, (("all", 1),), 5)


def test_a_snapshot_tells_since_when_a_job_has_its_place() -> None:
    model = fair(capacity=1)
    model.submit("q", "running", 1, 1000, share="all")
    model.advance(0)
    first, second = (model.submit("q", name, 1, 10, share="all") for name in "ab")
    model.advance(10)
    assert {place.job: place.since for place in model.snapshot("q").front} == {first: 0, second: 0}
    model.set_priority(second.job_id, 9)
    model.advance(20)
    assert {place.job: place.since for place in model.snapshot("q").front} == {second: 10, first: 10}


def test_a_stale_snapshot_shows_the_queue_of_the_last_refresh() -> None:
    model = fifo(capacity=1, settings=BatchSettings(snapshot_lag=20))
    for name in "abc":
        model.submit("q", name, 1, 1000)
    model.advance(19)
    assert model.snapshot("q").front == ()
    model.advance(25)
    snapshot = model.snapshot("q")
    assert ([place.job.name for place in snapshot.front], snapshot.in_use, snapshot.updated_at) == (["b", "c"], 1, 20)


def test_a_stale_snapshot_shows_the_end_of_the_last_job() -> None:
    model = fifo(capacity=1, settings=BatchSettings(snapshot_lag=20))
    model.submit("q", "a", 1, 50)
    model.advance(59)
    assert model.snapshot("q").in_use == 1
    model.advance(60)
    assert model.snapshot("q").in_use == 0


def test_a_stale_listing_shows_the_states_of_a_while_ago() -> None:
    model = fifo(capacity=1, settings=BatchSettings(list_lag=30))
    job = model.submit("q", "a", 1, 1000)
    model.advance(29)
    assert model.jobs_in("q", ["RUNNING"]) == []
    model.advance(30)
    assert model.jobs_in("q", ["RUNNING"]) == [job]
    model.advance(1029)
    assert job.status == "SUCCEEDED"
    assert (model.jobs_in("q", ["RUNNING"]), model.jobs_in("q", ["SUCCEEDED"])) == ([job], [])
    model.advance(1030)
    assert (model.jobs_in("q", ["RUNNING"]), model.jobs_in("q", ["SUCCEEDED"])) == ([], [job])


def test_use_decays_to_nothing_by_the_end_of_the_window() -> None:
    from pointsman_emulator.models.batch_usage import UsageMeter

    meter = UsageMeter(600, start=1e9)
    meter.change(1e9, 2)
    meter.change(1e9 + 10, -2)
    assert meter.usage(1e9 + 10) == pytest.approx(2 * 10 * (1 - 5 / 600))
    assert meter.usage(1e9 + 310) == pytest.approx(2 * 10 * (1 - 305 / 600))
    assert meter.usage(1e9 + 611) == 0


def test_the_order_of_many_moves_is_the_order_of_a_sort() -> None:
    model = fair(capacity=1)
    model.submit("q", "running", 1, 1e6, share="all")
    model.advance(0)
    jobs = [model.submit("q", f"{n}", 1, 10, share="all") for n in range(300)]
    for turn in range(2000):
        model.set_priority(jobs[turn * 7919 % 300].job_id, turn * 31 % 97)
    expected = sorted(jobs, key=lambda job: (-job.priority, job.order))[:100]
    assert [place.job for place in model.snapshot("q").front] == expected


@pytest.mark.parametrize("setting,order", [("window", ["b1", "a2"]), ("current", ["a2", "b1"])])
def test_no_decay_is_a_window_of_ten_minutes_or_current_use_only(setting: Any, order: list[str]) -> None:
    model = fair(capacity=1, settings=BatchSettings(zero_decay=setting))
    model.submit("q", "a1", 1, 100, share="a")
    model.advance(150)
    jobs = [model.submit("q", name, 1, 10, share=name[0]) for name in ("a2", "b1")]
    model.advance(1000)
    assert started(*jobs) == order


@pytest.mark.parametrize("delay", [0, 30])
def test_batch_looks_at_the_head_a_while_after_a_change(delay: float) -> None:
    model = fifo(settings=BatchSettings(dispatch_delay=delay))
    job = model.submit("q", "a", 1, 10)
    model.advance(1000)
    assert job.started_at == delay


def test_a_later_submission_is_there_from_its_time_on() -> None:
    model = fifo()
    job = model.submit("q", "a", 1, 10, at=50)
    model.advance(49)
    assert model.jobs == {}
    assert model.next_event_at == 50
    model.advance(60)
    assert (job.created_at, job.stopped_at) == (50, 60)
