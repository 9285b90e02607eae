"""A queue with quota shares: what is lifted, who is evicted, and that it can be told afterwards."""

from dataclasses import replace

import pytest

from pointsman.errors import Gone, Transient
from pointsman.loops.queue import LEASE
from pointsman.queues.evictions import AT_MOST, Progress
from pointsman.queues.jobs import Status
from pointsman.queues.moves import RESERVED
from pointsman.queues.reasons import Reason
from tests.unit.loops.quota_world import QuotaWorld, evictions, pressed, share, switched
from tests.unit.loops.world import QUEUE


def reasons(world: QuotaWorld) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for line in reversed(world.control.moves(QUEUE, 0.0, 100)):
        told.setdefault(line.move.job_id, []).append(f"{line.move.reason.value}:{line.outcome}")
    return told


def test_what_fits_its_share_is_lifted() -> None:
    world = QuotaWorld()
    world.rule()
    world.run("sweep", size=6)
    world.submit("prod", size=2, name="prod-ranker")
    world.clock.advance(5)
    world.pass_()
    assert world.batch.priorities == [("prod", 4999)]


def test_an_eviction_is_stored_both_parties_are_described_and_only_the_victim_can_be_evicted() -> None:
    world = pressed()
    world.pass_()
    assert set(world.batch.described[-2:]) == {"prod", "sweep"}
    assert world.priorities()["prod"] == 5000
    assert (world.priority("sweep"), world.priority("fixed")) == (4999, 5001)
    assert evictions(world) == [Progress.ASKED]


def test_an_eviction_goes_on_until_the_evictor_runs_and_each_step_is_told() -> None:
    world = pressed()
    world.pass_()
    world.evict("sweep")
    world.pass_()
    assert evictions(world) == [Progress.SEEN]
    world.start("prod")
    world.pass_()
    assert evictions(world) == [Progress.DONE]
    assert world.priority("prod") == 5000
    assert reasons(world)["prod"] == ["preemptor:done"]
    assert reasons(world)["sweep"] == ["evicted:done", "evicted:seen", "returned:done"]
    written = len(world.batch.priorities)
    for _ in range(3):
        world.pass_()
    assert len(world.batch.priorities) == written


def test_a_job_that_nobody_meant_to_go_is_counted_apart() -> None:
    world = pressed()
    world.pass_()
    world.evict("fixed")
    world.pass_()
    assert reasons(world)["fixed"] == ["protected:done", "unplanned:seen"]
    assert evictions(world) == [Progress.ASKED]


def seen(world: QuotaWorld, job_id: str) -> list[str]:
    """What Batch did of the job by itself, as it is told."""
    return [reason for reason in reasons(world).get(job_id, []) if reason.endswith("seen")]


def asked_for_once(world: QuotaWorld) -> None:
    """The sweep made room for the first of production, and runs again."""
    world.pass_()
    world.evict("sweep")
    world.start("prod")
    world.pass_()
    world.move("prod", Status.SUCCEEDED)
    world.start("sweep")
    world.pass_()
    assert seen(world, "sweep") == ["evicted:seen"]


@pytest.mark.parametrize("after", [30.0, AT_MOST + 60])
def test_a_job_that_was_asked_to_go_once_and_goes_again_goes_unplanned(after: float) -> None:
    world = pressed()
    asked_for_once(world)
    world.clock.advance(after)
    world.evict("sweep")
    world.tell_of_preemption("sweep")
    world.pass_()
    assert seen(world, "sweep") == ["evicted:seen", "unplanned:seen"]


def test_a_job_that_was_let_stay_and_goes_later_goes_unplanned() -> None:
    world = pressed()
    world.pass_()
    world.move("prod", Status.FAILED)
    world.pass_()
    assert evictions(world) == [Progress.FAILED]
    world.clock.advance(AT_MOST + 60)
    world.evict("sweep")
    world.tell_of_preemption("sweep")
    world.pass_()
    assert seen(world, "sweep") == ["unplanned:seen"]


