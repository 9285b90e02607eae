"""What is logged and measured of queues: every line of a pass by one id, and no name can write a line of its own."""

import json
from io import StringIO
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from pointsman.decision_log import PowertoolsLog
from pointsman.queues.gpu_use import GpuUse
from pointsman.rollout_log import PowertoolsRolloutLog
from tests.unit.loops import rollout_world
from tests.unit.loops.quota_world import pressed
from tests.unit.loops.world import QUEUE, World

FORGED = 'prod-x", "level": "ERROR"}\n{"level": "INFO", "message": "decided", "queue": "forged"}\r\n\u2028'


@pytest.fixture
def lines() -> StringIO:
    return StringIO()


@pytest.fixture
def logger(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, lines: StringIO) -> Logger:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Pointsman")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "pointsman-dev")
    return Logger(service=request.node.name, stream=lines)


def parsed(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def put(text: str) -> set[tuple[str, tuple[str, ...]]]:
    """Every metric with its dimensions."""
    return {
        (metric["Name"], tuple(sorted(line["_aws"]["CloudWatchMetrics"][0]["Dimensions"][0])))
        for line in parsed(text)
        for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    }


def logged(world: World, logger: Logger) -> None:
    """From now on the world's loops log for good."""
    world.log = PowertoolsLog(logger)  # type: ignore[assignment]


def test_every_line_of_a_pass_bears_the_queue_and_the_pass_and_the_next_pass_another(
    logger: Logger, lines: StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World()
    logged(world, logger)
    world.apply()
    world.submit("a")
    world.pass_()
    world.loop().run(QUEUE)  # a moment later
    capsys.readouterr()
    told = parsed(lines.getvalue())
    assert [line["message"] for line in told] == ["recorded", "decided", "skipped"]
    assert [line.get("correlation_id") for line in told] == [None, f"{QUEUE}/pass-1", f"{QUEUE}/pass-2"]


def test_a_pass_that_fails_bears_it_too_with_its_traceback(
    logger: Logger, lines: StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World()
    logged(world, logger)
    world.apply()
    world.jobs.fail_next("active", KeyError("ours"))
    world.pass_()
    capsys.readouterr()
    (line,) = parsed(lines.getvalue())
    assert (line["message"], line["correlation_id"]) == ("pass failed", f"{QUEUE}/pass-1")
    assert "KeyError" in line["exception"]


def test_every_line_of_a_rollout_s_pass_bears_the_rollout_its_execution_and_the_pass(
    logger: Logger, lines: StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    world = rollout_world.World()
    world.loop = type(world.loop)(**{
        name: PowertoolsRolloutLog(logger) if name == "log" else getattr(world.loop, name)
        for name in world.loop.__slots__
    })  # fmt: skip
    world.ask()
    world.run()
    capsys.readouterr()
    ids = [line["correlation_id"] for line in parsed(lines.getvalue())]
    assert ids[:3] == ["r1/1/1", "r1/1/2", "r1/1/3"]
    assert len(set(ids)) == len(ids)


def test_a_name_with_quotes_and_line_ends_writes_no_line_of_its_own(
    logger: Logger, lines: StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World()
    logged(world, logger)
    world.apply()
    world.submit("a", name=FORGED)
    world.pass_()
    PowertoolsLog(logger).poisoned(FORGED, FORGED)
    PowertoolsRolloutLog(logger).commanded(FORGED, FORGED, FORGED, FORGED)
    capsys.readouterr()
    written = lines.getvalue()
    assert len(written.split("\n")) == written.count("\n") + 1 == 5, "four lines, each ended"
    told = [json.loads(line) for line in written.split("\n") if line]
    assert [line["message"] for line in told] == ["recorded", "decided", "poison", "commanded"]
    assert not any(line.get("queue") == "forged" for line in told)


def test_a_queue_s_metrics_have_no_dimension_but_queue_and_class(
    logger: Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    world = pressed()
    logged(world, logger)
    world.pass_()
    PowertoolsLog(logger)._measure_gpus(QUEUE, GpuUse(0.5, (("sweep", 0.7),), 1))
    found = put(capsys.readouterr().out)
    assert {dimensions for _, dimensions in found} == {("queue",), ("class", "queue")}
    assert ("GpuUtilization", ("queue",)) in found
    assert ("GpuUtilization", ("class", "queue")) in found


def test_what_belongs_to_no_queue_is_the_deployment_s(logger: Logger, capsys: pytest.CaptureFixture[str]) -> None:
    log, rollouts = PowertoolsLog(logger), PowertoolsRolloutLog(logger)
    log.overdue(90.0)
    rollouts.overdue(0.0)
    rollouts.died("r1", 2)
    log.poisoned("no event", "body")
    told = parsed(capsys.readouterr().out)
    assert {line["service"] for line in told} == {"pointsman-dev"}
    assert put("\n".join(json.dumps(line) for line in told)) == {
        (name, ("service",)) for name in ("QueueOverdue", "RolloutOverdue", "DeadExecutions", "PoisonMessages")
    }


def test_a_use_that_is_not_known_is_not_put(logger: Logger, capsys: pytest.CaptureFixture[str]) -> None:
    PowertoolsLog(logger)._measure_gpus(QUEUE, GpuUse(None, (), 4))
    assert put(capsys.readouterr().out) == {("UnmeasuredInstances", ("queue",))}
