"""The scenario `fleet`: 12 components on 5 endpoints, and an alarm while its second wave is rolled."""

import json

from click.testing import CliRunner

from pointsman_cli.demo.rollout.scenarios import OLD
from pointsman_cli.main import cli
from tests.flow.scenes import models, played


def test_fleet_goes_back_whole_from_its_second_wave() -> None:
    result = played("fleet")
    assert result.outcome == "ROLLED_BACK"
    assert set(models(result).values()) == {OLD}
    assert (result.lowest_serving, result.wanted_copies, result.lost) == (41, 41, 0)
    assert result.cause == "Alarm chat-en-errors is in ALARM."
    touched = {line.why.partition(":")[0] for line in result.timeline if line.what == "sent"}
    assert {"chat-en", "embed-de"} <= touched <= {"chat-en", "embed-de", "embed-en"}


def test_the_plan_of_the_fleet_says_what_chose_each_batch() -> None:
    result = CliRunner().invoke(cli, ["demo", "rollout", "fleet", "--plan", "--json"])
    assert result.exit_code == 0, result.output
    plan = json.loads(result.stdout)
    batches = {c["component"]: c["batch"] for wave in plan["waves"] for c in wave["components"]}
    assert [len(wave["components"]) for wave in plan["waves"]] == [1, 2, 9]
    assert (batches["chat-fr"]["copies"], batches["chat-fr"]["reason"]) == (1, "large")
    assert (batches["rank-web"]["copies"], batches["rank-web"]["sentence"]) == (4, "4 copies fit on one instance")
    assert (batches["tag-mail"]["copies"], batches["tag-mail"]["reason"]) == (1, "lowered")
