"""Figures of a run: waits by class, utilisation, and the GPU-hours that stood idle, by name."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from pointsman_cli.demo.day import JobTimes, Pass, Played
from pointsman_simulator.traces import CLASSES

BETWEEN_PASSES = "between_passes"
HEAD_OF_LINE = "head_of_line"
NO_WORK = "no_work"


@dataclass(frozen=True, slots=True)
class Waits:
    """Hours from submission to the start of training."""

    jobs: int
    mean: float
    median: float
    longest: float


def waits(jobs: Iterable[JobTimes]) -> Waits:
    """Of these jobs; at least one."""
    hours = [(job.started - job.submitted) / 3600 for job in jobs]
    return Waits(len(hours), fmean(hours), median(hours), max(hours))


def waits_by_class(jobs: Sequence[JobTimes]) -> dict[str, Waits]:
    """By class, the most urgent first, and `all`."""
    classes = [name for name in CLASSES if any(job.job_class == name for job in jobs)]
    return {name: waits(j for j in jobs if j.job_class == name) for name in classes} | {"all": waits(jobs)}


def utilisation(jobs: Iterable[JobTimes], capacity: int, window: float) -> float:
    """GPU-time of running jobs inside the window, over all that the capacity had in it."""
    busy = sum(job.instances * max(0.0, min(job.stopped, window) - min(job.started, window)) for job in jobs)
    return busy / (capacity * window)


def idle_hours(played: Played, capacity: int, window: float) -> dict[str, float]:
    """Instance-hours not held by any job inside the window, by why.

    Where nothing waited it is `no_work`. Else the last decision before says why; what was freed since then is
    `between_passes`. A run without decisions idles because the job at the head of the line does not fit.
    """
    edges: list[tuple[float, int, int]] = []
    for job in played.jobs:
        edges += ((job.submitted, 0, 1), (job.held, job.instances, -1), (job.stopped, -job.instances, 0))
    edges += ((one.at, 0, 0) for one in played.passes)
    edges.sort()
    times = [one.at for one in played.passes]
    hours: dict[str, float] = {}
    held = waiting = 0
    for place, (at, more_held, more_waiting) in enumerate(edges):
        held, waiting = held + more_held, waiting + more_waiting
        until = min(window, edges[place + 1][0] if place + 1 < len(edges) else window)
        if at >= window or until <= at or held >= capacity:
            continue
        for name, instances in _why(capacity - held, waiting, _last(played.passes, times, at), bool(times)):
            hours[name] = hours.get(name, 0.0) + instances * (until - at) / 3600
    return dict(sorted(hours.items()))


def _last(passes: Sequence[Pass], times: Sequence[float], at: float) -> Pass | None:
    place = bisect_right(times, at)
    return passes[place - 1] if place else None


def _why(idle: int, waiting: int, last: Pass | None, decided: bool) -> Iterable[tuple[str, int]]:
    if waiting == 0:
        return [(NO_WORK, idle)]
    if not decided:
        return [(HEAD_OF_LINE, idle)]
    named, rest = [], idle
    for name, instances in (last.idle if last else {}).items():
        if name != NO_WORK and rest > 0:
            named.append((name, min(instances, rest)))
            rest -= min(instances, rest)
    return [*named, (BETWEEN_PASSES, rest)] if rest else named
