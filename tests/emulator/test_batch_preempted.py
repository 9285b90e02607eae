"""Preemption in the Batch model: what becomes of those who are preempted. Each test is a fact, or a setting."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman_emulator.models.batch import BatchSettings, JobChange
from tests.emulator.batch_models import borrow, in_state, lend, one_share, put, quota


def test_a_job_that_is_being_preempted_keeps_its_state_and_says_why() -> None:
    told: list[JobChange] = []
    model = one_share(1)
    model.listener = told.append
    low = put(model, "a", "low")
    model.advance(10)
    high = put(model, "a", "high", priority=9)
    model.advance(20)
    assert (low.status, model.capacity_in_use("q"), high.status) == ("RUNNING", 1, "RUNNABLE")
    assert (low.status_reason or "").startswith("PREEMPTION_IN_PROGRESS: ")
    model.advance(30)
    ours = [(change.kind, change.at, change.previous) for change in told if change.job is low][-3:]
    assert ours == [("preempting", 10, "RUNNING"), ("state", 30, "RUNNING"), ("preempted", 30, "RUNNING")]
    assert (low.status, high.started_at) == ("RUNNABLE", 30)


def test_a_preempted_attempt_is_on_record_apart_and_costs_no_attempt() -> None:
    model = one_share(1)
    low = put(model, "a", "low", max_attempts=1)
    model.advance(10)
    name = low.current.name if low.current else ""
    put(model, "a", "high", priority=9, seconds=60)
    model.advance(10_000)
    (attempt,) = low.preempted_attempts
    assert (attempt.name, attempt.started_at, attempt.stopped_at) == (name, 0, 30)
    assert attempt.status_reason
    assert not attempt.status_reason.startswith("PREEMPTION_IN_PROGRESS")
    assert (low.status, low.preempted_count, len(low.attempts)) == ("SUCCEEDED", 1, 1)
    assert low.attempts[0].name != name


@pytest.mark.parametrize("stop", [0, 20, 120])
def test_an_attempt_takes_the_time_of_the_setting_to_stop(stop: float) -> None:
    model = one_share(1, BatchSettings(preemption_stop=stop))
    put(model, "a", "low")
    model.advance(10)
    high = put(model, "a", "high", priority=9)
    model.advance(1000)
    assert high.started_at == 10 + stop


@pytest.mark.parametrize("budget,status", [(0, "FAILED"), (1, "FAILED"), (2, "RUNNING"), (None, "RUNNING")])
def test_a_job_fails_when_its_preemptions_exceed_its_budget(budget: int | None, status: str) -> None:
    model = one_share(1)
    low = put(model, "a", "low", preemption_retries=budget)
    for turn in (1, 2):
        put(model, "a", f"high-{turn}", priority=9, seconds=50, at=100 * turn)
    model.advance(500)
    assert low.status == status
    assert low.preempted_count == min(2, 1 + (2 if budget is None else budget))
    assert len(low.preempted_attempts) == low.preempted_count


@pytest.mark.parametrize("kept,stops", [(1, [320]), (3, [320, 220, 120])])
def test_a_window_of_preempted_attempts_is_kept_newest_first(kept: int, stops: list[float]) -> None:
    model = one_share(1, BatchSettings(preempted_attempts_kept=kept))
    low = put(model, "a", "low")
    for turn in (1, 2, 3):
        put(model, "a", f"high-{turn}", priority=9, seconds=50, at=100 * turn)
    model.advance(500)
    assert low.preempted_count == 3
    assert [attempt.stopped_at for attempt in low.preempted_attempts] == stops


@pytest.mark.parametrize("checkpoint,work", [(None, 1000), (60, 1000 - 480), (1000, 1000)])
def test_a_job_resumes_from_its_last_checkpoint_or_begins_anew(checkpoint: float | None, work: float) -> None:
    model = one_share(1)
    low = put(model, "a", "low", seconds=1000, checkpoint_seconds=checkpoint)
    model.advance(500)
    high = put(model, "a", "high", priority=9, seconds=100)
    model.advance(10_000)
    assert high.stopped_at == 620
    assert low.stopped_at == 620 + work


def test_a_preempted_job_waits_at_the_place_of_its_creation() -> None:
    model = one_share(1)
    jobs = [put(model, "a", name) for name in ("first", "second")]
    model.advance(10)
    put(model, "a", "high", priority=9, seconds=10)
    model.advance(100)
    assert in_state("RUNNING", *jobs) == ["first"]


@pytest.mark.parametrize("setting,status,count", [("stops", "RUNNABLE", 1), ("ends", "SUCCEEDED", 0)])
def test_a_run_that_would_end_while_it_is_stopped_is_preempted_or_ends_by_setting(
    setting: Any, status: str, count: int
) -> None:
    model = one_share(1, BatchSettings(stopping_run=setting))
    low = put(model, "a", "low", seconds=15)
    model.advance(10)
    high = put(model, "a", "high", priority=9)
    model.advance(30)
    assert (low.status, low.preempted_count) == (status, count)
    assert high.started_at == (30 if count else 15)


def test_a_job_that_is_terminated_while_it_is_being_preempted_fails_and_gives_its_place_at_once() -> None:
    model = one_share(1)
    low = put(model, "a", "low")
    model.advance(10)
    high = put(model, "a", "high", priority=9)
    model.advance(15)
    model.terminate(low.job_id, "not wanted")
    model.advance(16)
    assert (low.status, low.preempted_count, high.started_at) == ("FAILED", 0, 15)


def test_a_job_that_no_longer_waits_leaves_its_room_to_others() -> None:
    model = one_share(1)
    jobs = [put(model, "a", "low"), put(model, "a", "next", priority=1, at=11)]
    model.advance(10)
    high = put(model, "a", "high", priority=9)
    model.advance(15)
    model.terminate(high.job_id, "not wanted")
    model.advance(40)
    assert (jobs[0].status, jobs[1].started_at) == ("RUNNABLE", 30)


def test_the_room_of_victims_goes_to_the_job_that_they_were_evicted_for() -> None:
    model = quota(
        4, {"a": borrow(1, in_share_preemption=True), "b": borrow(1), "c": lend(2)}, BatchSettings(preemption_stop=60)
    )
    for n in range(3):
        put(model, "a", f"a{n}")
    put(model, "b", "b0")
    model.advance(1)
    assert model.capacity_in_use("q") == 4
    old = put(model, "b", "older")
    model.advance(2)
    high = put(model, "a", "high", 2, priority=9)
    model.advance(62)
    assert (high.status, old.status) == ("RUNNING", "RUNNABLE")
