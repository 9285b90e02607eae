"""One `pointsman local` in a process of its own, and what it is given before an event."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
from ruamel.yaml import YAML

from pointsman.settings import Settings
from pointsman.wiring import Wiring

ROOT = Path(__file__).parents[2]
EVENTS = ROOT / "events"
STACK = "pointsman"
QUEUE = "search-training"
ALARM = "ranker-drift-search"
POLICY = YAML(typ="safe").load(ROOT / "examples/policy.yaml")
JOBS = {"sweep-holds-all": 8, "sweep-waits": 2, "score-waits": 1, "prod-ranker": 2}
"""By name, the instances of each of a pool of eight."""
NOBODY = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_CONFIG_FILE": os.devnull}
NOBODY |= {"AWS_DEFAULT_REGION": "us-east-1", "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
"""An environment without this machine's own account."""

SLOW = 0.05
"""Seconds that pass there in one: what is due at once is done at once, and nothing comes due by itself meanwhile."""
SETTLED = 1.5
"""Seconds of this machine after which what was due at once has been done: some steps of the emulator's clock."""


@dataclass
class World:
    """A whole AWS at an address, with Pointsman, a queue and an endpoint in it."""

    process: subprocess.Popen[str]
    env_vars: Path
    """What `sam local invoke --env-vars` reads; written when the world is there."""
    _session: boto3.session.Session = field(default_factory=boto3.session.Session)
    _clients: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def url(self) -> str:
        """Its address; waits until it is there."""
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        found = re.search(r"http://\S+", first)
        if found is None:
            raise RuntimeError(f"`pointsman local` did not begin: {first.strip()}")
        return found[0]

    def client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = self._session.client(service, endpoint_url=self.url)
        return self._clients[service]

    def invoke(self, function: str, event: Path) -> Any:
        """Run the function in the emulator's own process."""
        functions = self.client("lambda").list_functions()["Functions"]
        (name,) = (it["FunctionName"] for it in functions if it["FunctionName"].startswith(f"{STACK}-{function}-"))
        return json.load(self.client("lambda").invoke(FunctionName=name, Payload=event.read_bytes())["Payload"])

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of Pointsman's stack."""
        (stack,) = self.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
        return {it["OutputKey"]: it["OutputValue"] for it in stack["Outputs"]}

    def prepare(self, *, rollout: bool) -> None:
        """Give the function something to do that nobody else does: no rule wakes the emulator's own functions.

        The queue has its policy, a job that holds all of the pool, and three that wait; the alarm that the policy names
        is on. With `rollout` the sample's rollout has begun.
        """
        events = self.client("events")
        for bus in events.list_event_buses()["EventBuses"]:
            for rule in events.list_rules(EventBusName=bus["Name"])["Rules"]:
                events.disable_rule(Name=rule["Name"], EventBusName=bus["Name"])
        wiring = Wiring(Settings.from_environment(json.loads(self.env_vars.read_text())["PrioritizeQueueFunction"]))
        wiring.control.put_policy(QUEUE, json.dumps(POLICY), wiring.clock.now(), "sam-local")
        for job, instances in JOBS.items():
            payload = {"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": instances}}
            self.client("batch").submit_service_job(
                jobName=job,
                jobQueue=QUEUE,
                shareIdentifier="all",
                serviceJobType="SAGEMAKER_TRAINING",
                serviceRequestPayload=json.dumps(payload),
            )
        self.client("cloudwatch").set_alarm_state(AlarmName=ALARM, StateValue="ALARM", StateReason="told to")
        if rollout:  # it begins while everything is stopped, and its next pass has all of its work before it
            table, stop = self.outputs["ControlTable"], {"pk": {"S": "STOP"}, "sk": {"S": "stop"}}
            self.client("dynamodb").put_item(TableName=table, Item=stop)
            self.invoke("CommandRolloutFunction", EVENTS / "command_rollout.requested.json")
            self.client("dynamodb").delete_item(TableName=table, Key=stop)


@contextmanager
def world(folder: Path, host: str) -> Iterator[World]:
    """One that a container can reach at this address of the machine; `folder` is for its files.

    Its time passes slowly, and the functions go by it: how long a container takes changes nothing.
    """
    env_vars = folder / "env.json"
    where = ("--host", host, "--port", "0", "--speed", str(SLOW), "--env-vars", env_vars)
    command = [Path(sys.executable).parent / "pointsman", "local", *where]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(  # noqa: S603 - our own
            command, stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, **NOBODY}
        ) as process,
    ):
        try:
            yield World(process, env_vars)
        finally:
            process.terminate()
