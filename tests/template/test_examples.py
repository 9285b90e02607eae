"""What a team deploys beside Pointsman, and the policy that it writes for it, name the same things."""

from fnmatch import fnmatchcase
from typing import Any

import pytest
from ruamel.yaml import YAML
from samtranslator.yaml_helper import yaml_parse

from tests.template.stack import ROOT


@pytest.fixture(scope="module")
def deployed() -> dict[str, Any]:
    """The properties of each resource of the example, by logical id."""
    template = yaml_parse((ROOT / "examples/batch.yaml").read_text())
    return {name: resource["Properties"] for name, resource in template["Resources"].items()}


@pytest.fixture(scope="module")
def policy() -> dict[str, Any]:
    """The example policy as a person reads it."""
    document: dict[str, Any] = YAML(typ="safe").load(ROOT / "examples/policy.yaml")
    return document


def test_the_policy_names_the_queue(deployed: dict[str, Any], policy: dict[str, Any]) -> None:
    assert policy["queue"] == deployed["SearchTrainingQueue"]["JobQueueName"]


def test_the_policy_rules_every_share_of_the_queue(deployed: dict[str, Any], policy: dict[str, Any]) -> None:
    shares = deployed["SearchSchedulingPolicy"]["FairsharePolicy"]["ShareDistribution"]
    assert shares
    assert all(fnmatchcase(share["ShareIdentifier"], policy["share"]) for share in shares)


def test_the_policy_for_quota_shares_is_the_same_but_for_its_queue_and_who_may_be_evicted(
    policy: dict[str, Any],
) -> None:
    quota = YAML(typ="safe").load(ROOT / "examples/quota-policy.yaml")
    assert {key for key in {*policy, *quota} if policy.get(key) != quota.get(key)} == {"queue", "preemption"}


def test_the_policy_reacts_to_the_alarm(deployed: dict[str, Any], policy: dict[str, Any]) -> None:
    alarm = deployed["RankerDriftAlarm"]["AlarmName"]
    assert [rule["boost"] for rule in policy["on_alarm"] if fnmatchcase(alarm, rule["alarm"])] == ["production"]
