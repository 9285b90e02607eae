"""What `make sam-local` does where it cannot run; what it does where it can is the run itself."""

import os
import subprocess
from pathlib import Path

ENGINE = Path(__file__).with_name("engine.sh")


def test_without_a_docker_engine_nothing_is_run_and_it_says_so() -> None:
    nowhere = {**os.environ, "DOCKER_HOST": "unix:///nowhere/docker.sock", "CI": ""}
    done = subprocess.run([ENGINE, "false"], env=nowhere, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert "no Docker engine answers here: no function is run in a container" in done.stdout
