"""`pointsman stop` and `start`, over a queue and a rollout in memory."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pointsman.errors import Misconfigured
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import HoldKind
from pointsman_cli.access import Target
from pointsman_cli.main import cli
from tests.unit.cli.harness import FakeDeployment, in_memory
from tests.unit.cli.rollout_harness import FakeRollouts
from tests.unit.loops.rollout_world import World

QUEUE, ADA = "search-training", "arn:aws:iam::123456789012:user/ada"


@dataclass
class Both:
    """A deployment with a queue and rollouts."""

    world: World
    deployment: FakeDeployment

    @contextmanager
    def open(self, target: Target) -> Iterator[FakeDeployment]:  # noqa: ARG002 - the real one's signature
        yield self.deployment

    @contextmanager
    def rollouts(self, target: Target) -> Iterator[FakeRollouts]:  # noqa: ARG002 - the same
        yield FakeRollouts(self.world)

    def caller(self, target: Target) -> str:  # noqa: ARG002 - the same
        return ADA

    def run(self, *words: str) -> Result:
        return CliRunner(env={"COLUMNS": None}).invoke(cli, list(words), obj=self)

    def asked(self, *words: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run(*words, "--json").stdout)
        return found


@pytest.fixture
def both(policy_file: Path) -> Both:
    world, deployment = World(), in_memory().deployment
    deployment.control, deployment.clock = world.control, world.clock
    made = Both(world, deployment)
    assert made.run("policy", "apply", str(policy_file)).exit_code == 0
    world.ask()
    return made


def test_stop_says_who_and_why_and_makes_every_queue_due_and_wakes_every_rollout(both: Both) -> None:
    both.world.clock.advance(100)
    result = both.run("stop", "--reason", "a bad policy")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"everything is stopped since 2027-01-15 08:01:40 UTC by {ADA}: a bad policy (`pointsman start` ends it)",
        "queues that only observe            search-training",
        "rollouts that begin nothing new     r1",
    ]
    assert both.deployment.jobs.queue(QUEUE).next_wake_at == both.world.clock.now()
    assert both.world.stored.wake_seq == 1


def test_stopping_twice_is_stopping_once_and_starting_too(both: Both) -> None:
    first = both.asked("stop", "--reason", "a bad policy")
    both.world.clock.advance(60)
    again = both.asked("stop", "--reason", "another")
    assert (first["changed"], again["changed"]) == (True, False)
    assert first["stop"] == again["stop"] == {"since": "2027-01-15T08:00:00Z", "by": ADA, "reason": "a bad policy"}
    ended = both.asked("start")
    assert (ended["stopped"], ended["changed"], ended["stop"]) == (False, True, first["stop"])
    assert both.asked("start")["changed"] is False
    assert both.run("start").stdout == "nothing is changed: nothing was stopped\n"


@pytest.mark.parametrize(
    "words",
    [("queue", "show", QUEUE), ("queue", "plan", QUEUE), ("policy", "show", QUEUE), ("rollout", "show", "r1"),
     ("rollout", "list")],
    ids=" ".join,
)  # fmt: skip
def test_whoever_looks_is_told_that_everything_is_stopped(both: Both, words: tuple[str, ...]) -> None:
    assert both.asked(*words)["stop"] is None
    both.run("stop", "--reason", "a bad policy")
    assert both.asked(*words)["stop"]["reason"] == "a bad policy"
    told = f"everything is stopped since 2027-01-15 08:00:00 UTC by {ADA}: a bad policy"
    assert told in both.run(*words).stdout
    both.run("start")
    assert both.asked(*words)["stop"] is None
    assert "stopped" not in both.run(*words).stdout


def test_a_rollout_is_held_by_stop_and_only_start_lets_it_go(both: Both) -> None:
    both.run("stop")
    both.world.run(1000)
    shown = both.asked("rollout", "show", "r1")
    assert [(hold["kind"], hold["owner"]) for hold in shown["holds"]] == [("operator", "stop")]
    refused = both.run("rollout", "resume", "r1")
    assert refused.exit_code == 2
    assert "it is held because everything is stopped (`pointsman start` ends that)" in refused.stderr
    both.run("start")
    assert both.world.run() is Phase.SUCCEEDED


def test_start_leaves_an_operators_own_pause_alone(both: Both) -> None:
    both.run("stop")
    both.world.run(1000)
    paused = both.run("rollout", "pause", "r1", "--reason", "lunch")
    assert paused.exit_code == 0
    assert "warning: everything is stopped" in paused.stderr
    both.run("start")
    both.world.run(1000)
    held = both.world.stored.record.hold(HoldKind.OPERATOR)
    assert held is not None
    assert (held.owner.endswith("user/ada"), held.sentence) == (True, "lunch")


def test_what_cannot_be_woken_hears_of_it_later(both: Both) -> None:
    both.world.table.fail_next("wake", Misconfigured("states:SendTaskSuccess is denied"))
    result = both.run("stop")
    assert result.exit_code == 0
    assert "warning: r1 was not woken, it hears of it in its next pass: states:SendTaskSuccess" in result.stderr
    assert both.deployment.control.stopped()
