"""Figures of a simulated run: waits by class, completion times, utilisation, and what evictions cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean
from typing import Any

BIG = 16
"""GPUs from which a job counts as big."""
WAITS = ("mean", "p50", "p95", "max")


@dataclass(frozen=True, slots=True)
class JobRun:
    """One job as it went; times are seconds after the window's start. `spans` are the times in which it ran.

    `lost` is run time that was repeated because of evictions: work since the checkpoint, and the restart.
    """

    name: str
    job_class: str
    team: str
    instances: int
    submitted: float
    spans: tuple[tuple[float, float], ...]
    evictions: int = 0
    lost: float = 0.0

    @property
    def finished(self) -> float:
        """When it ended."""
        return self.spans[-1][1]

    @property
    def waited(self) -> float:
        """All time from submission to the end in which it did not run."""
        return self.finished - self.submitted - sum(stop - start for start, stop in self.spans)


@dataclass(frozen=True, slots=True)
class Run:
    """What one policy made of a replay; `calls` are Batch API calls by kind."""

    name: str
    jobs: tuple[JobRun, ...]
    submitted: int
    capacity: int
    window: float
    seconds: float = 0.0
    calls: dict[str, int] = field(default_factory=dict)


def waits(jobs: Sequence[JobRun]) -> dict[str, float]:
    """Hours waited: the mean, the median, the 95th percentile and the longest."""
    hours = sorted(job.waited / 3600 for job in jobs)
    found = (fmean(hours), quantile(hours, 0.5), quantile(hours, 0.95), hours[-1])
    return dict(zip(WAITS, found, strict=True))


def quantile(ordered: Sequence[float], part: float) -> float:
    """The smallest value with at least this part of the values at or below it.

    >>> quantile([1.0, 2.0, 3.0, 4.0], 0.5), quantile([1.0, 2.0, 3.0, 4.0], 0.95)
    (2.0, 4.0)
    """
    return ordered[max(0, ceil(part * len(ordered)) - 1)]


def utilisation(run: Run) -> float:
    """GPU-time of running jobs inside the window, over all that the pool had in it."""
    busy = sum(
        job.instances * max(0.0, min(stop, run.window) - min(start, run.window))
        for job in run.jobs
        for start, stop in job.spans
    )
    return busy / (run.capacity * run.window)


def figures(run: Run, work: float) -> dict[str, Any]:
    """The run as `--json` prints it; `work` is the GPU-time of the replay in seconds.

    Waits and times to the end are those of the jobs that finished, and None where none did.
    """
    by_class: dict[str, list[JobRun]] = {}
    for job in run.jobs:
        by_class.setdefault(job.job_class, []).append(job)
    lost = sum(job.lost * job.instances for job in run.jobs)
    everyone = waits(run.jobs) if run.jobs else dict.fromkeys(WAITS)
    return {
        "name": run.name,
        "jobs": run.submitted,
        "finished": len(run.jobs),
        "utilisation": utilisation(run),
        "wait_hours": {name: waits(jobs) for name, jobs in sorted(by_class.items())} | {"all": everyone},
        "jct_hours": {"mean": _mean((job.finished - job.submitted) / 3600 for job in run.jobs)},
        "big_wait_hours": {"mean": _mean(job.waited / 3600 for job in run.jobs if job.instances >= BIG)},
        "evictions": sum(job.evictions for job in run.jobs),
        "lost_gpu_hours": lost / 3600,
        "lost_fraction": lost / work if work else 0.0,
        "api": {kind: run.calls.get(kind, 0) for kind in ("describe", "update", "quota")},
        "seconds": run.seconds,
    }


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return fmean(known) if known else None
