"""What a world draws: Batch's undocumented choices, its queue, its policy, and how much goes wrong in it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any
from zlib import crc32

from pointsman_emulator.models.batch import BatchModel, BatchSettings, FairShare, QuotaSharePolicy, ServiceJob
from tests.proof.queues.batch import POOL, quota_share
from tests.unit.loops.quota_world import GPU
from tests.unit.loops.world import QUEUE

PROFILES = (
    "one-share", "shares", "levels", "switch", "lending", "overlap", "people", "alarms", "deaths", "observe", "answers",
    "stalls", "clocks",
)  # fmt: skip
QUOTA = ("levels", "switch", "lending", "stalls")
NAMES = ("prod-ranker", "explore-ideas", "sweep-lr", "score-all")
TEAMS = ("teama", "teamb", "teamc")


@dataclass(frozen=True)
class Trouble:
    """How often things go wrong, as parts of one; `answers` are lost ones of writes.

    `refused` are jobs that Batch says it does not know. `damaged` are looks at notices of which one is damaged.
    `pace` is seconds between things that people do, `alarms` between those of alarms.
    """

    calls: float = 0.0
    answers: float = 0.0
    deaths: float = 0.0
    pauses: float = 0.0
    lost: float = 0.0
    doubled: float = 0.0
    late: float = 0.0
    poison: float = 0.0
    jumps: float = 0.0
    damaged: float = 0.0
    refused: float = 0.0
    pace: float = 1500.0
    alarms: float = 1800.0


def trouble(luck: Random, profile: str) -> Trouble:
    """Some worlds are calm, most are not; a profile has more of its own."""
    some: Callable[..., float] = lambda *of: luck.choice((0.0, *of))  # noqa: E731
    rarely = luck.random() < 0.15
    return Trouble(
        calls=some(0.002, 0.01, 0.03),
        answers=luck.choice((0.2, 0.4)) if profile == "answers" else 0.0,
        deaths=luck.choice((0.01, 0.02)) if profile == "deaths" else some(0.002),
        pauses=luck.choice((0.02, 0.05)) if profile in ("overlap", "stalls") else some(0.004),
        lost=some(0.1, 0.4, 1.0),
        doubled=some(0.1, 0.5),
        late=some(0.1, 0.4),
        poison=some(0.02),
        jumps=0.05 if profile == "clocks" else 0.01 if rarely else 0.0,
        damaged=luck.choice((0.0, 0.0, 0.0, 0.0, 0.3, 1.0)),
        pace=luck.choice((150.0, 300.0)) if profile in ("people", "observe") else luck.choice((500.0, 2000.0, 1e9)),
        alarms=luck.choice((150.0, 400.0))
        if profile in ("alarms", "lending", "answers")
        else luck.choice((900.0, 1e9)),
    )


@dataclass(frozen=True)
class Listings:
    """How Batch lists jobs and describes them: seconds that a token is taken, jobs to a page, and how often it refuses.

    A page is small where a snapshot tells of the whole line: one pass does not list it then.
    """

    token_life: float | None
    page: int
    refused: float


def listings(luck: Random) -> Listings:
    """Most worlds have none of it."""
    return Listings(
        luck.choice((None, None, 20.0, 100.0)), luck.choice((100, 100, 1, 2)), luck.choice((0.0, 0.0, 0.01, 0.3))
    )


def _by_job(low: float, high: float, job: ServiceJob) -> float:
    part = crc32(f"{job.job_id}{job.step}".encode()) / 2**32
    return low + part * (high - low)


def _dwell(luck: Random, *most: float) -> Any:
    high = luck.choice((0.0, *most))
    return partial(_by_job, high / 10, high) if high else 0.0


def settings(luck: Random, *, quota: bool) -> BatchSettings:
    """Every choice that the documentation leaves open and the product can see."""
    return BatchSettings(
        head_of_line="strict" if quota else luck.choice(("strict", "strict", "share", "skip")),
        tie_break="created" if quota else luck.choice(("created", "created", "newest", "random")),
        optional_event_fields=luck.random() < 0.5,
        update_on_terminal=luck.choice(("refuse", "accept")),
        snapshot_lag=luck.choice((0.0, 0.0, 5.0, 20.0, 60.0)),
        list_lag=luck.choice((0.0, 10.0, 45.0)),
        scheduled_dwell=_dwell(luck, 20.0, 120.0),
        starting_dwell=_dwell(luck, 10.0, 60.0),
        dispatch_delay=luck.choice((0.0, 1.0, 8.0)),
        zero_decay=luck.choice(("window", "current")),
        decay_curve=luck.choice(("linear", "exponential", "flat")),
        bounce_rate=luck.choice((0.0, 0.0, 0.05, 0.2)),
        bounce_dwell=luck.choice((60.0, 300.0)),
        bounce_pause=luck.choice((0.0, 30.0)),
        victim_rule=luck.choice(("lowest", "longest", "shortest", "random")),
        borrowers_first=luck.random() < 0.5,
        equal_priority_evicts=luck.random() < 0.5,
        reclaim=luck.choice(("any", "whole")),
        preemption_stop=_dwell(luck, 20.0, 120.0),
        stopping_run=luck.choice(("stops", "ends")),
        share_visit=luck.choice(("created", "name", "rotating")),
        idle_key=luck.choice(("job", "share")),
        borrow_rounding=luck.choice(("down", "up")),
        unassigned_capacity=luck.choice(("idle", "lendable")),
    )


def queue(luck: Random, model: BatchModel, profile: str, capacity: int) -> tuple[str, ...]:
    """The queue of this profile's kind; its shares."""
    if profile not in QUOTA:
        names = TEAMS[: luck.randint(2, 3)] if profile == "shares" else ("all",)
        model.add_environment(POOL, capacity)
        decay = luck.choice((0.0, 600.0, 3600.0))
        weights = {name: luck.choice((1.0, 0.5, 2.0)) for name in names}
        model.add_queue(QUEUE, POOL, FairShare(weights, decay, luck.choice((0.0, 0.0, 20.0))))
        return names
    model.add_environment(POOL, {GPU: capacity})
    model.add_queue(QUEUE, POOL, QuotaSharePolicy())
    names = TEAMS[:2] if profile == "lending" or (profile == "levels" and luck.random() < 0.3) else ("all",)
    lends = profile == "lending" or (len(names) > 1 and luck.random() < 0.5)
    for n, name in enumerate(names):
        limit = capacity // len(names) + (capacity % len(names) if n == 0 else 0)
        how: dict[str, Any] = {"in_share_preemption": profile in ("levels", "stalls")}
        if lends:
            how |= {"strategy": "LEND_AND_BORROW", "borrow_limit": luck.choice((0, 50, 100))}
        model.add_share(QUEUE, name, quota_share(limit, **how))
    return names


