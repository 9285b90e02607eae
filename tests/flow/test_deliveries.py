"""One day, its events delivered never, once, three times, or late and in any order: the end is the same, only later.

minute   0   the pool is taken until minute 10; others wait, one of them fails twice
minute   3   a person ends one of the waiting sweeps
minute   5   another version of the policy is applied
minute  14   the alarm has gone off, and stands for ten minutes
minute  50   a job takes the whole pool; others wait behind it, and are looked at in minute 75
"""

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from pointsman.queues.effects import Effect
from pointsman.queues.jobs import Stage
from pointsman_emulator import BatchSettings, Faults
from tests.flow.day import ALARM, MINUTE, QUEUE, Day, opened

BOOST = [{"alarm": "ranker-drift-*", "boost": "production", "by": "12h", "for": "30m"}]
DELIVERIES = {
    "once": Faults(),
    "never": Faults(deliver=0),
    "up to ten minutes late, and some twice": Faults(delay=(0, 600), duplicate=0.2),
    "three times, late, and some lost": Faults(deliver=3, delay=(0, 300), lose=0.3),
}


@dataclass(frozen=True)
class End:
    """What a day came to."""

    ends: dict[str, tuple[str, int]]
    line: dict[str, int]
    policy: int
    effects: tuple[Effect, ...]
    told: dict[str, tuple[str, int, bool]]
    twice: list[str]
    dead_letters: list[Any]
    left: int
    order: list[str]


def play(faults: Faults) -> End:
    with opened(faults=faults, batch=BatchSettings(scheduled_dwell=5, starting_dwell=10)) as day:
        began = day.aws.now
        day.apply(on_alarm=BOOST)
        day.drift(5, 15)
        morning(day)
        day.aws.run(began + 3 * MINUTE)
        day.terminate("sweep-3")
        day.aws.run(began + 5 * MINUTE)
        day.apply(on_alarm=BOOST, spread="1h")
        day.aws.run(began + 50 * MINUTE)
        evening(day)
        day.aws.run(began + 75 * MINUTE)
        line = day.line()
        day.drain(1)
        assert not day.aws.failures
        assert not day.failed_passes()
        assert day.aws.wiring.check().ok
        return End(
            day.ends(),
            line,
            policy_number(day),
            day.wiring.control.effects(QUEUE),
            {name: (row.status.value, row.attempts, row.folded) for name, row in day.rows().items()},
            run_twice(day),
            day.dead_letters(),
            len([row for row in day.wiring.jobs.active(QUEUE) if row.stage is not Stage.ENDED]),
            day.in_order_of_start(),
        )


def morning(day: Day) -> None:
    day.submit("sweep-hold", 4, minutes=10)
    for number in range(4):
        day.submit(f"sweep-{number}", 1 + number % 2, minutes=7)
    day.submit("research-a", tags={"purpose": "explore"}, minutes=7)
    payload = {"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1}}
    fails = {**payload, "Environment": {"EMULATED_SECONDS": "120", "EMULATED_EXIT": "fail"}}
    day.submit("research-fails", serviceRequestPayload=json.dumps(fails), retryStrategy={"attempts": 2})
    day.submit("prod-a", 2, minutes=7)
    day.submit("prod-b", minutes=7)


def evening(day: Day) -> None:
    day.submit("prod-all", 4, minutes=35)
    day.submit("sweep-late", minutes=3)
    day.submit("research-late", tags={"purpose": "explore"}, minutes=3)
    day.submit("prod-late", minutes=3)
    day.submit("prod-wide", 2, minutes=3)


def policy_number(day: Day) -> int:
    stored = day.wiring.control.policy(QUEUE)
    assert stored is not None
    return stored.number


def run_twice(day: Day) -> list[str]:
    """Jobs that ran more often than they were tried, or ended more than once."""
    found = []
    for name in day.ids:
        job = day.job(name)
        states = [status for _, status in job.history]
        ended = [status for status in states if status in {"SUCCEEDED", "FAILED"}]
        if len(ended) != 1 or states.count("RUNNING") != len(job.attempts):
            found.append(name)
    return found


@pytest.fixture(scope="module")
def once() -> End:
    return play(DELIVERIES["once"])


@pytest.fixture(scope="module", params=[*DELIVERIES][1:])
def otherwise(request: pytest.FixtureRequest) -> End:
    return play(DELIVERIES[request.param])


def test_with_every_event_delivered_once_the_day_ends_as_it_should(once: End) -> None:
    badly = {"sweep-3": ("FAILED", 0), "research-fails": ("FAILED", 2)}
    assert once.ends == dict.fromkeys(once.ends, ("SUCCEEDED", 1)) | badly
    assert [*once.line][:2] == ["prod-late", "research-late"]
    assert once.policy == 2
    assert [effect.alarm for effect in once.effects] == [ALARM]


def test_every_job_ends_once_and_as_with_every_event(once: End, otherwise: End) -> None:
    assert once.twice == otherwise.twice == []
    assert otherwise.ends == once.ends


def test_what_still_waits_has_the_same_place_and_the_same_priority(once: End, otherwise: End) -> None:
    assert otherwise.line == once.line
    assert [*otherwise.line] == [*once.line]


def test_the_same_policy_rules_and_the_alarm_had_the_same_effect(once: End, otherwise: End) -> None:
    assert otherwise.policy == once.policy
    assert otherwise.effects == once.effects


def test_the_table_agrees_with_batch_and_every_run_was_learned_from(otherwise: End) -> None:
    assert {name: (status, attempts) for name, (status, attempts, _) in otherwise.told.items()} == otherwise.ends
    assert {folded for _, _, folded in otherwise.told.values()} == {True}
    assert otherwise.left == 0


def test_nothing_is_dead_lettered(once: End, otherwise: End) -> None:
    assert once.dead_letters == otherwise.dead_letters == []


def test_with_no_event_at_all_a_queue_in_which_jobs_wait_is_looked_at_every_minute() -> None:
    with opened(faults=Faults(deliver=0)) as day:
        day.apply()
        day.submit("sweep-hold", 4, minutes=60)
        day.submit("prod-a")
        day.pass_minutes(10)
        passes = [line["at"] for line in day.passes()]
        assert all(later - at <= 1.25 * MINUTE for at, later in pairwise(passes))
        assert day.aws.now - passes[-1] <= 1.25 * MINUTE
