"""The queues' half of the proof: one world from one seed."""

from random import Random

from tests.proof.frame import MIX, Loop, Outcome
from tests.proof.queues.draw import PROFILES
from tests.proof.queues.guards import GUARDS, without
from tests.proof.queues.rest import Rest
from tests.proof.queues.world import QueueWorld

TROUBLE, CALM = 2700.0, 400.0
HANDLERS = "handlers"


def play(seed: int, profile: str = MIX) -> QueueWorld:
    """The whole of a world."""
    luck = Random(f"profile {seed}")
    world = QueueWorld(seed, profile or luck.choice(PROFILES))
    world.submit_jobs()
    for _ in range(luck.randint(3, 10)):
        world.later(luck.uniform(0, TROUBLE * 0.8), world.submit_jobs)
    if luck.random() < 0.2:
        for _ in range(3):
            world.later(TROUBLE / 2, world.submit_jobs)
    for _ in range(int(30 * world.trouble.poison * 10)):
        world.later(luck.uniform(0, TROUBLE), world.poison)
    world.later(world.trouble.pace * luck.random(), world.somebody)
    world.later(world.trouble.alarms * luck.random(), world.alarm)
    world.later(60.0, world.jump)
    world.tick()
    world.go_on(TROUBLE)
    Rest(world).settle(CALM)
    return world


def run(seed: int, profile: str, off: str) -> Outcome:
    """The world of this seed, and what was wrong in it; the profile `handlers` is a world of what is deployed."""
    if profile == HANDLERS:
        from tests.proof.queues.handlers import run as through_handlers  # it imports the whole emulator

        return through_handlers(seed)
    with without(off):
        world = play(seed, profile)
    return Outcome(world.passes_made, world.faults + world.truth.counts, tuple(world.truth.found.values()))


QUEUES = Loop("queues", run, GUARDS, (*PROFILES, HANDLERS))
