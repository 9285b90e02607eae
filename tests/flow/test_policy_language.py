"""What a policy says beside head starts, through all that is deployed: each queue beside one that does not say it.

All of them on one deployment, from Monday midnight on. A pool of one instance is taken until 00:30 in each; two jobs
wait, an older sweep and a newer job of production, which has a head start of six hours.

    usual     says nothing more: production starts first
    window    gives sweeps a longer head start from 00:20 on
    due       sweeps may carry a tag that names their deadline
    pinned    a person put the sweep first
    entitled  production holds what it is entitled to

In `looping` the job of production fails each minute, and may be tried ten times. In `capped` a pool of two is taken;
two sweeps are older than a job of research, and sweeps may hold half of the pool.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from pointsman.queues.pins import Pin, PinKind
from pointsman_emulator.emulator import START
from tests.flow.day import HOUR, Day, opened

PRODUCTION = {"name": "production", "match": {"job_name": "prod-*"}, "head_start": "6h"}
SAYS: Mapping[str, Mapping[str, Any]] = {
    "usual": {},
    "window": {"windows": [{"when": "Mon 00:20-06:00 UTC", "set": {"sweep": {"head_start": "24h"}}}]},
    "due": {"default": {"name": "sweep", "deadline": {"tag": "finish-by"}}},
    "pinned": {},
    "entitled": {"classes": [{**PRODUCTION, "entitlement": "40%"}]},
}
CAPPED = {
    "classes": [{"name": "research", "match": {"job_name": "research-*"}}],
    "default": {"name": "sweep", "ceiling": "50%"},
    "on_alarm": [],
}
FAILS = json.dumps(
    {
        "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1},
        "Environment": {"EMULATED_SECONDS": "60", "EMULATED_EXIT": "fail"},
    }
)


@pytest.fixture(scope="module")
def day() -> Iterator[Day]:
    with opened() as day:
        soon = datetime.fromtimestamp(START.timestamp() + 2.2 * HOUR, UTC).isoformat()
        for queue, more in SAYS.items():
            day.add_queue(queue, 1)
            day.apply(queue, **{"classes": [PRODUCTION], **more})
            day.submit(f"prod-hold-{queue}", minutes=30, queue=queue)
            tags = {"finish-by": soon} if queue == "due" else None
            day.submit(f"sweep-{queue}", queue=queue, tags=tags)
            day.submit(f"prod-{queue}", queue=queue)
        now = day.aws.now
        day.wiring.control.put_pin("pinned", Pin(day.ids["sweep-pinned"], now + HOUR, PinKind.FIRST, "ana", now))
        day.add_queue("looping", 1)
        day.apply("looping", classes=[PRODUCTION])
        day.submit("hold-looping", minutes=5, queue="looping")
        day.submit("prod-looping", queue="looping", serviceRequestPayload=FAILS, retryStrategy={"attempts": 10})
        day.submit("sweep-looping", queue="looping")
        day.add_queue("capped", 2)
        day.apply("capped", **CAPPED)
        day.submit("hold-capped", 2, minutes=30, queue="capped")
        for name in ("sweep-1", "sweep-2", "research-3"):
            day.submit(name, queue="capped")
        day.pass_minutes(45)
        yield day


@pytest.mark.parametrize(
    "queue, first",
    [
        ("usual", "prod-usual"),
        ("window", "sweep-window"),
        ("due", "sweep-due"),
        ("pinned", "sweep-pinned"),
        ("entitled", "sweep-entitled"),
    ],
)
def test_the_job_that_the_policy_puts_first_starts_when_the_pool_is_free(day: Day, queue: str, first: str) -> None:
    started = [name for name in day.in_order_of_start() if name.endswith(f"-{queue}")]
    assert started == [f"prod-hold-{queue}", first]


def test_a_class_at_its_ceiling_leaves_the_rest_of_the_pool_to_others(day: Day) -> None:
    started = {name for name in day.in_order_of_start() if name.endswith(("-1", "-2", "-3"))}
    assert started == {"sweep-1", "research-3"}


def test_a_job_that_fails_again_and_again_lets_others_start_though_tries_are_left(day: Day) -> None:
    """Batch would start it anew each time: it stands first in the queue with what was given to it."""
    began = day.job("sweep-looping").started_at
    assert began is not None
    tries = [attempt for attempt in day.job("prod-looping").attempts if (attempt.started_at or 0.0) < began]
    assert 3 <= len(tries) <= 5
    assert ("prod-looping", 0) in {(line.move.job_name, line.move.after) for line in day.moves("looping")}


def test_nothing_failed_and_nothing_was_lost(day: Day) -> None:
    assert not day.aws.failures
    assert not day.failed_passes()
    assert day.dead_letters() == []
