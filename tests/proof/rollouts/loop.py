"""The rollouts' half of the proof."""

from collections import Counter

from tests.proof.frame import INTACT, Loop, Outcome, Violation
from tests.unit.rollouts.ablations import without
from tests.unit.rollouts.seeds import a_day
from tests.unit.rollouts.world import Edges


def run(seed: int, profile: str, off: str) -> Outcome:  # noqa: ARG001 - one profile so far
    """One rollout's day."""
    world, _ = a_day(seed, Edges() if off == INTACT else without(off), harsh=seed % 2 == 0)
    wrong = [Violation(*text.split(" ", 1)) for text in world.truth.wrong]
    return Outcome(world.passes, Counter(), tuple(wrong))


ROLLOUTS = Loop("rollouts", run, (), ())
