"""A calm world, driven to where a test wants it."""

from typing import Any

from pointsman.rollouts.decision import SubmitUpdate
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import Direction, HoldKind, RolloutRecord, Step
from tests.unit.rollouts.world import Edges, Trouble, World, calm, world_of


def world(edges: Edges | None = None, **asked: Any) -> World:
    made = world_of(calm(), Trouble(), edges, **asked)
    made.helped = False
    return made


def until(made: World, phase: Phase, step: Step | None = None, wave: int | None = None) -> RolloutRecord:
    def there() -> bool:
        record = made.record
        same = record.phase is phase and (step is None or record.step is step)
        return same and (wave is None or record.wave == wave) and not made.running

    made.run(stop=there)
    assert there(), made.record
    return made.record


def held(made: World, kind: HoldKind) -> RolloutRecord:
    made.run(stop=lambda: made.record.hold(kind) is not None and not made.running)
    assert made.record.hold(kind) is not None, made.record
    return made.record


def reasons(made: World) -> list[Reason]:
    return [said.reason for line in made.journal for said in line.said]


def updates(made: World, direction: Direction) -> list[str]:
    return [a.component for a in made.acts if isinstance(a, SubmitUpdate) and a.attempt.direction is direction]
