"""DynamoDB's answers without DynamoDB: the product's own client, its own serializing and parsing, no network.

A query's pages hold 1 MB of items by the sizes that DynamoDB counts, and cost half a read unit for each 4 KB
(eventually consistent). The time that this takes is kept apart.
"""

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from io import BytesIO
from math import ceil
from time import process_time
from typing import Any

from botocore.awsrequest import AWSResponse

from pointsman.aws import job_items
from pointsman.aws.clients import Clients
from pointsman.aws.table import Item
from pointsman.queues.estimates import History
from pointsman.queues.jobs import JobRecord

TABLE = "jobs"
PAGE_BYTES = 1_048_576
UNIT_BYTES = 4096
INDEXED = ("pk", "q", "s", "st", "v")


def bytes_of(item: Item) -> int:
    """What DynamoDB counts for an item: names, UTF-8 text, and a byte for two digits of a number and one more."""
    return sum(len(name.encode()) + _bytes(value) for name, value in item.items())


def _bytes(value: dict[str, Any]) -> int:
    ((kind, data),) = value.items()
    return len(data.encode()) if kind == "S" else (len(data.strip("-")) + 1) // 2 + 1


class _Raw(BytesIO):
    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self.read()


class StandIn:
    """Answers what the job table asks; counts `pages`, `units` and `bytes`, and its own `seconds`."""

    def __init__(self, rows: Iterable[JobRecord] = (), history: History | None = None) -> None:
        """Hold these rows in the index, in this order."""
        self._rows = iter(rows)
        self._history = history
        self.pages, self.units, self.items, self.bytes, self.puts, self.seconds = 0, 0.0, 0, 0, 0, 0.0
        self.client = Clients().dynamodb
        self.client.meta.events.register("before-send.dynamodb", self._send)

    def _send(self, request: Any, **_: Any) -> AWSResponse:
        began = process_time()
        operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        answer = getattr(self, f"_{operation.lower()}")(json.loads(request.body))
        raw = _Raw(json.dumps(answer).encode())
        self.seconds += process_time() - began
        return AWSResponse(request.url, 200, {"content-type": "application/x-amz-json-1.0"}, raw)

    def _query(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["ExpressionAttributeValues"][":q"] != {"S": "search-training"}:
            return {"Items": []}
        names = asked["ProjectionExpression"].split(", ") if "ProjectionExpression" in asked else INDEXED
        page: list[Item] = []
        size = 0
        for row in self._rows:
            whole = job_items.encode(row)
            size += bytes_of({name: whole[name] for name in INDEXED})
            page.append({name: whole[name] for name in names})
            if size >= PAGE_BYTES:
                break
        self.pages += 1
        self.items += len(page)
        self.bytes += size
        self.units += ceil(size / UNIT_BYTES) / 2
        last = {"LastEvaluatedKey": {"pk": page[-1]["pk"]}} if size >= PAGE_BYTES else {}
        return {"Items": page, **last}

    def _getitem(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["Key"]["pk"]["S"].startswith("ESTIMATE#") and self._history:
            packed = zlib.compress(json.dumps(self._history.circles).encode())
            return {"Item": {"h": {"B": b64encode(packed).decode()}}}
        return {}

    def _putitem(self, _asked: dict[str, Any]) -> dict[str, Any]:
        self.puts += 1
        return {}

    def _batchgetitem(self, _asked: dict[str, Any]) -> dict[str, Any]:
        return {"Responses": {TABLE: []}, "UnprocessedKeys": {}}
