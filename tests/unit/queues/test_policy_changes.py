"""What another policy changes in effect, in sentences."""

from typing import Any

import pytest

from pointsman.policy_documents import parse_policy
from pointsman.queues.policy_changes import changes

BASE: dict[str, Any] = {
    "version": 1,
    "queue": "q",
    "share": "all",
    "classes": [
        {"name": "production", "match": {"job_name": "prod-*"}, "head_start": "24h"},
        {"name": "research", "match": {"tag": {"purpose": "explore"}}},
    ],
    "default": {"name": "sweep"},
}
PRODUCTION, RESEARCH = BASE["classes"]


def told(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return list(changes(parse_policy({**BASE, **before}), parse_policy({**BASE, **after})))


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "the same policy changes nothing": ({}, {}, []),
    "a queue that begins to act": ({}, {"mode": "act"}, ["It acts: priorities are set."]),
    "other shares": ({"share": "a-*"}, {"share": "b-*"}, ["It rules the shares b-*, no longer a-*."]),
    "a spread": (
        {"spread": "2h"},
        {"spread": "6h"},
        ["For each doubling of 1 + its expected GPU-hours a job is put back by 6.0 h, no longer 2.0 h."],
    ),
    "a place that is held": (
        {},
        {"reservation": {"after": "2h"}},
        ["A place is held for a big job once it has waited 2.0 h, for 1 at most."],
    ),
    "a place that is held no more": (
        {"reservation": {"after": "2h"}},
        {},
        ["No place is held for big jobs any more: small ones may pass them for as long as they come."],
    ),
    "people's priorities": ({}, {"respect_human": "4h"}, ["A priority that someone else set stands for 4.0 h."]),
    "a class that goes": (
        {},
        {"classes": [PRODUCTION]},
        ["There is no class research any more: its jobs are of the next class that matches them."],
    ),
    "a class that comes": (
        {"classes": [PRODUCTION]},
        {},
        ["There is a new class research: tagged purpose=explore, head start 0 s."],
    ),
    "another order": (
        {},
        {"classes": [RESEARCH, PRODUCTION]},
        ["The classes have another order, and the first that matches a job is its class: research, production, sweep."],
    ),
    "other jobs": (
        {},
        {"classes": [PRODUCTION | {"match": {"job_name": "live-*"}}, RESEARCH]},
        ["production are other jobs: named live-*, no longer named prod-*."],
    ),
    "settings of a class": (
        {},
        {"default": {"name": "sweep", "max_wait": "3h", "entitlement": "20%", "ceiling": "60%", "deadline": "24h"}},
        [
            "sweep: a job goes first after 3.0 h (double where nothing can be evicted), no longer at no age.",
            "sweep: its entitlement is 20% of the pool, no longer none.",
            "sweep: its ceiling is 60% of the pool, no longer none.",
            "sweep: its jobs are due 24.0 h after submission, no longer at no time.",
        ],
    ),
    "evictions": (
        {},
        {"default": {"name": "sweep", "preemptible": True}, "preemption": {"patience": "1h", "protect": "20m"}},
        [
            "sweep: its jobs may be evicted.",
            (
                "A job may evict others once it has waited 1.0 h; never one that has run less than 20 min, or was "
                "evicted 2 times (levels)."
            ),
        ],
    ),
    "an alarm of each kind": (
        {"on_alarm": [{"alarm": "old", "boost": "production", "by": "1h"}]},
        {
            "on_alarm": [
                {"alarm": "drift", "boost": "production", "by": "12h", "for": "2h"},
                {"alarm": "idle", "share": "team-b", "borrow_limit": 200},
            ]
        },
        [
            "What alarm old did is no more.",
            "Alarm drift gives production 12.0 h more head start for 2.0 h at most.",
            "Alarm idle gives share team-b a borrow limit of 200 %.",
        ],
    ),
    "a window": (
        {},
        {"windows": [{"when": "daily 20:00-06:00 Europe/Madrid", "set": {"sweep": {"head_start": "6h"}}}]},
        ["There is a window daily 20:00-06:00 Europe/Madrid, in which there is sweep with head_start 6.0 h."],
    ),
}


@pytest.mark.parametrize("before,after,sentences", CASES.values(), ids=CASES.keys())
def test_what_changes_in_effect(before: dict[str, Any], after: dict[str, Any], sentences: list[str]) -> None:
    assert told(before, after) == sentences
