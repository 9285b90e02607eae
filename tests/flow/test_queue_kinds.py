"""Queues in which nothing is moved: each is recorded, measured and explained, and people are told why and what to do.

Four of them on one deployment:

    lawless     a fair-share queue without a policy
    fifo        a queue without a scheduling policy
    containers  a queue of container jobs
    foreign     a fair-share queue whose jobs are in a share that the policy does not rule
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pointsman.queues.jobs import Status
from pointsman_cli.main import cli
from pointsman_emulator import BatchSettings
from tests.flow.day import MINUTE, Day, opened

REMEDY = (
    "nothing in it can be moved, it is measured only; submit to a SageMaker queue with a fair-share scheduling policy"
)
NOT_MOVED = ["fifo", "containers", "foreign"]


@pytest.fixture(scope="module")
def day() -> Iterator[Day]:
    # Nobody describes the jobs of a queue without a policy, so their events must tell the order of their states.
    with opened(batch=BatchSettings(submitted_dwell=2, scheduled_dwell=2, starting_dwell=2)) as day:
        day.add_queue("lawless", 2)
        day.add_queue("fifo", 2, share=None)
        day.add_queue("foreign", 2, share="research")
        add_container_queue(day, "containers")
        for queue in NOT_MOVED:
            day.apply(queue)
        for queue, share in (("lawless", "all"), ("fifo", None), ("foreign", "research")):
            day.submit(f"prod-hold-{queue}", 2, minutes=10, queue=queue, shareIdentifier=share)
            for name in ("sweep", "prod"):
                day.submit(f"{name}-{queue}", queue=queue, shareIdentifier=share, minutes=10)
        for job, status in (("prod-c", "RUNNING"), ("sweep-c", "RUNNABLE")):
            say_of_container(day, job, status)
        day.pass_minutes(8)
        yield day


def add_container_queue(day: Day, name: str) -> None:
    role = day.aws.client("iam").create_role(RoleName="batch", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    batch = day.aws.client("batch")
    made = batch.create_compute_environment(
        computeEnvironmentName=name, type="UNMANAGED", state="ENABLED", serviceRole=role
    )
    order = [{"order": 1, "computeEnvironment": made["computeEnvironmentArn"]}]
    batch.create_job_queue(jobQueueName=name, state="ENABLED", priority=1, computeEnvironmentOrder=order)


def say_of_container(day: Day, job: str, status: str) -> None:
    """A container job's state, as Batch tells it."""
    day.ids[job] = f"00000000-{job}"
    detail = {
        "jobId": day.ids[job],
        "jobName": job,
        "jobQueue": "arn:aws:batch:us-east-1:123456789012:job-queue/containers",
        "status": status,
        "createdAt": round(day.aws.now * 1000),
        "container": {"image": "image"},
    }
    day.put_event("Batch Job State Change", detail)
    day.aws.run_for(1)


def asked(day: Day, *words: str) -> Result:
    """What the operator's command answers."""
    assert day.stack.name == "pointsman"
    return CliRunner().invoke(cli, ["--stack", "pointsman", "queue", *words])


def metric(day: Day, name: str, **dimensions: str) -> list[float]:
    """The values of a metric of ours since the day began."""
    answer = day.aws.client("cloudwatch").get_metric_statistics(
        Namespace="Pointsman",
        MetricName=name,
        Dimensions=[{"Name": k, "Value": v} for k, v in dimensions.items()],
        StartTime=datetime.fromtimestamp(day.aws.now - 3600, UTC),
        EndTime=datetime.fromtimestamp(day.aws.now + 60, UTC),
        Period=3600,
        Statistics=["Maximum"],
    )
    return [point["Maximum"] for point in answer["Datapoints"]]


def test_nothing_is_moved_and_nothing_fails(day: Day) -> None:
    assert day.writes == 0
    assert [move for queue in [*NOT_MOVED, "lawless"] for move in day.moves(queue)] == []
    assert not day.aws.failures
    assert not day.failed_passes()
    assert day.aws.wiring.check().ok


@pytest.mark.parametrize(
    "queue, states",
    [
        ("lawless", {"prod-hold-lawless": Status.RUNNING, "sweep-lawless": Status.RUNNABLE}),
        ("fifo", {"prod-hold-fifo": Status.RUNNING, "prod-fifo": Status.RUNNABLE}),
        ("containers", {"prod-c": Status.RUNNING, "sweep-c": Status.RUNNABLE}),
        ("foreign", {"prod-hold-foreign": Status.RUNNING, "prod-foreign": Status.RUNNABLE}),
    ],
)
def test_its_jobs_are_recorded(day: Day, queue: str, states: Mapping[str, Status]) -> None:
    rows = day.rows()
    assert {name: rows[name].status for name in states} == states
    assert {rows[name].queue for name in states} == {queue}


@pytest.mark.parametrize("queue", NOT_MOVED)
def test_its_depth_and_use_are_measured(day: Day, queue: str) -> None:
    last = day.passes(queue)[-1]
    assert last["move_count"] == 0
    assert last["used"] == (1 if queue == "containers" else 2)
    assert last["idle"] == {}
    assert metric(day, "CapacityInUse", queue=queue) == [last["used"]]


def test_a_queue_without_a_policy_is_left_alone_and_the_log_says_so(day: Day) -> None:
    assert day.passes("lawless") == []
    told = {line["why"] for line in day.log("PrioritizeQueueFunction", "skipped") if line["queue"] == "lawless"}
    assert told == {"it has no policy: its jobs are recorded, nothing is decided"}


def test_the_person_who_asks_about_a_queue_without_a_policy_is_told_what_to_do(day: Day) -> None:
    answer = asked(day, "show", "lawless")
    assert answer.exit_code == 2
    assert "this queue has no policy" in answer.output
    assert "policy apply" in answer.output
    assert "fifo" in answer.output  # one that has
    assert day.record("lawless").version == 0


@pytest.mark.parametrize(
    "queue, words",
    [
        (
            "fifo",
            (
                f"fifo is a FIFO queue: {REMEDY} (its kind is for life: create a scheduling policy with a "
                "fairsharePolicy and a second queue with it on the same service environment, let submitters name that "
                "queue and a shareIdentifier, and delete fifo once it has run empty)"
            ),
        ),
        ("containers", f"containers is a container queue: {REMEDY}"),
        ("foreign", "2 waiting jobs are in share 'research', which the policy does not rule (share: all)"),
    ],
)
def test_people_are_told_why_nothing_moves_and_what_to_change(day: Day, queue: str, words: str) -> None:
    assert day.record(queue).problem == words
    shown = asked(day, "show", queue, "--json")
    assert shown.exit_code == 0
    assert words in json.dumps(json.loads(shown.output), ensure_ascii=False)


def test_a_job_of_a_fifo_queue_is_explained(day: Day) -> None:
    answer: dict[str, Any] = json.loads(asked(day, "explain", "fifo", "prod-fifo", "--json").output)
    assert "so nothing passes the first. That is sweep-fifo (sweep, 1 instance)" in answer["holds"]


def test_a_policy_that_comes_later_finds_the_jobs_that_were_recorded_without_it(day: Day) -> None:
    day.apply("lawless")
    day.aws.run_for(2 * MINUTE)
    assert day.priority("prod-lawless") > day.priority("sweep-lawless")
