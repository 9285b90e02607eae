"""`pointsman demo lending`: what it prints, and that a broken promise fails it."""

import json
from functools import cache
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pointsman_cli.demo import lending
from pointsman_cli.main import cli
from pointsman_simulator.lending import Lent, lent


@cache
def played(seed: int) -> Lent:
    return lent(seed)


@cache
def without_lending(seed: int) -> Lent:
    one = played(seed)
    return Lent(seed, one.week, one.before, one.before)


def asked(monkeypatch: pytest.MonkeyPatch, *words: str, play: Any = played) -> Result:
    monkeypatch.setattr(lending, "lent", play)
    return CliRunner(env={"COLUMNS": None}).invoke(cli, ["demo", "lending", *words])


def test_a_week_is_shown_by_team_with_both_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    result = asked(monkeypatch)
    assert result.exit_code == 0, result.output
    assert "ranking" in result.stdout
    assert "with RESERVE" in result.stdout
    assert "with LEND_AND_BORROW" in result.stdout
    assert "borrowers were evicted for owners" in result.stdout


def test_the_object_has_each_week_each_team_and_what_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    result = asked(monkeypatch, "--seeds", "4-4", "--json")
    assert result.exit_code == 0, result.output
    (week,) = json.loads(result.stdout)["weeks"]
    assert week["load"] >= 0.9
    assert week["in_use"]["before"] <= 0.5
    assert week["in_use"]["after"] >= 0.8
    assert all(team["wait_hours"]["after"] <= team["wait_hours"]["before"] for team in week["teams"])
    assert week["evictions"] == sum(team["evicted"] for team in week["teams"])
    assert week["lost_gpu_hours"] == pytest.approx(sum(team["lost_gpu_hours"] for team in week["teams"]))
    assert week["broken"] == []


def test_several_weeks_are_one_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    result = asked(monkeypatch, "--seeds", "4")
    assert result.exit_code == 0, result.output
    first, last = result.stdout.splitlines()
    assert first.startswith("seed   4: load 0.92, in use ")
    assert last == "All 1: 50% at most before, 80% at least after, no team waits longer."


@pytest.mark.parametrize("words", [(), ("--seeds", "4-4"), ("--json",)])
def test_a_broken_promise_is_said_and_exits_with_1(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    result = asked(monkeypatch, *words, play=without_lending)
    assert result.exit_code == 1
    assert "of the capacity is in use after, not 80% at least" in result.stdout
    assert "All 1" not in result.stdout


@pytest.mark.parametrize("seeds", ["20-1", "a-b", "1-b", ""])
def test_seeds_that_are_no_range_are_refused(monkeypatch: pytest.MonkeyPatch, seeds: str) -> None:
    result = asked(monkeypatch, "--seeds", seeds)
    assert result.exit_code == 2
    assert "1-20" in result.stderr
