"""What a demo plays: the jobs, the room for them, how events travel, and when an alarm fires."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast

from pointsman.errors import UserMistake
from pointsman.queues.policy import Policy
from pointsman_cli.check import check
from pointsman_cli.checkout import shipped
from pointsman_simulator.traces import TraceError, TraceJob, parse_window, read_trace, split_by_capacity
from pointsman_simulator.workload import DEMO_CAPACITY, generate

QUEUE = "search-training"
SHARE = "all"
DEMO_SEED = 4
DAY = 86400.0
DRIFT = (13.0 * 3600, 16.0 * 3600)  # when the ranker's predictions drift, in seconds of the day


@dataclass(frozen=True, slots=True)
class Scenario:
    """One day to play. Times are seconds after its start; `events` is how often each event is delivered."""

    jobs: tuple[TraceJob, ...]
    left_out: int
    window: float
    capacity: int
    policy: Policy
    document: dict[str, object]
    seed: int
    events: float = 1.0
    drift: tuple[float, float] | None = None
    template: Path = field(default_factory=partial(shipped, "template.yaml"))
    dwell: tuple[float, float] = (0.0, 0.0)  # seconds in SCHEDULED and in STARTING


def demo_day(seed: int, capacity: int | None, policy_file: Path, events: float, template: Path) -> Scenario:
    """The generated day, with an alarm in the middle."""
    capacity = DEMO_CAPACITY if capacity is None else capacity
    split = split_by_capacity(generate(seed), capacity)
    document, policy = _policy(policy_file)
    return Scenario(
        jobs=split.fitting,
        left_out=len(split.too_large),
        window=DAY,
        capacity=capacity,
        policy=policy,
        document=document,
        seed=seed,
        events=events,
        drift=DRIFT,
        template=template,
        dwell=(20.0, 40.0),
    )


def trace_slice(
    trace: Path, window: str, capacity: int, seed: int, policy_file: Path, events: float, template: Path
) -> Scenario:
    """A slice of a real trace; a job runs as long as it ran there, and starts as soon as Batch dispatches it."""
    try:
        span = parse_window(window)
        slice_ = read_trace(trace, span)
        split = split_by_capacity(slice_.jobs, capacity)
    except TraceError as error:
        raise UserMistake(str(error), place=f"--{error.about}") from None
    document, policy = _policy(policy_file)
    return Scenario(
        jobs=split.fitting,
        left_out=len(split.too_large),
        window=span.end - span.start,
        capacity=capacity,
        policy=policy,
        document=document,
        seed=seed,
        events=events,
        template=template,
    )


def _policy(file: Path) -> tuple[dict[str, object], Policy]:
    checked = check(file)
    if checked.stated is None:
        raise UserMistake("this policy is not valid", place=str(file), remedy=f"pointsman policy check {file}")
    if checked.stated.queue != QUEUE:
        raise UserMistake(f"the demo's queue is {QUEUE}, this policy is for {checked.stated.queue}", place=str(file))
    return cast("dict[str, object]", checked.source.value), checked.stated
