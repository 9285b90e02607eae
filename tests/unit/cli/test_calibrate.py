"""`pointsman calibrate`: on generated days, under a policy with any classes."""

import json
from pathlib import Path

from tests.unit.cli.harness import Command

RULES = """\
version: 1
queue: search-training
mode: act
share: "*"
classes:
  - {name: release, match: {tag: {purpose: release}}, head_start: 9h}
default: {name: rest}
"""


def test_a_job_of_a_generated_day_is_of_the_class_that_the_policy_gives_it(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(RULES)

    result = command.run("calibrate", "--seeds", "1", "--policy", str(file), "--json")

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["first"]["jobs"] > 0
