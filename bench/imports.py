"""What each function imports, against boto3 with the clients that the function makes: seconds and memory."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.measuring import ROOT

TRIES = 5
HEAVY = (
    "moto",
    "yaml",
    "ruamel",
    "rich",
    "click",
    "aws_xray_sdk",
    "numpy",
    "requests",
)
FUNCTIONS = {
    "advance_rollout": "loop",
    "command_rollout": "commands",
    "prioritize_queue": "passes",
    "record_jobs": "recorder",
    "relay_alarm": "relay",
    "wake_due": "due",
}
_SETTINGS = ("JOBS_TABLE", "CONTROL_TABLE", "QUEUE_WAKES_URL", "DEAD_LETTERS_URL", "STATE_MACHINE_ARN",
             "NOTICES_TOPIC_ARN", "ROLLOUT_ROLE_ARN")  # fmt: skip
_END = """
import json, resource, sys, time
print(json.dumps({"seconds": time.process_time(), "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                  "clients": sorted(MADE), "heavy": [m for m in %r if m in sys.modules],
                  "modules": len(sys.modules)}))
"""
_NOTE = """
MADE = []
import boto3.session
_client = boto3.session.Session.client
def _noted(session, service, *args, **more):
    MADE.append(service)
    return _client(session, service, *args, **more)
boto3.session.Session.client = _noted
"""


def importing(name: str) -> dict[str, Any]:
    """A function's cold start to its first event, and the floor: boto3 and the same clients, each the best of five.

    Both find their bytecode ready. They take turns, so that a machine that slows down slows both.
    """
    function = f"{_NOTE}import functions.{name}.app as app\napp.{FUNCTIONS[name]}()\n{_END % (HEAVY,)}"
    with TemporaryDirectory() as bytecode:
        clients = _run(function, bytecode)["clients"]
        plain = "MADE = []\nimport boto3.session\ns = boto3.session.Session()\n"
        plain += "".join(f"s.client({client!r})\n" for client in clients) + _END % (HEAVY,)
        _run(plain, bytecode)
        runs, floors = zip(*((_run(function, bytecode), _run(plain, bytecode)) for _ in range(TRIES)), strict=True)
    seconds, floor = (min(run["seconds"] for run in some) for some in (runs, floors))
    memory, floor_memory = (min(run["mb"] for run in some) for some in (runs, floors))
    return {
        "function": name,
        "clients": clients,
        "seconds": seconds,
        "seconds_over_floor": seconds / floor,
        "mb": memory,
        "memory_over_floor": memory / floor_memory,
        "heavy": runs[0]["heavy"],
    }


def _run(text: str, bytecode: str) -> dict[str, Any]:
    settings = dict.fromkeys(_SETTINGS, "arn:aws:states:eu-west-1:123456789012:stateMachine:none")
    path = os.pathsep.join((str(ROOT), str(Path(ROOT) / "layers" / "pointsman")))
    environment = {**os.environ, **settings, "AWS_DEFAULT_REGION": "eu-west-1", "PYTHONPATH": path,
                   "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none",
                   "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}  # fmt: skip
    ran = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-c", text], check=True, capture_output=True, text=True, cwd=ROOT, env=environment
    )
    told: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return told
