"""A stand-in for a pass: it plays what the rollout's record says comes next, one step a pass."""

import json
import os
from typing import Any

import boto3

ENDS = ("SUCCEEDED", "REJECTED", "STOPPED", "ROLLED_BACK", "ROLLBACK_INCOMPLETE", "SUPERSEDED")


def handler(event: dict[str, Any], _: object) -> dict[str, Any]:
    table = boto3.client("dynamodb")
    key = {"pk": {"S": f"ROLLOUT#{event['rollout_id']}"}, "sk": {"S": "ROLLOUT"}}
    where = {"TableName": os.environ["CONTROL_TABLE"], "Key": key}
    item = table.get_item(**where, ConsistentRead=True)["Item"]
    steps, rev = json.loads(item["steps"]["S"]), int(item["rev"]["N"])
    step = steps[min(rev, len(steps) - 1)]
    table.update_item(
        **where,
        UpdateExpression="SET rev = rev + :one" + (", generation = :successor" if "successor" in step else ""),
        ExpressionAttributeValues={":one": {"N": "1"}}
        | ({":successor": {"N": str(step["successor"])}} if "successor" in step else {}),
    )
    if "raises" in step:
        raise type(step["raises"], (Exception,), {})("as told")
    return {
        **event,
        "phase": step["phase"],
        "wake_seq": int(item["wake_seq"]["N"]),
        "wait_seconds": step.get("wait", 60),
        "ended": step["phase"] in ENDS,
        "successor": step.get("successor"),
    }
