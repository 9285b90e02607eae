"""`pointsman rollout` on a deployed stack: from the plan to the end, as a person does it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pointsman_cli.demo.rollout.play import staged
from pointsman_cli.demo.rollout.scenarios import SCENARIOS
from pointsman_cli.main import cli
from pointsman_emulator.emulator import Emulator

SCENARIO = SCENARIOS["single-gpu"]().asking(rollout="chat-2", approvals=[1])


@pytest.fixture(scope="module")
def aws() -> Iterator[Emulator]:
    with staged(SCENARIO) as stage:
        yield stage.aws


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "rollout.yaml"
    made.write_text(json.dumps(SCENARIO.request))  # JSON is YAML
    return made


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, ["rollout", *map(str, words), "--stack", "pointsman"])


def told(*words: object) -> dict[str, Any]:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_person_plans_starts_approves_and_watches_a_rollout(aws: Emulator, file: Path) -> None:
    plan = told("plan", file)
    assert (plan["ok"], plan["waves"][0]["approval"], plan["capacity"][0]["instances_needed"]) == (True, True, 4)
    assert run("list").exit_code == 1  # nothing was changed

    assert told("start", file)["phase"] == "PLANNED"
    aws.run_for(120)
    shown = told("show", "chat-2")
    assert ([hold["kind"] for hold in shown["holds"]], shown["parked"]) == (["approval"], "Await operator")
    assert shown["started_by"].startswith("claimed:arn:aws:sts::")

    assert "approve wave 1 by claimed:" in told("approve", "chat-2", 1, "--reason", "looks good")["said"]
    aws.run_for(2 * 3600)
    assert run("watch", "chat-2").exit_code == 0
    assert told("list")["rollouts"][0]["phase"] == "SUCCEEDED"
    reasons = [said["reason"] for commit in told("history", "chat-2")["commits"] for said in commit["said"]]
    assert (reasons[0], reasons[-1]) == ("started", "ended")

    answer = told("rollback", "chat-2", "--as", "chat-2-back", "--reason", "a complaint")
    assert answer["rollout"] == "chat-2-back"
    aws.run_for(2 * 3600)
    assert told("show", "chat-2-back")["phase"] == "ROLLED_BACK"
    assert aws.inference_model.components["llm"].spec.model == "llm-1"


def test_what_the_function_refuses_is_one_message_with_the_remedy(aws: Emulator) -> None:  # noqa: ARG001
    result = run("pause", "nobody")
    assert (result.exit_code, "there is no such rollout" in result.stderr) == (2, True)
