"""Notices of queues: told once for each time that something begins, whatever is killed, and sent again by the clock."""

from dataclasses import replace
from typing import Any

import pytest

from pointsman.errors import Conflict, Transient
from pointsman.loops.queue import LEASE
from pointsman.queues.jobs import Status
from tests.unit.loops.world import QUEUE, World

BLOCKED = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - too much"


def too_big(wrap: Any = None) -> World:
    """A job that can never fit, which the next pass tells of."""
    world = World(**({"wrap": wrap} if wrap else {}))
    world.apply()
    world.run("running", size=7)
    world.submit("huge", size=9, tags={"team": "search"})
    world.clock.advance(5)
    return world


def test_what_begins_is_told_once_with_its_owner() -> None:
    world = too_big()
    for _ in range(3):
        world.pass_()
    assert world.notices.kinds == ["cannot_fit/huge"]
    assert (
        "huge (sweep, 9 instances) can never start: the queue may use 8. Its owner is search."
        in world.notices.told[0][1]
    )


def test_what_ended_and_begins_again_is_told_again() -> None:
    world = too_big()
    world.pass_()
    world.batch.add_queue(QUEUE, 16, shares=("all",))
    world.pass_(after=600)
    world.batch.add_queue(QUEUE, 8, shares=("all",))
    world.pass_(after=600)
    world.pass_()
    assert world.notices.kinds == ["cannot_fit/huge", "cannot_fit/huge"]
    assert len({told for told, _ in world.notices.told}) == 2


def test_what_one_snapshot_does_not_show_is_not_told_again() -> None:
    world = too_big()
    world.apply(reservation=None)
    for _ in range(2):
        world.pass_()
    real = world.batch.snapshot
    world.batch.snapshot = lambda name: replace(real(name), front=())  # type: ignore[method-assign]
    world.pass_(after=60)
    world.batch.snapshot = real  # type: ignore[method-assign]
    for _ in range(2):
        world.pass_(after=60)
    assert world.notices.kinds == ["cannot_fit/huge"]


def test_a_pass_that_is_killed_between_row_and_send_has_its_notice_sent_by_the_clock_with_the_same_id() -> None:
    world = too_big()
    world.notices.fail_next("tell", KeyboardInterrupt())  # type: ignore[arg-type]  # as good as a kill
    with pytest.raises(KeyboardInterrupt):
        world.pass_()
    assert world.notices.told == []
    (stored,) = world.control.notices(QUEUE)
    world.due().wake()
    assert world.notices.told == [], "the pass may be about to send it"
    world.clock.advance(61)
    world.due().wake()
    world.due().wake()
    assert [told for told, _ in world.notices.told] == [stored.id(QUEUE)]
    world.pass_(after=200)
    assert len(world.notices.told) == 1


def test_a_topic_that_cannot_be_reached_fails_no_pass_and_the_next_one_tells() -> None:
    world = too_big()
    world.notices.fail_next("tell", Transient("throttled"))
    world.pass_()
    assert (world.notices.told, world.log.failures, world.log.untold_) == ([], [], [(QUEUE, "throttled")])
    world.pass_()
    assert world.notices.kinds == ["cannot_fit/huge"]


def test_two_passes_at_once_tell_under_one_id() -> None:
    world = too_big()
    other = world.loop()
    passes: list[bool] = []
    put = world.control.put_notice

    def put_after_the_other(*args: Any) -> None:
        if not passes:
            passes.append(True)
            record = world.record
            world.jobs.save_queue(replace(record, lease_until=0.0, passed_at=0.0))
            other.run(QUEUE)
        put(*args)

    world.control.put_notice = put_after_the_other  # type: ignore[method-assign]
    world.pass_()
    assert passes == [True]
    assert len({told for told, _ in world.notices.told}) == 1
    assert len(world.control.notices(QUEUE)) == 1


def test_a_notice_that_another_pass_has_stored_meanwhile_fails_no_pass() -> None:
    world = World()
    world.apply()
    world.submit("huge", size=9)
    world.clock.advance(5)
    world.control.fail_next("put_notice", Conflict("it is there"))
    world.pass_()
    assert not world.log.failures
    world.pass_()
    assert world.notices.kinds == ["cannot_fit/huge"]


