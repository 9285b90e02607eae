"""What the roles allow, held against the calls of emulated hours of queues and of rollouts, both ways."""

import pytest
from cfnlint.data import AdditionalSpecs
from cfnlint.helpers import load_resource

from tests.iam import listed
from tests.template.calls import UNSCOPED
from tests.template.permission_table import NOBODY, PAGE, Grant, Table, shown, table
from tests.template.reached import ENTRIES, OFFERED, reached
from tests.template.stack import ROOT, Stack, target

# What no scenario is seen to ask for, by action and what it is on, each with its reason.
READS_ITS_QUEUE = "Lambda reads the queue, under the function's role"
NOT_SEEN = {
    ("RecordJobsFunction", "sqs:ReceiveMessage", "JobEventsQueue"): READS_ITS_QUEUE,
    ("RecordJobsFunction", "sqs:DeleteMessage", "JobEventsQueue"): READS_ITS_QUEUE,
    ("RecordJobsFunction", "sqs:GetQueueAttributes", "JobEventsQueue"): READS_ITS_QUEUE,
    ("PrioritizeQueueFunction", "sqs:ReceiveMessage", "QueueWakesQueue"): READS_ITS_QUEUE,
    ("PrioritizeQueueFunction", "sqs:DeleteMessage", "QueueWakesQueue"): READS_ITS_QUEUE,
    ("PrioritizeQueueFunction", "sqs:GetQueueAttributes", "QueueWakesQueue"): READS_ITS_QUEUE,
    ("WakeDueFunction", "sqs:SendMessage", "DeadLettersQueue"): (
        "Lambda sends there what failed for good, under the function's role"
    ),
    ("RolloutStateMachine", "states:StartExecution", "RolloutStateMachine"): (
        "an execution starts its successor after thousands of passes: tests/flow/test_rollout_successors.py"
    ),
    **{
        ("AdvanceRolloutFunction", f"cloudwatch:{action}", "alarm:pointsman-kill-*"): "of a release before"
        for action in ("PutMetricAlarm", "SetAlarmState", "DeleteAlarms")
    },
}
# What a loop can come to, and no scenario does, by function; each with its reason.
NOT_PLAYED = {
    ("CommandRolloutFunction", "SageMakerFleet.tags"): "only a plan asks for tags",
}
# What no function comes to: only the command asks for it, under the rights of its caller; or adapters ask each other.
BY_THE_COMMAND = {
    "DynamoControl.go_on",
    "DynamoControl.policy_version",
    "DynamoControl.put_pin",
    "DynamoControl.put_policy",
    "DynamoControl.remove_pin",
    "DynamoControl.stand_still",
    "DynamoControl.standstill",
    "DynamoDayTable.days",
    "DynamoRolloutTable.journal",
}
BY_ADAPTERS = {"Ec2InstanceTypes.gpus", "Ec2Shapes.shape", "IamPermissions.simulate"}
# What the functions change outside their own stack. `uninstall` gives it back, or a rollout has by its end.
OURS = {"dynamodb", "lambda", "logs", "sns", "sqs", "states"}
READS = ("Describe", "Get", "List", "BatchGetImage", "Simulate")
CHANGES = {
    "application-autoscaling:RegisterScalableTarget",
    "batch:UpdateQuotaShare",
    "batch:UpdateSchedulingPolicy",
    "batch:UpdateServiceJob",
    "cloudwatch:DeleteAlarms",
    "cloudwatch:PutMetricAlarm",
    "cloudwatch:SetAlarmState",
    "sagemaker:UpdateInferenceComponent",
    "sagemaker:UpdateInferenceComponentRuntimeConfig",
}
CALLS = ("queue_calls", "rollout_calls", "verb_calls")
DELIVERS_LOGS = "Step Functions sets up the delivery of the machine's log, under its role"


def is_excused(grant: Grant) -> bool:
    """Whether this grant is used by the platform, or where no scenario comes."""
    delivers = grant.caller == "RolloutStateMachine" and grant.action.startswith("logs:")
    return delivers or (grant.caller, grant.action, grant.on) in NOT_SEEN


@pytest.fixture(scope="module")
def permissions() -> Table:
    """Every scenario, played."""
    return table()


def test_no_call_is_made_without_a_grant(permissions: Table) -> None:
    assert [grant for grant in permissions.used if grant.by == NOBODY] == []


