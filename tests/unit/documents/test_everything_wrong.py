"""What contradicts itself is said also where a key is wrong, and nothing that only the wrong key would explain."""

from typing import Any

import pytest

from pointsman.documents import InvalidDocument, Path
from pointsman.policy_documents import parse_policy
from tests.unit.documents.policies import ACROSS, LEAST, WHOLE, changed

# Three contradictions; what they say is below.
TWO = changed(WHOLE, "classes", 1, "name", to="production")
THREE = changed(changed(TWO, "on_alarm", 0, "boost", to="prod"), "windows", 0, "set", to={"nobody": {"ceiling": "5%"}})
CONTRADICTIONS = {("classes", 1, "name"), ("on_alarm", 0, "boost"), ("windows", 0, "set", "nobody")}


def problems(document: object) -> list[Path]:
    with pytest.raises(InvalidDocument) as caught:
        parse_policy(document)
    return [problem.path for problem in caught.value.problems]


WRONG_BESIDE: dict[str, tuple[tuple[str | int, ...], object]] = {
    "a duration": (("spread",), "6"),
    "a duration of a class": (("classes", 0, "head_start"), "6"),
    "a deadline": (("classes", 0, "deadline"), {"tga": "x"}),
    "a duration of a boost": (("on_alarm", 0, "by"), "6"),
    "the name of an alarm": (("on_alarm", 1, "alarm"), ""),
    "a place that is held": (("reservation", "after"), "6"),
    "a window": (("windows", 0, "when"), "noon"),
    "the version": (("version",), 2),
    "the queue": (("queue",), ""),
    "the share": (("share",), "a b"),
}


@pytest.mark.parametrize("path, value", WRONG_BESIDE.values(), ids=WRONG_BESIDE.keys())
def test_what_contradicts_itself_is_said_beside_what_is_wrong(path: Path, value: object) -> None:
    found = problems(changed(THREE, *path, to=value))

    assert set(found) >= CONTRADICTIONS
    assert len(found) == len(CONTRADICTIONS) + (2 if path[-1] == "deadline" else 1)


ALONE: dict[str, tuple[dict[str, Any], Path]] = {
    "the boost goes by it": (changed(WHOLE, "on_alarm", 0, "by", to="6"), ("on_alarm", 0, "by")),
    "a class that is boosted": (changed(WHOLE, "classes", 0, "name", to="Prod"), ("classes", 0, "name")),
    "who may be evicted": (
        {**LEAST, "preemption": {}, "default": {"name": "sweep", "preemptible": "yes"}},
        ("default", "preemptible"),
    ),
    "who may be evicted, misspelt": (
        {**LEAST, "preemption": {}, "default": {"name": "sweep", "preemtible": True}},
        ("default", "preemtible"),
    ),
    "what a class matches": (changed(WHOLE, "classes", 0, "match", "job_name", to=""),
                             ("classes", 0, "match", "job_name")),
    "what rules across shares": (changed(ACROSS, "across_shares", to="priority"), ("across_shares",)),
    "what rules across shares, misspelt": (
        {("across_share" if key == "across_shares" else key): value for key, value in ACROSS.items()},
        ("across_share",),
    ),
    "a weight": (changed(ACROSS, "classes", 0, "weight", to="much"), ("classes", 0, "weight")),
    "the classes, misspelt": (
        {("clases" if key == "classes" else key): value for key, value in WHOLE.items()},
        ("clases",),
    ),
    "a class that is no mapping": (changed(WHOLE, "classes", 0, to="production"), ("classes", 0)),
    "what a window sets": (changed(WHOLE, "windows", 0, "set", to={"sweep": "6h"}), ("windows", 0, "set", "sweep")),
    "what a window sets of a part": (
        changed(WHOLE, "windows", 0, "set", to={"sweep": {"ceiling": "0"}}),
        ("windows", 0, "set", "sweep", "ceiling"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("document, path", ALONE.values(), ids=ALONE.keys())
def test_what_only_a_wrong_key_would_explain_is_not_said(document: dict[str, Any], path: Path) -> None:
    assert problems(document) == [path]