def test_of_two_evictions_of_a_job_each_is_told_for_whom_it_was() -> None:
    world = pressed()
    asked_for_once(world)
    world.submit("prod-2", size=4, waited=9000.0, name="prod-judge")
    world.clock.advance(2000)
    world.pass_()
    assert evictions(world) == [Progress.DONE, Progress.ASKED]
    world.evict("sweep")
    world.pass_()
    told = [line.move.sentence for line in world.control.moves(QUEUE, 0.0, 100) if line.outcome == "seen"]
    assert [sentence.partition(" for ")[2].partition(",")[0] for sentence in told] == ["prod-judge", "prod-ranker"]


def test_a_reclaim_by_an_owner_is_batchs_own() -> None:
    world = pressed()
    world.pass_()
    world.batch.change_share("arn:all", limits=(("ml.g5.xlarge", 4),))
    world.evict("fixed")
    world.pass_()
    assert reasons(world)["fixed"][-1] == "reclaimed:seen"


def test_a_victim_that_ended_meanwhile_is_seen_before_anything_is_set() -> None:
    world = pressed()
    world.batch.move_job("sweep", Status.SUCCEEDED)
    world.pass_()
    assert evictions(world) == []
    assert 5000 not in world.priorities().values()


def test_an_eviction_that_does_not_come_about_is_given_up_and_taken_back() -> None:
    world = pressed()
    world.pass_()
    world.pass_(after=AT_MOST + 60)
    assert evictions(world) == [Progress.TIMED_OUT]
    assert world.priority("prod") == RESERVED
    world.pass_()
    assert evictions(world) == [Progress.TIMED_OUT], "it waits its patience again"


def refuse_running(world: QuotaWorld) -> None:
    """Batch does not change the priority of a job that runs."""
    real = world.batch.set_priority

    def set_priority(job_id: str, priority: int) -> None:
        if world.batch.jobs[job_id].status is Status.RUNNING:
            raise Gone("it runs")
        real(job_id, priority)

    world.batch.set_priority = set_priority  # type: ignore[method-assign]


def test_over_a_running_job_that_cannot_be_protected_nobody_is_raised_and_other_shares_go_on() -> None:
    world = pressed(shares=(share(), share("team", 2)))
    world.rule(share="*")
    world.submit("other", share="team")
    refuse_running(world)
    for _ in range(4):
        world.pass_()
    assert world.batch.priorities == [("other", 4999)]
    world.pass_(after=AT_MOST + 60)
    assert evictions(world) == [Progress.TIMED_OUT]


def test_no_place_is_held_over_a_running_job_that_cannot_be_protected() -> None:
    world = QuotaWorld()
    world.rule(reservation={"after": "30m"})
    world.run("fixed", size=6)
    world.submit("big", size=4, waited=2000.0)
    world.clock.advance(5)
    refuse_running(world)
    for _ in range(3):
        world.pass_()
    assert world.batch.priorities == []


def test_in_observe_an_eviction_is_decided_and_nothing_is_done() -> None:
    world = pressed()
    world.rule(mode="observe")
    world.pass_()
    assert world.batch.priorities == []
    assert evictions(world) == []
    assert reasons(world)["prod"] == ["preemptor:observed"]


def test_an_eviction_whose_pass_died_after_it_was_stored_is_carried_on() -> None:
    world = pressed()
    world.batch.fail_next("set_priority", Transient("429"), times=9)
    world.pass_()
    assert evictions(world) == [Progress.ASKED]
    assert world.priority("prod") == 0
    world.batch._planned.clear()
    world.pass_(after=LEASE)
    assert (world.priority("prod"), world.priority("sweep"), world.priority("fixed")) == (5000, 4999, 5001)