def test_no_action_is_granted_that_nobody_calls_and_no_resource_that_nobody_touches(permissions: Table) -> None:
    actions = {(grant.caller, grant.by, grant.action) for grant in permissions.used}
    resources = {(grant.caller, grant.by, grant.on) for grant in permissions.used}
    idle = {
        grant
        for grant in permissions.given
        if (grant.caller, grant.by, grant.action) not in actions or (grant.caller, grant.by, grant.on) not in resources
    }
    assert {grant for grant in idle if not is_excused(grant)} == set()
    excused = {(grant.caller, grant.action, grant.on) for grant in idle if "logs:" not in grant.action}
    assert excused == set(NOT_SEEN), "what is seen by now needs no excuse"


def test_whatever_a_function_can_come_to_is_played(permissions: Table) -> None:
    """So that what it calls then is held against its role; what is not played needs a reason."""
    can = {(function, method) for function in ENTRIES for method in reached(function)}
    assert can - permissions.came == set(NOT_PLAYED)
    assert permissions.came <= can, "what was read of the loops is not all"


def test_whatever_the_ports_offer_is_asked_for_by_a_function_or_by_the_command(stack: Stack) -> None:
    assert set(ENTRIES) == set(stack.functions)
    assert OFFERED - set().union(*map(reached, ENTRIES)) == BY_THE_COMMAND | BY_ADAPTERS


def test_the_page_has_the_table_as_it_is_played(permissions: Table) -> None:
    """`make permissions` writes it anew."""
    assert shown(PAGE.read_text()) == list(permissions.lines())


def test_the_page_gives_every_reason() -> None:
    text = PAGE.read_text()
    for (caller, action, on), reason in NOT_SEEN.items():
        assert all(part in text for part in (f"`{caller}`", f"`{action}`", f"`{on}`", reason))
    for action, reason in UNSCOPED.items():
        assert f"`{action}`" in text
        assert reason in text
    assert DELIVERS_LOGS in text


def test_whatever_is_changed_outside_the_stack_is_given_back_by_someone(permissions: Table) -> None:
    """A new right to change something there needs a line in `uninstall`, and in its page."""
    parts = {grant.action: grant.action.split(":") for grant in permissions.given}
    changing = {
        action for action, (service, name) in parts.items() if service not in OURS and not name.startswith(READS)
    }
    assert changing == CHANGES
    page = (ROOT / "docs/deploy.md").read_text()
    assert {action for action in CHANGES if f"`{action}`" not in page} == set()


def test_every_function_has_a_role_of_its_own_and_every_statement_a_name(stack: Stack) -> None:
    roles = [target(function["Role"]) for function in stack.functions.values()]
    assert len(set(roles)) == len(roles) == len(stack.functions)
    for function in stack.functions:
        names = [statement["Sid"] for statement in stack.statements(function)]
        assert len(set(names)) == len(names)


def test_what_is_not_scoped_cannot_be_or_hides_what_is_needed_when_it_is() -> None:
    """Against AWS's own reference of actions, as cfn-lint ships it."""
    reference = load_resource(AdditionalSpecs, "Policies.json")
    narrow = set()
    for action in UNSCOPED:
        service, name = action.lower().split(":")
        if reference[service]["Actions"][name].get("Resources"):
            narrow.add(action)
    assert narrow == {"cloudwatch:DescribeAlarms", "cloudwatch:DescribeAlarmHistory", "cloudwatch:GetMetricData"}
    assert {UNSCOPED[action] for action in set(UNSCOPED) - narrow} == {"IAM knows no resource for it"}


def test_every_action_is_one_that_iam_knows(permissions: Table) -> None:
    reference = load_resource(AdditionalSpecs, "Policies.json")
    for grant in permissions.given:
        service, name = grant.action.lower().split(":")
        assert name in reference[service]["Actions"], grant


def test_the_scenarios_are_where_the_page_says(permissions: Table) -> None:
    scenarios = set().union(*permissions.used.values())
    sources = [(ROOT / f"tests/template/{name}.py").read_text() for name in CALLS]
    text = PAGE.read_text()
    for scenario in scenarios:
        assert any(f'recorder.scenario = "{scenario}"' in source for source in sources)
        assert f"| {scenario} |" in text


def test_a_wildcard_stands_at_the_end_and_for_one_kind_of_resource_only(stack: Stack) -> None:
    for function in stack.functions:
        for statement in stack.statements(function):
            for resource in listed(statement["Resource"]):
                text = resource.get("Fn::Sub", "") if isinstance(resource, dict) else resource
                ends = [text] if isinstance(text, str) else []
                assert all("*" not in end.rstrip("*").replace("${AWS::Region}:*:", "") for end in ends), text
