"""A pass is killed between any two outside calls; the passes after it end where they would have ended without.

The scenario runs once to count the calls of a pass, then once for each call, killed before it: that is after the call
before, with its answer lost. The next pass comes when the lease has run out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import pytest

from pointsman.loops.queue import LEASE, Outcome
from pointsman.queues.days import Day, Ledger, day_of
from pointsman.queues.jobs import Stage, Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.moves import RESERVED
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.standby import LOWEST
from tests.unit.loops.world import QUEUE, World


class Killed(BaseException):
    """The function was killed: no handler of ours catches this."""


@dataclass
class Walk:
    """Counts the outside calls while it is armed, and kills before or after one of them."""

    kill_at: int = 0
    before: bool = True
    calls: int = 0
    armed: bool = False

    def call(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not self.armed:
            return method(*args, **kwargs)
        self.calls += 1
        if self.calls == self.kill_at and self.before:
            raise Killed
        answer = method(*args, **kwargs)
        if self.calls == self.kill_at:
            raise Killed
        return answer

    def wrap(self, port: Any, name: str) -> Any:
        return Fragile(port, self, name)


class Fragile:
    """A port whose calls are counted."""

    def __init__(self, port: Any, walk: Walk, name: str) -> None:
        self._port, self._walk, self._name = port, walk, name

    def __getattr__(self, name: str) -> Any:
        return partial(self._walk.call, getattr(self._port, name))


def busy(world: World) -> None:
    """Six of eight instances are in use; some jobs wait, one of them big and long."""
    world.apply()
    world.run("running", size=6)
    world.submit("big", size=7, waited=6000.0)
    world.submit("given", size=2, priority=12, name="prod-given")
    for n in range(4):
        world.submit(f"small{n}", waited=60.0 + n)
    world.clock.advance(5)


def lifted(world: World) -> None:
    """The same, and a pass has lifted what fits; then something else took the place."""
    busy(world)
    world.pass_()
    world.run("other", size=2)


def held(world: World) -> None:
    """A place is held for the big one."""
    busy(world)
    world.clock.advance(1500)


def ended(world: World) -> None:
    """A lifted job has ended without a word, and one that ran has ended with one."""
    busy(world)
    world.pass_()
    world.clock.advance(60)
    world.move("given", Status.SUCCEEDED, told=False)
    world.move("running", Status.SUCCEEDED)


def short(world: World) -> None:
    """A job has come, run and ended between two passes."""
    busy(world)
    world.pass_()
    world.submit("quick", waited=10.0)
    world.clock.advance(5)
    world.move("quick", Status.RUNNING)
    world.clock.advance(20)
    world.move("quick", Status.SUCCEEDED)


def alarmed(world: World) -> None:
    """An alarm boosts research over older sweeps."""
    busy(world)
    world.submit("explore", tags={"purpose": "explore"})
    world.pass_()
    world.alarms.set_state("drift-ranker", "ALARM", world.clock.now())


def untold(world: World) -> None:
    """No event has come for anything."""
    world.apply()
    world.run("running", size=6, told=False)
    for n in range(5):
        world.submit(f"job{n}", size=1 + n % 2, told=False)


def pinned(world: World) -> None:
    """A person puts a job first, another last, before the pass that lifts them the other way round is over."""
    busy(world)
    now = world.clock.now()
    world.control.put_pin(QUEUE, Pin("small3", now + 9000, PinKind.FIRST, "ana", now))
    world.control.put_pin(QUEUE, Pin("given", now + 9000, PinKind.LAST, "ana", now))


def stopped(world: World) -> None:
    """Everything is stopped after a pass has lifted what no longer fits."""
    lifted(world)
    world.control.stop()


def started(world: World) -> None:
    """It goes on after a pass that only observed."""
    stopped(world)
    world.pass_()
    world.control.resume()


def noticed(world: World) -> None:
    """A queue is blocked, a production job has failed, and one that was told of stands no longer."""
    busy(world)
    world.submit("huge", size=9)
    world.pass_()
    world.move("huge", Status.FAILED)
    world.batch.jobs["big"] = replace(world.batch.jobs["big"], reason="CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - none")
    world.clock.advance(5)
    world.tell("big")
    world.run("prod-1", name="prod-1")
    world.move("prod-1", Status.FAILED)


def weighed(world: World) -> None:
    """The weights of shares are not those of the policy."""
    weights = (("teamA", 1.0), ("teamB", 1.0))
    world.batch.add_queue(QUEUE, 8, QueueKind.FAIR_SHARE, ("teamA", "teamB"), weights=weights)
    world.batch.change_queue(QUEUE, policy="arn:policy")
    classes = [
        {"name": "a", "match": {"share": "teamA"}, "weight": 1},
        {"name": "b", "match": {"share": "teamB"}, "weight": 4},
    ]
    world.apply(share="team*", across_shares="weights", classes=classes, on_alarm=[])
    for n in range(3):
        world.submit(f"a{n}", size=3, share="teamA")
        world.submit(f"b{n}", size=3, share="teamB")
    world.clock.advance(5)


def nothing(world: World) -> None:
    """Nothing happens until the lease has run out."""


def room(world: World) -> None:
    """What ran has ended when the next pass comes."""
    for job_id in ("running", "other"):
        if job_id in world.batch.jobs and world.batch.jobs[job_id].status.stage is Stage.BUSY:
            world.move(job_id, Status.SUCCEEDED)


def crowd(world: World) -> None:
    """The queue is full when the next pass comes."""
    world.run("crowd", size=8)


def end_of(walk: Walk, setup: Callable[[World], None], meanwhile: Callable[[World], None]) -> tuple[World, list[Any]]:
    """The world after the walked pass, the lease, what happens meanwhile, and three passes more; and what was set."""
    world = World(wrap=walk.wrap)
    now = world.clock.now()
    world.days.save([Day(QUEUE, day_of(now), ledger=Ledger(now))])
    setup(world)
    world.clock.advance(30)
    already = len(world.batch.priorities)
    walk.armed = True
    try:
        world.pass_(after=0)
    except Killed:
        pass
    finally:
        walk.armed = False
    meanwhile(world)
    world.pass_(after=LEASE + 1)
    once = world.batch.priorities[already:]
    world.pass_(after=60.0)
    world.pass_(after=60.0)
    return world, once


def place(priority: int) -> str:
    """The numbers of the standby list depend on who joined it first; that a job is lifted does not."""
    return "held" if priority == RESERVED else "lifted" if priority >= LOWEST else str(priority)


def projection(world: World) -> dict[str, Any]:
    """What must be the same; times, versions and owners' names need not."""
    rows = world.jobs.jobs.values()
    return {
        "batch": {job_id: place(priority) for job_id, priority in world.priorities().items()},
        "table": {r.job_id: (r.status, r.submitted_priority, r.foreign, r.folded, r.doubtful) for r in rows},
        "effects": [(e.alarm, e.boost, e.end) for e in world.control.effects("search-training")],
        "notices": {(n.key, n.sent, n.over) for n in world.control.notices(QUEUE)},
        "weights": world.batch.queues[QUEUE].weights,
        "days": starts(world),
        "owner": world.record.owner,
        "problem": world.record.problem,
    }


