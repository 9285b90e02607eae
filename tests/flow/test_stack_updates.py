"""An update of a stack writes weights and borrow limits as its template has them; passes set them again."""

import json

import pytest
from click.testing import CliRunner

from pointsman_cli.main import cli
from tests.flow.day import QUEUE, ROOT, Day, opened

pytestmark = pytest.mark.filterwarnings("ignore:Tried to parse")  # moto, of types that the emulator reads itself
EXAMPLE = ROOT / "examples/batch.yaml"
QUOTA = ROOT / "tests/emulator/stack/quota.yaml"
CLASSES = [{"name": "all", "match": {"share": "all", "job_name": "sweep-*"}, "weight": 2}]


def update(day: Day, stack: str, text: str, **parameters: str) -> None:
    given = [{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()]
    day.aws.client("cloudformation").update_stack(StackName=stack, TemplateBody=text, Parameters=given)


def told(queue: str) -> list[str]:
    """What `pointsman doctor` says of settings of the queue that are not as they should be."""
    result = CliRunner().invoke(cli, ["doctor", "--queue", queue, "--stack", "pointsman", "--json"])
    findings = json.loads(result.stdout)["findings"]
    return [one["what"] for one in findings if one["place"] == queue and "template" in one["remedy"]]


def test_the_weights_of_the_example_are_set_again_after_an_update_of_its_stack() -> None:
    with opened() as day:
        day.apply(across_shares="weights", on_alarm=[], classes=CLASSES)
        day.submit("sweep-0")
        day.pass_minutes(3)
        batch = day.aws.client("batch")
        assert told(QUEUE) == []

        changed = EXAMPLE.read_text().replace(
            "FairsharePolicy:\n", "FairsharePolicy:\n        ComputeReservation: 10\n"
        )
        update(day, "search", changed, MaxInstances="4")
        assert told(QUEUE) == ["its weights are not those of its policy until the queue acts: all 1 instead of 2"]

        day.pass_minutes(7)
        (policy,) = batch.describe_scheduling_policies(
            arns=[found["arn"] for found in batch.list_scheduling_policies()["schedulingPolicies"]]
        )["schedulingPolicies"]
        assert policy["fairsharePolicy"]["shareDistribution"] == [{"shareIdentifier": "all", "weightFactor": 2.0}]
        assert policy["fairsharePolicy"]["computeReservation"] == 10, "what the update was for stays"
        assert told(QUEUE) == []
        assert not day.aws.failures


def test_what_an_alarm_lets_a_share_borrow_is_set_again_and_given_back_after_it() -> None:
    with opened() as day:
        day.aws.deploy(QUOTA, "quotas", {})
        rule = {"alarm": "ranker-drift-*", "share": "search", "borrow_limit": 400}
        classes = [{"name": "production", "match": {"job_name": "prod-*"}}]
        day.apply("training", share="search", spread="0m", reservation=None, classes=classes, on_alarm=[rule])
        day.drift(0, 20)
        day.pass_minutes(12)
        assert share(day)["borrowLimit"] == 400

        update(day, "quotas", QUOTA.read_text().replace("MaxCapacity: 1", "MaxCapacity: 2"))
        assert share(day)["borrowLimit"] == 200
        assert told("training") == [
            "the borrow limit of share search is 200, and was set to 400 (alarm ranker-drift-search)"
        ]
        day.pass_minutes(5)
        assert share(day) == {"strategy": "LEND_AND_BORROW", "borrowLimit": 400}
        day.pass_minutes(16)
        assert share(day)["borrowLimit"] == 200
        assert told("training") == []


def share(day: Day) -> dict[str, object]:
    (found,) = day.aws.client("batch").list_quota_shares(jobQueue="training")["quotaShares"]
    return dict(found["resourceSharingConfiguration"])
