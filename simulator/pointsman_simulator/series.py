"""A run over time, and its waits as a distribution: what is plotted of it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pointsman.queues.policy import Policy
from pointsman_simulator.measures import JobRun, Run, quantile

BUCKETS = 240
"""Points of a series over time, at most."""
FINEST = 600.0
"""Seconds: no point of a series stands for less."""
POINTS = 200
"""Points of a distribution."""
FACTORS = (0.0, 0.5, 1.0, 2.0, 4.0)
"""What the head starts of a policy are multiplied by, to see what they buy and whom they cost."""

Interval = tuple[float, float, float]
"""From when to when, in seconds, and what it weighs."""


def buckets(window: float) -> int:
    """How many points a series over this window has."""
    return max(1, min(BUCKETS, int(window // FINEST)))


def in_use(run: Run) -> list[float]:
    """The part of the capacity that running jobs hold, as the mean of each bucket of the window."""
    held = ((start, stop, job.instances / run.capacity) for job in run.jobs for start, stop in job.spans)
    return means(held, run.window, buckets(run.window))


def depth(run: Run) -> list[float]:
    """Jobs that wait, the evicted among them, as the mean of each bucket of the window."""
    return means((one for job in run.jobs for one in _waited(job)), run.window, buckets(run.window))


def _waited(job: JobRun) -> Iterable[Interval]:
    since = job.submitted
    for start, stop in job.spans:
        yield since, start, 1.0
        since = stop


def means(intervals: Iterable[Interval], end: float, count: int) -> list[float]:
    """The weight of the intervals at each moment, as the mean of each of `count` equal parts of 0 to `end`.

    >>> means([(0.0, 10.0, 1.0), (5.0, 20.0, 2.0)], 20.0, 4)
    [1.0, 3.0, 2.0, 2.0]
    """
    width = end / count
    areas = [0.0] * count  # of the parts in which an interval begins or ends
    steps = [0.0] * (count + 1)  # weights that begin, or end, to fill whole parts
    for start, stop, weight in intervals:
        begin, until = max(0.0, start), min(end, stop)
        if until <= begin:
            continue
        first, last = min(count - 1, int(begin / width)), min(count - 1, int(until / width))
        if first == last:
            areas[first] += weight * (until - begin)
            continue
        areas[first] += weight * ((first + 1) * width - begin)
        areas[last] += weight * (until - last * width)
        steps[first + 1] += weight
        steps[last] -= weight
    made: list[float] = []
    whole = 0.0
    for area, step in zip(areas, steps, strict=False):
        whole += step
        made.append(area / width + whole)
    return made


def distribution(jobs: Sequence[JobRun]) -> tuple[list[float], list[float]]:
    """Hours waited, rising, and the part of the jobs that waited so long at most."""
    hours = sorted(job.waited / 3600 for job in jobs)
    count = min(POINTS, len(hours))
    parts = [(place + 1) / count for place in range(count)]
    return [quantile(hours, part) for part in parts], parts


def scaled(policy: Policy, factor: float) -> Policy:
    """The policy with every head start times this."""
    classes = tuple(replace(one, head_start=one.head_start * factor) for one in policy.classes)
    return replace(policy, classes=classes)
