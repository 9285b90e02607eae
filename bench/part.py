"""One measurement in a process of its own: `python -m bench.part observing '{"jobs": 1000, "groups": 200}'`."""

import json
import os
import sys
from typing import Any

from bench.deciding import deciding
from bench.load import Load
from bench.observing import observing
from bench.recording import recording
from bench.simulating import simulating
from pointsman.queues.kinds import QueueKind


def _load(asked: dict[str, Any]) -> Load:
    return Load(**{**asked, "kind": QueueKind(asked.get("kind", QueueKind.FAIR_SHARE))})


PARTS = {
    "deciding": lambda asked: deciding(_load(asked)),
    "observing": lambda asked: observing(_load(asked)),
    "recording": lambda asked: recording(**asked),
    "simulating": lambda asked: simulating(**asked),
}

if __name__ == "__main__":
    os.environ |= {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "eu-west-1"}
    print(json.dumps(PARTS[sys.argv[1]](json.loads(sys.argv[2]))))  # noqa: T201 - its answer
