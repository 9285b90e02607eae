"""Policies as people write them: the least, all of the language, and weights across shares."""

from copy import deepcopy
from typing import Any

LEAST: dict[str, Any] = {"version": 1, "queue": "search-training", "share": "all", "default": {"name": "sweep"}}
WHOLE: dict[str, Any] = {
    "version": 1,
    "queue": "search-training",
    "mode": "act",
    "share": "all",
    "classes": [
        {"name": "production", "match": {"job_name": "prod-*"}, "head_start": "24h", "max_wait": "1h",
         "entitlement": "70%", "deadline": {"tag": "finish-by"}},
        {"name": "research", "match": {"tag": {"purpose": "explore"}}, "head_start": "6h", "max_wait": "1d",
         "deadline": "12h"},
        {"name": "batch-inference", "match": {"job_name": "score-*", "tag": {"team": "r*"}, "share": "al*"},
         "preemptible": True},
    ],
    "default": {"name": "sweep", "head_start": "30m", "max_wait": "2d12h", "preemptible": True, "ceiling": "60%"},
    "spread": "6h",
    "reservation": {"after": "2h", "at_most": 1},
    "preemption": {"patience": "45m", "protect": "10m", "at_most_per_job": 1, "how": "switch"},
    "respect_human": "4h",
    "on_alarm": [
        {"alarm": "ranker-drift-*", "boost": "production", "by": "12h", "for": "2h"},
        {"alarm": "score-late", "boost": "batch-inference", "by": "90m"},
        {"alarm": "gpu-underused", "share": "all", "borrow_limit": 200, "for": "1h"},
    ],
    "windows": [
        {"when": "Mon-Fri 20:00-06:00 Europe/Madrid", "set": {"sweep": {"head_start": "6h", "ceiling": "80%"}}},
    ],
}  # fmt: skip
ACROSS: dict[str, Any] = {
    **LEAST,
    "share": "team*",
    "across_shares": "weights",
    "classes": [
        {"name": "production", "match": {"share": "teama"}, "weight": 0.25},
        {"name": "research", "match": {"share": "teamb*"}, "weight": 1},
    ],
    "on_alarm": [{"alarm": "drift", "share": "teama", "weight": 0.125}],
}


def changed(document: dict[str, Any], *path: str | int, to: Any) -> dict[str, Any]:
    """The document with another value at this path."""
    copy = deepcopy(document)
    part: Any = copy
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = to
    return copy
