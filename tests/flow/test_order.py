"""A busy queue: what starts first, what is written and why; and that observing writes nothing."""

from dataclasses import dataclass

import pytest

from pointsman.ports import RecordedMove
from tests.flow.day import HOUR, Day, opened


@dataclass(frozen=True)
class Seen:
    """What a played day left."""

    started: list[str]
    ends: dict[str, tuple[str, int]]
    moves: list[RecordedMove]
    writes: int
    modes: set[str]
    next_pass_in: float


def fill(day: Day) -> None:
    """Four instances are taken for twenty minutes; sweeps wait, then research, then production."""
    day.submit("sweep-hold", 4, minutes=20)
    for number in range(4):
        day.submit(f"sweep-{number}", 2, minutes=20)
    day.submit("research-a", tags={"purpose": "explore"}, minutes=20)
    day.submit("prod-a", minutes=20)
    day.submit("prod-b", minutes=20)


def play(mode: str) -> Seen:
    with opened() as day:
        day.apply(mode=mode)
        fill(day)
        day.drain(2)
        assert not day.aws.failures
        assert not day.failed_passes()
        return Seen(
            day.in_order_of_start(),
            day.ends(),
            day.moves(),
            day.writes,
            {line["mode"] for line in day.passes()},
            day.record().next_wake_at - day.aws.now,
        )


@pytest.fixture(scope="module")
def acted() -> Seen:
    return play("act")


@pytest.fixture(scope="module")
def observed() -> Seen:
    return play("observe")


def test_production_starts_before_the_sweeps_that_waited_when_it_came(acted: Seen) -> None:
    first = acted.started[1:3]  # after what ran already
    assert set(first) == {"prod-a", "prod-b"}
    assert acted.started[3] == "research-a"


def test_without_writes_the_queue_keeps_the_order_of_submission(observed: Seen) -> None:
    assert observed.started[1:3] == ["sweep-0", "sweep-1"]
    assert set(observed.started[-3:]) == {"research-a", "prod-a", "prod-b"}


def test_every_job_ends_once_whatever_the_mode(acted: Seen, observed: Seen) -> None:
    assert set(acted.ends.values()) == {("SUCCEEDED", 1)}
    assert acted.ends == observed.ends


def test_every_write_is_in_the_history_with_a_reason_and_a_sentence_that_names_the_job(acted: Seen) -> None:
    done = [line for line in acted.moves if line.outcome == "done"]
    assert len(done) == acted.writes > 0
    for line in done:
        assert line.move.reason
        assert line.move.job_name in line.move.sentence
        assert line.policy == 1


def test_a_queue_in_observe_records_what_it_would_do_and_writes_nothing(acted: Seen, observed: Seen) -> None:
    assert observed.modes == {"observe"}
    assert observed.writes == 0
    assert {line.outcome for line in observed.moves} == {"observed"}
    first = acted.moves[0].at
    assert [line.move for line in observed.moves if line.at == first] == [
        line.move for line in acted.moves if line.at == first
    ]


def test_what_would_be_done_is_recorded_once_and_not_with_every_pass(observed: Seen) -> None:
    told = [(line.move.job_id, line.move.after) for line in observed.moves if line.move.job_name == "prod-a"]
    assert len(told) == len(set(told))


def test_an_idle_queue_is_looked_at_every_few_minutes(acted: Seen) -> None:
    assert 0 < acted.next_pass_in <= HOUR / 10


def test_the_kill_switch_puts_a_queue_that_acts_into_observe_until_it_is_pushed_back() -> None:
    with opened() as day:
        day.apply(mode="act")
        day.stop()
        fill(day)
        day.pass_minutes(5)
        assert day.writes == 0
        assert {line["mode"] for line in day.passes()} == {"observe"}
        assert "prod-a" in {line.move.job_name for line in day.moves()}
        assert {line.outcome for line in day.moves()} == {"observed"}

        day.go_on()
        day.pass_minutes(5)
        assert day.writes > 0
        assert [*day.line()][:2] == ["prod-a", "prod-b"]
        assert {line.outcome for line in day.moves()} == {"observed", "done"}
