"""What is logged and measured of rollouts: one line a pass, and counts without an id as a dimension."""

import json
from io import StringIO
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from pointsman.rollout_log import PowertoolsRolloutLog
from tests.unit.loops.rollout_world import World


@pytest.fixture
def lines() -> StringIO:
    return StringIO()


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, lines: StringIO) -> PowertoolsRolloutLog:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Pointsman")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "advance_rollout")
    return PowertoolsRolloutLog(Logger(service=request.node.name, stream=lines))


def parsed(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_each_pass_is_one_line_with_its_reasons_and_acts(
    log: PowertoolsRolloutLog, lines: StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World()
    world.ask()
    world.run()
    capsys.readouterr()
    for report in world.log.passes:
        log.advanced(report)
    told, metrics = parsed(lines.getvalue()), parsed(capsys.readouterr().out)

    assert len(told) == len(world.log.passes)
    sent = next(line for line in told if any(act["act"] == "SubmitUpdate" for act in line["acts"]))
    assert sent["acts"] == [{"act": "SubmitUpdate", "on": "m1", "outcome": "done"}]
    assert {"rollout": "r1", "wave": 1, "intent": "FORWARD", "holds": []}.items() <= sent.items()
    assert {"reason": "sent", "component": "m1"}.items() <= sent["said"][0].items()
    assert told[-1]["phase"] == "SUCCEEDED"
    assert sum("RolloutsSucceeded" in metric for metric in metrics) == 1
    dimensions = {str(metric["_aws"]["CloudWatchMetrics"][0]["Dimensions"]) for metric in metrics}
    assert dimensions == {"[['service']]", "[['phase']]"}


def test_what_stumbled_and_what_was_commanded_is_said(
    log: PowertoolsRolloutLog, lines: StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    log.stumbled("r1", "throttled", known=True)
    log.commanded("r1", "pause", "claimed:ana", "pause by claimed:ana.")
    log.woken(("r1",), because="alarm errors")
    told, metrics = parsed(lines.getvalue()), parsed(capsys.readouterr().out)

    assert [line["message"] for line in told] == ["stumbled", "commanded", "woken"]
    assert (told[0]["why"], told[1]["actor"], told[2]["rollouts"]) == ("throttled", "claimed:ana", ["r1"])
    assert [metric.get("RolloutStumbles") for metric in metrics] == [[1.0]]
