"""AWS's own sample of quota management, through boto3."""

from __future__ import annotations

from pointsman_emulator import Emulator
from tests.aws.golden import DWELLS, TOLD, by_boto3, play


def test_the_sample_of_quota_management_goes_as_aws_tells_it() -> None:
    with Emulator(seed=7, batch=DWELLS) as aws:
        seen: list[str] = []
        aws.watch(lambda event: seen.append(str(event["detail-type"])))

        assert play(by_boto3(aws.client("batch")), aws.run_for) == TOLD
        assert seen.count("Batch Service Job Preemption Started") == 2
        assert seen.count("Batch Service Job Preemption Completed") == 2
