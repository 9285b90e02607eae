"""Tables as the template has them, so that a key or an index that it lacks fails here."""

from collections.abc import Mapping
from typing import Any

from pointsman.aws.clients import Clients


def create_table(aws: Clients, written: Mapping[str, Any], logical_id: str) -> str:
    """Create a table of the template; gives its name."""
    properties = dict(written[logical_id]["Properties"])
    for separate in ("TimeToLiveSpecification", "PointInTimeRecoverySpecification"):
        properties.pop(separate, None)
    aws.dynamodb.create_table(TableName=logical_id, **properties)
    return logical_id
