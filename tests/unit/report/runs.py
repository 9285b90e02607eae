"""A small day, replayed for the page once."""

from functools import cache

from pointsman.queues.policy import JobClass, Policy, Preemption
from pointsman_cli.report.page import Facts
from pointsman_simulator.baselines import fifo_strict, sesf
from pointsman_simulator.replay import Replay, World
from pointsman_simulator.series import FACTORS, scaled
from pointsman_simulator.steered import pointsman, pointsman_quota
from pointsman_simulator.workload import generate

HOUR = 3600.0
POLICY = Policy(
    queue="search <training>",
    classes=(
        JobClass("production", head_start=6 * HOUR),
        JobClass("research", head_start=2 * HOUR),
        JobClass("batch-inference", preemptible=True),
        JobClass("sweep", preemptible=True),
    ),
    share="all",
    preemption=Preemption(patience=0.5 * HOUR),
)


@cache
def facts(*, evictions: bool) -> Facts:
    """The page's facts: two baselines and Pointsman, in a queue in which it evicts, or does not."""
    replay = Replay(tuple(generate(4, jobs=100)), 2, 40, 24 * HOUR)
    steered = pointsman_quota if evictions else pointsman
    frontier = tuple((factor, steered(replay, World(), scaled(POLICY, factor))) for factor in FACTORS)
    own = dict(frontier)[1.0]
    command = "pointsman simulate --trace 'a <b>.csv' --report page.html"
    return Facts(command, replay, POLICY, own.name, (fifo_strict(replay), sesf(replay), own), frontier)
