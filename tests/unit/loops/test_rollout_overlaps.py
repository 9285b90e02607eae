"""Two executions run at once, and wakes come doubled, late and never: the rollout ends the same, and acts once.

A whole run happens inside of another one, before or after each of its outside calls in turn.
"""

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from pointsman.errors import Conflict, Transient
from pointsman.rollouts.decision import replay
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import RolloutRecord
from tests.fakes.rollout_table import FakeRolloutTable
from tests.unit.loops.rollout_world import World
from tests.unit.loops.test_rollout_crash_walk import READS, Walk, bad_api, make_room, projection, single_gpu


class Overlap(Walk):
    """At one call, or at chance ones, another run of the same rollout goes first, or right after."""

    def __init__(
        self, within: Callable[[], None], at: int = 0, *, before: bool = True, luck: Random | None = None
    ) -> None:
        super().__init__(at, before)
        self.within, self.luck, self.inside = within, luck, False

    def call(self, name: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.inside:
            return method(*args, **kwargs)
        self.calls += 1
        self.names = (*self.names, name)
        now = self.calls == self.kill_at if self.luck is None else self.luck.random() < 0.05
        before = self.before if self.luck is None else self.luck.random() < 0.5
        if now and before:
            self._other()
        answer = method(*args, **kwargs)
        if now and not before:
            self._other()
        return answer

    def _other(self) -> None:
        self.inside = True
        try:
            self.within()
        finally:
            self.inside = False


def ended(setup: Callable[[World], None], **when: Any) -> tuple[World, Overlap]:
    """The world after the scenario with a second run in it."""
    worlds: list[World] = []

    def within() -> None:
        with suppress(Transient, Conflict):
            worlds[0].run_pass()

    overlap = Overlap(within, **when)
    world = World(wrap=overlap.wrap)
    worlds.append(world)
    setup(world)
    world.run()
    for _ in range(2):
        world.clock.advance(60)
        world.due.wake()
    return world, overlap


def check(world: World, wanted: dict[str, Any], where: str) -> None:
    assert projection(world) == wanted, where
    assert replay(RolloutRecord("r1"), world.table.kept["r1"].journal) == world.stored.record, where
    for part in world.fleet.parts.values():
        assert len([act for act in part.sent if act.alarms]) <= 1, f"{where}: {part.view.name} was updated twice"


@pytest.mark.parametrize("setup", [single_gpu, bad_api, make_room])
def test_a_run_inside_of_another_changes_nothing(setup: Callable[[World], None]) -> None:
    reference, whole = ended(setup)
    wanted = projection(reference)
    assert wanted["phase"] in {Phase.SUCCEEDED, Phase.ROLLED_BACK}
    for at, name in enumerate(whole.names, 1):
        for before in (True, False):
            if name not in READS:
                world, _ = ended(setup, at=at, before=before)
                check(world, wanted, f"{setup.__name__}: {'before' if before else 'after'} {name} ({at})")


@pytest.mark.parametrize("seed", range(12))
def test_runs_that_overlap_all_the_time_change_nothing(seed: int) -> None:
    setup = (single_gpu, bad_api, make_room)[seed % 3]
    wanted = projection(ended(setup)[0])
    world, _ = ended(setup, luck=Random(seed))
    check(world, wanted, f"{setup.__name__}, seed {seed}")


def test_without_the_condition_on_the_revision_the_same_overlaps_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = projection(ended(single_gpu)[0])
    monkeypatch.setattr(FakeRolloutTable, "_unchanged", staticmethod(lambda _read, _kept: None))

    def wrong(seed: int) -> bool:
        try:
            check(ended(single_gpu, luck=Random(seed))[0], wanted, "")
        except AssertionError:
            return True
        return False

    assert any(wrong(seed) for seed in range(12))
