"""A seeded day of GPU jobs with the shape of a real cluster; it holds no row of any trace.

Where the figures come from. ITP: two months of first-party training jobs in ten of Microsoft's clusters, 69,351 jobs,
nothing sampled (github.com/microsoft/elasticflow-traces, MIT; Gu et al., "ElasticFlow", ASPLOS'23). Its authors publish
the trace and its totals (1,632,719.7 GPU-hours, so 23.5 a job), not its quantiles: those in `ITP` were measured on the
whole of it. Philly (Jeon et al., ATC'19) was not chosen: the copies that can be had hold 82,247 of some 113,000 jobs,
and the rule that dropped the others is not known.

What is ours, because no public trace says it: which class holds which size (sizes are dealt to production and research
alike, so that production is about a quarter of the GPU-hours and not four fifths); that one in four jobs of bursts is
batch inference; the hour of the peak; the shares of the teams; the caps named below. Beyond the 90th percentile a day
is lighter than ITP, whose longest jobs run for weeks: its mean run time is 14,000 s where ITP's is 18,722 s.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from statistics import NormalDist, fmean, median, pstdev, quantiles
from typing import TypeVar

from pointsman_simulator.traces import TraceJob, job_name

_Card = TypeVar("_Card")

HOUR = 3600.0
BURST_JOBS = 8
BURST_SECONDS = 900.0

TEAMS: Mapping[str, float] = {"ranking": 0.30, "vision": 0.24, "speech": 0.19, "forecast": 0.15, "catalog": 0.12}
"""Five teams and their share of the submissions outside bursts (ours)."""

DEMO_JOBS = 300
DEMO_CAPACITY = 112
"""One-GPU instances with which the busy hours of a generated day offer about as much work as they can do."""
BUSY_HOURS = (8.0, 20.0)
"""The busy part of the day, in hours after the day's start."""

PEAK_HOUR = 14.0
PEAK_TO_MEAN = 1.43
"""The busiest hour of the day against the mean hour (measured on ITP, whole trace; its time zone is not given)."""
LONGEST_HOURS = 16.0
"""Run times are cut here, so that a day ends within 48 hours: under 2 in 100 jobs, far above the 90th percentile."""
SHORTEST_SECONDS = 60.0
BURST_LIKENESS = 0.84
"""Correlation of the logs of run times inside a burst (ITP: a spread of 0.31 inside bursts against 0.78 overall)."""
BURST_MEDIAN = 21
"""Jobs in the median burst (measured on ITP)."""
BURST_LARGEST = 43
"""Jobs in the largest burst that a day has: ITP's upper quartile, as the demo's day has under a third of its jobs."""
FOLLOWING_SHARE = 0.44
FOLLOWING_SECONDS = 60.0
"""Outside bursts, 44 in 100 jobs follow another of their team within a minute (measured on ITP)."""
SCORING_SHARE = 0.25
"""Of the jobs of bursts, how many are batch inference (ours)."""

_SIZES_SMALL = {2: 0.0214, 4: 0.0342}  # share of all jobs, measured on ITP
_SIZES_LARGE = {8: 0.1011, 16: 0.0055, 32: 0.0061}  # the same; ITP's 0.1 % of 64-GPU jobs counted with 32


@dataclass(frozen=True, slots=True)
class Shape:
    """What a day of jobs looks like: run times in seconds, shares of the number of jobs (0 to 1)."""

    median_seconds: float
    p90_seconds: float
    one_gpu: float
    two_to_four_gpus: float
    eight_or_more_gpus: float
    burst_share: float
    """One-GPU jobs among at least 8 of the same team within 900 s."""
    arrival_variation: float
    """Coefficient of variation of the times between submissions within a day (1 if they came independently)."""
    production: float
    research: float


ITP = Shape(
    median_seconds=10_537.0,
    p90_seconds=28_787.0,
    one_gpu=0.832,
    two_to_four_gpus=0.056,
    eight_or_more_gpus=0.113,
    burst_share=0.712,
    arrival_variation=3.19,  # the median over its 59 days of 250 jobs or more; 3.0 to 3.1 for five clusters of the ten
    production=0.113,  # by size and burst: 8 GPUs or more; one-GPU bursts are sweeps; the rest is research
    research=0.176,
)
"""Measured on the whole ITP trace (microsoft/elasticflow-traces, MIT; ASPLOS'23), 2021-03-04 to 2021-05-03."""


