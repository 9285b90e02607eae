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


def contains(outer: str, inner: str) -> bool:
    """Whether `outer` matches every string that `inner` matches (globs as in `fnmatch.fnmatchcase`).

    Exact, but for patterns such as `*a????????????????` whose walk is exponential: those count as not contained.

    >>> contains("prod-*", "prod-rank-*"), contains("prod-rank-*", "prod-*"), contains("*-?", "a-[xy]")
    (True, False, True)
    """
    wide, narrow = _steps(outer), _steps(inner)
    if wide == narrow:
        return True
    alphabet = {_ANY_OTHER}.union(*(step.chars for step in (*wide, *narrow) if step.chars is not None))
    start = (_closure(narrow, frozenset({0})), _closure(wide, frozenset({0})))
    seen, todo = {start}, [start]
    while todo:
        in_narrow, in_wide = todo.pop()
        if len(narrow) in in_narrow and len(wide) not in in_wide:
            return False
        for char in alphabet:
            following = _after(narrow, in_narrow, char)
            if following and (state := (following, _after(wide, in_wide, char))) not in seen:
                if len(seen) == MOST_STATES:
                    return False
                seen.add(state)
                todo.append(state)
    return True
