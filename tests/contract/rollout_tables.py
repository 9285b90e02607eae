"""The table that rollouts are kept in, as the template has it."""

from typing import Any

from pointsman.aws.clients import Clients


def make_rollout_table(aws: Clients, written: dict[str, Any]) -> str:
    """Create the template's table, with the index that rollouts need; gives its name."""
    properties = dict(written["ControlTable"]["Properties"])
    for separate in ("TimeToLiveSpecification", "PointInTimeRecoverySpecification"):
        properties.pop(separate, None)
    if "GlobalSecondaryIndexes" not in properties:
        properties["AttributeDefinitions"] = [
            *properties["AttributeDefinitions"],
            {"AttributeName": "open", "AttributeType": "S"},
            {"AttributeName": "next_wake_at", "AttributeType": "N"},
        ]
        kept = ["phase", "generation", "unsent", "alarms", "endpoints"]
        properties["GlobalSecondaryIndexes"] = [
            {
                "IndexName": "open_by_next_wake",
                "KeySchema": [
                    {"AttributeName": "open", "KeyType": "HASH"},
                    {"AttributeName": "next_wake_at", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": kept},
            }
        ]
    aws.dynamodb.create_table(TableName="ControlTable", **properties)
    return "ControlTable"
