"""The `aws` command against the emulator's address: the real one, of an environment of its own."""

from __future__ import annotations

import pytest

from pointsman_emulator import Emulator, EmulatorServer
from tests.aws.golden import AWS, DWELLS, TOLD, by_command, play

pytestmark = pytest.mark.skipif(not AWS.exists(), reason="no .venv-aws/bin/aws: `make test-aws` sets it up")


def test_the_sample_of_quota_management_goes_by_the_command_as_aws_tells_it() -> None:
    with Emulator(seed=7, batch=DWELLS) as aws, EmulatorServer(aws) as server:
        assert play(by_command(server.url), server.run_for) == TOLD


def test_what_the_emulator_lacks_is_refused_by_name_on_the_command_line() -> None:
    with (
        Emulator(seed=7) as aws,
        EmulatorServer(aws) as server,
        pytest.raises(RuntimeError, match=r"NotImplemented.*DescribeJobs"),
    ):
        by_command(server.url)("DescribeJobs", jobs=["a"])
