"""What goes wrong is one message on standard error, and an exit code that scripts can go by."""

import pytest

from pointsman.errors import Conflict, Gone, Misconfigured, Transient, UserMistake
from pointsman_cli.access import Target
from tests.unit.cli.harness import Command

FAILURES = {
    "a throttled call": (Transient("slow down"), 3, "AWS could not be reached, or asks to try later: slow down"),
    "a lost race": (Conflict("version 3"), 3, "someone else wrote at the same moment, try again: version 3"),
    "a table that is gone": (
        Misconfigured("there is no table"),
        4,
        "there is no table (mend the deployment, the credentials or the queue)",
    ),
    "a job that is gone": (Gone("there is no job j"), 1, "there is no job j"),
    "a person's mistake": (UserMistake("wrong", place="here", remedy="mend it"), 2, "here: wrong (mend it)"),
    "a fault of ours": (KeyError("x"), 70, "a fault of pointsman: KeyError: 'x' (--debug shows where)"),
}


@pytest.mark.parametrize("error, code, message", FAILURES.values(), ids=FAILURES.keys())
def test_a_failure_is_one_message_and_a_code(ruled: Command, error: Exception, code: int, message: str) -> None:
    ruled.deployment.control.fail_next("policy", error)
    result = ruled.run("queue", "show", "search-training")
    assert (result.stdout, result.stderr, result.exit_code) == ("", f"Error: {message}\n", code)


def test_debug_shows_the_traceback(ruled: Command) -> None:
    ruled.deployment.control.fail_next("policy", KeyError("x"))
    result = ruled.run("queue", "show", "search-training", "--debug")
    assert isinstance(result.exception, KeyError)


def test_a_stored_policy_that_this_version_cannot_read_is_for_the_operator(ruled: Command) -> None:
    ruled.deployment.control.put_policy("search-training", '{"version": 2}', 0.0, "someone")
    result = ruled.run("queue", "plan", "search-training")
    assert result.exit_code == 4
    assert result.stderr.startswith("Error: the stored policy cannot be used by this version of Pointsman: ")


def test_a_queue_that_is_gone_from_batch_is_for_the_operator(ruled: Command) -> None:
    ruled.deployment.batch.queues.clear()
    result = ruled.run("queue", "plan", "search-training")
    assert (result.exit_code, result.stderr.count("\n")) == (4, 1)
    assert "there is no job queue search-training" in result.stderr


WRONG_USAGE = {
    "an unknown verb": (("queue", "xyz"), "No such command 'xyz'."),
    "an unknown group": (("paint",), "No such command 'paint'."),
    "a job that is not named": (("queue", "explain", "search-training"), "Missing argument 'JOB'."),
    "a duration without a unit": (
        ("queue", "history", "search-training", "--since", "2"),
        "Invalid value for '--since': '2' is not a duration; write a number and a unit, as 24h, 90m or 1h30m",
    ),
    "a time of the demo's day that is none": (
        ("--demo-at", "noon", "queue", "show", "search-training"),
        "Invalid value for '--demo-at': 'noon' is not a duration; write a number and a unit, as 24h, 90m or 1h30m",
    ),
    "a limit of nothing": (
        ("queue", "history", "search-training", "--limit", "0"),
        "Invalid value for '--limit': 0 is not in the range 1<=x<=1000.",
    ),
}


@pytest.mark.parametrize("words, message", WRONG_USAGE.values(), ids=WRONG_USAGE.keys())
def test_wrong_usage_exits_with_2(ruled: Command, words: tuple[str, ...], message: str) -> None:
    result = ruled.run(*words)
    assert (result.stderr.splitlines()[-1], result.exit_code) == (f"Error: {message}", 2)


WHERE = {
    "before the verb": ("--stack", "prod", "queue", "show", "search-training"),
    "after the verb": ("queue", "show", "search-training", "--stack", "prod"),
    "after the verb rather than before it": ("--stack", "dev", "queue", "show", "search-training", "--stack", "prod"),
}


@pytest.mark.parametrize("words", WHERE.values(), ids=WHERE.keys())
def test_the_deployment_is_named(ruled: Command, words: tuple[str, ...]) -> None:
    assert ruled.run(*words).exit_code == 0
    assert ruled.access.asked[-1] == Target(stack="prod")


def test_the_environment_names_the_deployment(ruled: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POINTSMAN_STACK", "prod")
    ruled.run("queue", "show", "search-training", "--endpoint-url", "http://localhost:4000")
    assert ruled.access.asked[-1] == Target("prod", "http://localhost:4000")


def test_a_time_of_the_demos_day_is_a_duration(ruled: Command) -> None:
    ruled.run("queue", "show", "search-training", "--demo-at", "1h30m")
    assert ruled.access.asked[-1] == Target(demo_at=5400.0)


def test_the_version_is_told(ruled: Command) -> None:
    assert ruled.run("--version").stdout.startswith("pointsman ")
