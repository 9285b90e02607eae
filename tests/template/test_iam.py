"""The evaluation that the permission tests rest on, against what IAM's own guide says of each element."""

import pytest

from tests.iam import Statement, decide
from tests.template.calls import Asked
from tests.template.permission_table import NOBODY, Role

JOB = "arn:aws:batch:eu-west-1:123456789012:service-job/1"
ALLOW: Statement = {"Sid": "A", "Effect": "Allow", "Action": "batch:Update*", "Resource": JOB[:-1] + "*"}
CAPPED: Statement = {**ALLOW, "Condition": {"NumericLessThan": {"batch:SchedulingPriority": "4000"}}}
IF_EXISTS: Statement = {**ALLOW, "Condition": {"NumericLessThanIfExists": {"batch:SchedulingPriority": 4000}}}
DENY: Statement = {"Effect": "Deny", "Action": "*", "Resource": "*"}
KEYS = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["PIN#*"]}}
PINS: Statement = {**ALLOW, "Condition": KEYS}
PINS_ONLY: Statement = {**ALLOW, "Condition": {**KEYS, "Null": {"dynamodb:LeadingKeys": "false"}}}


@pytest.mark.parametrize(
    "case, statements, action, resource, context, decision",
    [
        ("silence is no", (), "batch:UpdateServiceJob", JOB, {}, "implicitDeny"),
        ("a pattern of actions", (ALLOW,), "batch:UpdateServiceJob", JOB, {}, "allowed"),
        ("an action is read in any case", (ALLOW,), "BATCH:updateservicejob", JOB, {}, "allowed"),
        ("another action", (ALLOW,), "batch:TerminateServiceJob", JOB, {}, "implicitDeny"),
        ("another resource", (ALLOW,), "batch:UpdateServiceJob", JOB.replace("eu", "us"), {}, "implicitDeny"),
        ("a deny wins", (ALLOW, DENY), "batch:UpdateServiceJob", JOB, {}, "explicitDeny"),
        ("below the cap", (CAPPED,), "batch:UpdateServiceJob", JOB, {"batch:SchedulingPriority": "100"}, "allowed"),
        ("at it", (CAPPED,), "batch:UpdateServiceJob", JOB, {"batch:SchedulingPriority": "4000"}, "implicitDeny"),
        ("numbers are no texts", (CAPPED,), "batch:UpdateX", JOB, {"batch:SchedulingPriority": "999"}, "allowed"),
        ("a key that is not there", (CAPPED,), "batch:UpdateServiceJob", JOB, {}, "implicitDeny"),
        ("and need not be", (IF_EXISTS,), "batch:UpdateServiceJob", JOB, {}, "allowed"),
        ("all values of a key", (PINS,), "batch:UpdateX", JOB, {"dynamodb:LeadingKeys": "STOP"}, "implicitDeny"),
        ("all of none", (PINS,), "batch:UpdateX", JOB, {}, "allowed"),
        ("there must be one", (PINS_ONLY,), "batch:UpdateX", JOB, {}, "implicitDeny"),
    ],
)
def test_a_call_under_statements(
    case: str, statements: tuple[Statement, ...], action: str, resource: str, context: dict[str, str], decision: str
) -> None:
    assert decide(statements, action, resource, context) == decision, case


@pytest.mark.parametrize(
    "statement", [{**ALLOW, "NotResource": "*"}, {**ALLOW, "Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}}]
)
def test_what_is_not_evaluated_is_said_and_not_guessed(statement: Statement) -> None:
    with pytest.raises(ValueError, match="not evaluated here"):
        decide([statement], "batch:UpdateServiceJob", JOB)


def test_a_call_that_no_statement_allows_is_a_line_of_the_table_that_says_so() -> None:
    role = Role((ALLOW,), {})
    assert role.answers(Asked("F", "batch:UpdateServiceJob", JOB)).by == "A"
    assert role.answers(Asked("F", "batch:TerminateServiceJob", JOB)).by == NOBODY
    assert role.answers(Asked("F", "batch:UpdateServiceJob", "arn:aws:batch:::job-queue/q")).by == NOBODY
