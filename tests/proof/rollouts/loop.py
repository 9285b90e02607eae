"""The rollouts' half of the proof."""

from collections import Counter
from dataclasses import replace
from random import Random

from tests.proof.frame import INTACT, MIX, Loop, Outcome, Violation
from tests.proof.rollouts import handlers
from tests.proof.rollouts.draw import World as Drawn
from tests.proof.rollouts.guards import GUARDS, taken_away
from tests.proof.rollouts.profiles import HANDLERS, INTERLEAVED, PROFILES, drawn
from tests.proof.rollouts.world import World
from tests.unit.rollouts.ablations import without
from tests.unit.rollouts.seeds import a_day
from tests.unit.rollouts.world import Edges

CALM = "calm"
ALONE = "a rollout looks again by itself"


def run(seed: int, profile: str, off: str) -> Outcome:
    """One rollout's world; every fourth of the mix is on the core alone, whose passes interleave step by step."""
    if profile == INTERLEAVED or (profile == MIX and Random(f"{seed} which").random() < 0.25):
        return _interleaved(seed, off)
    if profile == HANDLERS:
        return handlers.run(seed)
    asked = drawn(seed, profile)
    with taken_away(off):
        world = World(asked).run()
        wrong = [violation for truth in world.truths.values() for violation in truth.wrong]
        if profile == CALM and off in {INTACT, ALONE} and asked.even:
            wrong += _without_events(asked, world)
    return Outcome(world.steps, world.faults, tuple(wrong))


def _without_events(asked: Drawn, world: World) -> list[Violation]:
    """L4, where nothing else is left to chance: the same end with every event and with none."""
    other = World(replace(asked, trouble=replace(asked.trouble, lost=1.0 - asked.trouble.lost))).run()
    ends = [it.record.phase.value for it in (world, other)]
    return [] if len(set(ends)) == 1 else [Violation("L4", f"it ends {ends[0]}, and {ends[1]} by other events")]


def _interleaved(seed: int, off: str) -> Outcome:
    world, _ = a_day(seed, Edges() if off == INTACT else without(off), harsh=seed % 2 == 0)
    wrong = [Violation(*text.split(" ", 1)) for text in world.truth.wrong]
    return Outcome(world.passes, Counter(), tuple(wrong))


ROLLOUTS = Loop("rollouts", run, GUARDS, PROFILES)
