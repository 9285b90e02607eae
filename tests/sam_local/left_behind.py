"""What an event left behind in a world, without what differs by nature: times, ids, and how long something took."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from boto3.dynamodb.types import Binary, TypeDeserializer

from tests.sam_local.world import LOOK, PATIENCE, QUEUE, World

BY_NATURE = (
    (re.compile(r"\b(AWSBatch[\w-]*?)[0-9a-f]{32}\b"), r"\1RANDOM"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{128}"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"\b\d{10,}(\.\d+)?"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)? (s|min)\b"), "A WHILE"),
)
"""In texts: how a training job's name ends, ids, and tokens of tasks; and a number of ten digits is epoch seconds."""
A_TIME = 1e9
"""From here on a number is epoch seconds, or milliseconds."""
TIMES_OF_A_JOB = frozenset({2, 10, 11, 14})
"""Their places in the list that a job's state is stored as: milliseconds after another time."""
DURATIONS = frozenset({"looked", "wait_seconds", "tokens"})
"""Seconds that a look took, that are still to wait, and what the budget has saved up since the last call."""


def left_behind(world: World) -> dict[str, Any]:
    """What is there when nothing changes any more, and the dead letters, which only a first look can read."""
    found = at_rest(lambda: _found(world))
    letters = (
        world.client("sqs")
        .receive_message(
            QueueUrl=world.outputs["DeadLettersUrl"], MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        )
        .get("Messages", [])
    )
    found["DeadLetters"] = sorted(
        [it["Body"], *(f"{key}: {it['MessageAttributes'][key]['StringValue']}" for key in ("reason", "place"))]
        for it in letters
    )
    return found


def at_rest(look: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What two looks in a row find alike. Raises TimeoutError when that takes too long."""
    end = time.monotonic() + PATIENCE
    before = look()
    while True:
        time.sleep(LOOK)
        found = look()
        if found == before:
            return found
        if time.monotonic() > end:
            changed = ", ".join(sorted(name for name in found if found[name] != before.get(name)))
            raise TimeoutError(f"after {PATIENCE:g} s it still changes: {changed}")
        before = found


def _found(world: World) -> dict[str, Any]:
    """Each table's items, what is in each queue, the jobs' priorities, and the rollout's component and executions."""
    sqs, outputs = world.client("sqs"), world.outputs
    found: dict[str, Any] = {name: _items(world, outputs[name]) for name in ("ControlTable", "JobsTable")}
    # a wake that waits for its bucket to close cannot be read yet
    for name in ("JobEventsUrl", "QueueWakesUrl", "DeadLettersUrl"):
        told = sqs.get_queue_attributes(QueueUrl=outputs[name], AttributeNames=["All"])["Attributes"]
        found[name] = sum(int(count) for key, count in told.items() if key.startswith("ApproximateNumberOfMessages"))
    found["Priorities"] = _priorities(world)
    component = world.client("sagemaker").describe_inference_component(InferenceComponentName="llm")
    found["Component"] = [component["InferenceComponentStatus"], component["Specification"]["ModelName"]]
    machine = outputs["RolloutStateMachine"]
    executions = world.client("stepfunctions").list_executions(stateMachineArn=machine)["executions"]
    found["Executions"] = sorted([it["name"], it["status"]] for it in executions)
    return found


def without_nature(value: Any) -> Any:
    """The value, with texts that hold JSON or are packed opened, and a word in place of each time, id and duration."""
    if isinstance(value, Binary):
        return without_nature(zlib.decompress(bytes(value)).decode())
    if isinstance(value, Mapping):
        opened = {
            without_nature(key): "A WHILE" if key in DURATIONS else without_nature(it) for key, it in value.items()
        }
        if isinstance(opened.get("fields"), list):  # what a step of a rollout changed: a time may be the one it was
            opened["fields"] = [field for field in opened["fields"] if field[1] != "TIME"]
        return opened
    if isinstance(value, list | tuple | set):
        parts = [without_nature(part) for part in value]
        return sorted(parts) if isinstance(value, set) else parts
    if isinstance(value, Decimal):
        return "TIME" if value >= A_TIME else float(value)
    if not isinstance(value, str):
        return "TIME" if isinstance(value, int | float) and value >= A_TIME else value
    if value[:1] in {"{", "["}:
        try:
            return without_nature(json.loads(value))
        except ValueError:
            pass
    for pattern, word in BY_NATURE:
        value = pattern.sub(word, value)
    return value


def _items(world: World, table: str) -> list[Any]:
    """The items of a table, in the order of what they say."""
    reader = TypeDeserializer()
    pages = world.client("dynamodb").get_paginator("scan").paginate(TableName=table)
    items = [{key: reader.deserialize(it) for key, it in item.items()} for page in pages for item in page["Items"]]
    for item in items:
        if item["pk"].startswith("JOB#"):
            state = json.loads(item["st"])
            item["st"] = ["TIME" if place in TIMES_OF_A_JOB else part for place, part in enumerate(state)]
    return sorted(map(without_nature, items), key=lambda item: json.dumps(item, sort_keys=True))


def _priorities(world: World) -> dict[str, int]:
    batch = world.client("batch")
    filters = [{"name": "BEFORE_CREATED_AT", "values": ["9999999999999"]}]
    listed = batch.list_service_jobs(jobQueue=QUEUE, filters=filters)["jobSummaryList"]
    jobs = [batch.describe_service_job(jobId=it["jobId"]) for it in listed]
    return {it["jobName"]: it.get("schedulingPriority", 0) for it in jobs}
