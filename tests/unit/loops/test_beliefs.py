"""What a pass believes of priorities: its own writes, whatever became of them, and other people's."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pointsman.errors import Transient
from pointsman.loops.observe import SUSPECTS
from pointsman.loops.priorities import Recorded, judge_priority
from pointsman.ports import Write
from pointsman.queues.jobs import Sighting, Status
from tests.unit.loops.world import QUEUE, World


def lifted(job_id: str = "a", *, size: int = 2, recorded: bool = True) -> World:
    """One job is lifted onto what is free, and has not started yet; if not `recorded`, by a pass that failed then."""
    world = World()
    world.apply()
    world.run("running", size=6)
    world.submit(job_id, size=size)
    world.clock.advance(5)
    if not recorded:
        world.control.fail_next("record", Transient("throttled"))
    world.pass_()
    assert world.priority(job_id) == 4999
    return world


def test_a_lifted_job_that_started_and_bounced_for_lack_of_capacity_is_still_known_to_be_lifted() -> None:
    world = lifted()
    world.clock.advance(5)
    world.move("a", Status.SCHEDULED)
    world.pass_()
    world.move("a", Status.RUNNABLE)
    world.run("other", size=2)  # takes the place meanwhile
    world.pass_()
    assert world.priority("a") == 0, "at the head of the queue it would keep all others from starting"


def test_a_lifted_job_that_is_tried_again_is_still_known_to_be_lifted() -> None:
    world = lifted()
    world.dispatch()
    for _ in range(20):
        world.pass_()
    world.move("a", Status.RUNNABLE)
    world.run("other", size=2)
    world.pass_()
    assert world.priority("a") == 0


def reply_lost(world: World, meanwhile: Callable[[], object] = lambda: None) -> None:
    """The next write is carried out, and its answer is lost."""
    real = world.batch.set_priority

    def once(job_id: str, priority: int) -> None:
        world.batch.set_priority = real  # type: ignore[method-assign]
        real(job_id, priority)
        meanwhile()
        raise Transient("timed out")

    world.batch.set_priority = once  # type: ignore[method-assign]


def test_where_all_of_a_long_queue_has_gone_without_a_word_a_pass_leaves_no_more_than_the_next_can_look_at() -> None:
    world = World()
    world.apply()
    for n in range(SUSPECTS + 50):
        world.submit(f"job{n:04}", size=9)
    world.clock.advance(60)
    world.batch.jobs.clear()
    world.pass_()
    assert len(world.record.suspects) == SUSPECTS
    for _ in range(30):  # each is described twice before it is let go
        world.pass_(after=60.0)
    assert world.record.suspects == ()
    assert not world.report.view.waiting


def test_a_write_whose_answer_was_lost_is_looked_up_before_the_next_decision() -> None:
    world = World()
    world.apply()
    world.run("running", size=6)
    world.submit("a", size=2)
    world.clock.advance(5)
    reply_lost(world)
    world.pass_()
    assert world.priority("a") == 4999
    world.run("other", size=2)  # now it does not fit
    world.pass_()
    assert world.priority("a") == 0


def test_a_write_whose_answer_was_lost_while_its_job_was_written_by_others_is_looked_up_all_the_same() -> None:
    world = World()
    world.apply()
    world.run("running", size=6)
    world.submit("a", size=2)
    world.clock.advance(5)
    reply_lost(world, meanwhile=lambda: world.jobs.save(world.jobs.jobs["a"]))
    world.pass_()
    assert world.priority("a") == 4999
    world.run("other", size=2)  # now it does not fit
    world.pass_()
    assert world.priority("a") == 0


def test_a_return_whose_answer_was_lost_is_looked_up_before_the_next_decision() -> None:
    world = lifted()
    world.run("other", size=2)
    reply_lost(world)
    world.pass_()
    assert world.priority("a") == 0
    world.move("other", Status.SUCCEEDED)
    world.pass_()
    assert world.priority("a") == 4999


@pytest.mark.parametrize("failures", [1, 2, 6])
def test_a_write_that_a_failed_pass_did_not_record_is_found_however_often_passes_fail_after_it(failures: int) -> None:
    world = lifted(recorded=False)
    world.batch.fail_next("snapshot", Transient("429"), times=failures)
    for _ in range(failures):
        world.pass_(after=60.0)
    world.run("other", size=2)
    world.pass_(after=60.0)
    assert world.priority("a") == 0


def test_a_return_that_a_failed_pass_did_not_record_is_found() -> None:
    world = lifted()
    world.run("other", size=2)
    world.control.fail_next("record", Transient("throttled"))
    world.pass_()
    assert world.priority("a") == 0
    world.move("other", Status.SUCCEEDED)
    world.pass_(after=60.0)
    assert world.priority("a") == 4999


def test_a_job_that_a_failed_pass_lifted_and_that_started_since_is_known_to_be_lifted_when_it_comes_back() -> None:
    world = lifted(recorded=False)
    world.clock.advance(5)
    assert world.dispatch() == ["a"]
    world.pass_(after=60.0)
    world.move("a", Status.RUNNABLE)
    world.run("other", size=2)
    world.pass_()
    assert world.priority("a") == 0


def test_a_job_that_a_failed_pass_lifted_and_that_came_back_after_the_next_snapshot_is_known_to_be_lifted() -> None:
    world = lifted(recorded=False)
    world.clock.advance(5)
    assert world.dispatch() == ["a"]
    world.clock.advance(30)
    behind = world.batch.snapshot(QUEUE)
    world.clock.advance(10)
    world.move("a", Status.RUNNABLE)
    world.run("other", size=2)
    world.batch.snapshot = lambda _: behind  # type: ignore[method-assign]
    world.pass_(after=5.0)
    assert world.priority("a") == 0


def described_again(world: World) -> None:
    """Two states in one second: the next pass describes the job."""
    world.clock.advance(1)
    world.move("a", Status.SCHEDULED)
    world.move("a", Status.RUNNABLE)


@pytest.mark.parametrize("priority", [1, 5000, 9999])
def test_a_priority_that_someone_else_set_is_left_alone(priority: int) -> None:
    world = lifted()
    world.set_by_hand("a", priority)
    described_again(world)
    for _ in range(3):
        world.pass_()
    assert world.priority("a") == priority
    assert world.jobs.jobs["a"].foreign
    world.run("other", size=2)
    world.pass_()
    assert world.priority("a") == priority, "not returned either"


def test_a_priority_that_someone_set_back_to_what_was_submitted_is_ours_to_move() -> None:
    world = lifted()
    world.set_by_hand("a", 0)
    described_again(world)
    world.pass_()
    assert not world.jobs.jobs["a"].foreign
    assert world.priority("a") == 4999


def test_our_own_priority_is_never_taken_for_someone_elses() -> None:
    world = lifted()
    described_again(world)
    world.pass_()
    assert not world.jobs.jobs["a"].foreign
    assert world.batch.priorities == [("a", 4999)]


class Overtaken:
    """Batch as a pass sees it that stands still before it describes a job, while another one lifts that job."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world.batch, name)

    def describe_job(self, job_id: str) -> Sighting:
        """What Batch tells once the other has written."""
        control = self._world.control
        control.put_writes([Write(job_id, 0, 0, 4999, self._world.clock.now())], control.writes([job_id]))
        self._world.batch.set_priority(job_id, 4999)
        return self._world.batch.describe_job(job_id)


