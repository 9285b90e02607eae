"""What the demo's day says to a person: of the policy that was played, and of any names."""

from typing import Any

import pytest

from pointsman_cli.demo.report import say
from pointsman_cli.screen import screen

WAIT = {"jobs": 1, "mean": 1.0, "median": 1.0, "longest": 1.0}
RUN = {"name": "[b]own[/b]", "wait_hours": {"teams": WAIT}, "utilisation": 0.5, "idle_gpu_hours": {"no_job": 1.0}}
ALARM = {
    "alarm": "drift[red]",
    "boost": "teams",
    "event": None,
    "since": "2026-03-02T13:00:00Z",
    "until": "2026-03-02T15:00:00Z",
    "ended_by": "time",
    "writes_while_active": 0,
    "caused": [],
    "first_after": [],
    "boosted_after": 0,
}
MOVE = {"at": "2026-03-02T13:00:00Z", "reason": "boosted", "job": "a\x1b[2J", "priority": [1, 2], "sentence": "for it"}
FACTS: dict[str, Any] = {
    "jobs": 1,
    "left_out": 0,
    "teams": 1,
    "capacity": 4,
    "seed": 4,
    "events": 1.0,
    "runs": [RUN],
    "api_calls_per_job": {"UpdateServiceJob": 1.0, "DescribeServiceJob": 1.0},
    "moves": 1,
    "backfills": 0,
    "passes": 1,
    "end_state": {"digest": "d", "succeeded_once": 1, "run_twice": 0, "lost": 0, "dead_letters": 0, "failures": 0},
    "failures": [],
    "alarm": ALARM,
    "decisions": [MOVE],
    "wiring": {"ok": True, "faults": []},
}


def test_the_class_that_the_policy_boosts_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    say(screen(), FACTS)

    told = capsys.readouterr().out
    assert "  13:00  teams is boosted until 15:00 (ended by time);\n" in told
    assert "1 decision, and why\n" in told


def test_names_are_letters_and_nothing_more(capsys: pytest.CaptureFixture[str]) -> None:
    say(screen(), {**FACTS, "wiring": {"ok": False, "faults": ["[x]"]}})

    told = capsys.readouterr().out
    for name in ("[b]own[/b]", "Alarm drift[red]\n", "a\\x1b[2J", "Wiring is broken:\n  [x]\n"):
        assert name in told
