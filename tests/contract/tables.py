"""Tables as the template has them, so that a key or an index that it lacks fails here."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pointsman.aws.clients import Clients


def create_table(aws: Clients, written: Mapping[str, Any], logical_id: str) -> str:
    """Create a table of the template; gives its name."""
    properties = dict(written[logical_id]["Properties"])
    for separate in ("TimeToLiveSpecification", "PointInTimeRecoverySpecification", "SSESpecification"):
        properties.pop(separate, None)
    aws.dynamodb.create_table(TableName=logical_id, **properties)
    return logical_id


def restore(aws: Clients, table: str, file: Path) -> None:
    """Put the items of a file into a table: JSON as the text, or compressed as the bytes, that it was kept as."""
    for item in json.loads(file.read_text()):
        kept = {name: _attribute(value) for name, value in item.items()}
        aws.dynamodb.put_item(TableName=table, Item=kept)


def _attribute(value: dict[str, Any]) -> dict[str, Any]:
    if "json" in value:
        return {"S": json.dumps(value["json"])}
    return {"B": zlib.compress(json.dumps(value["squeezed"]).encode())} if "squeezed" in value else value
