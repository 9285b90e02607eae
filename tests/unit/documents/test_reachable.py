"""A class is refused as out of reach exactly when no job of the shares that the policy rules would ever get into it."""

from fnmatch import fnmatchcase
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.documents import InvalidDocument
from pointsman.policy_documents import parse_policy

# Long enough to tell apart any of the short globs below; `c` stands for the characters that they do not name.
TEXTS = tuple("".join(s) for length in range(5) for s in product("abc", repeat=length))
globs = st.lists(st.sampled_from(("a", "b", "*", "?")), min_size=1, max_size=3).map("".join)
matches = st.fixed_dictionaries({}, optional={"job_name": globs, "share": globs})


def jobs(match: dict[str, str], ruled: str) -> set[tuple[str, str]]:
    """Every job that is matched, as its name and its share."""
    names = [text for text in TEXTS if fnmatchcase(text, match.get("job_name", "*"))]
    shares = [s for s in TEXTS if s and fnmatchcase(s, ruled) and fnmatchcase(s, match.get("share", "*"))]
    return set(product(names, shares))


@settings(max_examples=120, deadline=None)
@given(globs, matches, matches)
def test_out_of_reach_is_what_trying_every_job_says(ruled: str, first: dict[str, str], second: dict[str, str]) -> None:
    document = {
        "version": 1,
        "queue": "q",
        "share": ruled,
        "classes": [{"name": "first", "match": first}, {"name": "second", "match": second}],
        "default": {"name": "rest"},
    }
    refused = set()
    try:
        parse_policy(document)
    except InvalidDocument as invalid:
        refused = {p.message.split()[4].rstrip(":") for p in invalid.problems if p.message.startswith("nothing can")}
    # One earlier class at a time: two that cover a later one only together are not looked for.
    earlier: list[set[tuple[str, str]]] = []
    unreached = set()
    for name, match in (("first", first), ("second", second), ("rest", {})):
        matched = jobs(match, ruled)
        if not matched or any(matched <= others for others in earlier):
            unreached.add(name)
        earlier.append(matched)
    assert refused == unreached