def policy(luck: Random, profile: str, shares: tuple[str, ...]) -> dict[str, Any]:
    """A policy that the queue can obey."""
    quota = profile in QUOTA
    production: dict[str, Any] = {"name": "production", "match": {"job_name": "prod-*"}, "head_start": _time(luck, 6)}
    research: dict[str, Any] = {"name": "research", "match": {"job_name": "explore-*"}, "head_start": _time(luck, 1)}
    scoring: dict[str, Any] = {"name": "batch-inference", "match": {"job_name": "score-*"}}
    default: dict[str, Any] = {"name": "sweep"}
    for one in (production, research, scoring, default):
        if luck.random() < 0.6:
            one["max_wait"] = luck.choice(("4m", "8m", "16m"))
    if luck.random() < 0.15:
        default["ceiling"] = "60%"
    if luck.random() < 0.15:
        production["entitlement"] = "50%"
    told: dict[str, Any] = {
        "version": 1,
        "queue": QUEUE,
        "mode": "observe" if profile == "observe" and luck.random() < 0.5 else "act",
        "share": "all" if shares == ("all",) else "team*",
        "classes": [production, research, scoring],
        "default": default,
        "spread": luck.choice(("0s", "10m", "1h")),
        "on_alarm": [{"alarm": "drift-*", "boost": luck.choice(("research", "sweep")), "by": "6h"}],
    }
    if luck.random() < 0.7:
        told["on_alarm"][0]["for"] = luck.choice(("2m", "10m", "1h"))
    if luck.random() < 0.7:
        told["reservation"] = {"after": luck.choice(("3m", "10m", "1h"))}
    if luck.random() < 0.7:
        told["respect_human"] = luck.choice(("5m", "1h", "4h"))
    if quota and profile != "lending":
        default["preemptible"] = scoring["preemptible"] = True
        told["preemption"] = {
            "patience": luck.choice(("3m", "6m")),
            "protect": luck.choice(("3m", "6m", "10m")),
            "at_most_per_job": luck.choice((1, 1, 2)),
            "how": "switch" if profile == "switch" else "levels",
        }
    if profile == "lending":
        rule = {"alarm": "drift-*", "share": luck.choice(("team*", shares[0])), "borrow_limit": 200}
        told["on_alarm"].append(rule | luck.choice(({"for": "20m"}, {})))
    return told


def _time(luck: Random, most: int) -> str:
    return f"{luck.choice((0, 20, 60 * most))}m"


def worsened(luck: Random, document: dict[str, Any]) -> Any:
    """The policy with something in it that no release can obey."""
    return luck.choice((
        document | {"queues": 1},
        document | {"version": 2},
        document | {"classes": [*document["classes"], document["classes"][0]]},
        document | {"spread": "soon"},
        document | {"default": {"name": "production"}},
        {key: value for key, value in document.items() if key != "default"},
        [document],
    ))  # fmt: skip
