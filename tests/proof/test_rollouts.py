"""A fixed part of the rollouts' proof: worlds of every profile with nothing wrong, and guards that are missed."""

import pytest

from tests.proof.frame import MIX
from tests.proof.play import missed, played
from tests.proof.rollouts.loop import ROLLOUTS

QUICK = (
    "a way back lists no alarms",
    "an endpoint has one rollout at a time",
    "an excursion counts though it is over, in the loop",
    "evidence of acceptance, in the loop",
)


@pytest.mark.parametrize("profile", [MIX, *ROLLOUTS.profiles])
def test_nothing_is_wrong_by_the_truth(profile: str) -> None:
    for seed in range(1, 4):
        assert played(ROLLOUTS, seed, profile).violations == (), f"{profile or 'the mix'}, seed {seed}"


@pytest.mark.parametrize("name", QUICK)
def test_a_guard_that_is_taken_away_is_missed(name: str) -> None:
    guard = next(guard for guard in ROLLOUTS.guards if guard.name == name)
    line = missed(ROLLOUTS, guard, 1, 60)
    assert line.first is not None
    assert line.intact == 0


def test_nothing_is_wrong_where_passes_interleave_step_by_step() -> None:
    for seed in range(4, 40):
        assert played(ROLLOUTS, seed, "interleaved").violations == (), f"seed {seed}"


def test_the_same_integer_is_the_same_world() -> None:
    assert played(ROLLOUTS, 3) == played(ROLLOUTS, 3)
