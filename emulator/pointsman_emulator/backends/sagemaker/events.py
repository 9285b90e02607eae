"""The events of endpoints (SM:automating-sagemaker-with-eventbridge). Components have none."""

from __future__ import annotations

from typing import Any

from pointsman_emulator.models.inference_parts import Endpoint

STATE_CHANGE = "SageMaker Endpoint State Change"
STATUSES = {
    "InService": "IN_SERVICE",
    "Creating": "CREATING",
    "Updating": "UPDATING",
    "SystemUpdating": "SYSTEM_UPDATING",
    "Deleting": "DELETING",
    "Failed": "FAILED",
}
"""An event spells a status otherwise than the API does."""


def state_detail(endpoint: Endpoint, status: str, arn: str) -> dict[str, Any]:
    """The detail of an endpoint's state change."""
    return {
        "EndpointName": endpoint.name,
        "EndpointArn": f"{arn}:endpoint/{endpoint.name}",
        "EndpointConfigName": endpoint.config,
        "ProductionVariants": [
            {"VariantName": it.name, "DesiredWeight": 1.0, "DesiredInstanceCount": float(it.desired)}
            for it in endpoint.variants.values()
        ],
        "EndpointStatus": STATUSES[status],
        "CreationTime": round(endpoint.created_at * 1000),
        "LastModifiedTime": round(endpoint.modified_at * 1000),
        "Tags": {tag["Key"]: tag["Value"] for tag in endpoint.tags},
    }
