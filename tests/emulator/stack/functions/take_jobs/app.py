"""Writes each job's state down, and wakes its queue."""

# ruff: noqa: T201, ARG001 - a function prints its log, and takes a context

import json
import os
import time
from typing import Any

import boto3
from sample_shared import remembered

TABLE = boto3.client("dynamodb")
SQS = boto3.client("sqs")


def handler(event: Any, context: Any) -> Any:
    """Take a batch; a message that says `poison` is reported, one that says `crash` raises."""
    failures = []
    for record in event["Records"]:
        body = json.loads(record["body"])
        if body.get("crash"):
            raise RuntimeError("crashed")
        if body.get("poison"):
            failures.append({"itemIdentifier": record["messageId"]})
            continue
        detail = body["detail"]
        TABLE.put_item(
            TableName=os.environ["TABLE"],
            Item={"pk": {"S": detail["jobId"]}, "status": {"S": detail["status"]}, "at": {"S": body["time"]}},
        )
        SQS.send_message(
            QueueUrl=os.environ["WAKES"],
            MessageBody=json.dumps({"queue": detail["jobQueue"]}),
            MessageGroupId="q",
            MessageDeduplicationId=f"q/{int(time.time() // 10)}",
        )
    print(json.dumps({"message": "took", "records": len(event["Records"]), "name": remembered("take_jobs")}))
    return {"batchItemFailures": failures}