@pytest.mark.parametrize("dies", [False, True])
def test_where_it_is_switched_preemption_is_on_only_while_somebody_is_evicted(dies: bool) -> None:
    world = switched()
    if dies:
        world.batch.fail_next("set_preemption", Transient("timed out"))
    world.pass_()
    assert world.now_of().preempts is not dies
    if dies:
        world.pass_()
    assert world.now_of().preempts
    assert world.priority("prod") == 5000
    world.evict("sweep")
    world.pass_()
    assert not world.now_of().preempts
    assert world.shares.share_changes(QUEUE) == ()


def test_what_batch_did_by_itself_is_no_move_of_ours() -> None:
    world = pressed()
    world.pass_()
    world.evict("fixed")
    world.pass_()
    line = next(m for m in world.control.moves(QUEUE, 0.0, 100) if m.move.reason is Reason.UNPLANNED)
    assert line.move.before == line.move.after


def test_a_job_of_which_only_a_preemption_is_known_is_described_by_the_next_pass() -> None:
    world = QuotaWorld()
    world.rule()
    world.run("fixed", size=8, told=False)
    world.batch.evict("fixed")
    world.tell_of_preemption("fixed")
    assert world.jobs.jobs["fixed"].queue == "?"
    world.pass_()
    row = world.jobs.jobs["fixed"]
    assert (row.queue, row.name, row.status, row.preemptions, row.doubtful) == (QUEUE, "fixed", "RUNNABLE", 1, False)


def test_a_disabled_share_with_jobs_in_it_is_said_and_its_jobs_still_go_in_order() -> None:
    world = QuotaWorld(share(enabled=False))
    world.rule()
    world.run("sweep", size=6)
    world.submit("prod", size=2, name="prod-ranker")
    world.clock.advance(5)
    for _ in range(3):
        world.pass_()
    assert world.batch.priorities == [("prod", 4999)]
    assert "share all is disabled: it takes no new jobs; 1 wait in it and still start" in world.record.problem


def test_jobs_that_are_submitted_with_different_priorities_are_warned_of() -> None:
    world = QuotaWorld()
    world.rule()
    world.run("sweep", size=6)
    world.submit("loud", size=2, priority=50)
    world.clock.advance(5)
    world.pass_()
    assert "different priorities while in-share preemption is on" in world.record.problem


def test_a_share_that_the_policy_does_not_rule_is_left_alone_and_counts() -> None:
    world = QuotaWorld(share("all", 4), share("guests", 4))
    world.rule()
    world.run("theirs", size=4, share="guests")
    world.submit("guest", size=1, share="guests")
    world.submit("a", size=4)
    world.clock.advance(5)
    world.pass_()
    assert world.batch.priorities == [("a", 4999)]
    assert "'guests', which the policy does not rule" in world.record.problem


def test_a_priority_that_someone_else_set_is_noticed_in_the_snapshots_order_and_left() -> None:
    world = QuotaWorld()
    world.rule()
    world.run("sweep", size=8)
    for n in range(3):
        world.submit(f"big{n}", size=4, waited=60.0 - n)
    world.submit("small")
    world.clock.advance(5)
    world.pass_()
    assert world.priority("small") == 4997
    world.set_by_hand("big2", 9000)
    for _ in range(3):
        world.pass_()
    assert world.jobs.jobs["big2"].foreign
    assert world.priority("big2") == 9000


def test_a_snapshot_of_heads_alone_makes_nothing_else_doubtful() -> None:
    world = QuotaWorld()
    real = world.batch.snapshot
    world.batch.snapshot = lambda name: replace(real(name), front=real(name).front[:1], whole=False)  # type: ignore[method-assign]
    world.rule()
    world.run("sweep", size=8, priority=4999)
    for n in range(4):
        world.submit(f"small{n}", waited=60.0 - n)
    world.clock.advance(5)
    for _ in range(4):
        world.pass_()
    assert set(world.priorities().values()) == {4997}
    assert sorted(world.batch.described) == sorted(world.batch.jobs), "each of them once"
