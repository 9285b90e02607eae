"""The example policy for people: what they may submit, and that the verbs which look and pin need no more than it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman.queues.moves import RESERVED
from pointsman.queues.standby import LOWEST
from pointsman_cli.main import cli
from pointsman_emulator.environment import ACCOUNT, REGION
from tests.flow.day import QUEUE, ROOT, Day, opened
from tests.iam import Statement, decide
from tests.template.calls import recorded

PEOPLE = "people"
BATCH = f"arn:aws:batch:{REGION}:{ACCOUNT}"
JOB, SUBMITTED_TO = f"{BATCH}:service-job/1", f"{BATCH}:job-queue/{QUEUE}"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/training"


@pytest.fixture(scope="module")
def day() -> Iterator[Day]:
    with opened() as opened_day:
        opened_day.apply()
        for number in range(6):
            opened_day.submit(f"sweep-{number}", 2)
        opened_day.add_quota_queue("quota")
        opened_day.apply("quota", share="team*", spread="0m", reservation=None, on_alarm=[])
        opened_day.pass_minutes(2)
        yield opened_day


@pytest.fixture(scope="module")
def policy(day: Day) -> tuple[Statement, ...]:
    """The statements of the deployed policy, every reference resolved."""
    outputs = day.stack.outputs
    given = {"Stack": "pointsman", "TrainingRole": ROLE}
    given |= {name: outputs[name] for name in ("ControlTable", "JobsTable")}
    deployed = day.aws.deploy(ROOT / "examples/people.yaml", "people", given)
    arn = deployed.outputs["PolicyArn"]
    document: Any = day.aws.client("iam").get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]["Document"]
    return tuple((json.loads(document) if isinstance(document, str) else document)["Statement"])


def may(policy: tuple[Statement, ...], action: str, resource: str, priority: int | None = None) -> str:
    return decide(policy, action, resource, {} if priority is None else {"batch:SchedulingPriority": str(priority)})


@pytest.mark.parametrize("action", ["batch:SubmitServiceJob", "batch:UpdateServiceJob"])
def test_people_s_priorities_stay_below_those_of_pointsman(policy: tuple[Statement, ...], action: str) -> None:
    allowed = {number: may(policy, action, JOB, number) for number in (0, 100, 3999, 4000, 4997, 4998, 4999, 5000)}
    assert {number for number, decision in allowed.items() if decision == "allowed"} == {0, 100, 3999}
    assert {decision for number, decision in allowed.items() if number >= 4000} == {"explicitDeny"}
    assert LOWEST == 4000 < RESERVED == 4998


def test_a_job_may_be_submitted_without_a_priority_and_none_is_changed_without_one(
    policy: tuple[Statement, ...],
) -> None:
    assert may(policy, "batch:SubmitServiceJob", SUBMITTED_TO) == "allowed"
    assert may(policy, "batch:UpdateServiceJob", JOB) == "implicitDeny"


def test_another_policy_that_allows_everything_does_not_lift_the_cap(policy: tuple[Statement, ...]) -> None:
    everything: Statement = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    assert may((*policy, everything), "batch:UpdateServiceJob", JOB, 4999) == "explicitDeny"
    assert may((*policy, everything), "batch:UpdateServiceJob", JOB, 100) == "allowed"


def test_only_the_training_role_is_passed_and_to_sagemaker_only(policy: tuple[Statement, ...]) -> None:
    to_sagemaker = {"iam:PassedToService": "sagemaker.amazonaws.com"}
    assert decide(policy, "iam:PassRole", ROLE, to_sagemaker) == "allowed"
    assert decide(policy, "iam:PassRole", ROLE, {"iam:PassedToService": "ec2.amazonaws.com"}) == "implicitDeny"
    assert decide(policy, "iam:PassRole", f"{ROLE}-other", to_sagemaker) == "implicitDeny"


def run(day: Day, *words: str) -> None:
    """One verb, as people."""
    with day.aws.gateway.acting_as(PEOPLE):
        result = CliRunner().invoke(cli, [*words, "--stack", "pointsman"])
    assert result.exit_code in (0, 1), result.output
    assert not result.exception or isinstance(result.exception, SystemExit), words


LOOKS = [
    ("queue", "show", QUEUE),
    ("queue", "plan", QUEUE),
    ("queue", "explain", QUEUE, "sweep-5"),
    ("queue", "show", "quota"),
    ("queue", "history", QUEUE),
    ("policy", "show", QUEUE),
    ("policy", "versions", QUEUE),
    ("rollout", "list"),
    ("report", QUEUE),
    ("queue", "pin", QUEUE, "sweep-5", "--for", "2h"),
    ("queue", "demote", QUEUE, "sweep-5", "--for", "2h"),
    ("queue", "unpin", QUEUE, "sweep-5"),
]


def test_the_verbs_that_look_and_pin_need_no_more_than_the_policy(
    day: Day, policy: tuple[Statement, ...], tmp_path: Any
) -> None:
    with recorded(day.aws) as recorder:
        for words in LOOKS:
            recorder.scenario = " ".join(words)
            run(day, *words)
        recorder.scenario = "queue explain, of a job that is only a second old"
        run(day, "queue", "explain", QUEUE, day.submit("fresh"))
        recorder.scenario = "queue export"
        run(day, "queue", "export", QUEUE, "--out", str(tmp_path / "past.csv"))
    asked = {one: verbs for one, verbs in recorder.asked.items() if one.caller == PEOPLE}
    denied = {
        f"{one.action} on {one.resource} {dict(one.context)}": verbs
        for one, verbs in asked.items()
        if decide(policy, one.action, one.resource, dict(one.context)) != "allowed"
    }
    assert denied == {}
    looked = {one.action for one in asked}
    granted = {action for s in policy if s["Sid"] in FOR_VERBS for action in _listed(s["Action"])}
    assert granted == looked, "nothing is granted for a verb that none of them calls"


FOR_VERBS = {"FindTheDeployment", "LookAtWhatIsKnown", "LookAtQueues", "LookAround", "PinJobs", "MakeQueuesDue"}


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    "kind", ["POLICY#search-training", "STOP", "MOVE#search-training", "ROLLOUT#chat-v2", "QUEUES"]
)
def test_of_the_truth_people_write_pins_only(day: Day, policy: tuple[Statement, ...], kind: str) -> None:
    table = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{day.stack.outputs['ControlTable']}"
    for action in ("dynamodb:PutItem", "dynamodb:DeleteItem", "dynamodb:UpdateItem"):
        assert decide(policy, action, table, {"dynamodb:LeadingKeys": kind}) == "implicitDeny"
    assert decide(policy, "dynamodb:PutItem", table) == "implicitDeny"
    assert decide(policy, "dynamodb:PutItem", table, {"dynamodb:LeadingKeys": "PIN#search-training"}) == "allowed"
