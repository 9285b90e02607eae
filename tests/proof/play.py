"""Many worlds over all cores, added up; and the table of what each guard is worth."""

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from typing import Any

from tests.proof.frame import INTACT, MIX, Guard, Loop, Outcome, Violation

CHUNK = 25  # worlds that a process plays before it tells of them
MOST = 5_000  # worlds in which a guard's absence must show
CRASHED = "crash"  # the invariant of a world that raised


@dataclass
class Sum:
    """What many worlds came to; `found` are (seed, violation)."""

    worlds: int = 0
    steps: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    found: list[tuple[int, Violation]] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Missed:
    """A guard's line of the table: how many worlds it took, and the first violation."""

    guard: Guard
    start: int
    worlds: int
    first: Violation | None
    seed: int
    intact: int  # violations of the product as it is, in the same worlds


def played(loop: Loop, seed: int, profile: str = MIX, off: str = INTACT) -> Outcome:
    """One world; that it raises is a violation too."""
    try:
        return loop.run(seed, profile, off)
    except Exception as error:  # noqa: BLE001 - a world that cannot be played proves nothing
        return Outcome(0, Counter(), (Violation(CRASHED, f"{type(error).__name__}: {error}"),))


@contextmanager
def _processes(number: int) -> Iterator[Any]:
    with get_context("fork").Pool(number) as pool:
        yield pool


def jobs() -> int:
    """How many processes play: JOBS, or as many as there are cores."""
    return int(os.environ.get("JOBS", "0")) or os.cpu_count() or 1


def _one(loop: Loop, profile: str, off: str, seed: int) -> tuple[int, Outcome]:
    return seed, played(loop, seed, profile, off)


def many(loop: Loop, seeds: Iterable[int], profile: str = MIX, off: str = INTACT) -> Sum:
    """All these worlds."""
    total, began = Sum(), time.perf_counter()
    with _processes(jobs()) as pool:
        for seed, outcome in pool.imap_unordered(partial(_one, loop, profile, off), seeds, CHUNK):
            total.worlds += 1
            total.steps += outcome.steps
            total.faults += outcome.faults
            total.found += [(seed, violation) for violation in outcome.violations]
    total.found.sort(key=lambda pair: pair[0])
    total.seconds = time.perf_counter() - began
    return total


def missed(loop: Loop, guard: Guard, start: int, most: int) -> Missed:
    """Without this guard, the first world from `start` on that is wrong for it; with it, the same worlds again."""
    for seed in range(start, start + most):
        outcome = played(loop, seed, guard.profile, guard.name)
        first = next((v for v in outcome.violations if v.invariant in guard.invariants), None)
        if first is not None:
            same = range(start, seed + 1)
            intact = sum(len(played(loop, each, guard.profile).violations) for each in same)
            return Missed(guard, start, seed + 1 - start, first, seed, intact)
    return Missed(guard, start, most, None, 0, 0)


def _missed(loop: Loop, most: int, task: tuple[Guard, int]) -> Missed:
    return missed(loop, *task, most)


def table(loop: Loop, starts: Iterable[int], most: int) -> list[Missed]:
    """Every guard's line, for each of these starts."""
    tasks = [(guard, start) for start in starts for guard in loop.guards]
    with _processes(jobs()) as pool:
        return pool.map(partial(_missed, loop, most), tasks, 1)
