"""The course of a service job in the model: ended, failed, retried, bounced, blocked."""

from __future__ import annotations

import pytest

from pointsman_emulator.models.batch import (
    BatchSettings,
    JobChange,
)
from tests.emulator.batch_models import fifo


@pytest.mark.parametrize("wait", [True, False])
def test_a_terminated_job_fails_and_gives_its_place_or_its_instances_back(wait: bool) -> None:
    model = fifo(capacity=1)
    first, second, third = (model.submit("q", name, 1, 100) for name in "abc")
    model.advance(10)
    model.terminate((second if wait else first).job_id, "not wanted")
    model.advance(10)
    ended = second if wait else first
    assert (ended.status, ended.status_reason, ended.terminated, ended.stopped_at) == ("FAILED", "not wanted", True, 10)
    model.advance(1000)
    assert third.status == "SUCCEEDED"


def test_terminating_a_job_that_ended_changes_nothing() -> None:
    model = fifo()
    job = model.submit("q", "a", 1, 10)
    model.advance(100)
    model.terminate(job.job_id, "late")
    assert (job.status, job.terminated) == ("SUCCEEDED", False)


def test_a_failed_attempt_waits_again_until_the_attempts_are_spent() -> None:
    model = fifo()
    job = model.submit("q", "a", 1, 10, failing_attempts=9, max_attempts=3)
    model.advance(100)
    assert (job.status, job.stopped_at, len(job.attempts)) == ("FAILED", 30, 3)
    assert [status for _, status in job.history].count("RUNNABLE") == 3
    assert len({attempt.name for attempt in job.attempts}) == 3


def test_an_attempt_that_outlives_its_timeout_fails() -> None:
    model = fifo()
    job = model.submit("q", "a", 1, 100, attempt_seconds=60)
    model.advance(1000)
    assert (job.status, job.stopped_at) == ("FAILED", 60)


def test_lack_of_capacity_sends_a_job_back_and_costs_no_attempt() -> None:
    model = fifo(settings=BatchSettings(bounce_rate=0.9, scheduled_dwell=60))
    job = model.submit("q", "a", 1, 10)
    model.advance(1e6)
    assert (job.status, len(job.attempts)) == ("SUCCEEDED", 1)
    assert [status for _, status in job.history].count("SCHEDULED") > 1


def test_only_the_head_is_found_too_large_and_the_finding_is_told_once() -> None:
    told: list[JobChange] = []
    model = fifo(capacity=2)
    model.listener = told.append
    jobs = [model.submit("q", "a", 2, 10), model.submit("q", "huge", 3, 10), model.submit("q", "vast", 9, 10)]
    model.advance(1000)
    assert [(change.kind, change.job.name) for change in told if change.kind == "blocked"] == [("blocked", "huge")]
    assert (jobs[1].status_reason or "").startswith("MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - ")
    assert jobs[2].status_reason is None


def test_a_state_time_limit_terminates_a_job_that_can_never_fit() -> None:
    model = fifo(capacity=2)
    reason = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
    model.update_queue("q", time_limits={reason: 600})
    huge, after = model.submit("q", "huge", 3, 10), model.submit("q", "after", 1, 10)
    model.advance(599)
    assert huge.status == "RUNNABLE"
    model.advance(600)
    assert huge.status_reason == f"Terminated by JobStateTimeLimit action due to reason: {reason}"
    assert after.started_at == 600
