"""Metrics that functions print: the embedded metric format, as CloudWatch Logs reads it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from moto.cloudwatch.models import cloudwatch_backends

from pointsman_emulator.environment import ACCOUNT, REGION


def put_embedded(line: Mapping[str, Any]) -> None:
    """Put the metrics of one line (Amazon CloudWatch User Guide, "Specification: Embedded metric format")."""
    backend = cloudwatch_backends[ACCOUNT][REGION]
    at = datetime.fromtimestamp(line["_aws"]["Timestamp"] / 1000, UTC).replace(tzinfo=None)
    for directive in line["_aws"]["CloudWatchMetrics"]:
        for names in directive.get("Dimensions") or [[]]:
            dimensions = [{"Name": name, "Value": str(line[name])} for name in names]
            data = []
            for metric in directive["Metrics"]:
                value = line[metric["Name"]]
                values = [float(number) for number in (value if isinstance(value, list) else [value])]
                data.append(
                    {
                        "MetricName": metric["Name"],
                        "Dimensions": dimensions,
                        "Timestamp": at,
                        "Values": values,
                        "Unit": metric.get("Unit", "None"),
                    }
                )
            backend.put_metric_data(directive["Namespace"], data)
