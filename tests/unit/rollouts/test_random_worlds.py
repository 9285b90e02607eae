"""Random days: whatever happens, nothing is wrong by the truth, and every rollout ends.

Passes overlap, stand still, die between any two calls and lose replies; no event is ever delivered; SageMaker goes back
in silence, alarms flap, people abort, roll back, pause, change and delete components. What AWS leaves undocumented
differs from day to day. With one guard taken away, the violation that it prevents is found.
"""

import pytest

from tests.unit.rollouts.ablations import GUARDS, IN_DOUBT, without
from tests.unit.rollouts.seeds import MISCHIEF, a_day

TURNS = ("abort", "rollback")


@pytest.mark.parametrize("block", range(8))
def test_nothing_is_wrong_and_every_rollout_ends(block: int) -> None:
    """S1-S7, S9-S13, S15, S16, S18, S20, S22 and L1, L3-L5 as `truth.py` and `world.py` check them."""
    for seed in range(block * 50, block * 50 + 50):
        world, record = a_day(seed, harsh=seed % 2 == 0)
        assert not world.truth.wrong, f"seed {seed}: {world.truth.wrong}"
        assert record.phase.terminal, f"seed {seed}: {record.phase} held by {record.holds}"


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_that_is_taken_away_is_missed(guard: str) -> None:
    _, codes = GUARDS[guard]
    for seed in range(600):
        deeds = TURNS if guard == IN_DOUBT else MISCHIEF  # it takes a turn while a call is on its way
        world, _ = a_day(seed, without(guard), deeds, harsh=True, until=20_000.0)
        if any(text.split()[0] in codes for text in world.truth.wrong):
            return
    pytest.fail(f"nothing was wrong in 600 days without the guard: {guard}")
