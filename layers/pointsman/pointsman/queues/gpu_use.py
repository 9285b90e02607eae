"""How busy the GPUs of a queue are, from what its jobs' hosts say of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pointsman.queues.jobs import BusyJob

MOST = 1.05  # of a host's GPUs: a figure beyond it is of more GPUs than we know of, and so tells nothing


@dataclass(frozen=True, slots=True)
class GpuUse:
    """Use of GPUs, 0 to 1: of the whole queue, its idle instances counted as zero, and of what runs of each class.

    None where nothing is known. `unmeasured` instances run and have told nothing: they count neither as busy nor as
    idle.
    """

    queue: float | None
    by_class: tuple[tuple[str, float], ...] = ()
    unmeasured: int = 0


def gpu_use(busy: Iterable[BusyJob], readings: Mapping[str, Sequence[float]], idle: int) -> GpuUse:
    """Average over instances; `readings` has of each job the per cent of its hosts, summed over a host's GPUs.

    `idle` instances hold no job. A job that does not run yet, or that has no GPU, counts nowhere.

    >>> job = BusyJob("a", "train", Kind("team", "sweep", 2, "train"), gpus=16, started=0.0)
    >>> gpu_use([job], {"a": [800.0, 400.0]}, idle=2)
    GpuUse(queue=0.375, by_class=(('sweep', 0.75),), unmeasured=0)
    """
    used: dict[str, list[float]] = {}
    unmeasured = 0
    for job in busy:
        if job.started is None or job.gpus <= 0:
            continue
        of_host = job.gpus / job.size
        told = [use for use in (reading / 100 / of_host for reading in readings.get(job.job_id, ())) if use <= MOST]
        used.setdefault(job.kind.job_class, []).extend(min(1.0, use) for use in told)
        unmeasured += max(0, job.size - len(told))
    by_class = {name: sum(uses) / len(uses) for name, uses in sorted(used.items()) if uses}
    every = [use for uses in used.values() for use in uses]
    known = bool(every) or not unmeasured
    instances = len(every) + idle
    return GpuUse(sum(every) / instances if known and instances else None, tuple(by_class.items()), unmeasured)
