"""Whether one glob matches everything that another matches, against trying every short string."""

from fnmatch import fnmatchcase
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pointsman.queues.globs import contains, overlap

# Long enough to tell apart any two of the short globs below; `z` stands for the characters that they do not name.
STRINGS = tuple("".join(s) for length in range(6) for s in product("ab-z", repeat=length))
BRACKETS = ("[ab]", "[!a]", "[a-b]", "[b-a]", "[!b-a]", "[!]", "[]", "[]a]", "[!]a]", "[a", "[-a]", "[a-]", "[^a]")
globs = st.lists(st.sampled_from(("a", "b", "-", "*", "?", *BRACKETS)), max_size=4).map("".join)


@pytest.mark.parametrize(
    "outer, inner, wanted",
    [
        ("*", "prod-*", True),
        ("prod-*", "*", False),
        ("prod-*", "prod-rank-*", True),
        ("prod-rank-*", "prod-*", False),
        ("prod-*", "prod-", True),
        ("prod-?*", "prod-", False),
        ("*-daily", "prod-*-daily", True),
        ("*-*", "*", False),
        ("*a*", "*a*b*", True),
        ("*a*b*", "*b*a*", False),
        ("??*", "*?*?*", True),
        ("team-[ab]", "team-a", True),
        ("team-a", "team-[ab]", False),
        ("team-[a-c]", "team-b", True),
        ("team-[!x]", "team-a", True),
        ("team-[!x]", "team-?", False),
        ("Prod-*", "prod-*", False),
        ("", "", True),
        ("*", "", True),
        ("", "*", False),
        ("a**b", "a*b", True),
        ("a*b", "a**b", True),
    ],
)
def test_one_glob_contains_another(outer: str, inner: str, wanted: bool) -> None:
    assert contains(outer, inner) is wanted


@settings(max_examples=150, deadline=None)
@given(globs, globs)
@example("[!]", "z")
@example("[]", "a")
@example("[b-a]", "")
def test_containment_is_what_trying_every_string_says(outer: str, inner: str) -> None:
    narrow = [s for s in STRINGS if fnmatchcase(s, inner)]
    misses = [s for s in narrow if not fnmatchcase(s, outer)]
    if contains(outer, inner):
        assert not misses
    else:
        # a string that tells them apart may name a bracket's own characters, which the alphabet here lacks
        assert misses or any(c in outer + inner for c in "[]!^")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(("a", "b", "-", "*", "?")), max_size=4).map("".join),
       st.lists(st.sampled_from(("a", "b", "-", "*", "?")), max_size=4).map("".join))  # fmt: skip
def test_without_brackets_both_answers_are_exact(outer: str, inner: str) -> None:
    misses = any(fnmatchcase(s, inner) and not fnmatchcase(s, outer) for s in STRINGS)
    assert contains(outer, inner) is not misses


@pytest.mark.parametrize("glob", [*BRACKETS, "a[!]b", "[]-a]", "[--b]", "[a-b-z]", "[ab-]", "[!-b]", "x[", "[!", "]"])
def test_a_glob_of_brackets_takes_the_same_strings_as_fnmatch(glob: str) -> None:
    literal = "".join(f"[{c}]" if c in "*?[" else c for c in glob)
    for text in ("", *"ab-z!]^[c", "[]", "[!]", "a[!]b", "[a", "[!", "x[", "-a", glob):
        as_glob = "".join(f"[{c}]" if c in "*?[" else c for c in text)
        assert contains(glob, as_glob) is fnmatchcase(text, glob), (glob, text)
    assert contains(literal, literal)


def test_long_globs_of_many_stars_are_compared_in_no_time() -> None:
    assert contains("*a*b*a*b*a*b*", "*ab*ab*ab*ab*")
    assert not contains("*a*b*a*b*a*b*a", "*ab*ab*ab*ab*")


def plain(most: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(("a", "b", "-", "*", "?")), max_size=most).map("".join)


@settings(max_examples=60, deadline=None)
@given(plain(3), plain(2), plain(2))
def test_what_two_globs_have_in_common_is_contained_and_overlaps_as_trying_every_string_says(
    outer: str, first: str, second: str
) -> None:
    common = [s for s in STRINGS if fnmatchcase(s, first) and fnmatchcase(s, second)]
    assert contains(outer, first, second) is all(fnmatchcase(s, outer) for s in common)
    assert overlap(first, second) is bool(common)


@pytest.mark.parametrize(
    "globs, wanted",
    [
        (("team-*", "*-b"), True),
        (("team-a*", "team-b*"), False),
        (("[ab]", "[bc]"), True),
        (("[ab]", "[!ab]"), False),
        (("*", ""), True),
        (("a*", "*b", "?"), False),
    ],
)
def test_globs_overlap_where_one_string_is_matched_by_all(globs: tuple[str, ...], wanted: bool) -> None:
    assert overlap(*globs) is wanted
