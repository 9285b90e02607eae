"""The command of the proof: what it prints of a wrong world, and how it ends."""

from collections import Counter

import pytest

from tests.proof import __main__ as proof
from tests.proof.frame import Guard, Loop, Outcome, Violation


def run(seed: int, profile: str, off: str) -> Outcome:
    if seed == 13:
        raise ZeroDivisionError
    wrong = (Violation("S1", "two owners"),) if seed == 7 or (off and seed > 3) else ()
    return Outcome(2, Counter({profile or "any": 1}), wrong)


TOY = Loop("toy", run, (Guard("a lock", "p", frozenset({"S1"})), Guard("a hat", "p", frozenset({"S2"}))), ("p",))


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "LOOPS", (TOY,))
    monkeypatch.setenv("JOBS", "1")


def test_a_violation_is_named_with_its_seed_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert proof.main(["--seeds", "8"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "toy 7 S1: two owners"
    assert lines[-1] == "prove: 8 worlds of toy from 1 on: 1 violations"


def test_nothing_wrong_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert proof.main(["--seeds", "6"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "prove: 6 worlds of toy from 1 on: 0 violations"


def test_a_world_that_raises_is_a_violation_and_can_be_played_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert proof.main(["--seed", "13"]) == 1
    assert "crash: ZeroDivisionError" in capsys.readouterr().out


def test_the_table_says_which_guard_nothing_misses(capsys: pytest.CaptureFixture[str]) -> None:
    assert proof.main(["--ablate", "--start", "1", "--other-start", "2", "--most", "10"]) == 1
    out = capsys.readouterr().out
    assert "| a lock | toy, p | 1 | 4 | S1 | 4 | two owners |" in out
    assert "| a hat | toy, p | 1 | 10 | nothing | | |" in out