def starts(world: World) -> dict[str, tuple[int, float]]:
    """What the day says of each class: how many jobs started, and what they waited."""
    today = world.days.newest(QUEUE)
    assert today is not None
    return {name: (sums.started, sums.waited) for name, sums in today.sums.classes.items() if sums.started}


def moves_counted_and_recorded(world: World) -> tuple[int, int]:
    """The moves in the day, and those of them in the history that were made before it was last counted."""
    today = world.days.newest(QUEUE)
    assert today is not None
    assert today.ledger is not None
    lines = world.control.moves(QUEUE, 0.0, 1000)
    made = [line for line in lines if line.outcome == Outcome.DONE and line.at < today.ledger.at]
    return today.sums.all_classes.moves, len(made)


SETUPS = [busy, lifted, held, ended, alarmed, untold]
MEANWHILE = [nothing, room, crowd]
PEOPLE = [
    (pinned, nothing),
    (pinned, room),
    (stopped, room),
    (started, nothing),
    (noticed, nothing),
    (weighed, nothing),
    (short, nothing),
]


@pytest.mark.parametrize("setup, meanwhile", [*product(SETUPS, MEANWHILE), *PEOPLE])
def test_killed_between_any_two_calls_the_queue_ends_the_same(
    setup: Callable[[World], None], meanwhile: Callable[[World], None]
) -> None:
    whole = Walk()
    reference, _ = end_of(whole, setup, meanwhile)
    wanted = projection(reference)
    assert whole.calls > 10
    assert wanted["owner"] == ""
    for kill_at, before in [*((n, True) for n in range(1, whole.calls + 1)), (whole.calls, False)]:
        world, once = end_of(Walk(kill_at, before), setup, meanwhile)
        where = f"{setup.__name__}, {meanwhile.__name__}: killed {'before' if before else 'after'} call {kill_at}"
        assert projection(world) == wanted, where
        counted, recorded = moves_counted_and_recorded(world)
        assert counted == recorded, where
        told = {notice for notice, _ in world.notices.told}
        assert len({notice.rpartition("/")[0] for notice in told}) == len(told), f"{where}: one thing, one id"
        believed = {job.job_id: job.priority for job in world.report.view.waiting}
        assert believed == world.priorities(), where
        if meanwhile is nothing:
            values: dict[str, set[int]] = {}
            for job_id, priority in once:
                values.setdefault(job_id, set()).add(priority)
            assert all(len(each) == 1 for each in values.values()), where
