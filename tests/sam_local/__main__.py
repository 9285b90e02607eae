"""Every sample event against its function: in a container by `sam local invoke`, and in the emulator's own process.

Each event has two worlds of its own, made alike. What the function answers and what it leaves behind must be the same
in both, and each function must have a good event and a bad one.
"""

from __future__ import annotations

import difflib
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import click

from tests.sam_local.left_behind import left_behind, without_nature
from tests.sam_local.world import EVENTS, NOBODY, ROOT, World, wait_until, world

ROOM = ROOT / ".aws-sam/local"
"""Apart from what `sam deploy` uploads, which may be for another processor."""
BEGUN = ("advance_rollout.", "command_rollout.approve", "command_rollout.nobody", "relay_alarm.endpoint")
"""What these are about is a rollout that has begun."""
DEAF = ("wake_due", "bad")
"""The minute's tick reads nothing of its event, so that none can be bad: `empty` must do what `minute` does."""
AT_ONCE = 2
LAYERS = "samcli/lambda-python"
"""The repository of the image that SAM's command makes of the base image and the layers."""


@dataclass(frozen=True, slots=True)
class Case:
    """One event and its function."""

    event: Path

    @property
    def folder(self) -> str:
        return self.event.name.split(".")[0]

    @property
    def name(self) -> str:
        return self.event.name.split(".")[1]

    @property
    def function(self) -> str:
        return f"{self.folder.title().replace('_', '')}Function"


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of it: the answer, and what was left behind."""

    answer: Any
    left: dict[str, Any]

    @property
    def bad(self) -> bool:
        """Whether the event was refused: by an error, in words, or as a dead letter."""
        answer = self.answer if isinstance(self.answer, dict) else {}
        return bool({"errorMessage", "refused"} & answer.keys()) or bool(self.left["DeadLetters"])

    def lines(self) -> list[str]:
        """All of it, as text to compare."""
        answer = self.answer
        if isinstance(answer, dict) and "errorMessage" in answer:  # the rest is where in the code, and which request
            answer = {key: answer[key] for key in ("errorType", "errorMessage")}
        return json.dumps({"answer": without_nature(answer), **self.left}, indent=1, sort_keys=True).splitlines()


def main() -> None:
    """Play all; exit with 1 when anything differs, a kind of event is missing, or not the layer's boto3 is found."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(NOBODY)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and the worlds end too
    began = time.monotonic()
    sam("build", "--build-dir", ROOM / "build", "--cache-dir", ROOM / "cache")
    host = bridge()
    cases = [Case(event) for event in sorted(EVENTS.glob("*.json"))]
    missing = {(case.folder, kind) for case in cases for kind in ("good", "bad")} - {DEAF}
    different = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for case, (inside, outside, seconds) in zip(cases, pool.map(partial(play, host=host), cases), strict=True):
            kind = "bad" if outside.bad else "good"
            missing.discard((case.folder, kind))
            told = list(
                difflib.unified_diff(outside.lines(), inside.lines(), "in process", "container", n=2, lineterm="")
            )
            verdict = "DIFFERENT" if told else "same"
            click.echo(f"{case.folder:16} {case.name:15} {kind:4} {seconds:5.1f} s in the container: {verdict}")
            for line in told:
                click.echo(f"  {line}")
            different += bool(told)
    base = os.environ.get("SAM_LOCAL_IMAGE")
    wins = base is None or layer_wins(base)
    for folder, kind in sorted(missing):
        click.echo(f"{folder} has no {kind} event", err=True)
    click.echo(
        f"{len(cases)} events in containers and in process, {different} different, in {time.monotonic() - began:.0f} s"
    )
    sys.exit(bool(different or missing or not wins))


def play(case: Case, host: str) -> tuple[Ran, Ran, float]:
    """The event in a container, the same in the process of the emulator, and the seconds that the container took."""
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as other,
        world(Path(one), host) as first,
        world(Path(other), host) as second,
    ):
        wait_until(lambda: all(each.quiet for each in (first, second)), "no minute of either world ends soon")
        for each in (first, second):
            each.prepare(rollout=case.event.name.startswith(BEGUN))
        answer, seconds = in_container(case, first)
        inside = Ran(answer, left_behind(first))
        return inside, Ran(second.invoke(case.function, case.event), left_behind(second)), seconds


def in_container(case: Case, at: World) -> tuple[Any, float]:
    """The answer of `sam local invoke`, and the seconds that the function took by Lambda's own report."""
    image = os.environ.get("SAM_LOCAL_IMAGE")
    where = ("--template", ROOM / "build/template.yaml", "--event", case.event, "--env-vars", at.env_vars)
    done = sam(
        "local", "invoke", case.function, *where, *(("--invoke-image", image, "--skip-pull-image") if image else ())
    )
    reported = re.search(r"\tDuration: ([\d.]+) ms", done.stderr)
    if reported is None:
        raise RuntimeError(f"sam local invoke {case.function} ran nothing:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1]), float(reported[1]) / 1000


def sam(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Call SAM's command, for the processor of this machine. Raises RuntimeError with what it said when it fails."""
    processor = "arm64" if platform.machine() in {"aarch64", "arm64"} else "x86_64"
    command = [ROOT / ".venv-sam/bin/sam", *arguments, "--parameter-overrides", f"Architecture={processor}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=600)  # noqa: S603 - our own
    if done.returncode != 0:
        raise RuntimeError(f"sam {arguments[0]} failed:\n{done.stdout}{done.stderr}")
    return done


def bridge() -> str:
    """Where containers reach this machine: the address of the engine's default network on it.

    SAM's command takes `--docker-network host` and does nothing with it (aws-sam-cli 1.170, local/docker/container.py).
    """
    (network,) = json.loads(docker("network", "inspect", "bridge"))
    (addresses,) = network["IPAM"]["Config"]
    return addresses.get("Gateway") or str(ip_network(addresses["Subnet"])[1])


def layer_wins(base: str) -> bool:
    """Whether a function finds the layer's boto3, and not the one of the base image; says which each finds."""
    with_layers = docker("images", "--format", "{{.Repository}}:{{.Tag}}", LAYERS).splitlines()[0]
    asked = ("--entrypoint", "python3.13")
    which = ("-c", "import boto3; print(boto3.__version__, 'in', boto3.__file__)")
    alone, layered = (docker("run", "--rm", *asked, image, *which) for image in (base, with_layers))
    click.echo(f"boto3 {alone} by the base image alone, {layered} by a function")
    return "in /opt/python/" in layered


def docker(*arguments: str) -> str:
    """What Docker's command answers."""
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603, S607


if __name__ == "__main__":
    main()
