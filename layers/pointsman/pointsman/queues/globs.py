"""Whether everything that one shell glob matches is also matched by another: exact, by walking both as automata."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r"\*|\?|\[!?+\]?+[^\]]*\]|.", re.DOTALL)  # as in fnmatch, a bracket's first `]` is a member
MOST_STATES = 5_000  # of a walk; patterns that people write take some dozens
_ANY_OTHER = "\0"  # stands for every character that neither pattern names


@dataclass(frozen=True, slots=True)
class _Step:
    """One token of a glob: `*` repeats, anything else takes one character (of `chars`, or outside them if negated)."""

    repeats: bool
    chars: frozenset[str] | None
    negated: bool = False

    def takes(self, char: str) -> bool:
        return self.chars is None or (char in self.chars) is not self.negated


def _steps(glob: str) -> tuple[_Step, ...]:
    return tuple(_step(part) for part in _TOKEN.findall(glob))


def _step(part: str) -> _Step:
    if part in ("*", "?"):
        return _Step(part == "*", None)
    if len(part) == 1:
        return _Step(repeats=False, chars=frozenset(part))
    negated = part[1] == "!"
    return _Step(repeats=False, chars=frozenset(_members(part[1 + negated : -1])), negated=negated)


def _members(body: str) -> Iterator[str]:
    place = 0
    while place < len(body):
        if place + 2 < len(body) and body[place + 1] == "-":
            yield from (chr(code) for code in range(ord(body[place]), ord(body[place + 2]) + 1))
            place += 3
        else:
            yield body[place]
            place += 1


def _closure(steps: tuple[_Step, ...], places: frozenset[int]) -> frozenset[int]:
    reached = set(places)
    for place in range(len(steps)):
        if place in reached and steps[place].repeats:
            reached.add(place + 1)
    return frozenset(reached)


def _after(steps: tuple[_Step, ...], places: frozenset[int], char: str) -> frozenset[int]:
    nexts = {
        place if steps[place].repeats else place + 1
        for place in places
        if place < len(steps) and steps[place].takes(char)
    }
    return _closure(steps, frozenset(nexts))


def contains(outer: str, *inner: str) -> bool:
    """Whether `outer` matches every string that all of `inner` match (globs as in `fnmatch.fnmatchcase`).

    Exact, but for patterns such as `*a????????????????` whose walk is exponential: those count as not contained.

    >>> contains("prod-*", "prod-rank-*"), contains("prod-rank-*", "prod-*"), contains("*-?", "a-[xy]")
    (True, False, True)
    >>> contains("team-?b", "team-??", "*b")
    True
    """
    return outer in inner or not _differ(outer, inner)


def overlap(*globs: str) -> bool:
    """Whether some string is matched by all; patterns whose walk is exponential count as overlapping.

    >>> overlap("team-*", "*-b"), overlap("team-a*", "team-b*")
    (True, False)
    """
    return _differ(None, globs)


def _differ(outer: str | None, inner: tuple[str, ...]) -> bool:
    """Whether some string is matched by all of `inner` and not by `outer` (None matches nothing)."""
    narrow = [_steps(glob) for glob in inner]
    wide = _steps(outer) if outer is not None else ()
    alphabet = {_ANY_OTHER}.union(*(step.chars for steps in (wide, *narrow) for step in steps if step.chars))
    start = (tuple(_closure(steps, frozenset({0})) for steps in narrow),
             _closure(wide, frozenset({0})) if outer is not None else frozenset())  # fmt: skip
    seen, todo = {start}, [start]
    while todo:
        in_narrow, in_wide = todo.pop()
        ends = all(len(steps) in places for steps, places in zip(narrow, in_narrow, strict=True))
        if ends and (outer is None or len(wide) not in in_wide):
            return True
        for char in alphabet:
            following = tuple(_after(steps, places, char) for steps, places in zip(narrow, in_narrow, strict=True))
            if all(following) and (state := (following, _after(wide, in_wide, char))) not in seen:
                if len(seen) == MOST_STATES:
                    return True
                seen.add(state)
                todo.append(state)
    return False
