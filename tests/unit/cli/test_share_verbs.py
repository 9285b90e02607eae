"""`pointsman queue show | plan | explain` of queues whose jobs are in shares."""

import json
from typing import Any

import pytest

from pointsman.queues.jobs import Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.quota import QuotaShare, Strategy
from tests.unit.cli.harness import Command

GPU = "ml.g5.xlarge"
QUEUE = "search-training"


def in_shares(command: Command, *jobs: tuple[str, Status, int, str], **document: Any) -> None:
    """Apply a policy of all teams, and tell the table of these jobs."""
    deployment = command.deployment
    stated = {
        "version": 1, "queue": QUEUE, "mode": "act", "share": "team*",
        "classes": [{"name": "production", "match": {"job_name": "prod-*"}}],
        "default": {"name": "sweep", "preemptible": True}, **document,
    }  # fmt: skip
    deployment.control.put_policy(QUEUE, json.dumps(stated), deployment.clock.now(), "ada")
    for name, status, size, share in jobs:
        created = deployment.clock.now() - 7200
        deployment.batch.add_job(
            name, QUEUE, status, name=name, size=size, share=share, created=created, types=((GPU, size),)
        )


@pytest.fixture
def quota(command: Command) -> Command:
    share = QuotaShare("teamA", "arn:a", ((GPU, 4),), Strategy.LEND_AND_BORROW, 50, preempts=True)
    other = QuotaShare("teamB", "arn:b", ((GPU, 2),), Strategy.RESERVE)
    command.deployment.batch.add_quota_queue(QUEUE, GPU, share, other)
    in_shares(
        command,
        ("sweep-1", Status.RUNNING, 3, "teamA"),
        ("prod-1", Status.RUNNABLE, 4, "teamA"),
        ("prod-huge", Status.RUNNABLE, 5, "teamA"),
        ("guest", Status.RUNNABLE, 1, "guests"),
    )
    return command


def asked(command: Command, *words: str) -> dict[str, Any]:
    result = command.run("queue", *words, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_show_has_what_each_quota_share_uses_and_may_use(quota: Command) -> None:
    shares = {share["name"]: share for share in asked(quota, "show", QUEUE)["shares"]}
    assert shares["teamA"] == {
        "name": "teamA", "enabled": True, "strategy": "LEND_AND_BORROW", "borrow_limit": 50,
        "in_share_preemption": True, "waiting": 2, "ruled": True,
        "instances": [{"type": GPU, "limit": 4, "in_use": 3, "room": 1}],
    }  # fmt: skip
    assert shares["teamB"]["borrow_limit"] is None


def test_show_says_it_in_words(quota: Command) -> None:
    shown = quota.run("queue", "show", QUEUE).stdout
    assert "teamA: 3 of 4 ml.g5.xlarge in use, room for 1, LEND_AND_BORROW up to 50 %" in shown
    assert "in-share preemption on, 2 waiting" in shown


@pytest.mark.parametrize(
    "job, holds",
    [
        ("prod-1", "It does not fit: it asks for 4 ml.g5.xlarge, share teamA has room for 1 ml.g5.xlarge."),
        ("prod-huge", "It can never start: it asks for 5 ml.g5.xlarge, more than share teamA may use and borrow."),
    ],
)
def test_explain_says_what_holds_a_job_of_a_quota_share(quota: Command, job: str, holds: str) -> None:
    assert asked(quota, "explain", QUEUE, job)["holds"] == holds


def test_plan_says_that_another_share_stops_the_queue(command: Command) -> None:
    command.deployment.batch.add_queue(QUEUE, 8, QueueKind.FAIR_SHARE, ("teamA", "teamB"))
    in_shares(
        command,
        ("running", Status.RUNNING, 6, "teamA"),
        ("big", Status.RUNNABLE, 8, "teamB"),
        ("small", Status.RUNNABLE, 2, "teamA"),
    )
    planned = command.run("queue", "plan", QUEUE).stdout
    assert "the share that is next has a job at its head that does not fit" in planned
    shown = command.run("queue", "show", QUEUE).stdout
    assert "teamA: weight 1, 6 in use, 1 waiting" in shown
    assert "Share teamB is next by its weighted use" in asked(command, "explain", QUEUE, "small")["holds"]


def test_show_says_what_of_the_pool_is_not_free_for_this_queue(command: Command) -> None:
    batch = command.deployment.batch
    batch.add_queue(QUEUE, 8, QueueKind.FAIR_SHARE, ("teamA",))
    batch.add_queue("other", 8)
    batch.add_job("theirs", "other", Status.RUNNING, size=3)
    batch.change_queue(QUEUE, siblings=("other",), reservation=25)
    in_shares(command, ("running", Status.RUNNING, 1, "teamA"))
    shown = asked(command, "show", QUEUE)
    assert [shown[k] for k in ("in_use", "used_elsewhere", "kept_back", "free")] == [1, 3, 2, 2]
    assert "2 free, 3 used by other, 2 kept back for other shares" in command.run("queue", "show", QUEUE).stdout
