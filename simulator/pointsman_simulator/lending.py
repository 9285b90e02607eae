"""What idle quota is worth when it is lent: one generated week in quota shares that reserve, and that lend and borrow.

Pointsman decides nothing here: lending, borrowing and reclaiming are Batch's own, as the emulator's model has them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from random import Random
from statistics import fmean
from typing import Literal

from pointsman_emulator.models.batch import BatchModel, BatchSettings, JobChange, QuotaShare, QuotaSharePolicy
from pointsman_simulator.baselines import POOL, QUEUE, runs_of
from pointsman_simulator.measures import JobRun, Run, utilisation
from pointsman_simulator.replay import World
from pointsman_simulator.steered import INSTANCE_TYPE
from pointsman_simulator.traces import TraceJob
from pointsman_simulator.workload import HOUR, generate

WEEK_HOURS = 168.0
LOAD = 0.92
"""GPU-time submitted over capacity x week."""
DEMAND = {"ranking": 0.432, "vision": 0.225, "speech": 0.101, "forecast": 0.076, "catalog": 0.076, "search": 0.041,
          "fraud": 0.024, "maps": 0.014, "labs": 0.011}  # fmt: skip
"""Teams and their parts of the GPU-time: those of ITP's ten clusters, the two smallest as one team."""
STEADY = ("ranking", "vision")
"""Teams that submit all week; each other one does so for some hours or days, at its own time."""
CRUNCH = 3.0
"""What such a team then submits an hour, against what its own quota can do."""
QUOTA = 32
"""Instances that each team owns: as many as the largest job asks for, so that a team can run all that it submits."""
JOB_GPU_HOURS = 8.3
"""The work of a job on average, by which the number of a team's jobs is found."""
FEWEST = 100  # jobs of a generated day
BEFORE, AFTER = 0.5, 0.8
"""Promised: the mean capacity in use at most so while shares reserve, at least so when they lend and borrow."""

_SETTLE = 1e12  # seconds: by then every job has ended

Strategy = Literal["RESERVE", "LEND_AND_BORROW"]


@dataclass(frozen=True, slots=True)
class Week:
    """A week of submissions; times in seconds after its start."""

    jobs: tuple[TraceJob, ...]

    @property
    def capacity(self) -> int:
        """One-GPU instances: what all teams own."""
        return QUOTA * len(DEMAND)

    @property
    def seconds(self) -> float:
        """From the first to the last moment of the submissions."""
        return WEEK_HOURS * HOUR

    @property
    def load(self) -> float:
        """GPU-time submitted over what the capacity can do in the week."""
        return sum(job.seconds * job.gpus for job in self.jobs) / (self.capacity * self.seconds)


def week(seed: int) -> Week:
    """The same seed gives the same week.

    Sizes, classes, run times and bursts are those of `generate`. Each team's run times are scaled by one factor, so
    that it offers exactly its part of the load.
    """
    random = Random(f"{seed} lending")
    seasonal = [team for team in DEMAND if team not in STEADY]
    slots = list(range(len(seasonal)))
    random.shuffle(slots)
    turn = dict(zip(seasonal, slots, strict=True))
    whole = LOAD * QUOTA * len(DEMAND) * WEEK_HOURS / sum(DEMAND.values())
    jobs: list[TraceJob] = []
    for place, (team, part) in enumerate(DEMAND.items()):
        hours = WEEK_HOURS if team in STEADY else min(WEEK_HOURS, part * whole / (CRUNCH * QUOTA))
        start = 0.0
        if team in turn:
            start = (WEEK_HOURS - hours) * (turn[team] + random.random()) / len(seasonal)
        jobs += _of_team(random, seed * len(DEMAND) + place, team, part * whole, start, hours)
    return Week(tuple(sorted(jobs, key=lambda job: job.submit)))


def _of_team(random: Random, seed: int, team: str, work: float, start: float, hours: float) -> list[TraceJob]:
    """So many GPU-hours of jobs, submitted from hour `start` on for so many hours."""
    wanted = round(work / JOB_GPU_HOURS)
    days = 24.0 * ceil(hours / 24.0)
    jobs = list(generate(seed, jobs=max(wanted, FEWEST), teams={team: 1.0}, hours=days))
    if wanted < len(jobs):
        jobs = random.sample(jobs, wanted)
    longer = work * HOUR / sum(job.seconds * job.gpus for job in jobs)
    return [replace(job, submit=start * HOUR + job.submit * hours / days, seconds=job.seconds * longer) for job in jobs]


def play(week: Week, strategy: Strategy, world: World = World()) -> Run:  # noqa: B008 - a frozen value
    """The week on the model of Batch, each team in a quota share of this strategy, until every job has ended.

    An evicted job takes `world.stop` to end, resumes from its last checkpoint, and needs `world.restart` more.
    """

    def happened(change: JobChange) -> None:
        if change.kind == "preempted":
            change.job.seconds += world.restart

    settings = BatchSettings(victim_rule=world.victim, preemption_stop=world.stop)
    model = BatchModel(settings, world.seed, listener=happened)
    model.add_environment(POOL, {INSTANCE_TYPE: week.capacity})
    model.add_queue(QUEUE, POOL, QuotaSharePolicy())
    for team in DEMAND:
        model.add_share(QUEUE, team, QuotaShare({INSTANCE_TYPE: QUOTA}, strategy))
    jobs = [
        (
            job,
            model.submit(
                QUEUE, job.name, job.instances, job.seconds, at=job.submit, quota_share=job.team,
                instance_type=INSTANCE_TYPE, checkpoint_seconds=world.checkpoint,
            ),
        )
        for job in week.jobs
    ]  # fmt: skip
    model.advance(_SETTLE)
    return Run(strategy, runs_of(jobs), len(week.jobs), week.capacity, week.seconds)


def delay(job: JobRun) -> float:
    """Hours from submission to the end, less the run time that it needed: what it ran twice counts as waiting too."""
    return (job.waited + job.lost) / HOUR


def delays(run: Run) -> dict[str, float]:
    """Each team's mean delay in hours."""
    return {team: fmean(delay(job) for job in run.jobs if job.team == team) for team in DEMAND}


@dataclass(frozen=True, slots=True)
class Lent:
    """One week, before and after."""

    seed: int
    week: Week
    before: Run
    after: Run

    @property
    def broken(self) -> tuple[str, ...]:
        """The promises that this week breaks, a sentence each."""
        return tuple(self._broken())

    def _broken(self) -> Iterator[str]:
        before, after = utilisation(self.before), utilisation(self.after)
        if before > BEFORE:
            yield f"{before:.1%} of the capacity is in use before, not {BEFORE:.0%} at most"
        if after < AFTER:
            yield f"{after:.1%} of the capacity is in use after, not {AFTER:.0%} at least"
        later = delays(self.after)
        for team, hours in delays(self.before).items():
            if later[team] > hours:
                yield f"{team} waits {later[team]:.3f} h on average, and waited {hours:.3f} h"
        for run in (self.before, self.after):
            if len(run.jobs) != run.submitted:
                yield f"{run.submitted - len(run.jobs)} jobs never ended under {run.name}"


def lent(seed: int) -> Lent:
    """This seed's week, played both ways."""
    one = week(seed)
    return Lent(seed, one, play(one, "RESERVE"), play(one, "LEND_AND_BORROW"))
