"""What a queue does without Pointsman: the yardsticks, all on the same model of Batch.

A yardstick that Batch does not offer (skipping a head that does not fit, knowing run times) says what would be
possible, not what a user could have.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import log1p
from types import MappingProxyType

from pointsman.queues.estimates import Finished, History, Kind
from pointsman.queues.policy import Policy
from pointsman_emulator.models.batch import BatchModel, BatchSettings, FairShare, JobChange, ServiceJob
from pointsman_simulator.measures import JobRun, Run
from pointsman_simulator.replay import Replay, demand_of
from pointsman_simulator.traces import TraceJob

QUEUE = "queue"
POOL = "pool"
LEVELS = 9999
"""The priorities that Batch knows are 0 to this."""
MOST_WORK = 1e9
"""GPU-seconds beyond which all jobs count as equally large."""

_SETTLE = 1e12  # seconds: by then every job has ended

Priority = Callable[[TraceJob], int]


def fifo_strict(replay: Replay) -> Run:
    """Batch's queue without a scheduling policy: the head of the line, and nobody before it."""
    return _one_queue("fifo_strict", replay, BatchSettings())


def fifo_skip(replay: Replay) -> Run:
    """First come, first served among those that fit. Batch does not offer it."""
    return _one_queue("fifo_skip", replay, BatchSettings(head_of_line="skip"))


def pools_equal(replay: Replay) -> Run:
    """A pool for each team, all of one size, each first in, first out; what does not divide is left idle."""
    each = replay.capacity // len(replay.teams)
    return _pools("pools_equal", replay, dict.fromkeys(replay.teams, each))


def pools_demand(replay: Replay) -> Run:
    """A pool for each team, sized by what the team will ask for in the whole window: hindsight that nobody has."""
    demand = demand_of(replay.jobs)
    total = sum(demand.values())
    if not total:
        return replace(pools_equal(replay), name="pools_demand")
    exact = {team: replay.capacity * work / total for team, work in demand.items()}
    sizes = {team: int(size) for team, size in exact.items()}
    rest = replay.capacity - sum(sizes.values())
    for team in sorted(exact, key=lambda team: sizes[team] - exact[team])[:rest]:
        sizes[team] += 1
    return _pools("pools_demand", replay, sizes)


def fair_static(replay: Replay) -> Run:
    """Batch's fair share with a share for each team, all of one weight, and nobody who steers it."""
    return _one_queue("fair_static", replay, BatchSettings(), FairShare({}, decay_seconds=3600.0), by_team=True)


def class_strict(replay: Replay, policy: Policy) -> Run:
    """Priority by class in the order of the policy, set at submission: what most teams try first."""
    level = {one.name: LEVELS - n for n, one in enumerate(policy.classes)}
    return _one_queue("class_strict", replay, BatchSettings(), FairShare({}), lambda job: level[job.job_class])


def sjf_oracle(replay: Replay) -> Run:
    """The least work first, by run times that only hindsight knows; what does not fit is passed over."""
    skip = BatchSettings(head_of_line="skip")
    return _one_queue("sjf_oracle", replay, skip, FairShare({}), lambda job: _level(job.seconds * job.instances))


def sesf(replay: Replay) -> Run:
    """The least expected work first, by the history of jobs alike; what does not fit is passed over."""
    history = _Lessons(replay)
    skip = BatchSettings(head_of_line="skip")
    return _one_queue("sesf", replay, skip, FairShare({}), history.priority, history.learn)


def _anyway(rule: Callable[[Replay], Run]) -> Callable[[Replay, Policy], Run]:
    return lambda replay, _policy: rule(replay)


BASELINES: Mapping[str, Callable[[Replay, Policy], Run]] = MappingProxyType(
    {rule.__name__: _anyway(rule) for rule in (fifo_strict, fifo_skip, pools_equal, pools_demand, fair_static)}
    | {class_strict.__name__: class_strict}
    | {rule.__name__: _anyway(rule) for rule in (sesf, sjf_oracle)}
)
"""Of the policy they take the order of its classes at most."""


class _Lessons:
    """Run times learned as jobs end, of jobs alike in team and size (Helios, SC'21)."""

    def __init__(self, replay: Replay) -> None:
        self._kinds = {job.name: Kind(job.team, "", job.instances, "") for job in replay.jobs}
        self._history = History()

    def priority(self, job: TraceJob) -> int:
        return _level(self._history.predict(self._kinds[job.name]) * job.instances)

    def learn(self, change: JobChange) -> None:
        if change.kind == "state" and change.job.status == "SUCCEEDED":
            self._history = self._history.learn([Finished(self._kinds[change.job.name], change.job.seconds)])


def _level(work: float) -> int:
    """The priority of a job with so much work, GPU-seconds on a log scale, so that the least comes first."""
    return LEVELS - round(LEVELS * min(1.0, log1p(work) / log1p(MOST_WORK)))


def _one_queue(
    name: str,
    replay: Replay,
    settings: BatchSettings,
    policy: FairShare | None = None,
    priority: Priority | None = None,
    listener: Callable[[JobChange], None] | None = None,
    *,
    by_team: bool = False,
) -> Run:
    model = BatchModel(settings, listener=listener)
    model.add_environment(POOL, replay.capacity)
    model.add_queue(QUEUE, POOL, policy)
    jobs: list[tuple[TraceJob, ServiceJob]] = []
    for job in replay.jobs:
        model.advance(job.submit)
        share = None if policy is None else job.team if by_team else POOL
        level = priority(job) if priority else None
        jobs.append((job, model.submit(QUEUE, job.name, job.instances, job.seconds, level, share)))
    model.advance(_SETTLE)
    return Run(name, runs_of(jobs), len(replay.jobs), replay.capacity, replay.window)


def _pools(name: str, replay: Replay, sizes: Mapping[str, int]) -> Run:
    model = BatchModel(BatchSettings())
    for team, size in sizes.items():
        model.add_environment(team, size)
        model.add_queue(team, team)
    jobs = [
        (job, model.submit(job.team, job.name, job.instances, job.seconds, at=job.submit))
        for job in replay.jobs
        if job.instances <= sizes[job.team]
    ]
    model.advance(_SETTLE)
    return Run(name, runs_of(jobs), len(replay.jobs), replay.capacity, replay.window)


def runs_of(jobs: list[tuple[TraceJob, ServiceJob]]) -> tuple[JobRun, ...]:
    """How each job that ended went, from the history of its states."""
    return tuple(_ran(job, done) for job, done in jobs if done.finished)


def _ran(job: TraceJob, done: ServiceJob) -> JobRun:
    spans = _spans(done)
    again = sum(stop - start for start, stop in spans) - job.seconds if done.preempted_count else 0.0
    return JobRun(job.name, job.job_class, job.team, job.instances, job.submit, spans, done.preempted_count, again)


def _spans(job: ServiceJob) -> tuple[tuple[float, float], ...]:
    spans: list[tuple[float, float]] = []
    started: float | None = None
    for at, status in job.history:
        if started is not None:
            spans.append((started, at))
        started = at if status == "RUNNING" else None
    return tuple(spans)