def generate(
    seed: int, shape: Shape = ITP, *, jobs: int = DEMO_JOBS, teams: Mapping[str, float] = TEAMS, hours: float = 24.0
) -> tuple[TraceJob, ...]:
    """`jobs` jobs submitted over `hours` hours, in order of submission; the same arguments give the same day.

    Counts of sizes, classes and run-time quantiles are dealt, not drawn, so that each day has the shape and not only
    the mean of many days; what is random is who submits what, when, and which job is long.
    """
    if jobs < 100 or hours < 1 or not teams:
        asked = f"a day of {jobs} jobs, {len(teams)} teams and {hours:g} hours is too small"
        raise ValueError(f"{asked}; give at least 100 jobs, 1 team and 1 hour")
    random = Random(seed)
    drafts = _single_jobs(random, shape, jobs, teams, hours)
    drafts += _burst_jobs(random, jobs - len(drafts), teams, hours)
    seconds = _run_times(random, shape, [draft.lean for draft in drafts])
    day = sorted(zip(drafts, seconds, strict=True), key=lambda pair: pair[0].submit)
    return tuple(
        TraceJob(job_name(draft.job_class, draft.team, row), draft.submit, run, draft.gpus, draft.team, draft.job_class)
        for row, (draft, run) in enumerate(day, start=1)
    )


def offered_load(jobs: Iterable[TraceJob], capacity: int, hours: tuple[float, float]) -> float:
    """Work submitted between two hours of the day over what `capacity` GPUs can do between them; above 1, it queues.

    Two jobs of 4 GPUs for 3 hours, submitted between 8 and 20, offer 12 GPUs 0.1667 of what they can do.
    """
    start, end = hours
    work = sum(job.gpus * job.seconds for job in jobs if start * HOUR <= job.submit < end * HOUR)
    return work / (capacity * (end - start) * HOUR)


