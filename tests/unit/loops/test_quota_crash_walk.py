"""A pass that evicts, or changes a share, is killed between any two outside calls; the end is the same."""

from collections.abc import Callable
from typing import Any

import pytest

from pointsman.loops.queue import LEASE
from pointsman.queues.evictions import Progress
from pointsman.queues.pins import Pin, PinKind
from tests.unit.loops.quota_world import PREEMPTION, QuotaWorld, borrower, share
from tests.unit.loops.test_crash_walk import Killed, Walk
from tests.unit.loops.world import QUEUE

LENDING = [{"alarm": "gpu-underused", "share": "all", "borrow_limit": 200}]


def asked(walk: Walk) -> QuotaWorld:
    """Production has waited past patience: the pass asks for an eviction."""
    world = QuotaWorld(share(), wrap=walk.wrap)
    world.rule(reservation={"after": "1h", "at_most": 0})
    fill(world)
    return world


def fill(world: QuotaWorld) -> None:
    world.run("sweep", size=4)
    world.run("fixed", size=4, checkpoints=None)
    world.submit("prod", size=4, waited=4000.0, name="prod-ranker")
    world.clock.advance(5)


def stopped(walk: Walk) -> QuotaWorld:
    """Everything was stopped while an eviction went on, its victim went, and everything has just been started."""
    world = switched(walk)
    world.pass_()
    world.control.stop()
    world.evict("sweep")
    world.pass_()
    world.control.resume()
    return world


def pinned(walk: Walk) -> QuotaWorld:
    """A person put another sweep first, which may not be evicted, and the evictor last no longer."""
    world = asked(walk)
    now = world.clock.now()
    world.control.put_pin(QUEUE, Pin("fixed", now + 9000, PinKind.FIRST, "ana", now))
    world.control.put_pin(QUEUE, Pin("prod", now + 9000, PinKind.LAST, "ana", now))
    world.pass_()
    assert not world.shares.evictions(QUEUE, 0.0)
    world.control.remove_pin(QUEUE, "prod")
    return world


def gone(walk: Walk) -> QuotaWorld:
    """The victim is out when the pass comes."""
    world = asked(walk)
    world.pass_()
    world.evict("sweep")
    return world


def done(walk: Walk) -> QuotaWorld:
    """The evictor runs when the pass comes."""
    world = gone(walk)
    world.start("prod")
    return world


def switched(walk: Walk) -> QuotaWorld:
    """In-share preemption has to be switched on for it."""
    world = QuotaWorld(share(preempts=False), wrap=walk.wrap)
    world.rule(reservation={"after": "1h", "at_most": 0}, preemption={**PREEMPTION, "how": "switch"})
    fill(world)
    return world


def switched_off(walk: Walk) -> QuotaWorld:
    """It has to be switched off again."""
    world = switched(walk)
    world.pass_()
    world.batch_goes_on()
    return world


def lent(walk: Walk) -> QuotaWorld:
    """An alarm widens a borrow limit."""
    world = QuotaWorld(borrower(limit=8), wrap=walk.wrap)
    world.rule(reservation={"after": "1h", "at_most": 0}, on_alarm=LENDING)
    fill(world)
    world.alarms.set_state("gpu-underused", "ALARM", world.clock.now())
    return world


def given_back(walk: Walk) -> QuotaWorld:
    """The alarm is over."""
    world = lent(walk)
    world.pass_()
    world.alarms.set_state("gpu-underused", "OK", world.clock.now())
    return world


def end_of(walk: Walk, setup: Callable[[Walk], QuotaWorld]) -> QuotaWorld:
    world = setup(walk)
    world.clock.advance(30)
    walk.armed = True
    try:
        world.pass_(after=0)
    except Killed:
        pass
    finally:
        walk.armed = False
    world.batch_goes_on()
    for after in (LEASE + 1, 60.0, 60.0, 60.0):
        world.clock.advance(after)
        world.checkpoints.written["s3://checkpoints/sweep"] = world.clock.now() - 10  # it goes on saving its work
        world.pass_(after=0)
        world.batch_goes_on()
    world.pass_(after=60.0)
    return world


def projection(world: QuotaWorld) -> dict[str, Any]:
    jobs = world.batch.jobs.values()
    return {
        "running": {job.job_id for job in jobs if job.status.stage == "busy"},
        "preempted": {job.job_id: job.preemptions for job in jobs},
        "waiting": world.priorities(),
        "evictions": [(e.evictor.job_id, e.progress) for e in world.shares.evictions(QUEUE, 0.0)],
        "share": (world.now_of().borrow_limit, world.now_of().preempts, world.now_of().limits),
        "changes": world.shares.share_changes(QUEUE),
        "owner": world.record.owner,
        "problem": world.record.problem,
    }


def forget_times(seen: dict[str, Any]) -> dict[str, Any]:
    changes = [(c.share, c.setting, c.before, c.after) for c in seen["changes"]]
    return {**seen, "changes": changes}


SETUPS = [asked, gone, done, switched, switched_off, lent, given_back, stopped, pinned]


@pytest.mark.parametrize("setup", SETUPS)
def test_killed_between_any_two_calls_an_eviction_and_a_changed_share_end_the_same(
    setup: Callable[[Walk], QuotaWorld],
) -> None:
    whole = Walk()
    wanted = forget_times(projection(end_of(whole, setup)))
    assert whole.calls > 10
    assert wanted["evictions"] == [("prod", Progress.DONE)]
    assert wanted["preempted"] == {"sweep": 1, "fixed": 0, "prod": 0}
    for kill_at, before in [*((n, True) for n in range(1, whole.calls + 1)), (whole.calls, False)]:
        seen = forget_times(projection(end_of(Walk(kill_at, before), setup)))
        assert seen == wanted, f"{setup.__name__}: killed {'before' if before else 'after'} call {kill_at}"
