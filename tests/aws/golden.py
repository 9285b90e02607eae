"""AWS's own sample of quota management, as a script of calls: borrowing, reclaiming, preemption inside a share.

Three instances; `search` may borrow twice its own, `ads` lends, `maps` keeps what it has. (The notebook
sm-training-queues_quota-management of aws/sagemaker-python-sdk tells the same story.)

`python -m tests.aws.golden` plays it by the `aws` command against an emulator, and prints what was typed and answered.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from botocore import xform_name

from pointsman_emulator import BatchSettings, Emulator, EmulatorServer

AWS = Path(__file__).parents[2] / ".venv-aws" / "bin" / "aws"
TYPE = "ml.g5.xlarge"
DWELLS = BatchSettings(scheduled_dwell=10, starting_dwell=10)
SHARES: dict[str, tuple[dict[str, Any], str]] = {
    "search": ({"strategy": "LEND_AND_BORROW", "borrowLimit": 200}, "ENABLED"),
    "ads": ({"strategy": "LEND"}, "DISABLED"),
    "maps": ({"strategy": "RESERVE"}, "DISABLED"),
}

Call = Callable[..., dict[str, Any]]
"""An operation of Batch by its name in the API, and its members; its answer."""
States = dict[str, str]


def play(call: Call, later: Callable[[float], object]) -> list[States]:
    """Play the sample; the state of each job after each of its four acts."""
    _set_up(call)
    jobs: dict[str, str] = {}

    def submit(share: str, priority: int) -> None:
        payload = {"TrainingJobName": "train", "ResourceConfig": {"InstanceType": TYPE, "InstanceCount": 1}}
        answer = call(
            "SubmitServiceJob",
            jobName=f"{share}-{priority}",
            jobQueue="training",
            serviceJobType="SAGEMAKER_TRAINING",
            quotaShareName=share,
            schedulingPriority=priority,
            serviceRequestPayload=json.dumps(payload),
        )
        jobs[answer["jobName"]] = answer["jobId"]

    def states() -> States:
        later(60)
        filters = [{"name": "BEFORE_CREATED_AT", "values": ["9999999999999"]}]
        listed = call("ListServiceJobs", jobQueue="training", filters=filters)["jobSummaryList"]
        return {job["jobName"]: job["status"] for job in reversed(listed)}

    for priority in (3, 2, 1):
        submit("search", priority)
    borrowed = states()
    submit("ads", 1)
    reclaimed = states()
    call("UpdateServiceJob", jobId=jobs["search-1"], schedulingPriority=4)
    evicted = states()
    call("TerminateServiceJob", jobId=jobs["ads-1"], reason="not needed any more")
    lent_again = states()
    return [borrowed, reclaimed, evicted, lent_again]


TOLD = [
    {"search-3": "RUNNING", "search-2": "RUNNING", "search-1": "RUNNABLE"},
    {"search-3": "RUNNING", "search-2": "RUNNABLE", "search-1": "RUNNABLE", "ads-1": "RUNNING"},
    {"search-3": "RUNNABLE", "search-2": "RUNNABLE", "search-1": "RUNNING", "ads-1": "RUNNING"},
    {"search-3": "RUNNING", "search-2": "RUNNABLE", "search-1": "RUNNING", "ads-1": "FAILED"},
]
"""What the sample says of the first three acts; the fourth is the first again."""


def _set_up(call: Call) -> None:
    call(
        "CreateServiceEnvironment",
        serviceEnvironmentName="gpus",
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=[{"capacityUnit": TYPE, "maxCapacity": 3}],
    )
    policy = call("CreateSchedulingPolicy", name="quotas", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})
    call(
        "CreateJobQueue",
        jobQueueName="training",
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy["arn"],
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "gpus"}],
    )
    for name, (sharing, preemption) in SHARES.items():
        call(
            "CreateQuotaShare",
            quotaShareName=name,
            jobQueue="training",
            capacityLimits=[{"capacityUnit": TYPE, "maxCapacity": 1}],
            resourceSharingConfiguration=sharing,
            preemptionConfiguration={"inSharePreemption": preemption},
        )


def by_boto3(client: Any) -> Call:
    """Calls by a client of boto3."""
    return lambda operation, **request: dict(getattr(client, xform_name(operation))(**request))


def by_command(url: str, write: Callable[[str], object] = lambda _: None) -> Call:
    """Calls by the `aws` command; what was typed and answered goes to `write`."""

    def call(operation: str, **request: Any) -> dict[str, Any]:
        typed = ["batch", xform_name(operation, "-")]
        for name, value in request.items():
            text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
            typed += [f"--{xform_name(name, '-')}", text]
        if operation == "ListServiceJobs":
            typed += ["--query", "{jobSummaryList: jobSummaryList[].{jobName: jobName, status: status}}"]
        write(f"$ aws {shlex.join(typed)}")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(  # noqa: S603 - our own words
            [AWS, "--endpoint-url", url, *typed], capture_output=True, text=True, check=False, env=environment
        )
        write((done.stdout or done.stderr).strip())
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return dict(json.loads(done.stdout or "{}"))

    return call


def _line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the transcript."""
    with Emulator(seed=7, batch=DWELLS) as aws, EmulatorServer(aws) as server:

        def later(seconds: float) -> None:
            _line(f"# {seconds:.0f} seconds later")
            server.run_for(seconds)

        assert play(by_command(server.url, _line), later) == TOLD


if __name__ == "__main__":
    main()