def test_a_blocked_queue_is_told_with_batchs_reason_until_the_job_is_gone_and_again_for_the_next() -> None:
    world = World()
    world.apply()
    world.submit("stuck", size=4)
    world.clock.advance(60)
    world.batch.jobs["stuck"] = replace(world.batch.jobs["stuck"], reason=BLOCKED)
    world.tell("stuck")
    for _ in range(2):
        world.pass_()
    assert world.notices.kinds == ["blocked/stuck"]
    assert f"is blocked by stuck: {BLOCKED} (raise the service environment's limit" in world.notices.told[0][1]
    world.clock.advance(5)
    world.batch.jobs["stuck"] = replace(world.batch.jobs["stuck"], reason=None)
    world.move("stuck", Status.FAILED)
    world.pass_()
    (over,) = world.control.notices(QUEUE)
    assert over.over


def test_a_production_job_that_failed_is_told_of_once_and_a_sweep_is_not() -> None:
    world = World()
    world.apply()
    for job_id, name in (("p", "prod-1"), ("s", "sweep-1")):
        world.run(job_id, name=name)
    world.pass_()
    world.clock.advance(900)
    for job_id in ("p", "s"):
        world.batch.jobs[job_id] = replace(world.batch.jobs[job_id], reason="AlgorithmError: loss is nan")
        world.move(job_id, Status.FAILED)
    for _ in range(3):
        world.pass_()
    assert world.notices.kinds == ["failed/p"]
    assert world.notices.told[0][1].startswith("prod-1 (production) has failed: AlgorithmError: loss is nan.")


def test_a_failure_is_stored_before_the_job_is_let_go() -> None:
    """A pass that is killed as it lets the job go has told of it, or does so when it is tried again."""
    world = World()
    world.apply()
    world.run("p", name="prod-1")
    world.pass_()
    world.clock.advance(900)
    world.move("p", Status.FAILED)
    world.control.fail_next("put_notice", Transient("throttled"))
    world.pass_()
    assert world.notices.told == []
    world.pass_(after=90)
    assert world.notices.kinds == ["failed/p"]


def test_a_look_stores_and_tells_nothing() -> None:
    world = too_big()
    policy = world.control.policy(QUEUE)
    assert policy is not None
    world.observer(keep=False)
    assert (world.control.notices(QUEUE), world.notices.told) == ((), [])


def test_a_deadline_is_told_when_it_is_at_risk_and_again_when_it_is_missed() -> None:
    world = World()
    world.apply(default={"name": "sweep", "deadline": "2h"})
    world.run("running", size=8)
    world.submit("late")
    world.clock.advance(5)
    for _ in range(4):
        world.pass_(after=2400)
    assert world.notices.kinds == ["at_risk/late", "deadline_missed/late"]
    world.move("late", Status.RUNNING)
    world.pass_()
    assert all(notice.over for notice in world.control.notices(QUEUE))


def test_a_job_that_is_in_doubt_for_one_pass_is_not_told_of_twice() -> None:
    world = too_big()
    world.pass_()
    world.jobs.save(replace(world.jobs.jobs["huge"], doubtful=True))
    world.jobs.take_budget(100_000, world.clock.now())  # so that it cannot be described
    world.batch.fail_next("describe_job", Transient("throttled"))
    world.pass_()
    world.pass_(after=600)
    assert world.notices.kinds == ["cannot_fit/huge"]


def test_a_pass_that_stood_still_until_its_lease_had_run_out_begins_nothing_anew_that_has_ended() -> None:
    world = too_big()
    world.pass_()
    real, stood = world.control.notices, list[bool]()

    def slow(queue: str) -> Any:
        if not stood:
            stood.append(True)
            world.move("huge", Status.FAILED)
            world.clock.advance(LEASE)
            world.pass_()
            assert [notice.over for notice in real(queue)] == [True]
        return real(queue)

    world.control.notices = slow  # type: ignore[method-assign]
    world.pass_()
    assert world.notices.kinds == ["cannot_fit/huge"]
    assert [notice.over for notice in real(QUEUE)] == [True]
    assert "the pass stood still until its lease had run out" in [why for why, _ in world.log.failures]
