"""What a day of the demo asks of AWS, by function: what `pointsman cost` counts with is measured here."""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from typing import Any
from unittest import mock

from botocore.client import BaseClient

from bench.dynamodb import bytes_of
from pointsman_cli.checkout import shipped
from pointsman_cli.demo.day import opened
from pointsman_cli.demo.scenario import DEMO_SEED, demo_day

DAY = 86_400.0
READ_BYTES, WRITE_BYTES = 4096, 1024
INDEXED = 2  # more writes for a job's item: its old line in the index goes, the new one comes


def using() -> dict[str, Any]:
    """Events, jobs and passes of the day; DynamoDB's units, requests of the others and bytes of log by function."""
    policy, template = shipped("examples/policy.yaml"), shipped("template.yaml")
    with opened(demo_day(DEMO_SEED, None, policy, 1.0, template)) as stage:
        aws = stage.aws
        events = Counter[str]()
        aws.watch(lambda event: events.update([event["detail-type"]]))
        with _counted(lambda: aws.gateway.caller) as used:
            aws.run(stage.start + DAY)
        lines = {name: told for name, told in aws.logs.items() if name.endswith("Function")}
        messages = {name: Counter(line.get("message") for line in told) for name, told in lines.items()}
        return {
            "events": sum(count for name, count in events.items() if name.startswith("Batch")),
            "jobs": len(stage.submitted),
            "passes": messages["PrioritizeQueueFunction"]["decided"],
            "messages": {name: dict(told) for name, told in messages.items()},
            "log_bytes": {name: sum(len(json.dumps(line)) for line in told) for name, told in lines.items()},
            "used": {caller: dict(counts) for caller, counts in used.items()},
        }


@contextmanager
def _counted(caller: Any) -> Iterator[Mapping[str, Counter[str]]]:
    """Count what each caller uses of DynamoDB and SQS."""
    used: dict[str, Counter[str]] = defaultdict(Counter)
    real = BaseClient._make_api_call  # noqa: SLF001 - where every call of every client passes

    def counting(client: Any, operation: str, asked: dict[str, Any]) -> Any:
        answer = real(client, operation, asked)
        service = client.meta.service_model.service_name
        if service == "dynamodb":
            reads, writes = _units(operation, asked, answer)
            used[caller()].update({"read": reads, "write": writes})
        else:
            used[caller()][f"{service}.{operation}"] += 1
        return answer

    with mock.patch.object(BaseClient, "_make_api_call", counting):
        yield used


def _units(operation: str, asked: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[float, float]:
    """Read and write units by the sizes of the items."""
    match operation:
        case "GetItem":
            return _read(_size(answer["Item"])) if "Item" in answer else 1.0, 0.0
        case "BatchGetItem":
            found = [item for items in answer["Responses"].values() for item in items]
            wanted = sum(len(table["Keys"]) for table in asked["RequestItems"].values())
            return sum(_read(_size(item)) for item in found) + wanted - len(found), 0.0
        case "Query":
            size = sum(map(_size, answer["Items"]))
            return _read(size) * (1.0 if asked.get("ConsistentRead") else 0.5), 0.0
        case "PutItem":
            return 0.0, _written(asked["Item"])
        case "BatchWriteItem":
            puts = [request["PutRequest"]["Item"] for each in asked["RequestItems"].values() for request in each]
            return 0.0, sum(map(_written, puts))
        case "TransactWriteItems":
            items = [next(iter(each.values())) for each in asked["TransactItems"]]
            return 0.0, 2.0 * sum(_written(item["Item"]) if "Item" in item else 1.0 for item in items)
    return 0.0, 1.0


def _read(size: int) -> float:
    return float(max(1, ceil(size / READ_BYTES)))


def _written(item: dict[str, Any]) -> float:
    return max(1, ceil(_size(item) / WRITE_BYTES)) + (INDEXED if item["pk"]["S"].startswith("JOB#") else 0)


def _size(item: dict[str, Any]) -> int:
    plain = {name: value for name, value in item.items() if not value.keys() & {"B", "SS", "BOOL"}}
    packed = sum(len(value["B"]) for value in item.values() if "B" in value)
    return bytes_of(plain) + packed


if __name__ == "__main__":
    os.environ |= {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "eu-west-1"}
    print(json.dumps(using(), indent=2))  # noqa: T201 - its answer
