"""One random day for a seed: the same seed is the same day."""

import random

from pointsman.rollouts.record import RolloutRecord
from tests.unit.rollouts.truth import Habits, Truth
from tests.unit.rollouts.world import Edges, Trouble, World, world_of

MISCHIEF = ("", "", "", "abort", "rollback", "pause", "drift", "gone")


def a_day(
    seed: int,
    edges: Edges | None = None,
    mischief: tuple[str, ...] = MISCHIEF,
    *,
    harsh: bool = False,
    until: float = 200_000.0,
) -> tuple[World, RolloutRecord]:
    """A rollout under a seed's luck: habits of AWS, a bad version or not, trouble of every kind, and a person's deeds.

    On a harsh day there is no luck about the trouble.
    """
    luck = random.Random(seed)
    habits = Habits(*(luck.random() < 0.5 for _ in range(4)))
    bad, flaps = luck.random() < 0.4, luck.random() < 0.5
    truth = Truth(luck, habits, bad=bad, flaps=flaps, dies=luck.choice((0.0, 0.0, 0.1)))
    trouble = Trouble(
        kill=luck.choice((0.0, 0.1, 0.2)),
        overlap=luck.choice((0.0, 0.1)),
        slow=luck.choice((0.0, 0.5)),
        unreadable=luck.choice((0.0, 0.02)),
    )
    if harsh:
        trouble = Trouble(kill=0.15, overlap=0.15, slow=0.7, unreadable=0.02)
    world = world_of(truth, trouble, edges)
    record = world.run((luck.choice(mischief), luck.uniform(0, 3000)), until)
    return world, record
