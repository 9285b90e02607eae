"""How a deployment is found in an account (moto's), and what is said when it is not."""

from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result
from moto import mock_aws

from pointsman_cli.access import Target
from pointsman_cli.deployment import AwsAccess
from pointsman_cli.main import cli

TEMPLATE = """
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: jobs-1
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
Outputs:
  JobsTable: {Value: !Ref Table}
"""
ALL_OUTPUTS = f"""{TEMPLATE}
  ControlTable: {{Value: control-1}}
  QueueWakesUrl: {{Value: "https://sqs/wakes"}}
  DeadLettersUrl: {{Value: "https://sqs/dead"}}
"""


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    for name in ("AWS_PROFILE", "AWS_REGION", "POINTSMAN_STACK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with mock_aws():
        yield monkeypatch


def deploy(template: str) -> None:
    import boto3

    boto3.client("cloudformation").create_stack(StackName="pointsman", TemplateBody=template)


def show(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": None}).invoke(cli, ["queue", "show", "q", *words])


@pytest.mark.usefixtures("account")
def test_a_stack_is_found_by_its_outputs() -> None:
    deploy(ALL_OUTPUTS)
    with AwsAccess().open(Target("pointsman")) as found:
        settings = found.settings
    assert (settings.jobs_table, settings.control_table) == ("jobs-1", "control-1")
    assert (settings.queue_wakes_url, settings.dead_letters_url) == ("https://sqs/wakes", "https://sqs/dead")


@pytest.mark.usefixtures("account")
def test_the_caller_is_who_aws_says() -> None:
    assert AwsAccess().caller(Target("pointsman")).startswith("arn:aws:sts::123456789012:")


@pytest.mark.usefixtures("account")
def test_no_stack_at_all_is_the_askers_mistake() -> None:
    message = (
        "Error: --stack: no deployment is named (name its stack by --stack or POINTSMAN_STACK; "
        "without an AWS account, try --demo-at 14h)\n"
    )
    assert (show().stderr, show().exit_code) == (message, 2)


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("before", [(), ("--demo-at", "0s")])
def test_what_takes_a_deployment_away_can_only_be_told_which(before: tuple[str, ...]) -> None:
    result = CliRunner().invoke(cli, [*before, "uninstall"])
    message = "Error: --stack: no deployment is named (name its stack by --stack or POINTSMAN_STACK)\n"
    assert (result.stderr, result.exit_code) == (message, 2)


@pytest.mark.usefixtures("account")
def test_a_stack_that_is_not_there_is_the_askers_mistake() -> None:
    result = show("--stack", "nope")
    message = "Error: nope: there is no such stack in eu-west-1 (is the region right?)\n"
    assert (result.stderr, result.exit_code) == (message, 2)


@pytest.mark.usefixtures("account")
def test_a_stack_of_something_else_is_no_deployment() -> None:
    deploy(TEMPLATE)
    result = show("--stack", "pointsman")
    assert result.exit_code == 4
    assert "no output ControlTable, QueueWakesUrl, DeadLettersUrl: it is not a deployment of Pointsman" in result.stderr


def test_no_region_is_the_askers_mistake(account: pytest.MonkeyPatch) -> None:
    account.delenv("AWS_DEFAULT_REGION")
    result = show("--stack", "pointsman")
    message = "Error: AWS: no region is set (set AWS_DEFAULT_REGION, or AWS_PROFILE to a profile with one)\n"
    assert (result.stderr, result.exit_code) == (message, 2)


def test_a_profile_that_is_not_there_is_the_askers_mistake(account: pytest.MonkeyPatch) -> None:
    account.setenv("AWS_PROFILE", "nobody")
    result = show("--stack", "pointsman")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "nobody" in result.stderr


@pytest.mark.usefixtures("account")
def test_an_address_that_is_none_is_the_askers_mistake() -> None:
    result = show("--stack", "pointsman", "--endpoint-url", "here")
    assert (result.stderr, result.exit_code) == ("Error: --endpoint-url: Invalid endpoint: here\n", 2)


def test_an_address_where_nobody_answers_is_aws_out_of_reach(account: pytest.MonkeyPatch) -> None:
    account.setenv("AWS_MAX_ATTEMPTS", "1")
    result = show("--stack", "pointsman", "--endpoint-url", "http://127.0.0.1:9")
    assert (result.exit_code, result.stderr.count("\n")) == (3, 1)
    assert result.stderr.startswith("Error: AWS could not be reached")
