"""How an event reaches its function, and where it ends when it cannot."""

import json
from dataclasses import fields
from typing import Any

from pointsman.aws.messages import BUCKET_SECONDS
from pointsman.aws.rollout_index import INDEX
from pointsman.inbound import ENDPOINTS
from pointsman.rollout_inbound import COMMAND, REQUEST
from pointsman.rollout_wake_ports import OpenRollout
from tests.template.stack import Stack, target

EVENTBRIDGE = "events.amazonaws.com"


def may_send(stack: Stack, queue: str, rule: str) -> bool:
    """Whether the queue's policy lets this rule of EventBridge send to it."""
    for policy in stack.of_type("AWS::SQS::QueuePolicy").values():
        if {"Ref": queue} not in policy["Queues"]:
            continue
        for statement in policy["PolicyDocument"]["Statement"]:
            sources = statement["Condition"]["ArnEquals"]["aws:SourceArn"]
            if (
                statement["Effect"] == "Allow"
                and statement["Principal"] == {"Service": EVENTBRIDGE}
                and statement["Action"] == "sqs:SendMessage"
                and statement["Resource"] == {"Fn::GetAtt": [queue, "Arn"]}
                and {"Fn::GetAtt": [rule, "Arn"]} in (sources if isinstance(sources, list) else [sources])
            ):
                return True
    return False


def may_invoke(stack: Stack, function: str, rule: str) -> bool:
    """Whether the function lets this rule of EventBridge invoke it."""
    return {
        "Action": "lambda:InvokeFunction",
        "FunctionName": {"Ref": function},
        "Principal": EVENTBRIDGE,
        "SourceArn": {"Fn::GetAtt": [rule, "Arn"]},
    } in stack.of_type("AWS::Lambda::Permission").values()


def test_every_rule_may_reach_its_targets_and_their_dead_letters(stack: Stack) -> None:
    rules = stack.of_type("AWS::Events::Rule")
    assert set(rules) == {"JobStateRule", "AlarmRule", "EndpointStateRule", "CommandRule", "MinuteRule"}
    for name, rule in rules.items():
        assert rule["Targets"]
        for reached in rule["Targets"]:
            there = target(reached["Arn"])
            assert may_send(stack, there, name) if there in stack.queues else may_invoke(stack, there, name)
            assert may_send(stack, target(reached["DeadLetterConfig"]["Arn"]), name)


def test_the_job_rule_knows_service_jobs_and_container_jobs(stack: Stack) -> None:
    pattern = stack.resources["JobStateRule"]["Properties"]["EventPattern"]
    assert pattern == {
        "source": ["aws.batch"],
        "detail-type": [
            "Batch Service Job State Change",
            "Batch Service Job Queue Blocked",
            "Batch Service Job Preemption Started",
            "Batch Service Job Preemption Completed",
            "Batch Job State Change",
            "Batch Job Queue Blocked",
        ],
    }


def test_commands_come_by_our_own_bus_and_from_anybody_who_may_put_events_on_it(stack: Stack) -> None:
    rules = stack.of_type("AWS::Events::Rule")
    assert [name for name, rule in rules.items() if "EventBusName" in rule] == ["CommandRule"]
    assert target(rules["CommandRule"]["EventBusName"]) == "Bus"
    assert rules["CommandRule"]["EventPattern"] == {"detail-type": [REQUEST, COMMAND]}


def test_endpoints_are_heard_of_by_the_function_that_hears_of_alarms(stack: Stack) -> None:
    rules = stack.of_type("AWS::Events::Rule")
    assert rules["EndpointStateRule"]["EventPattern"] == {"source": ["aws.sagemaker"], "detail-type": list(ENDPOINTS)}
    assert rules["EndpointStateRule"]["Targets"] == rules["AlarmRule"]["Targets"]


def test_the_index_of_open_rollouts_has_what_a_waker_reads(stack: Stack) -> None:
    (index,) = stack.of_type("AWS::DynamoDB::Table")["ControlTable"]["GlobalSecondaryIndexes"]
    assert index["IndexName"] == INDEX
    assert [key["AttributeName"] for key in index["KeySchema"]] == ["open", "next_wake_at"]
    wanted = {"phase", "generation", "unsent", "alarms", "endpoints"}
    assert set(index["Projection"]["NonKeyAttributes"]) == wanted
    assert {field.name for field in fields(OpenRollout)} - {"rollout", "next_wake_at"} == wanted


def test_every_consumer_of_a_queue_reports_partial_failures(stack: Stack) -> None:
    mappings = stack.of_type("AWS::Lambda::EventSourceMapping")
    assert {(target(m["EventSourceArn"]), target(m["FunctionName"])) for m in mappings.values()} == {
        ("JobEventsQueue", "RecordJobsFunction"),
        ("QueueWakesQueue", "PrioritizeQueueFunction"),
    }
    for mapping in mappings.values():
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_every_consumer_may_read_its_own_queue(stack: Stack) -> None:
    for mapping in stack.of_type("AWS::Lambda::EventSourceMapping").values():
        first = stack.statements(target(mapping["FunctionName"]))[0]
        assert first["Action"] == ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
        assert first["Resource"] == mapping["EventSourceArn"]


