"""The template's parameters: what each changes; and the stack is created with none of them, and with all."""

import json
from typing import Any

import pytest
from moto.core.common_models import CloudFormationModel

from pointsman_emulator import Emulator
from pointsman_emulator.backends.registry import TYPES
from pointsman_emulator.templates import expand as expanded
from tests.template.stack import ROOT, Stack, expand

ACCOUNT = "123456789012"
BOUNDARY = f"arn:aws:iam::{ACCOUNT}:policy/boundary"
KEY = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"
TOPIC = f"arn:aws:sns:us-east-1:{ACCOUNT}:oncall"
TABLE = "pointsman-ControlTable-1ABC"
ALL = {"AlarmTopicArn": TOPIC, "PermissionsBoundaryArn": BOUNDARY, "KmsKeyArn": KEY, "ExistingTable": TABLE}
NO_VALUE = {"Ref": "AWS::NoValue"}

# What moto cannot create: of these the emulator makes alarms, and reads the others from the template itself.
UNKNOWN_TO_MOTO = {
    "AWS::CloudWatch::Alarm",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::SQS::QueuePolicy",
}


@pytest.fixture(scope="module")
def full() -> Stack:
    """The template with every parameter given."""
    return expand(**ALL)


def test_a_parameter_is_optional_and_says_what_it_is_for(written: dict[str, Any]) -> None:
    for declared in written["Parameters"].values():
        assert "Default" in declared
        assert declared["Description"].endswith(".")


@pytest.mark.parametrize("given", [{}, ALL, *({name: ALL[name]} for name in ALL)], ids="+".join)
def test_the_stack_is_created_as_cloudformation(given: dict[str, str]) -> None:
    with Emulator(seed=1) as aws:
        created = aws.deploy(ROOT / "template.yaml", "pointsman", given)
        iam, sqs = aws.client("iam"), aws.client("sqs")
        tables = aws.client("dynamodb").list_tables()["TableNames"]
        assert (created.outputs["ControlTable"] in tables) is ("ExistingTable" not in given)
        roles = [name for name in created.resources if name.endswith("Role")]
        assert len(roles) == 7
        for name in roles:
            role = iam.get_role(RoleName=created.resources[name])["Role"]
            bounds = role.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn")
            assert bounds == given.get("PermissionsBoundaryArn")
            inline = iam.list_role_policies(RoleName=role["RoleName"])["PolicyNames"]
            assert ("key" in inline) is ("KmsKeyArn" in given)
        for output in ("JobEventsUrl", "QueueWakesUrl", "DeadLettersUrl"):
            found = sqs.get_queue_attributes(QueueUrl=created.outputs[output], AttributeNames=["All"])["Attributes"]
            assert found.get("KmsMasterKeyId") == given.get("KmsKeyArn")


def test_what_moto_does_not_know_is_listed() -> None:
    known = {
        kind.cloudformation_type()
        for kind in CloudFormationModel.__subclasses__()
        if kind.__module__.startswith("moto.")
    }
    types = {resource["Type"] for resource in expand().resources.values()}
    assert types - known == UNKNOWN_TO_MOTO
    page = (ROOT / "docs/deploy.md").read_text()
    for example in ("batch", "inference"):
        plain = expanded(ROOT / f"examples/{example}.yaml", {}).template["Resources"]
        missing = {resource["Type"] for resource in plain.values()} - known
        assert missing <= {kind.cloudformation_type() for kind in TYPES}
        types |= {resource["Type"] for resource in plain.values()}
    assert {kind for kind in types if f"`{kind}`" in page} == types - known


def test_every_role_is_bounded_or_none_is(full: Stack, stack: Stack) -> None:
    for name, role in full.of_type("AWS::IAM::Role").items():
        assert full.value(role["PermissionsBoundary"]) == BOUNDARY, name
        assert stack.value(role["PermissionsBoundary"]) == NO_VALUE, name


ENCRYPTED = {
    "AWS::SQS::Queue": lambda one: one["KmsMasterKeyId"],
    "AWS::SNS::Topic": lambda one: one["KmsMasterKeyId"],
    "AWS::Logs::LogGroup": lambda one: one["KmsKeyId"],
    "AWS::DynamoDB::Table": lambda one: one["SSESpecification"],
}


@pytest.mark.parametrize("kind", ENCRYPTED)
def test_what_keeps_data_is_under_the_key_or_under_aws_s_own(full: Stack, stack: Stack, kind: str) -> None:
    own = {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": {"Ref": "KmsKeyArn"}}
    for name, properties in full.of_type(kind).items():
        given = full.value(ENCRYPTED[kind](properties))
        assert given == (own if kind == "AWS::DynamoDB::Table" else KEY), name
        assert stack.value(ENCRYPTED[kind](properties)) == NO_VALUE, name
        if kind == "AWS::SQS::Queue":
            assert full.value(properties["SqsManagedSseEnabled"]) == NO_VALUE, name


def test_with_a_key_every_role_may_use_it_and_only_through_what_is_encrypted(full: Stack) -> None:
    policy = full.resources["KeyPolicy"]
    assert policy["Condition"] == "HasKmsKey"
    properties = policy["Properties"]
    assert {role["Ref"] for role in properties["Roles"]} == set(full.of_type("AWS::IAM::Role"))
    (statement,) = properties["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Resource"]) == ("Allow", {"Ref": "KmsKeyArn"})
    assert len(statement["Condition"]["StringEquals"]["kms:ViaService"]) == 3


def test_an_existing_table_takes_the_place_of_a_new_one_wherever_it_is_named(full: Stack) -> None:
    decided = json.dumps(full.decided())
    for reference in ('{"Ref": "ControlTable"}', '{"Fn::GetAtt": ["ControlTable"', "${ControlTable"):
        assert reference not in decided
    for name in ("RelayAlarmFunction", "WakeDueFunction", "CommandRolloutFunction", "AdvanceRolloutFunction"):
        assert full.environment(name)["CONTROL_TABLE"] == TABLE


def test_the_example_key_lets_in_the_services_that_ask_in_nobody_s_name() -> None:
    policy = expanded(ROOT / "examples/key.yaml", {}).template["Resources"]["Key"]["Properties"]["KeyPolicy"]
    services = {json.dumps(s["Principal"].get("Service")): s["Action"] for s in policy["Statement"]}
    assert set(services['"events.amazonaws.com"']) == {"kms:GenerateDataKey", "kms:Decrypt"}
    assert '{"Fn::Sub": "logs.${AWS::Region}.amazonaws.com"}' in services
