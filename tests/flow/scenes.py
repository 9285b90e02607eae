"""Scenarios of rollouts for the flow tests: played to the end, and what is asked of the result."""

from dataclasses import replace
from typing import Any

from pointsman_cli.demo.rollout.executions import stays
from pointsman_cli.demo.rollout.play import play
from pointsman_cli.demo.rollout.result import Result
from pointsman_cli.demo.rollout.scenario import Scenario
from pointsman_cli.demo.rollout.scenarios import SCENARIOS

TRY = {"capacity": "try", "reason": "no other way today", "person": "maria"}


def scenario(name: str, **keys: Any) -> Scenario:
    made = SCENARIOS[name]()
    return made.asking(**keys) if keys else made


def played(name: str, events: float = 1.0, **keys: Any) -> Result:
    """Played to the end without a failed pass, a failed function, or an event that reached no target."""
    result = play(replace(scenario(name, **keys), events=events), lambda _: None, history=True)
    assert result.faults == ()
    return result


def stretches(result: Result) -> list[str]:
    """Where the only execution waited, one after the other, and what it ended in."""
    (execution,) = result.executions
    return [stay.state for stay in stays(execution.events)]


def models(result: Result) -> dict[str, str]:
    return {left.component: left.model for left in result.left}


def times(result: Result, what: str, why: str = "") -> list[float]:
    return [line.at - result.started for line in result.timeline if line.what == what and why in line.why]
