"""A fixed part of the rollouts' proof: worlds of every profile with nothing wrong, and guards that are missed."""

from collections import Counter
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from random import Random

import pytest

from pointsman.errors import Conflict, Misconfigured, Transient
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import State
from tests.proof.frame import MIX
from tests.proof.play import missed, played
from tests.proof.rollouts.faults import Frame
from tests.proof.rollouts.loop import ROLLOUTS
from tests.proof.rollouts.profiles import HANDLERS, drawn
from tests.proof.rollouts.stored import damaged, read, stored
from tests.proof.rollouts.world import BEGIN
from tests.proof.rollouts.world import World as RandomWorld
from tests.unit.loops.rollout_world import World

QUICK = (
    "a way back lists no alarms",
    "an endpoint has one rollout at a time",
    "an excursion counts though it is over, in the loop",
    "evidence of acceptance, in the loop",
    "what has ended takes no command",
    "an event approves nothing",
    "a way back overwrites nothing of others",
    "people hear of an alarm after the end",
)


@pytest.mark.parametrize("profile", [MIX, *(name for name in ROLLOUTS.profiles if name != HANDLERS)])
def test_nothing_is_wrong_by_the_truth(profile: str) -> None:
    for seed in range(1, 4):
        assert played(ROLLOUTS, seed, profile).violations == (), f"{profile or 'the mix'}, seed {seed}"


@pytest.mark.parametrize("seed", [3, 5])
def test_nothing_is_wrong_with_what_is_deployed(seed: int) -> None:
    outcome = played(ROLLOUTS, seed, HANDLERS)
    assert outcome.violations == ()
    assert outcome.faults


@pytest.mark.parametrize("name", QUICK)
def test_a_guard_that_is_taken_away_is_missed(name: str) -> None:
    guard = next(guard for guard in ROLLOUTS.guards if guard.name == name)
    line = missed(ROLLOUTS, guard, 1, 60)
    assert line.first is not None
    assert line.intact == 0


def test_nothing_is_wrong_where_passes_interleave_step_by_step() -> None:
    for seed in range(4, 40):
        assert played(ROLLOUTS, seed, "interleaved").violations == (), f"seed {seed}"


def test_the_same_integer_is_the_same_world() -> None:
    assert played(ROLLOUTS, 3) == played(ROLLOUTS, 3)


def test_every_invariant_has_a_guard_that_it_would_miss() -> None:
    missing = {code for guard in ROLLOUTS.guards for code in guard.invariants}
    assert missing >= {*(f"S{n}" for n in range(1, 23)), *(f"L{n}" for n in range(1, 6))}


@pytest.mark.parametrize("seed", [980, 6603, 18035])
def test_nothing_is_wrong_where_something_was(seed: int) -> None:
    assert played(ROLLOUTS, seed).violations == ()


def test_a_call_that_lands_late_is_judged_by_what_its_sender_saw() -> None:
    world = RandomWorld(drawn(3, "calm"))
    sender, other, found = Frame(BEGIN), Frame(BEGIN), list[Frame]()
    world.sinking.frames = [sender]
    world.sinking._on_the_wire(lambda: found.append(world.sinking.frames[-1]))
    world.sinking.frames = [other]
    world.live(BEGIN + 60.0)
    assert found[0] is sender
    assert world.sinking.frames[-1] is other


@pytest.mark.parametrize("by_hand", [True, False])
def test_what_counts_as_new_without_an_update_of_ours_was_updated_by_someone_else(by_hand: bool) -> None:
    truth = RandomWorld(drawn(1, "calm")).run().truths["r1"]
    assert truth.wrong == []
    after = truth.record.components[0]
    assert truth.version(after.name) == truth.new
    truth.sent.clear()
    if by_hand:
        truth.meddled[after.name] = truth.now()
    truth._s8(replace(after, sent_at=BEGIN), replace(after, state=State.SETTLING), truth.record)
    assert [violation.invariant for violation in truth.wrong] == ([] if by_hand else ["S8"])


def test_what_is_stored_and_damaged_is_read_or_refused_by_name_and_no_pass_breaks_on_it() -> None:
    world = World()
    world.ask()
    world.run(stop=lambda: world.phase is Phase.RUNNING and any(c.attempts for c in world.stored.record.components))
    kept = stored(world.stored)
    assert read(kept).record == world.stored.record
    came = Counter[str]()
    for seed in range(1_000):
        try:
            again = read(damaged(kept, Random(seed)))
        except Misconfigured as refused:
            came["refused, by its name" if "r1" in str(refused) else str(refused)] += 1
            continue
        came["read"] += 1
        later = deepcopy(world)
        later.table.kept["r1"].stored = again
        with suppress(Transient, Conflict, Misconfigured):
            later.run_pass()
    assert set(came) == {"refused, by its name", "read"}
    assert min(came.values()) > 50
