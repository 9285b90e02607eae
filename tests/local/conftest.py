"""One `pointsman local` in a process of its own, for all tests of this folder that look at it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.aws.golden import AWS

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).parent / "pointsman"
LAST = "docs/emulator.md"
SPEED = "200"
PATIENCE = 120.0  # seconds; what is waited for comes much sooner, but on a machine that is busy with other tests


@dataclass(frozen=True, slots=True)
class Local:
    """The process, and what it said at its start."""

    process: subprocess.Popen[str]
    said: str

    @property
    def exports(self) -> dict[str, str]:
        """The variables that it tells a shell to set."""
        return dict(re.findall(r"export (\w+)=(\S+)", self.said))

    @property
    def url(self) -> str:
        return self.exports["AWS_ENDPOINT_URL"]

    def client(self, service: str) -> Any:
        """A client as a user makes it, who has exported what he was told."""
        return _session(*(self.exports[f"AWS_{name}"] for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"))).client(
            service, endpoint_url=self.url, region_name=self.exports["AWS_DEFAULT_REGION"]
        )


@cache
def _session(key: str, secret: str) -> Any:
    return boto3.session.Session(key, secret)


def begin(*words: str) -> Local:
    """Start the command, and wait until it has said all that it says."""
    process = subprocess.Popen(  # noqa: S603 - our own
        [COMMAND, "local", "--port", "0", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    said = ""
    while LAST not in said:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"`pointsman local` did not begin: {said}")
        said += line
    return Local(process, said)


def until(true: Callable[[], object]) -> None:
    """Wait for something that happens there by itself."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise AssertionError("it did not happen")
        time.sleep(0.1)


@pytest.fixture(scope="session")
def local() -> Iterator[Local]:
    """It runs while its tests do, and ends cleanly when it is asked to."""
    running = begin("--speed", SPEED, "--instances", "2")
    try:
        yield running
        running.process.send_signal(signal.SIGTERM)
        rest, _ = running.process.communicate(timeout=PATIENCE)
        assert (running.process.returncode, rest) == (0, "ended; nothing is kept\n")
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()


@pytest.fixture
def shell(local: Local, monkeypatch: pytest.MonkeyPatch) -> Local:
    """What was told to be exported is, and nothing of this machine's own."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    for name, value in local.exports.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", f"{AWS.parent}:{os.environ['PATH']}")
    return local
