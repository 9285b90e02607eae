"""One writer of a queue, whatever wakes come when."""

from contextlib import suppress
from typing import Any

import pytest

from pointsman.errors import Conflict, Gone, Transient
from pointsman.loops.queue import FRESH, LEASE
from pointsman.queues.jobs import JobRecord
from pointsman.queues.quota import Strategy
from tests.unit.loops.quota_world import QuotaWorld, borrower, share
from tests.unit.loops.world import QUEUE, World


def waiting() -> World:
    world = World()
    world.apply()
    world.submit("a", size=2)
    world.clock.advance(30)
    world.wakes.sent.clear()
    return world


def test_a_second_pass_backs_off_while_the_first_holds_the_lease_and_asks_to_come_again() -> None:
    world = waiting()
    second: list[str] = []
    real = world.batch.snapshot

    def in_the_middle(name: str) -> object:
        world.clock.advance(1)
        world.loop().run(QUEUE)
        second.extend(world.log.skips)
        return real(name)

    world.batch.snapshot = in_the_middle  # type: ignore[method-assign, assignment]
    world.loop().run(QUEUE)
    assert second == ["another pass holds the lease"]
    assert world.wakes.queues == [QUEUE]
    assert world.batch.priorities == [("a", 4999)]


def test_of_two_passes_that_read_the_same_record_one_takes_the_lease() -> None:
    world = waiting()
    world.jobs.fail_next("save_queue", Conflict("someone else wrote first"))
    world.loop().run(QUEUE)
    assert world.log.skips == ["another pass was faster"]
    assert world.wakes.queues == [QUEUE]
    assert world.batch.priorities == []


def test_a_pass_a_moment_after_the_last_waits_for_the_least_gap() -> None:
    world = waiting()
    world.loop().run(QUEUE)
    world.clock.advance(29)
    world.loop().run(QUEUE)
    assert world.log.skips == ["the last pass was a moment ago"]
    assert len(world.log.reports) == 1
    assert world.wakes.queues == [QUEUE]


def test_a_lease_that_was_never_given_back_runs_out() -> None:
    world = waiting()
    world.jobs.fail_next("active", KeyboardInterrupt())  # type: ignore[arg-type]  # as a kill: nothing catches it
    with suppress(KeyboardInterrupt):
        world.loop().run(QUEUE)
    world.pass_(after=LEASE - 1)
    assert world.log.skips == ["another pass holds the lease"]
    world.pass_(after=2)
    assert world.priority("a") == 4999
    assert (world.record.owner, world.record.lease_until) == ("", 0.0)


def test_a_lease_lost_in_mid_pass_is_told_and_leaves_the_other_writers_record() -> None:
    world = waiting()
    real = world.batch.snapshot

    def overtaken(name: str) -> object:
        world.jobs.save_queue(world.record)
        return real(name)

    world.batch.snapshot = overtaken  # type: ignore[method-assign, assignment]
    version = world.record.version
    world.loop().run(QUEUE)
    assert world.log.failures == [("the lease was lost in mid-pass", True)]
    assert world.record.version == version + 2


def test_a_failure_that_cannot_be_recorded_is_the_callers() -> None:
    world = waiting()
    real, calls = world.jobs.save_queue, []

    def last_fails(record: object) -> object:
        calls.append(record)
        if len(calls) == 2:
            raise Transient("500")
        return real(record)  # type: ignore[arg-type]

    world.jobs.save_queue = last_fails  # type: ignore[method-assign, assignment]
    with pytest.raises(Transient):
        world.loop().run(QUEUE)
    world.pass_(after=LEASE + 1)
    assert world.priority("a") == 4999
    assert world.record.owner == ""


def test_a_pass_that_stood_still_until_its_lease_had_all_but_run_out_writes_no_more() -> None:
    world = waiting()
    world.submit("b", size=2)
    real, writers = world.batch.set_priority, list[str]()

    def slow(job_id: str, priority: int) -> None:
        writers.append(world.record.owner)
        real(job_id, priority)
        if len(writers) == 1:
            world.clock.advance(LEASE + 1)
            world.loop().run(QUEUE)

    world.batch.set_priority = slow  # type: ignore[method-assign]
    world.loop().run(QUEUE)
    assert writers == ["pass-1", "pass-2"]
    assert world.priorities() == {"a": 4999, "b": 4999}
    assert world.log.failures[-1][1]


def test_a_share_is_not_changed_by_a_pass_that_stood_still_either() -> None:
    world = QuotaWorld(borrower(borrow_limit=0), share("other", 4, strategy=Strategy.LEND))
    rule = {"alarm": "gpus", "share": "all", "borrow_limit": 100}
    world.rule(share="*", on_alarm=[rule])
    world.alarms.set_state("gpus", "ALARM", world.clock.now())
    real = world.control.record

    def slow(moves: object) -> None:
        world.clock.advance(LEASE)
        real(moves)  # type: ignore[arg-type]

    world.control.record = slow  # type: ignore[method-assign, assignment]
    world.pass_()
    assert world.batch.shares_set == []
    world.control.record = real  # type: ignore[method-assign]
    world.pass_(after=LEASE)
    assert [one.borrow_limit for one in world.batch.shares_set] == [100]


