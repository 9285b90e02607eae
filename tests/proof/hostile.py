"""What the hostile tests are made of: samples that are nearly right, and names that try to be more than names."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
TAKEN_OUT, TWICE = object(), object()


def deep(levels: int) -> Any:
    """A list in a list, so often."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 10**40, -(10**40), 2**53 + 1, 1e308, 0.5, float("nan"),
    float("inf"), float("-inf"), "", " ", "0", "NaN", "null", "x" * 2_000, "\x00", "\ud800", "\u202e", "é\u0301", "%s",
    [], [[]], {}, [None], [{}], {"": None}, {"__proto__": {}}, deep(60), b"bytes",
)  # fmt: skip

HOSTILE = (
    'x"}\n{"level": "ERROR", "message": "forged"}',
    "\x1b[2J\x1b]0;owned\x07",
    "../../control#QUEUE#search-training",
    "${jndi:ldap://x}{{7*7}}%s%n",
    "a' OR 1=1; #b :x",
    "<script>alert(1)</script>[bold]",
    "\u202eesrever\u2028next\x9b31m",
    '=HYPERLINK("http://x"),`a` | stats count(*) | filter @message like /x/',
    "] || `1`.*[?x] && @",
)


MARKUP = ("</script><img src=x onerror=alert(1)>", '"><svg onload=alert(1)>', "$title ${x}", *HOSTILE)


def _places(sample: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    inner = sample.items() if isinstance(sample, dict) else enumerate(sample) if isinstance(sample, list) else ()
    for key, value in inner:
        yield from _places(value, (*at, key))


def _changed(sample: Any, changes: list[tuple[tuple[Any, ...], Any]]) -> Any:
    made = deepcopy(sample)
    for place, value in changes:
        inside = made
        try:
            for key in place[:-1]:
                inside = inside[key]
            if value is TAKEN_OUT:
                del inside[place[-1]]
            elif value is TWICE:
                inside[place[-1]] = [inside[place[-1]]] * 2
            else:
                inside[place[-1]] = deepcopy(value)
        except (LookupError, TypeError):  # an earlier change took the place away
            continue
    return made


def nearly(sample: Any) -> st.SearchStrategy[Any]:
    """The sample with one to three of its values, however deep, taken out or something else."""
    change = st.tuples(st.sampled_from(list(_places(sample))), st.sampled_from((TAKEN_OUT, TWICE, *ODD)) | anything)
    return st.lists(change, min_size=1, max_size=3).map(lambda changes: _changed(sample, changes))


def nearly_text(text: str) -> st.SearchStrategy[str]:
    """The text cut off, doubled, or with something in the middle."""
    cut = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)), st.text(max_size=6))
    return cut.map(lambda parts: text[: parts[0]] + parts[2] + text[parts[1] :])
