"""Counts its invocations, as a metric too."""

# ruff: noqa: T201, ARG001 - a function prints its log, and takes a context

import json
import os
import time
from typing import Any

from sample_shared import remembered


def handler(event: Any, context: Any) -> Any:
    """Tick."""
    if os.environ.get("SLEEP"):
        time.sleep(float(os.environ["SLEEP"]))
    print(
        json.dumps(
            {"message": "tick", "at": time.time(), "records": len(event.get("Records", [])), "name": remembered("tick")}
        )
    )
    aws = {
        "Timestamp": int(time.time() * 1000),
        "CloudWatchMetrics": [
            {"Namespace": "Sample", "Dimensions": [["service"]], "Metrics": [{"Name": "Ticks", "Unit": "Count"}]}
        ],
    }
    print(json.dumps({"_aws": aws, "service": "sample", "Ticks": 1}))
    return {"ok": True}