def test_a_pass_that_stood_still_forgets_no_change_of_a_share_that_another_made_meanwhile() -> None:
    world = QuotaWorld(borrower(borrow_limit=0), share("other", 4, strategy=Strategy.LEND))
    world.rule(share="*", on_alarm=[{"alarm": "gpus", "share": "all", "borrow_limit": 100}])
    real = world.control.record

    def slow(moves: object) -> None:
        world.control.record = real  # type: ignore[method-assign]
        world.clock.advance(LEASE + 1)
        world.alarms.set_state("gpus", "ALARM", world.clock.now())
        world.loop().run(QUEUE)
        real(moves)  # type: ignore[arg-type]

    world.control.record = slow  # type: ignore[method-assign, assignment]
    world.pass_()
    assert [change.share for change in world.shares.share_changes(QUEUE)] == ["all"]
    world.alarms.set_state("gpus", "OK", world.clock.now())
    for _ in range(2):
        world.pass_()
    assert [one.borrow_limit for one in world.batch.shares_set] == [100, 0]


def test_what_was_done_before_a_pass_stood_still_is_told_in_the_history() -> None:
    world = QuotaWorld()
    world.rule()
    for n in range(4):
        world.submit(f"prod-{n}", name=f"prod-{n}")
    world.clock.advance(5)
    real = world.batch.set_priority

    def slow(job_id: str, priority: int) -> None:
        real(job_id, priority)
        if len(world.batch.priorities) == 2:
            world.clock.advance(FRESH + 1)

    world.batch.set_priority = slow  # type: ignore[method-assign]
    world.pass_()
    assert world.log.failures[-1][1]
    assert [line[0] for line in world.history()] == ["prod-0", "prod-1"]
    for _ in range(2):
        world.pass_(after=90)
    assert [line[0] for line in world.history()] == [job_id for job_id, _ in world.batch.priorities]


@pytest.mark.parametrize("died", [Transient("503"), KeyboardInterrupt()])
def test_what_a_pass_set_and_could_not_tell_is_in_the_history_and_the_day_once_the_job_is_described(
    died: BaseException,
) -> None:
    world = waiting()
    world.submit("b", size=2)
    world.clock.advance(5)
    world.control.fail_next("record", died)  # type: ignore[arg-type]
    with suppress(KeyboardInterrupt):
        world.pass_()
    assert (world.priorities(), world.history()) == ({"a": 4999, "b": 4999}, [])
    for _ in range(3):
        world.pass_(after=LEASE + 1)
    assert world.history() == [("a", 4999, "front", "done"), ("b", 4999, "front", "done")]
    day = world.days.newest(QUEUE)
    assert day is not None
    assert day.sums.all_classes.moves == 2


def test_what_was_set_though_its_answer_was_lost_is_in_the_history() -> None:
    world = waiting()
    world.lose_the_next_answer()
    world.pass_()
    assert world.history() == []
    world.pass_()
    assert world.history() == [("a", 4999, "front", "done")]


def test_what_was_meant_and_not_set_is_not_in_the_history() -> None:
    world = waiting()
    world.batch.fail_next("set_priority", Transient("503"), times=2)
    for _ in range(2):
        world.pass_()
    assert (world.priority("a"), world.history()) == (0, [])


def test_what_was_done_before_a_job_was_stored_by_others_again_and_again_is_told_in_the_history() -> None:
    world = waiting()
    world.submit("b", size=2)
    world.clock.advance(5)
    real, done = world.jobs.save, world.batch.set_priority

    def save(row: JobRecord) -> JobRecord:
        if row.doubtful and row.job_id == "b":
            raise Conflict("someone else was faster")
        return real(row)

    world.jobs.save = save  # type: ignore[method-assign]

    def first_is_done(job_id: str, priority: int) -> None:
        if job_id == "b":
            raise Gone("it has ended")
        done(job_id, priority)

    world.batch.set_priority = first_is_done  # type: ignore[method-assign]
    world.pass_()
    assert world.log.failures == [("someone else was faster", True)]
    assert world.history() == [("a", 4999, "front", "done"), ("b", 4999, "front", "gone")]


def test_where_jobs_may_be_evicted_a_pass_acts_on_no_old_look() -> None:
    world = QuotaWorld()
    world.rule()
    world.submit("a", size=2)
    world.clock.advance(5)
    real = world.control.put_writes

    def slow(*writes: Any) -> None:
        world.clock.advance(FRESH + 1)
        real(*writes)

    world.control.put_writes = slow  # type: ignore[method-assign]
    world.pass_()
    assert world.batch.priorities == []
    assert world.log.failures[-1][1]
    world.control.put_writes = real  # type: ignore[method-assign]
    world.pass_()
    assert world.priority("a") == 4999


def test_a_pass_that_stood_still_while_it_stored_what_it_means_stores_nothing_over_what_a_later_one_means() -> None:
    world = waiting()
    real = world.control.put_writes

    def slow(*writes: Any) -> None:
        world.control.put_writes = real  # type: ignore[method-assign]
        world.clock.advance(LEASE + 1)
        world.submit("b", size=2)
        world.clock.advance(5)
        world.loop().run(QUEUE)
        real(*writes)

    world.control.put_writes = slow  # type: ignore[method-assign]
    world.pass_()
    later = world.control.writes(["a"])["a"]
    assert world.clock.now() - later.at < LEASE
    assert ("another write is stored", True) in world.log.failures
