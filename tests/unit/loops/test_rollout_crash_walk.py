"""A rollout is killed between any two outside calls; the passes after it end where they would have ended without.

Each scenario runs once to count the calls, then once more for each, killed before it, and after it with its answer
lost. What is left is carried on by fresh passes, as the state machine's retries and the clock do. `make test` leaves
out most of the reads; `make walk` does not.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from pointsman.loops.rollout import RolloutLoop
from pointsman.rollout_ports import StoredRollout
from pointsman.rollouts.decision import Decision, replay
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import RolloutRecord
from pointsman.rollouts.request import Amount, Guard, Target, Yielding
from tests.unit.loops.rollout_world import ALARM, OLD, World
from tests.walks import Walked

READS = frozenset(
    {
        "control.stopped",
        "fleet.component",
        "fleet.components",
        "fleet.endpoint",
        "fleet.model",
        "scaling.describe",
        "signals.read",
        "table.load",
        "table.locks",
        "table.notices",
        "table.open",
    }
)
AGAIN = 7.0  # seconds after a death, until the state machine runs the function again


class Killed(BaseException):
    """The function was killed: no handler of ours catches this."""


@dataclass
class Walk:
    """Counts the outside calls, and kills before or after one of them."""

    kill_at: int = 0
    before: bool = True
    calls: int = 0
    names: tuple[str, ...] = ()

    def call(self, name: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        self.names = (*self.names, name)
        if self.calls == self.kill_at and self.before:
            raise Killed
        answer = method(*args, **kwargs)
        if self.calls == self.kill_at:
            raise Killed
        return answer

    def wrap(self, port: Any, name: str) -> Any:
        return Fragile(port, self, name)


class Fragile:
    """A port whose calls are counted."""

    def __init__(self, port: Any, walk: Walk, name: str) -> None:
        self._port, self._walk, self._name = port, walk, name

    def __getattr__(self, name: str) -> Any:
        return partial(self._walk.call, f"{self._name}.{name}", getattr(self._port, name))


def single_gpu(world: World) -> None:
    """Two endpoints of one-GPU instances, a spare one each."""
    world.fleet.roll_seconds = 90.0
    world.ask(guards=(Guard(ALARM, native=True),))


def bad_api(world: World) -> None:
    """The new version lets the alarm fire."""
    world.bad = {"ranker-v2"}
    world.fleet.roll_seconds = 90.0
    world.ask(waves=(Amount(100, percent=True),))


def make_room(world: World) -> None:
    """A component gives way, for one of one copy, whose auto scaling is suspended."""
    world.fleet.roll_seconds = 90.0
    world.fleet.add_endpoint("e2", 3, 3, OLD.compute)
    world.fleet.add("y1", "e2", OLD, 1)
    world.ask(targets=(Target(component="m2"),), waves=(Amount(100, percent=True),), yielding=(Yielding("y1", 0),))


def end_of(walk: Walk, setup: Callable[[World], None]) -> World:
    """The world after the scenario, with one death in it at most."""
    world = World(wrap=walk.wrap)
    setup(world)
    until = world.clock.now() + 40_000
    while world.clock.now() < until:
        world.react()
        try:
            advance = world.run_pass()
        except Killed:
            world.clock.advance(AGAIN)
            continue
        if advance.ended:
            break
        world.clock.advance(min(advance.wait_seconds, 30))
    for _ in range(2):
        world.clock.advance(60)
        with suppress(Killed):
            world.due.wake()
    return world


def projection(world: World) -> dict[str, Any]:
    """What must be the same; times, revisions and attempts' numbers need not."""
    record = world.stored.record
    return {
        "models": world.models(),
        "copies": world.copies(),
        "phase": record.phase,
        "locks": {endpoint: lock.owner for endpoint, lock in world.table.held.items()},
        "notes": sorted((note.component, note.state) for note in (*record.copies, *record.scaling)),
        "alarms": set(world.signals.bells),
        "notices": {notice.key.partition("/hold/")[0] for notice in world.notices.told},
        "unsent": world.stored.unsent,
    }


SETUPS = (single_gpu, bad_api, make_room)
SHARES = 4  # parts of the whole walk, which several processes take


def walk(setup: Callable[[World], None], points: Callable[[int, str], Iterable[bool]], what: str = "") -> Walked:
    """Kill the scenario once at each point; `points` says of a call whether before it, after it, both, or not at all.

    Raises where the journal does not rebuild the record, or a component was updated twice.
    """
    whole = Walk()
    wanted = projection(end_of(whole, setup))
    assert wanted["phase"] in {Phase.SUCCEEDED, Phase.ROLLED_BACK}
    assert whole.calls > 100
    walked = Walked(what)
    for kill_at, name in enumerate(whole.names, 1):
        sides = tuple(points(kill_at, name))
        walked.boundaries += bool(sides)
        for before in sides:
            world = end_of(Walk(kill_at, before), setup)
            where = f"{setup.__name__}: {'before' if before else 'after'} {name} ({kill_at})"
            walked.saw(where, projection(world), wanted)
            assert replay(RolloutRecord("r1"), world.table.kept["r1"].journal) == world.stored.record, where
            for part in world.fleet.parts.values():
                forward = [act for act in part.sent if act.alarms]
                assert len(forward) <= 1, f"{where}: {part.view.name} was updated twice"
    return walked


@pytest.mark.parametrize("setup", SETUPS)
def test_killed_between_any_two_calls_the_rollout_ends_the_same(setup: Callable[[World], None]) -> None:
    """Nothing differs outside before a read and after it, and one scenario walks the reads the same."""

    def points(_: int, name: str) -> Iterable[bool]:
        return (True, False) if name not in READS else (True,) if setup is bad_api else ()

    assert walk(setup, points).different == []


@pytest.mark.walk
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("setup", SETUPS)
def test_killed_before_and_after_every_call_reads_too_it_ends_the_same(
    setup: Callable[[World], None], share: int, record_property: Callable[[str, object], None]
) -> None:
    what = f"outside calls of {setup.__name__.replace('_', '-')}, on the core with fakes"
    walked = walk(setup, lambda kill_at, _: (True, False) if kill_at % SHARES == share else (), what)
    record_property(*walked.reported())
    assert walked.different == []


def test_a_death_after_each_call_in_turn_still_comes_to_an_end() -> None:
    """Every function dies after a few calls, each time a little later: progress is what was committed."""

    @dataclass
    class Mortal(Walk):
        lives: int = 0

        def call(self, name: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            self.names = (name,)
            self.lives += 1
            answer = method(*args, **kwargs)
            if self.lives % 37 == 0:
                raise Killed
            return answer

    world = end_of(Mortal(), single_gpu)
    assert world.phase is Phase.SUCCEEDED
    assert world.models() == {"m1": "ranker-v2", "m2": "ranker-v2"}


def test_without_the_commit_before_the_act_the_same_walk_finds_the_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    real = RolloutLoop._decide

    def hasty(loop: RolloutLoop, stored: StoredRollout) -> Decision:
        decision = real(loop, stored)
        loop._carry_out(decision.record, decision.acts)
        return replace(decision, acts=())

    monkeypatch.setattr(RolloutLoop, "_decide", hasty)
    whole = Walk()
    wanted = projection(end_of(whole, single_gpu))
    deaths = [at for at, name in enumerate(whole.names, 1) if name == "fleet.update"]

    assert any(projection(end_of(Walk(at, before=False), single_gpu)) != wanted for at in deaths)
