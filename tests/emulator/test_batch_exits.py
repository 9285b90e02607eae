"""How attempts end in the Batch model: retries, timeouts, lack of capacity, state time limits, bulk termination."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman_emulator.models.batch import BatchModel, BatchRefusedError, BatchSettings, JobChange, RetryRule
from tests.emulator.batch_models import fair, fifo

NO_CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
RETRY_INTERNAL = RetryRule("RETRY", "Received status from SageMaker: InternalServerError*")
EXIT_ALGORITHM = RetryRule("EXIT", "Received status from SageMaker: AlgorithmError*")
INTERNAL = "Received status from SageMaker: InternalServerError: try again"


def attempts(settings: BatchSettings, *rules: RetryRule, **more: Any) -> int:
    model = fifo(settings=settings)
    job = model.submit("q", "a", 1, 10, failing_attempts=9, max_attempts=3, retry_rules=rules, **more)
    model.advance(1000)
    assert job.status == "FAILED"
    return len(job.attempts)


@pytest.mark.parametrize(
    "rules,reason,count",
    [
        ([], None, 3),
        ([RETRY_INTERNAL, EXIT_ALGORITHM], None, 1),
        ([RETRY_INTERNAL, EXIT_ALGORITHM], INTERNAL, 3),
        ([RetryRule("Exit", "*AlgorithmError*")], None, 1),
        ([RetryRule("exit", "Received status from SageMaker:AlgorithmError*")], None, 3),
        ([RetryRule("EXIT", "Received status from SageMaker: AlgorithmError")], None, 3),
        ([RetryRule("EXIT", "Received [a-z]tatus*")], None, 3),
    ],
    ids=[
        "without rules each exit is tried again",
        "a rule may end a job at its first exit",
        "a rule may try again",
        "an action is written in any case, and a pattern may begin with a star",
        "a pattern without the space after the colon matches nothing",
        "a pattern without a star matches the whole reason only",
        "nothing but a star is special",
    ],
)
def test_rules_of_evaluate_on_exit(rules: list[RetryRule], reason: str | None, count: int) -> None:
    more = {} if reason is None else {"failure_reason": reason}
    assert attempts(BatchSettings(), *rules, **more) == count


@pytest.mark.parametrize("setting,count", [("retry", 3), ("exit", 1)])
def test_an_exit_that_no_rule_matches_is_tried_again_or_not_by_setting(setting: Any, count: int) -> None:
    assert attempts(BatchSettings(exit_no_match=setting), RETRY_INTERNAL) == count


@pytest.mark.parametrize("setting,count", [("first", 1), ("last", 3)])
def test_of_several_rules_that_match_the_first_or_the_last_counts_by_setting(setting: Any, count: int) -> None:
    assert attempts(BatchSettings(exit_rules=setting), EXIT_ALGORITHM, RetryRule("RETRY", "*")) == count


@pytest.mark.parametrize("setting,stopped_at", [("started", 75), ("scheduled", 60)])
def test_the_time_of_an_attempt_counts_from_its_start_or_its_dispatch_by_setting(
    setting: Any, stopped_at: float
) -> None:
    model = fifo(settings=BatchSettings(timeout_from=setting, scheduled_dwell=10, starting_dwell=5))
    job = model.submit("q", "a", 1, 100, attempt_seconds=60)
    model.advance(1000)
    assert (job.status, job.stopped_at) == ("FAILED", stopped_at)


@pytest.mark.parametrize("setting", ["started", "scheduled"])
def test_each_attempt_has_its_time_anew(setting: Any) -> None:
    model = fifo(settings=BatchSettings(timeout_from=setting))
    job = model.submit("q", "a", 1, 50, attempt_seconds=60, failing_attempts=1, max_attempts=2)
    model.advance(1000)
    assert (job.status, job.stopped_at) == ("SUCCEEDED", 100)


@pytest.mark.parametrize("setting,count", [("retry", 2), ("exit", 1)])
def test_an_attempt_out_of_time_is_tried_again_or_not_by_setting(setting: Any, count: int) -> None:
    model = fifo(settings=BatchSettings(timed_out=setting))
    job = model.submit("q", "a", 1, 100, attempt_seconds=60, max_attempts=2)
    model.advance(1000)
    assert (job.status, len(job.attempts)) == ("FAILED", count)


def short(until: float, **more: Any) -> tuple[BatchModel, list[JobChange]]:
    """A queue on an environment for which SageMaker has no capacity until then."""
    told: list[JobChange] = []
    model = fifo(1)
    settings = BatchSettings(bounce_rate=lambda _: float(model.now < until), **{"bounce_dwell": 100, **more})
    model = fifo(1, settings)
    model.listener = told.append
    return model, told


def test_a_job_without_capacity_waits_again_free_of_charge_until_there_is_some() -> None:
    model, _ = short(until=450)
    job = model.submit("q", "a", 1, 10, max_attempts=1)
    model.advance(150)
    assert (job.status, job.attempts) == ("SCHEDULED", [])
    model.advance(1000)
    assert (job.status, len(job.attempts), job.capacity_wait) == ("SUCCEEDED", 1, 500)


def test_while_it_waits_its_reason_is_the_lack_of_capacity() -> None:
    model, _ = short(until=250, bounce_pause=60)
    job = model.submit("q", "a", 1, 10)
    model.advance(120)
    assert (job.status, job.stuck) == ("RUNNABLE", NO_CAPACITY)
    assert (job.status_reason or "").startswith(f"{NO_CAPACITY} - ")
    assert list(model.queues["q"].stuck) == [job.job_id]
    model.advance(1000)
    assert (job.status, job.status_reason, model.queues["q"].stuck) == ("SUCCEEDED", None, {})


def test_only_the_latest_attempt_without_capacity_is_kept() -> None:
    model, _ = short(until=250)
    job = model.submit("q", "a", 1, 10)
    names = set()
    for at in (50, 150, 250):
        model.advance(at)
        names.add(job.current.name if job.current else "")
    assert len(names) == 3


@pytest.mark.parametrize("pause,starts", [(0, [0, 100, 200]), (60, [0, 160, 320])])
def test_a_bounced_job_is_tried_again_at_once_or_after_a_pause(pause: float, starts: list[float]) -> None:
    model, _ = short(until=250, bounce_pause=pause)
    job = model.submit("q", "a", 1, 10)
    model.advance(1000)
    assert [at for at, status in job.history if status == "SCHEDULED"][:3] == starts


def test_a_bounced_head_that_pauses_blocks_its_queue_and_that_is_told_once() -> None:
    model, told = short(until=450, bounce_pause=60)
    job, behind = model.submit("q", "a", 1, 10), model.submit("q", "behind", 1, 10)
    model.advance(450)
    assert behind.status == "RUNNABLE"
    assert [(change.job, change.at) for change in told if change.kind == "blocked"] == [(job, 100)]
    model.advance(1000)
    assert behind.status == "SUCCEEDED"


def test_a_time_limit_for_lack_of_capacity_counts_the_time_in_scheduled_alone() -> None:
    model, _ = short(until=1e9, bounce_pause=1000)
    model.update_queue("q", time_limits={NO_CAPACITY: 300})
    job = model.submit("q", "a", 1, 10)
    model.advance(1e5)
    assert (job.status, job.terminated, job.stopped_at) == ("FAILED", True, 100 + 1100 + 1100)
    assert job.status_reason == f"Terminated by JobStateTimeLimit action due to reason: {NO_CAPACITY}"


def test_a_chance_of_bouncing_may_depend_on_the_job() -> None:
    model = fifo(2, BatchSettings(bounce_rate=lambda job: float(job.name == "odd"), bounce_dwell=10))
    jobs = [model.submit("q", name, 1, 10) for name in ("odd", "even")]
    model.advance(100)
    assert [job.status for job in jobs] == ["SCHEDULED", "SUCCEEDED"]


def test_a_world_in_which_time_would_stand_still_is_refused() -> None:
    with pytest.raises(ValueError, match="bounce_pause"):
        BatchSettings(bounce_rate=1)
    BatchSettings(bounce_rate=1, scheduled_dwell=1)


def test_a_busy_environment_is_no_reason_to_be_stuck() -> None:
    told: list[JobChange] = []
    model = fifo(1)
    model.listener = told.append
    jobs = [model.submit("q", name, 1, 100) for name in "ab"]
    model.advance(50)
    assert (jobs[1].status_reason, jobs[1].stuck) == (None, None)
    assert {change.kind for change in told} == {"state"}


def test_a_raised_cap_frees_a_stuck_head_and_a_lowered_one_sticks_it_anew() -> None:
    told: list[JobChange] = []
    model = fifo(2)
    model.listener = told.append
    model.update_queue("q", time_limits={"MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE": 600})
    model.submit("q", "running", 2, 10_000)
    wide = model.submit("q", "wide", 3, 10)
    model.advance(500)
    assert wide.stuck
    model.update_environment("gpus", capacity=4)
    model.advance(550)
    assert [wide.status, wide.stuck, wide.status_reason] == ["RUNNABLE", None, None]
    model.update_environment("gpus", capacity=2)
    model.advance(1149)
    assert wide.status == "RUNNABLE"
    model.advance(1150)
    assert wide.status == "FAILED"


def test_bulk_termination_counts_unknown_jobs_as_done() -> None:
    model = fifo(1)
    jobs = [model.submit("q", name, 1, 100) for name in "abc"]
    model.advance(10)
    model.terminate_many([jobs[0].job_id, "nobody", jobs[1].job_id], "not wanted")
    model.advance(11)
    assert [job.status for job in jobs] == ["FAILED", "FAILED", "RUNNING"]


def test_a_disabled_queue_refuses_new_jobs() -> None:
    model = fifo(1)
    job = model.submit("q", "a", 1, 10)
    model.update_queue("q", enabled=False)
    with pytest.raises(BatchRefusedError, match="disabled"):
        model.submit("q", "late", 1, 10)
    model.advance(100)
    assert job.status == "SUCCEEDED"


def test_a_removed_queue_terminates_its_jobs() -> None:
    model = fair(capacity=1)
    jobs = [model.submit("q", name, 1, 100, share="all") for name in "ab"]
    model.advance(1)
    model.remove_queue("q")
    assert [(job.status, job.terminated) for job in jobs] == [("FAILED", True)] * 2