def measure(jobs: Sequence[TraceJob]) -> Shape:
    """The shape that a day of jobs really has, by the same definitions as the figures it is held against."""
    count = len(jobs)
    submits = sorted(job.submit for job in jobs)
    gaps = [later - earlier for earlier, later in pairwise(submits)]
    return Shape(
        median_seconds=median(job.seconds for job in jobs),
        p90_seconds=quantiles((job.seconds for job in jobs), n=10, method="inclusive")[-1],
        one_gpu=sum(job.gpus == 1 for job in jobs) / count,
        two_to_four_gpus=sum(2 <= job.gpus <= 4 for job in jobs) / count,
        eight_or_more_gpus=sum(job.gpus >= 8 for job in jobs) / count,
        burst_share=_in_bursts(jobs) / count,
        arrival_variation=pstdev(gaps) / fmean(gaps),
        production=sum(job.job_class == "production" for job in jobs) / count,
        research=sum(job.job_class == "research" for job in jobs) / count,
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    submit: float
    gpus: int
    team: str
    job_class: str
    lean: float
    """Where the job leans among the run times of the day: a standard normal value, high for a long job."""


def _single_jobs(random: Random, shape: Shape, jobs: int, teams: Mapping[str, float], hours: float) -> list[_Draft]:
    large = round(shape.eight_or_more_gpus * jobs)
    small = round(shape.two_to_four_gpus * jobs)
    outside_bursts = jobs - round(shape.burst_share * jobs)
    classes = _deal({"production": shape.production, "research": shape.research}, outside_bursts)
    sizes = _deal(_SIZES_LARGE, large) + _deal(_SIZES_SMALL, small)
    sizes += [1] * (len(classes) - len(sizes))
    owners = _deal(teams, len(classes))
    for hand in (sizes, classes):
        random.shuffle(hand)
    drafts: list[_Draft] = []
    for gpus, team, job_class in zip(sizes, owners, classes, strict=True):
        if drafts and drafts[-1].team == team and random.random() < FOLLOWING_SHARE:
            submit = min(drafts[-1].submit + random.uniform(1.0, FOLLOWING_SECONDS), hours * HOUR)
        else:
            submit = _moment(random, hours)
        drafts.append(_Draft(submit, gpus, team, job_class, random.gauss(0.0, 1.0)))
    return drafts


def _burst_jobs(random: Random, jobs: int, teams: Mapping[str, float], hours: float) -> list[_Draft]:
    scoring = round(SCORING_SHARE * jobs)
    drafts: list[_Draft] = []
    for job_class, total in (("sweep", jobs - scoring), ("batch-inference", scoring)):
        for length in _burst_lengths(random, total):
            team = random.choice(list(teams))
            submit = _moment(random, hours - BURST_SECONDS / HOUR)
            likeness = random.gauss(0.0, math.sqrt(BURST_LIKENESS))
            for _ in range(length):
                lean = likeness + random.gauss(0.0, math.sqrt(1.0 - BURST_LIKENESS))
                drafts.append(_Draft(submit, 1, team, job_class, lean))
                submit += random.uniform(1.0, BURST_SECONDS / BURST_LARGEST)
    return drafts


def _burst_lengths(random: Random, total: int) -> list[int]:
    """Split `total` jobs into bursts around the median length, none below the least that counts as one."""
    lengths: list[int] = []
    least = BURST_JOBS + 1
    while (left := total - sum(lengths)) > 0:
        length = min(BURST_LARGEST, max(least, round(random.lognormvariate(math.log(BURST_MEDIAN), 0.5))))
        if left - length < least:
            length = left if left <= BURST_LARGEST else left - least
        lengths.append(length)
    return lengths


def _run_times(random: Random, shape: Shape, leans: Sequence[float]) -> list[float]:
    """Log-normal run times through the shape's median and 90th percentile, the longest to whoever leans the most.

    ln x = ln(median) + z(u) * ln(p90 / median) / z(0.9), with z the standard normal quantile: u = 0.5 gives the median
    and u = 0.9 the 90th percentile. The k-th of n jobs (from 0) gets a u between k/n and (k+1)/n, which keeps both
    right in every day; cutting the tail above the 90th percentile moves neither.
    """
    normal = NormalDist()
    spread = math.log(shape.p90_seconds / shape.median_seconds) / normal.inv_cdf(0.9)
    times = [0.0] * len(leans)
    for rank, job in enumerate(sorted(range(len(leans)), key=leans.__getitem__)):
        u = min(max((rank + random.random()) / len(leans), 1e-9), 1.0 - 1e-9)
        run = shape.median_seconds * math.exp(spread * normal.inv_cdf(u))
        times[job] = float(round(min(max(run, SHORTEST_SECONDS), LONGEST_HOURS * HOUR)))
    return times


def _moment(random: Random, hours: float) -> float:
    """A second of the day, likelier near the peak hour: the rate is 1 + (peak - 1) cos, tried until it is accepted."""
    while True:
        moment = random.uniform(0.0, hours)
        rate = 1.0 + (PEAK_TO_MEAN - 1.0) * math.cos(2.0 * math.pi * (moment - PEAK_HOUR) / 24.0)
        if random.uniform(0.0, PEAK_TO_MEAN) < rate:
            return round(moment * HOUR, 1)


def _deal(weights: Mapping[_Card, float], count: int) -> list[_Card]:
    """`count` cards in proportion to their weights, each within one of its share: ({a: 2, b: 1}, 3) -> [a, a, b]."""
    total = sum(weights.values())
    dealt: list[_Card] = []
    reached = 0.0
    for card, weight in weights.items():
        reached += weight * count / total
        dealt += [card] * (round(reached) - len(dealt))
    return dealt


def _in_bursts(jobs: Iterable[TraceJob]) -> int:
    by_team: defaultdict[str, list[float]] = defaultdict(list)
    for job in jobs:
        if job.gpus == 1:
            by_team[job.team].append(job.submit)
    inside = 0
    for submits in by_team.values():
        submits.sort()
        marked: set[int] = set()
        for first, last in enumerate(range(BURST_JOBS - 1, len(submits))):
            if submits[last] - submits[first] < BURST_SECONDS:
                marked.update(range(first, last + 1))
        inside += len(marked)
    return inside
