"""The queue half of the proof, as far as it runs every day: fixed worlds, and a few guards."""

import pytest

from tests.proof.frame import INTACT
from tests.proof.play import played
from tests.proof.queues.loop import QUEUES

WORLDS = range(1, 9)
MISSED = (("stop switch", 1), ("fence before a write", 5))


@pytest.mark.parametrize("seed", WORLDS)
def test_in_a_random_world_every_invariant_of_a_queue_holds(seed: int) -> None:
    assert played(QUEUES, seed).violations == ()


def test_one_seed_is_one_world() -> None:
    once, again = played(QUEUES, 3), played(QUEUES, 3)
    assert (once.steps, once.faults) == (again.steps, again.faults)


@pytest.mark.parametrize("name, seed", MISSED)
def test_a_guard_that_is_taken_away_is_missed_and_with_it_the_same_world_is_whole(name: str, seed: int) -> None:
    guard = next(guard for guard in QUEUES.guards if guard.name == name)
    without = played(QUEUES, seed, guard.profile, name)
    assert {violation.invariant for violation in without.violations} & guard.invariants
    assert played(QUEUES, seed, guard.profile, INTACT).violations == ()