def test_what_another_pass_wrote_while_one_stood_still_is_ours() -> None:
    world = World()
    world.apply()
    world.run("running", size=8)
    world.submit("a", size=2)
    world.clock.advance(5)
    world.pass_()
    world.wrap = lambda port, name: Overtaken(world) if name == "batch" else port
    described_again(world)
    world.pass_()
    assert not world.jobs.jobs["a"].foreign


def test_a_priority_that_was_ours_and_is_as_it_was_stays_ours_whatever_was_meant_last() -> None:
    world = lifted()
    described_again(world)
    world.pass_()
    meant = Write("a", 0, 4700, 4800, world.clock.now())  # by a pass that died before it set anything
    world.control.put_writes([meant], world.control.writes(["a"]))
    described_again(world)
    world.pass_()
    assert not world.jobs.jobs["a"].foreign


@pytest.mark.parametrize("forget", [
    lambda world: world.jobs.jobs.clear(),
    lambda world: world.jobs.queues.clear(),
    lambda world: (world.jobs.jobs.clear(), world.jobs.queues.clear()),
])  # fmt: skip
def test_a_job_table_that_was_lost_is_rebuilt_with_our_writes_known_as_ours(forget: Callable[[World], object]) -> None:
    world = World()
    world.apply()
    world.run("running", size=6)
    world.submit("a", size=2, priority=7)
    world.clock.advance(5)
    world.pass_()
    forget(world)
    for _ in range(3):
        world.pass_(after=120.0)
    row = world.jobs.jobs["a"]
    assert (row.submitted_priority, row.foreign) == (7, False)
    world.run("other", size=2)
    world.pass_()
    assert world.priority("a") == 7


