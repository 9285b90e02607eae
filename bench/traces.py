"""`python -m bench.traces --traces FOLDER`: the rows of docs/benchmarks.md, on public traces, each over several seeds.

The folder holds `philly_jobs.csv` and `itp_jobs.csv`. A seed draws every delay; the policy is one file for all rows.
"""

import csv
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from bench.measuring import ROOT
from pointsman.queues.policy import Policy
from pointsman_cli.check import check
from pointsman_simulator.ablations import without
from pointsman_simulator.baselines import BASELINES
from pointsman_simulator.measures import figures
from pointsman_simulator.replay import World, from_trace
from pointsman_simulator.steered import STEERED

POLICY = ROOT / "examples" / "quota-policy.yaml"
LABELS, TEAMS = "derived_class", "teams:ee9e8c,7f04ca"
CLASSES = ("production", "research", "sweep", "all")
COLUMNS = ("row", "run", *CLASSES, "worst", "JCT", "big", "use", "evicted", "lost", "writes a job")


@dataclass(frozen=True, slots=True)
class Row:
    """A window of a trace on a pool of so many GPUs; of `itp_jobs.csv`, `cluster` keeps one cluster's jobs."""

    name: str
    trace: str
    window: str
    capacity: int
    classes: str = LABELS
    cluster: str = ""


PHILLY, ITP = "2381359:4800559", "604800:3024000"
ROWS = (
    Row("philly-640", "philly_jobs.csv", PHILLY, 640),
    Row("philly-640-teams", "philly_jobs.csv", PHILLY, 640, TEAMS),
    Row("philly-512", "philly_jobs.csv", PHILLY, 512),
    Row("philly-512-teams", "philly_jobs.csv", PHILLY, 512, TEAMS),
    Row("itp-1280", "itp_jobs.csv", ITP, 1280),
    Row("itp-1100", "itp_jobs.csv", ITP, 1100),
    Row("itp-c02-96", "itp_jobs.csv", "0:5184000", 96, cluster="c02"),
)


@dataclass(frozen=True, slots=True)
class Task:
    """One run of a row: under which rule, with which seed, without which mechanism."""

    row: Row
    trace: Path
    run: str
    seed: int
    ablate: str | None


def played(task: Task) -> dict[str, Any]:
    """The figures of one run."""
    row = task.row
    policy, world = _policy(), World(task.seed)
    ranked = [one.name for one in policy.classes]
    replay = from_trace(task.trace, row.window, row.capacity, row.classes, ranked)
    if task.ablate:
        policy, world = without(task.ablate, policy, world)
    run = BASELINES[task.run](replay, policy) if task.run in BASELINES else STEERED[task.run](replay, world, policy)
    return figures(run, replay.gpu_seconds)


@cache
def _policy() -> Policy:
    stated = check(POLICY).stated
    if stated is None:
        raise SystemExit(f"{POLICY} is not valid: pointsman policy check {POLICY}")
    return stated


def line(row: Row, run: str, results: Sequence[dict[str, Any]]) -> str:
    """The row of a table in Markdown: medians over the seeds, and in brackets the worst."""

    def over(*keys: str) -> str:
        values = []
        for result in results:
            value: Any = result
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            values += [] if value is None else [value]
        if not values:
            return "-"
        return f"{median(values):.2f}" + (f" ({max(values):.2f})" if len(values) > 1 else "")

    waits = (over("wait_hours", name, "mean") for name in CLASSES)
    lost = f"{100 * median(result['lost_fraction'] for result in results):.4f} %"
    use = f"{100 * median(result['utilisation'] for result in results):.1f} %"
    return " | ".join((
        f"| {row.name}", run, *waits, over("wait_hours", "all", "max"), over("jct_hours", "mean"),
        over("big_wait_hours", "mean"), use, over("evictions"), lost,
        f"{median(result['api']['update'] / result['jobs'] for result in results):.2f} |",
    ))  # fmt: skip


def _tasks(
    rows: Sequence[Row], runs: Sequence[str], seeds: int, ablate: str | None, traces: Path, spare: Path
) -> Iterator[Task]:
    for row in rows:
        trace = one_cluster(traces / row.trace, row.cluster, spare) if row.cluster else traces / row.trace
        for run in runs:
            for seed in range(1 if run in BASELINES else seeds):
                yield Task(row, trace, run, seed, ablate)


def one_cluster(trace: Path, cluster: str, spare: Path) -> Path:
    """The trace's jobs of one cluster, in a file of their own in the folder `spare`."""
    kept = spare / f"{cluster}.csv"
    with trace.open(newline="") as source, kept.open("w", newline="") as target:
        rows = csv.DictReader(source)
        writer = csv.DictWriter(target, rows.fieldnames or ())
        writer.writeheader()
        writer.writerows(row for row in rows if row["cluster"] == cluster)
    return kept


def main() -> None:
    """Play what is asked for, and print a table."""
    asks = ArgumentParser(prog="python -m bench.traces", description=__doc__)
    asks.add_argument("--traces", type=Path, required=True, help="the folder of the traces")
    asks.add_argument("--rows", default=",".join(row.name for row in ROWS))
    asks.add_argument("--runs", default="fifo_strict,pointsman,pointsman_quota")
    asks.add_argument("--seeds", type=int, default=5)
    asks.add_argument("--ablate", help="take one mechanism away")
    asked = asks.parse_args()
    rows = [row for row in ROWS if row.name in asked.rows.split(",")]
    with TemporaryDirectory() as spare:
        tasks = list(_tasks(rows, asked.runs.split(","), asked.seeds, asked.ablate, asked.traces, Path(spare)))
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as workers:
            results = list(zip(tasks, workers.map(played, tasks), strict=True))
    out = Console(soft_wrap=True, markup=False)
    out.print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for row in rows:
        for run in asked.runs.split(","):
            out.print(line(row, run, [result for task, result in results if task.row == row and task.run == run]))


if __name__ == "__main__":
    main()
