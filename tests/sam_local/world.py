"""One `pointsman local` in a process of its own, and what it is given before an event."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import boto3
from ruamel.yaml import YAML

from pointsman.settings import Settings
from pointsman.wiring import Wiring
from pointsman_emulator.server import CLOCK
from pointsman_emulator.service_metrics import MINUTE

ROOT = Path(__file__).parents[2]
EVENTS = ROOT / "events"
STACK = "pointsman"
QUEUE = "search-training"
ALARM = "ranker-drift-search"
ROLLOUT = "chat-v2"
POLICY = YAML(typ="safe").load(ROOT / "examples/policy.yaml")
JOBS = {"sweep-holds-all": 8, "sweep-waits": 2, "score-waits": 1, "prod-ranker": 2}
"""By name, the instances of each of a pool of eight: the first holds it all, and the others wait."""
NOBODY = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_CONFIG_FILE": os.devnull}
NOBODY |= {"AWS_DEFAULT_REGION": "us-east-1", "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
"""An environment without this machine's own account."""

SLOW = 0.05
"""Seconds that pass there in one."""
QUIET = 5.0
"""Seconds there, a hundred here, in which nothing comes due by itself: it does when a minute ends, by which alarms are
evaluated and services measured."""
LOOK = 0.5
"""Seconds of this machine between two looks. What a call leaves to be done at once is due at the emulator's next step
of 1/64 s, which takes a third of a second at that speed: the next look comes after it."""
PATIENCE = 240.0
"""Seconds of this machine in which what is waited for must come."""


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

    @property
    def quiet(self) -> bool:
        """Whether the minute there does not end soon."""
        with urlopen(self.url + CLOCK) as answer:  # noqa: S310 - our own
            return json.load(answer)["now"] % MINUTE < MINUTE - QUIET

    def prepare(self, *, rollout: bool) -> None:
        """Give the function something to do that nobody else does: no rule wakes the emulator's own functions.

        The queue has its policy, a job that holds all of the pool, and three that wait; the alarm that the policy names
        is on. With `rollout` the sample's rollout has begun. Nothing is left to be done when this returns.
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
        wait_until(self._dispatched, "the first job runs and the others wait")
        self.client("cloudwatch").set_alarm_state(AlarmName=ALARM, StateValue="ALARM", StateReason="told to")
        if rollout:  # it begins while everything is stopped, and its next pass has all of its work before it
            table, stop = self.outputs["ControlTable"], {"pk": {"S": "STOP"}, "sk": {"S": "stop"}}
            self.client("dynamodb").put_item(TableName=table, Item=stop)
            answer = self.invoke("CommandRolloutFunction", EVENTS / "command_rollout.requested.json")
            wait_until(self._held, f"the rollout is held; what asked for it was answered {answer}")
            self.client("dynamodb").delete_item(TableName=table, Key=stop)

    def _dispatched(self) -> bool:
        """Whether Batch has looked at what was submitted."""
        filters = [{"name": "BEFORE_CREATED_AT", "values": ["9999999999999"]}]
        listed = self.client("batch").list_service_jobs(jobQueue=QUEUE, filters=filters)["jobSummaryList"]
        first, *others = JOBS
        return {it["jobName"]: it["status"] for it in listed} == {first: "RUNNING", **dict.fromkeys(others, "RUNNABLE")}

    def _held(self) -> bool:
        """Whether the first run of passes is over: it has held the rollout and told of it, and the execution waits."""
        key = {"pk": {"S": f"ROLLOUT#{ROLLOUT}"}, "sk": {"S": "ROLLOUT"}}
        item = self.client("dynamodb").get_item(TableName=self.outputs["ControlTable"], Key=key).get("Item", {})
        held = "state" in item and json.loads(item["state"]["S"])["holds"]
        return bool(held) and "task_token" in item and "unsent" not in item


def wait_until(seen: Callable[[], bool], what: str) -> None:
    """Look until it is so. Raises TimeoutError when it is not in time."""
    end = time.monotonic() + PATIENCE
    while not seen():
        if time.monotonic() > end:
            raise TimeoutError(f"{PATIENCE:g} s were not enough until {what}")
        time.sleep(LOOK)


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