def test_a_message_stays_hidden_for_six_times_as_long_as_its_consumer_may_take(stack: Stack) -> None:
    for mapping in stack.of_type("AWS::Lambda::EventSourceMapping").values():
        queue, function = (
            stack.queues[target(mapping["EventSourceArn"])],
            stack.functions[target(mapping["FunctionName"])],
        )
        window = mapping.get("MaximumBatchingWindowInSeconds", 0)
        assert queue["VisibilityTimeout"] >= 6 * function["Timeout"] + window


def test_a_wake_shows_when_its_bucket_has_closed_and_the_next_one_is_another(stack: Stack) -> None:
    wakes = stack.queues["QueueWakesQueue"]
    assert wakes["DelaySeconds"] == BUCKET_SECONDS
    assert wakes["ContentBasedDeduplication"] is False


def test_a_queue_redrives_to_one_of_its_own_kind(stack: Stack) -> None:
    for queue in stack.queues.values():
        if "RedrivePolicy" in queue:
            dead = stack.queues[target(queue["RedrivePolicy"]["deadLetterTargetArn"])]
            assert dead.get("FifoQueue") == queue.get("FifoQueue")
            assert queue["RedrivePolicy"]["maxReceiveCount"] == 5


def test_every_queue_is_encrypted_with_a_key_that_eventbridge_can_use(stack: Stack) -> None:
    for queue in stack.queues.values():
        assert stack.value(queue["SqsManagedSseEnabled"]) is True
        assert stack.value(queue["KmsMasterKeyId"]) == {"Ref": "AWS::NoValue"}


def test_every_dead_letter_queue_keeps_its_messages_longest_and_has_an_alarm(stack: Stack) -> None:
    dead = {name for name, queue in stack.queues.items() if "RedrivePolicy" not in queue}
    assert dead == {"DeadLettersQueue", "QueueWakesDeadLetterQueue"}
    alarms = stack.of_type("AWS::CloudWatch::Alarm").values()
    for name in dead:
        assert stack.queues[name]["MessageRetentionPeriod"] == 14 * 86400
        watched = {"Name": "QueueName", "Value": {"Fn::GetAtt": [name, "QueueName"]}}
        assert [alarm["Threshold"] for alarm in alarms if watched in alarm["Dimensions"]] == [0]


def test_alarms_notify_the_topic_only_when_there_is_one(stack: Stack) -> None:
    for alarm in stack.of_type("AWS::CloudWatch::Alarm").values():
        assert alarm["AlarmActions"] == {
            "Fn::If": ["HasAlarmTopic", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]
        }


def test_the_cache_may_go_and_the_truth_is_retained(stack: Stack) -> None:
    jobs, control = stack.resources["JobsTable"], stack.resources["ControlTable"]
    assert (jobs["DeletionPolicy"], jobs["UpdateReplacePolicy"]) == ("Delete", "Delete")
    assert (control["DeletionPolicy"], control["UpdateReplacePolicy"]) == ("Retain", "Retain")
    assert control["Properties"]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    for table in (jobs, control):
        assert table["Properties"]["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}


def test_the_outputs_are_what_the_command_asks_a_stack_for(stack: Stack) -> None:
    assert {name: output["Value"] for name, output in stack.outputs.items()} == {
        "JobsTable": {"Ref": "JobsTable"},
        "ControlTable": {"Fn::If": ["MakesControlTable", {"Ref": "ControlTable"}, {"Ref": "ExistingTable"}]},
        "JobEventsUrl": {"Ref": "JobEventsQueue"},
        "QueueWakesUrl": {"Ref": "QueueWakesQueue"},
        "DeadLettersUrl": {"Ref": "DeadLettersQueue"},
        "DeadWakesUrl": {"Ref": "QueueWakesDeadLetterQueue"},
        "RelayAlarmFunction": {"Ref": "RelayAlarmFunction"},
        "WakeDueFunction": {"Ref": "WakeDueFunction"},
        "CommandRolloutFunction": {"Ref": "CommandRolloutFunction"},
        "RolloutStateMachine": {"Ref": "RolloutStateMachine"},
        "RolloutRole": {"Fn::GetAtt": ["AdvanceRolloutFunctionRole", "Arn"]},
        "Bus": {"Fn::GetAtt": ["Bus", "Name"]},
        "NoticesTopic": {"Ref": "NoticesTopic"},
    }


def test_a_lint_rule_is_excused_only_in_its_own_resource_and_with_a_reason(
    written: dict[str, Any], template_lines: list[str]
) -> None:
    excuses = [line for line in template_lines if "ignore_checks" in line]
    assert all("] # " in line for line in excuses)
    in_resources = [
        resource for resource in written["Resources"].values() if "cfn-lint" in json.dumps(resource.get("Metadata", {}))
    ]
    assert len(excuses) == len(in_resources)
