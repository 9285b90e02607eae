"""The rollouts' half of the proof."""

from collections import Counter
from random import Random

from tests.proof.frame import INTACT, MIX, Loop, Outcome, Violation
from tests.proof.rollouts.draw import PROFILES, drawn
from tests.proof.rollouts.world import World
from tests.unit.rollouts.ablations import without
from tests.unit.rollouts.seeds import a_day
from tests.unit.rollouts.world import Edges

INTERLEAVED = "interleaved"


def run(seed: int, profile: str, off: str) -> Outcome:
    """One rollout's world; every fourth of the mix is on the core alone, whose passes interleave step by step."""
    if profile == INTERLEAVED or (profile == MIX and Random(f"{seed} which").random() < 0.25):
        return _interleaved(seed, off)
    world = World(drawn(seed, profile)).run()
    wrong = [violation for truth in world.truths.values() for violation in truth.wrong]
    return Outcome(world.steps, world.faults, tuple(wrong))


def _interleaved(seed: int, off: str) -> Outcome:
    world, _ = a_day(seed, Edges() if off == INTACT else without(off), harsh=seed % 2 == 0)
    wrong = [Violation(*text.split(" ", 1)) for text in world.truth.wrong]
    return Outcome(world.passes, Counter(), tuple(wrong))


ROLLOUTS = Loop("rollouts", run, (), PROFILES)
