"""samconfig.toml: each environment in full, and true to the template."""

import re
import tomllib
from typing import Any

import pytest

from tests.template.stack import ROOT, Stack

CONFIG = tomllib.loads((ROOT / "samconfig.toml").read_text())
ENVIRONMENTS = {name: commands for name, commands in CONFIG.items() if name != "version"}

every_environment = pytest.mark.parametrize("environment", ENVIRONMENTS)


def overrides(environment: str) -> dict[str, str]:
    pairs = ENVIRONMENTS[environment]["deploy"]["parameters"]["parameter_overrides"]
    return dict(pair.split("=", 1) for pair in pairs)


def test_there_are_two_environments() -> None:
    assert set(ENVIRONMENTS) == {"default", "prod"}


def test_each_environment_is_written_out_in_full_since_none_inherits() -> None:
    settings = [
        {command: set(table["parameters"]) for command, table in commands.items()} for commands in ENVIRONMENTS.values()
    ]
    assert settings[0] == settings[1]


@every_environment
def test_each_parameter_exists_and_has_a_value_that_the_template_allows(
    environment: str, written: dict[str, Any]
) -> None:
    for name, value in overrides(environment).items():
        declared = written["Parameters"][name]
        assert value in map(str, declared.get("AllowedValues", [value]))
        assert re.fullmatch(declared.get("AllowedPattern", ".*"), value)


@every_environment
def test_the_capabilities_suffice_for_what_the_stack_makes(environment: str, stack: Stack) -> None:
    """CAPABILITY_NAMED_IAM is asked for only by what is made under a name of its own (CloudFormation, CreateStack)."""
    making = {r["Type"] for r in stack.resources.values() if r["Type"].startswith("AWS::IAM::")}
    assert making == {"AWS::IAM::Role", "AWS::IAM::Policy"}
    assert not any("RoleName" in role for role in stack.of_type("AWS::IAM::Role").values())
    assert ENVIRONMENTS[environment]["deploy"]["parameters"]["capabilities"] == "CAPABILITY_IAM"


@every_environment
def test_every_setting_is_one_that_this_command_of_sam_has(environment: str) -> None:
    """Of `sam deploy`, `build` and `validate`; SAM ignores what it does not know, so that a slip would go unseen."""
    known = {
        "validate": {"lint", "region"},
        "build": {"cached", "parallel"},
        "deploy": {
            "capabilities", "confirm_changeset", "fail_on_empty_changeset", "parameter_overrides", "region",
            "resolve_s3", "s3_prefix", "stack_name", "tags",
        },
    }  # fmt: skip
    assert {command: set(table["parameters"]) for command, table in ENVIRONMENTS[environment].items()} == known


def test_what_no_environment_sets_is_named_there(written: dict[str, Any]) -> None:
    named = set().union(*(overrides(environment) for environment in ENVIRONMENTS))
    text = (ROOT / "samconfig.toml").read_text()
    assert all(name in text for name in set(written["Parameters"]) - named - {"EndpointUrl"})


@every_environment
def test_no_environment_points_the_functions_away_from_aws(environment: str) -> None:
    assert "EndpointUrl" not in overrides(environment)


def test_the_environments_do_not_share_a_stack_and_production_is_confirmed() -> None:
    deployed = {name: commands["deploy"]["parameters"] for name, commands in ENVIRONMENTS.items()}
    assert deployed["default"]["stack_name"] != deployed["prod"]["stack_name"]
    assert deployed["prod"]["confirm_changeset"] is True
