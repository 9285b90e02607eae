"""What the proof is made of: a loop plays one random world from one integer, and says what was wrong by the truth.

A half of the proof is a folder whose `loop.py` offers one `Loop`, and `LOOPS` in `tests/proof/__main__.py` names it.

- `Loop.run(seed, profile, off)` plays the world of this seed and gives its `Outcome`. The same three arguments are the
  same world. `profile` is one of `Loop.profiles`, or "" for the mix that the seed draws. `off` is the `Guard.name` of
  the one guard that is taken away, or "" for the product as it is. It may be called in a process of its own, so it
  keeps nothing between two calls, and takes a guard away for this call only.
- `Outcome.faults` counts what was done to the world, by kind; a kind is a few words in small letters.
- A `Violation` names the invariant (S1, L3, Q7) and says in a sentence what is wrong, with the component or the job.
- A `Guard` names what is taken away, the profile whose worlds show it soonest, and which invariants would miss it: only
  their violations count. The switch is in the tests' own code: a function or constant of the product is replaced there.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

MIX = ""  # the profile that the seed draws
INTACT = ""  # no guard is taken away


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that did not hold, and how."""

    invariant: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one world came to: its steps, the faults in it by kind, and what was wrong."""

    steps: int
    faults: Counter[str] = field(default_factory=Counter)
    violations: tuple[Violation, ...] = ()


@dataclass(frozen=True, slots=True)
class Guard:
    """Something that the product does to keep an invariant, and the worlds in which its absence shows."""

    name: str
    profile: str
    invariants: frozenset[str]


@dataclass(frozen=True, slots=True)
class Loop:
    """One of the product's loops, as worlds that are played from an integer."""

    name: str
    run: Callable[[int, str, str], Outcome]
    guards: tuple[Guard, ...]
    profiles: tuple[str, ...]
