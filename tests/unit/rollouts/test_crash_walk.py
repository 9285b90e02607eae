"""Killed at every step of every pass that changes something: the same end as without, by what is true then."""

from collections.abc import Callable, Iterator

import pytest

from pointsman.rollouts import backward
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import State
from tests.unit.rollouts.ablations import no_lease
from tests.unit.rollouts.build import OLD
from tests.unit.rollouts.world import Edges, Trouble, World, calm, world_of


def good() -> World:
    return world_of(calm(), Trouble())


def bad() -> World:
    return good().ready()


def projection(world: World) -> tuple[object, ...]:
    """What must be the same: the end, versions, copies (but of what scales by itself), locks, the switch."""
    parts = world.truth.parts.values()
    return (
        world.record.phase,
        world.record.needs_human,
        tuple((p.name, p.spec.model, p.copies if p.scaling is None else None, p.scaling) for p in parts),
        tuple(sorted((name, lock.owner) for name, lock in world.truth.locks.items())),
        world.truth.switch,
    )


def steps(world: World) -> list[int]:
    """The numbers of the steps of passes that committed something, as the world runs."""
    numbers: list[int] = []
    count, commits = 0, len(world.journal)
    original = world.one_pass

    def counted() -> Iterator[None]:
        nonlocal count, commits
        mine = []
        for _ in original():
            mine.append(count)
            count += 1
            yield
        mine.append(count)
        count += 1
        if len(world.journal) > commits:
            commits = len(world.journal)
            numbers.extend(mine[1:])  # before it decides is as before it commits

    world.one_pass = counted  # type: ignore[method-assign]
    world.run()
    return numbers


def kill_at(world: World, number: int) -> None:
    """Let one pass die at this step, and go on."""
    count = 0
    original = world.one_pass

    def mortal() -> Iterator[None]:
        nonlocal count
        for _ in original():
            dies = count == number
            count += 1
            if dies:
                world.wake = world.truth.now + 5 if world.wake is not None else None
                return
            yield
        count += 1

    world.one_pass = mortal  # type: ignore[method-assign]
    world.run()


def late_call(edges: Edges) -> World:
    """A pass commits that it sends an update, stands still, calls 100 s later; meanwhile a rollback is asked for."""
    made = world_of(calm(), Trouble(), edges)
    made.run(stop=lambda: bool(made.record.components and made.record.component("m1").attempts) and not made.running)
    slow = made.one_pass()
    while made.record.component("m1").sent_at is None:
        next(slow)
    made.mischief("rollback")
    made.run(until=100.0)
    for _ in slow:
        pass
    made.run()
    return made


def test_a_call_that_comes_late_is_waited_for() -> None:
    made = late_call(Edges())
    assert not made.truth.wrong
    assert made.record.phase is Phase.ROLLED_BACK
    assert made.truth.parts["m1"].spec == OLD


def test_without_the_lease_and_the_look_at_all_that_was_touched_a_late_call_would_be_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not late_call(Edges(believe=no_lease)).truth.wrong
    new = {State.SETTLING, State.BAKING, State.DONE_NEW, State.FAILED}
    monkeypatch.setattr(backward, "_in_question", lambda component: component.state in new)
    assert late_call(Edges(believe=no_lease)).truth.wrong


@pytest.mark.parametrize("make,end", [(good, Phase.SUCCEEDED), (bad, Phase.ROLLED_BACK)])
def test_a_kill_at_any_step_changes_nothing_but_time(make: Callable[[], World], end: Phase) -> None:
    whole = make()
    numbers = steps(whole)
    assert whole.record.phase is end
    assert len(numbers) > 40
    for number in numbers:
        world = make()
        kill_at(world, number)
        assert not world.truth.wrong, f"killed at step {number}: {world.truth.wrong}"
        assert projection(world) == projection(whole), f"killed at step {number}"
