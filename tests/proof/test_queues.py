"""The queue half of the proof, as far as it runs every day: fixed worlds, and a few guards."""

import pytest

from tests.proof.frame import INTACT
from tests.proof.play import played
from tests.proof.queues.loop import QUEUES
from tests.proof.queues.truth import Hand
from tests.proof.queues.world import QueueWorld

WORLDS = range(1, 9)
MISSED = (("stop switch", 1), ("fence before a write", 5))


@pytest.mark.parametrize("seed", WORLDS)
def test_in_a_random_world_every_invariant_of_a_queue_holds(seed: int) -> None:
    assert played(QUEUES, seed).violations == ()


@pytest.mark.parametrize("rested, over", [(2400, False), (4000, True)], ids=["within its time", "after its time"])
def test_what_someone_set_runs_out_while_batch_stands_still(rested: float, over: bool) -> None:
    world = QueueWorld(1, "people")
    world.truth.policies.clear()
    world.put(world.document | {"respect_human": "1h"})
    hand = Hand(3, world.time)
    world.rest(rested)
    assert world.truth._over(hand) is over


def test_the_budget_of_calls_fills_while_batch_stands_still() -> None:
    world = QueueWorld(1, "people")
    world.truth.calm()
    world.rest(60.0)
    world.truth.called("describe_job", 120)
    world.rest(60.0)
    world.truth.called("describe_job", 120)
    assert not world.truth.found


def test_when_batch_goes_on_no_time_is_counted_twice() -> None:
    world = QueueWorld(1, "people")
    world.rest(800.0)
    before = world.time
    world.rested()
    assert world.time == world.model.now == world.clock.now() == before


def test_one_seed_is_one_world() -> None:
    once, again = played(QUEUES, 3), played(QUEUES, 3)
    assert (once.steps, once.faults) == (again.steps, again.faults)


@pytest.mark.parametrize("name, seed", MISSED)
def test_a_guard_that_is_taken_away_is_missed_and_with_it_the_same_world_is_whole(name: str, seed: int) -> None:
    guard = next(guard for guard in QUEUES.guards if guard.name == name)
    without = played(QUEUES, seed, guard.profile, name)
    assert {violation.invariant for violation in without.violations} & guard.invariants
    assert played(QUEUES, seed, guard.profile, INTACT).violations == ()
