"""What a simulation replays, and in what world: jobs with their classes and teams, a pool, and the pace of things."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pointsman_simulator.traces import CLASSES, TraceError, TraceJob, parse_window, read_trace, split_by_capacity

Victim = Literal["lowest", "longest", "random"]
Unaided = Literal["", "estimates", "moment", "standby"]
"""What Pointsman does without: learning run times, choosing the moment of an eviction, the standby list."""


@dataclass(frozen=True, slots=True)
class World:
    """What is not the policy's to choose. Times in seconds.

    An event comes 1 to `event_delay` seconds late; two passes of a queue are `pass_every` apart at least; `calls` are
    the Batch API calls a second that the account grants, `saved` how many it saves up. An evicted job takes `stop` to
    end, goes back to the last point of its `checkpoint` grid and needs `restart` until it is where it was; `victim` is
    whom Batch takes first. `without` is a mechanism of Pointsman's own that is taken away.
    """

    seed: int = 0
    event_delay: float = 10.0
    pass_every: float = 30.0
    calls: float = 2.0
    saved: float = 120.0
    stop: float = 20.0
    checkpoint: float = 1800.0
    restart: float = 300.0
    victim: Victim = "lowest"
    without: Unaided = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """Jobs to run in a pool of so many instances; `window` is how many seconds of submissions they are.

    All times of a replay count from its beginning, which was at `begins` by the file's own seconds.
    """

    jobs: tuple[TraceJob, ...]
    left_out: int
    capacity: int
    window: float
    begins: float = 0.0

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the jobs, in order of first submission."""
        return tuple(dict.fromkeys(job.job_class for job in self.jobs))

    @property
    def teams(self) -> tuple[str, ...]:
        """The teams, by name."""
        return tuple(sorted({job.team for job in self.jobs}))

    @property
    def gpu_seconds(self) -> float:
        """The work in all."""
        return sum(job.seconds * job.instances for job in self.jobs)


def from_trace(path: Path, window: str, capacity: int, classes: str, ranked: Sequence[str]) -> Replay:
    """A window of a trace; jobs larger than the pool are left out and counted. Raises `TraceError`.

    `classes` says how a job's class is found; `ranked` are those of the policy, the most urgent first. The trace may
    name those, and the labels of public traces.
    """
    span = parse_window(window)
    split = split_by_capacity(read_trace(path, span, tuple(dict.fromkeys([*CLASSES, *ranked]))).jobs, capacity)
    if not split.fitting:
        raise TraceError(f"no job of {path} fits {capacity} instances; raise the capacity", "capacity")
    label = classes_by(classes, ranked)
    jobs = tuple(replace(job, job_class=label(job)) for job in split.fitting)
    return Replay(jobs, len(split.too_large), capacity, span.end - span.start, span.start)


def classes_by(rule: str, ranked: Sequence[str]) -> Callable[[TraceJob], str]:
    """How a job's class is found: `derived_class`, the trace's own label, or `teams:A,B`.

    With teams, their jobs are of the first of the classes `ranked`; of the rest, what is labelled `sweep` is of the
    last, and all else of the second.
    """
    if rule == "derived_class":
        return lambda job: job.job_class
    kind, colon, names = rule.partition(":")
    chosen = frozenset(name.strip() for name in names.split(",") if name.strip())
    if kind != "teams" or not colon or not chosen:
        sentence = f'classes "{rule}" is no rule; write derived_class, or teams:A,B with the names of teams'
        raise TraceError(sentence, "classes")
    first, second, last = ranked[0], ranked[min(1, len(ranked) - 1)], ranked[-1]
    return lambda job: first if job.team in chosen else last if job.job_class in {"sweep", last} else second


def demand_of(jobs: Iterable[TraceJob]) -> dict[str, float]:
    """GPU-seconds that each team asks for, in hindsight."""
    demand: dict[str, float] = {}
    for job in jobs:
        demand[job.team] = demand.get(job.team, 0.0) + job.seconds * job.instances
    return demand
