"""Fifty queues that wake at once, under one account's budget of two calls a second."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from pointsman.queues.jobs import Status
from tests.unit.loops.world import POLICY, World

QUEUES = [f"queue-{n:02}" for n in range(50)]
RATE, SAVED = 2.0, 120
CALLS = {"describe_queue": 3, "snapshot": 1, "describe_job": 1, "list_jobs": 1, "set_priority": 1}
EASY, HEAVY = 10, 400  # jobs that wait in a queue
MINUTES = 20


class Counted:
    """Batch, with each of its calls and when it was made."""

    def __init__(self, port: Any, now: Callable[[], float]) -> None:
        self._port, self._now = port, now
        self.made: list[tuple[float, int]] = []

    def __getattr__(self, name: str) -> Any:
        if name in CALLS:
            self.made.append((self._now(), CALLS[name]))
        return getattr(self._port, name)


class Account:
    """Fifty queues of one account: in each a job runs on two of four instances, and others wait."""

    def __init__(self, seed: int) -> None:
        self.world, self._luck = World(budget=SAVED), Random(seed)
        self.counted = Counted(self.world.batch, self.world.clock.now)
        self.world.wrap = lambda port, name: self.counted if name == "batch" else port
        self.passed: dict[str, list[float]] = {queue: [] for queue in QUEUES}
        self.began = self.world.clock.now()
        for queue in QUEUES:
            self._fill(queue, HEAVY if queue == QUEUES[0] else EASY)

    def _fill(self, queue: str, jobs: int) -> None:
        world = self.world
        world.batch.add_queue(queue, 4, shares=("all",))
        world.control.put_policy(queue, json.dumps({**POLICY, "queue": queue, "on_alarm": []}), self.began, "someone")
        world.batch.add_job(f"{queue}-runs", queue, Status.RUNNING, size=2)
        for n in range(jobs):
            name = "prod" if n == jobs - 1 else "sweep"
            world.batch.add_job(f"{queue}-{n:03}", queue, name=f"{name}-{n}", size=2, created=self.began - 3600 + n)
        world.tell(*(job_id for job_id, job in world.batch.jobs.items() if job.queue == queue))

    def play(self, minutes: int) -> None:
        """Every ten seconds, the queues whose wakes are visible or due, in any order."""
        world, end = self.world, self.world.clock.now() + 60.0 * minutes
        while world.clock.now() < end:
            world.clock.advance(10.0)
            now = world.clock.now()
            woken = {queue for queue, bucket in world.wakes.sent if bucket < int(now // 10)}
            world.wakes.sent = [each for each in world.wakes.sent if each[0] not in woken]
            woken |= {queue for queue in QUEUES if world.jobs.queue(queue).next_wake_at <= now}
            for queue in self._luck.sample(sorted(woken), len(woken)):
                before = len(world.log.reports)
                world.loop().run(queue)
                if len(world.log.reports) > before:
                    self.passed[queue].append(now)


@pytest.fixture(scope="module", params=[1, 2])
def account(request: pytest.FixtureRequest) -> Account:
    account = Account(request.param)
    account.play(MINUTES)
    return account


def test_but_for_the_first_look_at_each_queue_no_more_calls_are_made_than_were_saved_up(account: Account) -> None:
    tokens, at = float(SAVED + CALLS["describe_queue"] * len(QUEUES)), account.began
    for now, calls in account.counted.made:
        tokens, at = tokens + RATE * (now - at), now
        tokens -= calls
        assert tokens >= 0, f"after {now - account.began:.0f} s"


def test_every_queue_has_its_pass_however_busy_the_others_are(account: Account) -> None:
    ends = (account.began, account.began + 60.0 * MINUTES)
    for queue, passes in account.passed.items():
        times = [ends[0], *passes, ends[1]]
        assert max(b - a for a, b in pairwise(times)) <= 90.0, queue


def test_no_queue_starves_production_leads_in_each_within_minutes(account: Account) -> None:
    world = account.world
    for queue in QUEUES[1:]:
        assert world.priority(f"{queue}-{EASY - 1:03}") == 4999, queue


def test_the_heavy_queue_gets_on_too(account: Account) -> None:
    rows = [row for row in account.world.jobs.jobs.values() if row.queue == QUEUES[0]]
    assert sum(row.detail is not None for row in rows) > HEAVY / 2


def test_nothing_flaps_a_job_is_set_once(account: Account) -> None:
    times = Counter(job_id for job_id, _ in account.world.batch.priorities)
    assert max(times.values()) <= 2  # what was lifted before production was known goes back
    assert account.world.log.failures == []
