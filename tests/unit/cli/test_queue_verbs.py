"""`pointsman queue show | plan | explain | history`, on a queue in memory."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pointsman.ports import RecordedMove
from pointsman.queues.jobs import Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.reasons import Move, Reason
from tests.unit.cli.harness import Command

NOW = 1_800_000_000.0
VERBS = {
    "show": ("queue", "show", "search-training"),
    "plan": ("queue", "plan", "search-training"),
    "explain": ("queue", "explain", "search-training", "prod-ranker"),
}


def asked(command: Command, *words: str, code: int = 0) -> dict[str, Any]:
    result = command.run(*words, "--json")
    assert (result.exit_code, result.stderr) == (code, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def named(jobs: list[Mapping[str, Any]]) -> list[str]:
    return [str(job["name"]) for job in jobs]


def test_show_has_depth_use_and_waits_by_class(ruled: Command) -> None:
    shown = asked(ruled, "queue", "show", "search-training")
    assert {k: shown[k] for k in ("queue", "at", "kind", "mode", "stopped", "enabled")} == {
        "queue": "search-training", "at": "2027-01-15T08:00:00Z", "kind": "fair share", "mode": "act",
        "stopped": False, "enabled": True,
    }  # fmt: skip
    use = {"capacity": 8, "in_use": 7, "working": 4, "free": 1, "waiting": 5}
    assert {k: shown[k] for k in use} == use
    assert shown["classes"] == [
        {"class": "production", "waiting": 1, "mean_wait_seconds": 600.0, "longest_wait_seconds": 600.0},
        {"class": "research", "waiting": 0, "mean_wait_seconds": None, "longest_wait_seconds": None},
        {"class": "sweep", "waiting": 4, "mean_wait_seconds": 5199.2, "longest_wait_seconds": 10000.0},
    ]
    assert named(shown["head"]) == ["prod-ranker", "big", "sweep-0", "sweep-1", "sweep-2"]
    assert (shown["held"]["name"], shown["held"]["size"]) == ("big", 6)
    assert (shown["effects"], shown["problems"], shown["last_pass"]) == ([], [], None)
    assert (shown["next_wake"], shown["last_pass_problem"]) == ("2027-01-15T08:00:00Z", None)


def test_show_has_the_effect_of_an_alarm_with_its_end(ruled: Command) -> None:
    ruled.deployment.alarms.set_state("ranker-drift-search", "ALARM", NOW - 600)
    assert asked(ruled, "queue", "show", "search-training")["effects"] == [
        {
            "alarm": "ranker-drift-search",
            "boost": "production",
            "by_seconds": 43200.0,
            "since": "2027-01-15T07:50:00Z",
            "ends": "2027-01-15T09:50:00Z",
        }
    ]
    text = ruled.run("queue", "show", "search-training").stdout
    assert "ranker-drift-search gives production 12.0 h more head start until 2027-01-15 09:50:00 UTC" in text


def test_plan_has_every_move_with_its_reason(ruled: Command) -> None:
    plan = asked(ruled, "queue", "plan", "search-training")
    moves = {move["name"]: move for move in plan["moves"]}
    assert set(moves) >= {"prod-ranker", "big"}
    assert moves["big"]["reason"] == "reserved"
    assert all(move["sentence"] and move["before"] != move["after"] for move in plan["moves"])
    assert plan["held"]["name"] == "big"


def test_show_has_the_windows_that_are_open(ruled: Command, policy_file: Path) -> None:
    """It is 08:00 in UTC."""
    window = "windows:\n  - {when: 'daily 07:00-09:30 UTC', set: {sweep: {head_start: 1h}}}\n"
    policy_file.write_text(policy_file.read_text() + window)
    assert ruled.run("policy", "apply", str(policy_file)).exit_code == 0
    (shown,) = asked(ruled, "queue", "show", "search-training")["windows"]
    assert shown == {"when": "daily 07:00-09:30 UTC", "ends": "2027-01-15T09:30:00Z"}
    line = "window daily 07:00-09:30 UTC, open until 2027-01-15 09:30:00 UTC"
    assert line in " ".join(ruled.run("queue", "show", "search-training").stdout.split())


def test_plan_tells_what_people_should_know_of_single_jobs(ruled: Command) -> None:
    batch, now = ruled.deployment.batch, ruled.deployment.clock.now()
    batch.add_job("never", "search-training", name="giant", size=9, created=now - 60, tags={"team": "vision"})
    (told,) = asked(ruled, "queue", "plan", "search-training")["told"]
    sentence = "giant (sweep, 9 instances) can never start: the queue may use 8. Its owner is vision."
    assert told == {
        "what": "cannot_fit",
        "job_id": "never",
        "name": "giant",
        "class": "sweep",
        "sentence": sentence,
    }
    printed = " ".join(ruled.run("queue", "plan", "search-training").stdout.split())
    assert f"cannot fit: {sentence}" in printed


def test_plan_says_why_instances_stay_idle(ruled: Command) -> None:
    ruled.deployment.batch.jobs.clear()
    assert asked(ruled, "queue", "plan", "search-training")["idle"] == [{"reason": "no_work", "instances": 8}]
    text = ruled.run("queue", "plan", "search-training").stdout
    assert "Nothing would be moved." in text
    assert "8 instances would stay idle: nothing waits" in text


@pytest.mark.parametrize("words", VERBS.values(), ids=VERBS.keys())
def test_looking_changes_nothing(ruled: Command, words: tuple[str, ...]) -> None:
    there = ruled.deployment
    before = (dict(there.jobs.jobs), dict(there.jobs.queues), dict(there.batch.jobs))
    assert ruled.run(*words).exit_code == 0
    assert (there.jobs.jobs, there.jobs.queues, there.batch.jobs) == before
    assert (there.batch.priorities, there.control.moves("search-training", 0, 9)) == ([], ())


@pytest.mark.parametrize("words", VERBS.values(), ids=VERBS.keys())
def test_text_that_is_not_for_a_terminal_has_no_colour(
    ruled: Command, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert "\x1b" not in ruled.run(*words).stdout


def test_stopped_is_said(ruled: Command) -> None:
    ruled.deployment.control.stop()
    assert asked(ruled, "queue", "plan", "search-training")["stopped"] is True
    assert "everything is stopped: it only observes" in ruled.run("queue", "plan", "search-training").stdout


def test_explain_has_the_standing_of_a_waiting_job(ruled: Command) -> None:
    found = asked(ruled, "queue", "explain", "search-training", "sweep-0")
    assert {k: found[k] for k in ("job_id", "class", "size", "state", "status", "position", "waiting")} == {
        "job_id": "s-0", "class": "sweep", "size": 1, "state": "waiting", "status": "RUNNABLE", "position": 3,
        "waiting": 5,
    }  # fmt: skip
    assert named(found["ahead"]) == ["prod-ranker", "big"]
    assert (found["waited_seconds"], found["expected_seconds"]) == (3600.0, 3600.0)
    assert [part["part"] for part in found["score_parts"]] == ["waiting since", "head start", "put back"]
    assert found["holds"]


def test_explain_takes_an_id_as_well_as_a_name(ruled: Command) -> None:
    by_id = asked(ruled, "queue", "explain", "search-training", "s-0")
    assert by_id == asked(ruled, "queue", "explain", "search-training", "sweep-0")


def test_explain_has_the_same_keys_whatever_the_job_does(ruled: Command) -> None:
    waiting = asked(ruled, "queue", "explain", "search-training", "sweep-0")
    running = asked(ruled, "queue", "explain", "search-training", "r-1")
    unknown = asked(ruled, "queue", "explain", "search-training", "nobody", code=1)
    assert set(waiting) == set(running) == set(unknown)


def test_explain_says_what_a_job_does_that_does_not_wait(ruled: Command) -> None:
    batch = ruled.deployment.batch
    batch.add_job("e-1", "search-training", Status.RUNNING, name="ended-early")
    batch.move_job("e-1", Status.FAILED)
    batch.add_queue("other")
    batch.add_job("o-1", "other", name="elsewhere")
    batch.add_job("x-1", "search-training", name="stranger", share="team-b")
    told = {
        job: asked(ruled, "queue", "explain", "search-training", job)
        for job in ("sweep-running", "ended-early", "e-1", "o-1", "stranger")
    }
    assert {job: (found["state"], found["status"], found["holds"]) for job, found in told.items()} == {
        "sweep-running": (
            "busy",
            "RUNNING",
            "It is RUNNING since 2027-01-15 08:00:00 UTC: it holds its instances, nothing is ahead of it.",
        ),
        "ended-early": ("ended", "FAILED", "It has ended at 2027-01-15 08:00:00 UTC: FAILED."),
        "e-1": ("ended", "FAILED", "It has ended at 2027-01-15 08:00:00 UTC: FAILED."),
        "o-1": ("waiting", "RUNNABLE", "It is in queue other, not in search-training; there it is RUNNABLE."),
        "stranger": (
            "waiting",
            "RUNNABLE",
            "It waits in share team-b, which the policy does not rule (share: all).",
        ),
    }


def test_explain_of_an_unknown_job_finds_nothing(ruled: Command) -> None:
    result = ruled.run("queue", "explain", "search-training", "nobody")
    message = "Neither Pointsman nor Batch knows a job nobody in search-training.\n"
    assert (result.stdout, result.exit_code) == (message, 1)


def test_explain_of_a_name_that_several_jobs_have_asks_for_an_id(ruled: Command) -> None:
    ruled.deployment.batch.add_job("s-9", "search-training", name="sweep-0")
    result = ruled.run("queue", "explain", "search-training", "sweep-0")
    message = "Error: sweep-0: 2 jobs have this name (give an id: s-0, s-9)\n"
    assert (result.stderr, result.exit_code) == (message, 2)


def recorded(command: Command, *ages: float) -> None:
    command.deployment.control.record(
        [
            RecordedMove(
                "search-training",
                NOW - age,
                Move(f"j-{n}", f"job [red]{n}", "sweep", 0, 4999, Reason.FRONT, f"It is {age:.0f} s old."),
                1,
                "done",
            )
            for n, age in enumerate(ages)
        ]
    )


def test_history_is_newest_first(ruled: Command) -> None:
    recorded(ruled, 60, 3000, 5000)
    found = asked(ruled, "queue", "history", "search-training", "--since", "1h")
    assert (found["queue"], found["since"]) == ("search-training", "2027-01-15T07:00:00Z")
    assert [move["at"] for move in found["moves"]] == ["2027-01-15T07:59:00Z", "2027-01-15T07:10:00Z"]
    assert found["moves"][0] == {
        "at": "2027-01-15T07:59:00Z", "job_id": "j-0", "name": "job [red]0", "class": "sweep", "before": 0,
        "after": 4999, "reason": "front", "sentence": "It is 60 s old.", "policy": 1, "outcome": "done",
    }  # fmt: skip


def test_history_shows_names_as_they_are_and_says_when_there_may_be_more(ruled: Command) -> None:
    recorded(ruled, 60, 3000, 5000)
    result = ruled.run("queue", "history", "search-training", "--limit", "2")
    assert "job [red]0" in result.stdout
    assert "It is 5000 s old." not in result.stdout
    assert "There may be more: --limit shows 2." in result.stdout


def test_an_empty_history_finds_nothing(ruled: Command) -> None:
    result = ruled.run("queue", "history", "search-training", "--since", "2h")
    assert (result.stdout, result.exit_code) == ("No move in search-training since 2027-01-15 06:00:00 UTC.\n", 1)


def test_explain_says_when_the_job_is_expected_to_start(ruled: Command) -> None:
    explained = asked(ruled, "queue", "explain", "search-training", "b-1")
    expected = explained["expected_start"]
    assert explained["state"] == "waiting"
    assert "2027-01-15T08:00:00Z" < expected["p50"] < expected["p90"]
    said = expected["p90"].replace("T", " ").replace("Z", " UTC")
    text = ruled.run("queue", "explain", "search-training", "b-1").stdout
    assert f"{said} (p90)" in text
    assert asked(ruled, "queue", "explain", "search-training", "r-1")["expected_start"] is None


def test_a_job_that_can_never_start_is_promised_no_time(ruled: Command) -> None:
    ruled.deployment.batch.add_job("x-1", "search-training", name="huge", size=9)
    assert asked(ruled, "queue", "explain", "search-training", "huge")["expected_start"] is None
    assert "expected   at no time that can be told" in ruled.run("queue", "explain", "search-training", "huge").stdout


def test_explain_says_who_is_ahead_and_why_and_what_holds_the_first(ruled: Command) -> None:
    explained = asked(ruled, "queue", "explain", "search-training", "s-2")
    why = {job["name"]: job["why"] for job in explained["ahead"]}
    assert why["prod-ranker"] == "has 24.0 h more head start"
    assert why["sweep-0"] == "came 2 s before"
    assert explained["head_holds"].startswith("prod-ranker (production, 1 instance)")
    text = ruled.run("queue", "explain", "search-training", "s-2").stdout
    assert "why it is ahead" in text
    assert "what holds the first  prod-ranker" in text


def test_a_job_of_a_plain_queue_is_explained_by_batchs_own_order(ruled: Command, policy_file: Path) -> None:
    ruled.deployment.batch.add_queue("plain", capacity=4, kind=QueueKind.FIFO)
    policy_file.write_text(policy_file.read_text().replace("search-training", "plain"))
    assert ruled.run("policy", "apply", str(policy_file), "--measure-only").exit_code == 0
    for n, size in enumerate((6, 1)):
        ruled.deployment.batch.add_job(f"f-{n}", "plain", name=f"job-{n}", size=size, created=NOW - 600 + n, share=None)
    explained = asked(ruled, "queue", "explain", "plain", "job-1")
    assert (explained["position"], [job["why"] for job in explained["ahead"]]) == (2, ["came 1 s before"])
    assert "nothing passes the first. That is job-0" in explained["holds"]


def test_what_batch_says_of_a_stuck_job_is_shown(ruled: Command) -> None:
    batch = ruled.deployment.batch
    reason = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - no ml.p5"
    batch.jobs["b-1"] = replace(batch.jobs["b-1"], reason=reason)
    assert asked(ruled, "queue", "explain", "search-training", "b-1")["batch_says"] == reason
    assert f"Batch says {reason}" in ruled.run("queue", "explain", "search-training", "b-1").stdout
