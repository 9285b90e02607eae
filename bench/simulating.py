"""What a month in the simulator costs, of a generated load or of a trace."""

from pathlib import Path
from time import process_time
from typing import Any

from bench.load import HOUR
from bench.measuring import ROOT, grown
from pointsman_cli.check import check
from pointsman_simulator.replay import Replay, World, from_trace
from pointsman_simulator.steered import STEERED
from pointsman_simulator.workload import generate

MONTH_HOURS = 28 * 24.0
PHILLY = "2381359:4800559"  # 2017-10-02 to 2017-10-30
SEED = 3


def simulating(
    run: str, jobs: int = 0, load: float = 1.0, trace: str = "", window: str = PHILLY, capacity: int = 0
) -> dict[str, Any]:
    """Seconds of CPU for one policy over a month of a trace, or of generated jobs that offer so much load."""
    policy = check(ROOT / "examples" / "quota-policy.yaml").stated
    if policy is None:
        raise ValueError("examples/quota-policy.yaml is not valid")
    ranked = [one.name for one in policy.classes]
    replay = from_trace(Path(trace), window, capacity, "derived_class", ranked) if trace else _generated(jobs, load)
    before, began = grown(), process_time()
    ran = STEERED[run](replay, World(), policy)
    seconds = process_time() - began
    return {
        "jobs": len(replay.jobs),
        "capacity": replay.capacity,
        "offered_load": replay.gpu_seconds / (replay.capacity * replay.window),
        "cpu_seconds": seconds,
        "jobs_a_second": len(replay.jobs) / seconds,
        "mb": grown() - before,
        "updates_a_job": ran.calls["update"] / len(replay.jobs),
    }


def _generated(jobs: int, load: float) -> Replay:
    month = generate(SEED, jobs=jobs, hours=MONTH_HOURS)
    window = MONTH_HOURS * HOUR
    capacity = round(sum(job.seconds * job.instances for job in month) / window / load)
    return Replay(month, 0, capacity, window)
