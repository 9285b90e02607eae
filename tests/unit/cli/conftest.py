from pathlib import Path

import pytest

from pointsman.queues.jobs import Status
from tests.unit.cli.harness import POLICY, Command, in_memory


@pytest.fixture
def command() -> Command:
    return in_memory()


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    return file


@pytest.fixture
def ruled(command: Command, policy_file: Path) -> Command:
    """The command on a queue with a policy, and with jobs: two run, five wait."""
    assert command.run("policy", "apply", str(policy_file)).exit_code == 0
    batch, now = command.deployment.batch, command.deployment.clock.now()
    batch.add_job("r-1", "search-training", Status.RUNNING, name="sweep-running", size=4, created=now - 7200)
    batch.add_job("r-2", "search-training", Status.STARTING, name="sweep-starting", size=3, created=now - 7100)
    for n in range(3):
        batch.add_job(f"s-{n}", "search-training", name=f"sweep-{n}", size=1, created=now - 3600 + n)
    batch.add_job("p-1", "search-training", name="prod-ranker", size=1, created=now - 600)
    batch.add_job("b-1", "search-training", name="big", size=6, created=now - 10_000)
    return command
