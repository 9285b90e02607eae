"""`pointsman queue pin | demote | unpin`, on a queue in memory."""

import json
from pathlib import Path

import pytest

from pointsman.queues.jobs import Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.pins import Pin, PinKind
from tests.unit.cli.harness import POLICY, Command

NOW, QUEUE = 1_800_000_000.0, "search-training"
ADA = "arn:aws:iam::123456789012:user/ada"


def test_a_pin_names_who_and_until_when_and_the_queue_is_due(ruled: Command) -> None:
    ruled.deployment.clock.advance(100)
    result = ruled.run("queue", "pin", QUEUE, "sweep-2", "--for", "90m")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        f"{QUEUE}: sweep-2 (s-2) goes first for 1.5 h, until 2027-01-15 09:31:40 UTC; the next pass is due now\n"
    )
    assert ruled.deployment.control.pins(QUEUE) == (Pin("s-2", NOW + 5500, PinKind.FIRST, ADA, NOW + 100),)
    assert ruled.deployment.jobs.queue(QUEUE).next_wake_at == NOW + 100


def test_a_pinned_job_is_first_and_show_and_explain_say_who_said_so(ruled: Command) -> None:
    ruled.run("queue", "pin", QUEUE, "s-2")
    shown = json.loads(ruled.run("queue", "show", QUEUE, "--json").stdout)
    told = {"job_id": "s-2", "goes": "first", "by": ADA, "since": "2027-01-15T08:00:00Z"}
    assert shown["pins"] == [told | {"until": "2027-01-15T10:00:00Z", "name": "sweep-2"}]
    assert shown["head"][0]["name"] == "sweep-2"
    explained = json.loads(ruled.run("queue", "explain", QUEUE, "s-2", "--json").stdout)
    assert (explained["position"], explained["pin"]["by"]) == (1, ADA)
    assert f"was put first by {ADA}" in explained["holds"]
    said = f"goes first, says {ADA}, until 2027-01-15 10:00:00 UTC"
    assert f"pinned     sweep-2 {said}" in ruled.run("queue", "show", QUEUE).stdout
    assert f"pinned     {said}" in ruled.run("queue", "explain", QUEUE, "s-2").stdout


def test_a_demoted_job_is_last_and_the_last_word_counts(ruled: Command) -> None:
    ruled.run("queue", "pin", QUEUE, "b-1")
    assert ruled.run("queue", "demote", QUEUE, "b-1", "--for", "1h").exit_code == 0
    explained = json.loads(ruled.run("queue", "explain", QUEUE, "b-1", "--json").stdout)
    assert (explained["position"], explained["holds"]) == (5, f"{ADA} put it behind all others.")


def test_a_pin_is_taken_away_once(ruled: Command) -> None:
    ruled.run("queue", "pin", QUEUE, "s-2")
    result = ruled.run("queue", "unpin", QUEUE, "sweep-2")
    assert (result.exit_code, result.stdout) == (
        0, f"{QUEUE}: the pin of sweep-2 by {ADA} is taken away; the next pass is due now\n",
    )  # fmt: skip
    assert ruled.deployment.control.pins(QUEUE) == ()
    again = ruled.run("queue", "unpin", QUEUE, "sweep-2")
    assert (again.exit_code, again.stdout) == (1, f"{QUEUE}: sweep-2 has no pin\n")


def test_the_pin_of_a_job_that_runs_by_now_can_be_taken_away(ruled: Command) -> None:
    ruled.deployment.control.put_pin(QUEUE, Pin("r-1", NOW + 60, PinKind.FIRST, "ben", NOW))
    unpinned = json.loads(ruled.run("queue", "unpin", QUEUE, "sweep-running", "--json").stdout)
    assert (unpinned["job_id"], unpinned["removed"]["by"]) == ("r-1", "ben")


@pytest.mark.parametrize(
    "job,told",
    [
        ("sweep-running", "sweep-running: only a job that waits here can be pinned. It is RUNNING since"),
        ("old", "old: only a job that waits here can be pinned. It has ended: SUCCEEDED."),
        ("nobody", "nobody: only a job that waits here can be pinned. Neither Pointsman nor Batch knows a job nobody"),
    ],
    ids=["a job that runs", "a job that has ended", "a job that nobody knows"],
)
def test_only_a_job_that_waits_can_be_pinned(ruled: Command, job: str, told: str) -> None:
    batch = ruled.deployment.batch
    batch.add_job("o-1", QUEUE, Status.SUCCEEDED, name="old", started=NOW - 900, created=NOW - 1000)
    result = ruled.run("queue", "pin", QUEUE, job)
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
    assert ruled.deployment.control.pins(QUEUE) == ()


def test_in_a_queue_without_order_a_pin_is_refused_with_what_to_do(ruled: Command, policy_file: Path) -> None:
    ruled.deployment.batch.add_queue("plain", capacity=8, kind=QueueKind.FIFO)
    policy_file.write_text(POLICY.replace(QUEUE, "plain"))
    assert ruled.run("policy", "apply", str(policy_file), "--measure-only").exit_code == 0
    ruled.deployment.batch.add_job("f-1", "plain", name="some")
    result = ruled.run("queue", "pin", "plain", "f-1")
    assert result.exit_code == 2
    assert "the pin would change nothing: plain is a FIFO queue: nothing in it can be moved" in result.stderr


@pytest.mark.parametrize("stopped", [False, True], ids=["in observe", "while everything is stopped"])
def test_where_nothing_moves_a_pin_is_kept_and_that_is_said(ruled: Command, policy_file: Path, stopped: bool) -> None:
    policy_file.write_text(POLICY.replace("mode: act", "mode: observe"))
    ruled.run("policy", "apply", str(policy_file))
    if stopped:
        ruled.deployment.control.stop()
    result = ruled.run("queue", "pin", QUEUE, "s-2")
    assert result.exit_code == 0
    why = "everything is stopped" if stopped else "the policy's mode is observe"
    assert f"warning: {why}: the pin is kept, and nothing moves" in result.stderr
    assert len(ruled.deployment.control.pins(QUEUE)) == 1


def test_a_pin_for_no_time_or_for_ever_is_refused(ruled: Command) -> None:
    for long in ("0m", "31d"):
        result = ruled.run("queue", "pin", QUEUE, "s-2", "--for", long)
        assert result.exit_code == 2
