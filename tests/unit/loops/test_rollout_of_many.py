"""A rollout of 500 components on 50 endpoints, to its end or back: no pass, item or transaction grows too large."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pointsman.aws import rollout_items as items
from pointsman.errors import Transient
from pointsman.loops import rollout as loop
from pointsman.rollouts.decide import decide
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import State
from pointsman.rollouts.request import Amount, Guard
from tests.fakes.rollout_table import FakeRolloutTable
from tests.unit.loops.rollout_world import ALARM, World
from tests.unit.rollouts.build import OLD, SMALL_BOX

LARGEST = 400_000  # bytes of an item
TEN_TIMES = 25.0  # what ten times the components may take of a pass's time: ten, with room for a slow machine


class Killed(BaseException):
    """The function was killed."""


class Dying:
    """A port, each of whose calls in so many is the last of its function: every other time it was made."""

    def __init__(self, port: Any, every: int, calls: list[int]) -> None:
        self.port, self.every, self.calls = port, every, calls

    def __getattr__(self, name: str) -> Any:
        return partial(self._call, getattr(self.port, name))

    def _call(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.calls[0] += 1
        if self.calls[0] % self.every:
            return method(*args, **kwargs)
        if self.calls[0] % (2 * self.every):
            method(*args, **kwargs)
        raise Killed


def fleet_of(components: int, wrap: Callable[[Any, str], Any] = lambda port, _: port, **asked: Any) -> World:
    """A world of so many components, ten on an endpoint, every tenth of one copy; a rollout of them is asked for."""
    world = World(wrap)
    world.fleet.parts.clear()
    world.fleet.endpoints.clear()
    for number in range(components):
        endpoint = f"e{number // 10}"
        if endpoint not in world.fleet.endpoints:
            world.fleet.add_endpoint(endpoint, 20, 24, SMALL_BOX)
        world.fleet.add(f"m{number}", endpoint, OLD, 1 if number % 10 == 0 else 2)
    waves = (Amount(1), Amount(10, percent=True), Amount(100, percent=True))
    world.ask(waves=waves, concurrency=40, **asked)
    return world


def run(world: World) -> Phase:
    """Passes until it ends; one that was killed, or lost, is followed by another."""
    for _ in range(10_000):
        world.react()
        try:
            advance = world.run_pass()
        except (Killed, Transient):
            world.clock.advance(30)
            continue
        if advance.ended:
            break
        world.clock.advance(min(advance.wait_seconds, 60))
    return world.phase


@pytest.fixture
def committed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many items each commit's transaction has, beside notices and conditions."""
    sizes: list[int] = []
    real = FakeRolloutTable.commit

    def commit(table: FakeRolloutTable, read: Any, decision: Any, *given: Any) -> Any:
        sizes.append(2 + (0 if decision.plan else len(decision.changed)) + len(decision.locks) + len(decision.unlocks))
        return real(table, read, decision, *given)

    monkeypatch.setattr(FakeRolloutTable, "commit", commit)
    return sizes


def largest(world: World) -> int:
    """The bytes of the largest of its items, roughly: the record with what it noted, the plan, a journal's line."""
    kept = world.table.kept["r1"]
    stored = kept.stored
    assert stored.plan is not None
    plan, specs = items.plan_items(stored.plan, stored.record.components)
    record = items.state_of(stored.record) + items.written(stored.request) + items.written_refusals(stored.refusals)
    watched = sum(len(watch.alarm) + 3 for watch in stored.plan.watches)
    lines = [len(items.journal_item("r1", line)["body"]["B"]) for line in kept.journal]
    squeezed = len(plan["body"]["B"]) + len(plan["components"]["B"])
    return max(len(record) + watched, squeezed, *(len(str(spec)) for spec in specs), *lines)


def test_500_components_reach_the_new_version_though_functions_are_killed(committed: list[int]) -> None:
    calls = [0]
    world = fleet_of(500, lambda port, _: Dying(port, 5_003, calls))
    assert run(world) is Phase.SUCCEEDED
    assert {part.view.spec.model for part in world.fleet.parts.values()} == {"ranker-v2"}
    assert [part.view.desired for part in world.fleet.parts.values()].count(1) == 50
    assert not any(lock.owner for lock in world.table.held.values())
    assert max(committed) < 100
    assert largest(world) < LARGEST / 4
    assert calls[0] > 50_000


def test_500_components_go_back_though_functions_are_killed(committed: list[int]) -> None:
    calls = [0]
    world = fleet_of(500, lambda port, _: Dying(port, 5_003, calls))

    def half() -> bool:
        return sum(c.state is State.DONE_NEW or c.touched for c in world.stored.record.components) >= 250

    while not half():
        world.react()
        try:
            world.clock.advance(min(world.run_pass().wait_seconds, 60))
        except (Killed, Transient):
            world.clock.advance(30)
    world.bad = {"ranker-v2"}
    assert run(world) is Phase.ROLLED_BACK
    assert {part.view.spec.model for part in world.fleet.parts.values()} == {"ranker-v1"}
    assert max(committed) < 100
    assert largest(world) < LARGEST / 4


def test_an_alarm_for_each_of_500_components_fits_in_an_item() -> None:
    guard = Guard("errors-of-{component}-in-the-region-of-the-fleet")
    world = fleet_of(500, guards=(Guard(ALARM), guard))
    for name in world.fleet.parts:
        world.signals.add(guard.named(name, ""))
    world.run_pass()
    assert world.phase is not Phase.REJECTED
    assert largest(world) < LARGEST / 4


def test_a_pass_over_ten_times_the_components_takes_about_ten_times_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = {50: [0.0, 0.0], 500: [0.0, 0.0]}
    for components, spends in spent.items():

        def timed(*given: Any, spends: list[float] = spends) -> Any:
            began = time.process_time()
            decision = decide(*given)
            spends[0] += time.process_time() - began
            spends[1] += 1
            return decision

        monkeypatch.setattr(loop, "decide", timed)
        world = fleet_of(components)
        for _ in range(60):
            world.react()
            world.clock.advance(min(world.run_pass().wait_seconds, 60))
    (few, passes), (many, others) = spent[50], spent[500]
    assert many / others < TEN_TIMES * few / passes