def test_what_is_kept_of_priorities_goes_when_the_job_has_ended() -> None:
    world = lifted()
    world.dispatch()
    world.clock.advance(60)
    world.move("a", Status.SUCCEEDED)
    world.pass_()
    assert world.record.priorities == ()
    assert world.jobs.queue(QUEUE).owner == ""


def raised_by_hand() -> World:
    """Someone puts a big job that does not fit at the head of the queue; what is lifted behind it cannot start."""
    world = World()
    world.apply()
    world.run("running", size=6)
    for n in range(4):
        world.submit(f"other{n}", size=4, waited=60.0)
    world.submit("big", size=4, waited=100.0)
    world.submit("small", size=2, name="prod-small")
    world.clock.advance(5)
    world.pass_()
    world.set_by_hand("big", 9000)
    return world


def test_a_job_that_someone_raised_above_what_is_lifted_is_noticed_in_the_snapshots_order() -> None:
    world = raised_by_hand()
    for _ in range(3):
        world.pass_()
    assert world.jobs.jobs["big"].foreign
    assert world.priority("big") == 9000
    assert len(world.batch.described) <= 10


def test_once_it_is_noticed_nothing_more_is_looked_up() -> None:
    world = raised_by_hand()
    for _ in range(3):
        world.pass_()
    described = len(world.batch.described)
    for _ in range(5):
        world.pass_()
    assert len(world.batch.described) == described


def test_a_lifted_job_that_someone_put_back_among_the_others_is_noticed_too() -> None:
    world = raised_by_hand()
    world.set_by_hand("big", 0)
    world.set_by_hand("small", 1)
    world.set_by_hand("other0", 2)
    for _ in range(4):
        world.pass_()
    assert world.jobs.jobs["small"].foreign
    assert world.priority("small") == 1


def test_our_own_writes_change_the_order_and_are_no_reason_to_look_anything_up() -> None:
    world = World()
    world.apply()
    world.run("running", size=8)
    for n in range(6):
        world.submit(f"sweep{n}", waited=60.0 + n)
    world.clock.advance(5)
    world.pass_()
    for n in range(6):
        world.submit(f"prod{n}", name=f"prod-{n}")
        world.pass_()
        world.pass_()
    assert sorted(world.batch.described) == sorted(world.batch.jobs), "each of them once"


def test_a_write_that_was_meant_once_more_and_not_made_is_not_taken_for_the_one_that_was_recorded_before() -> None:
    world = lifted()
    world.run("other", size=2)
    world.control.fail_next("record", Transient("throttled"))
    world.pass_()
    assert world.priority("a") == 0
    world.move("other", Status.SUCCEEDED)
    world.batch.fail_next("set_priority", KeyboardInterrupt())  # type: ignore[arg-type]  # as a kill
    with pytest.raises(KeyboardInterrupt):
        world.pass_()
    assert world.priority("a") == 0
    world.clock.advance(200)  # until the lease of the one that was killed is over
    world.pass_()
    assert world.priority("a") == 4999


@pytest.mark.parametrize("looked, ended, foreign", [(-60, 90, False), (60, 90, True), (60, -90, False)])
def test_what_a_write_replaced_is_ours_to_a_look_from_before_it_or_until_a_pass_has_recorded_it(
    looked: float, ended: float, foreign: bool
) -> None:
    world = lifted()
    row = world.jobs.jobs["a"]
    assert row.detail is not None
    write, ours = Write("a", 0, 4998, 0, row.at), Recorded({"a": 0}, row.at + ended)
    seen = replace(row, at=row.at + looked, detail=replace(row.detail, priority=4998))
    assert judge_priority(seen, replace(row, submitted_priority=0), write, ours).foreign is foreign


def test_a_job_that_was_to_go_back_once_more_when_a_pass_died_is_not_someone_elses() -> None:
    world = lifted()
    described_again(world)
    world.pass_()
    world.run("other", size=2)
    world.pass_()
    assert (world.priority("a"), world.record.priorities) == (0, (("a", 0),))
    world.move("other", Status.SUCCEEDED)
    world.lose_the_next_answer()
    world.pass_()
    world.run("another", size=2)
    world.batch.fail_next("set_priority", KeyboardInterrupt())  # type: ignore[arg-type]  # as a kill
    with pytest.raises(KeyboardInterrupt):
        world.pass_()
    write = world.control.writes(["a"])["a"]
    assert (world.priority("a"), write.before, write.after) == (4999, 4999, 0)
    world.clock.advance(200)  # until the lease of the one that was killed is over
    world.pass_()
    assert not world.jobs.jobs["a"].foreign
    assert world.priority("a") == 0
