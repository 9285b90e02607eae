"""`pointsman simulate`: try a policy on a queue's past, or on a public trace, beside what the queue would do alone."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from pointsman.errors import UserMistake
from pointsman.queues.policy import Policy
from pointsman_cli import options
from pointsman_cli.check import check
from pointsman_cli.printing import print_json
from pointsman_cli.screen import screen, table
from pointsman_simulator.ablations import ABLATIONS, without
from pointsman_simulator.baselines import BASELINES
from pointsman_simulator.measures import Run, figures
from pointsman_simulator.replay import Replay, World, from_trace
from pointsman_simulator.steered import STEERED
from pointsman_simulator.traces import TraceError

ROOT = Path(__file__).resolve().parents[2]
NAMES = (*BASELINES, *STEERED)
SHOWN = ("fifo_strict", "fifo_skip", "class_strict", "pointsman")


@click.command(short_help="Try a policy on real history before living with it.")
@click.option("--trace", type=click.Path(path_type=Path), required=True, help="A queue's past or a trace, CSV.")
@click.option("--window", required=True, help="A:B, seconds of submit_s, A <= submit_s < B.")
@click.option("--capacity", type=click.IntRange(1), required=True, help="One-GPU instances in the pool.")
@click.option("--classes", default="derived_class", show_default=True,
              help="Where a job's class comes from: derived_class, or teams:A,B (those are production).")  # fmt: skip
@click.option("--policy", type=click.Path(path_type=Path), default=ROOT / "examples" / "policy.yaml",
              help="The policy to try; examples/policy.yaml by default. --classes finds its classes.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of every delay and draw.")
@click.option("--batch-victim", type=click.Choice(["lowest", "longest", "random"]), default="lowest", show_default=True,
              help="Whom Batch evicts first: lowest priority, longest running, or anyone.")  # fmt: skip
@click.option("--event-delay", type=click.FloatRange(1), default=10.0, show_default=True, help="Seconds, at most.")
@click.option("--pass-every", type=click.FloatRange(1), default=30.0, show_default=True, help="Seconds, at least.")
@click.option("--ablate", type=click.Choice(sorted(ABLATIONS)), help="Take one mechanism of Pointsman away.")
@click.option("--runs", default=",".join(SHOWN), show_default=True, help=f"Which of: {', '.join(NAMES)}.")
@options.as_json
def simulate(
    trace: Path,
    window: str,
    capacity: int,
    classes: str,
    policy: Path,
    seed: int,
    batch_victim: Any,
    event_delay: float,
    pass_every: float,
    ablate: str | None,
    runs: str,
    as_json: bool,
) -> None:
    """Replay jobs under a policy with the decisions that production makes, next to baselines."""
    names = _names(runs)
    try:
        replay = from_trace(trace, window, capacity, classes)
    except TraceError as error:
        raise UserMistake(str(error), place="--trace") from None
    rule = _policy(policy, replay)
    if ablate:
        rule = without(rule, ablate)
    world = World(seed, event_delay=event_delay, pass_every=pass_every, victim=batch_victim)
    results = [figures(run, replay.gpu_seconds) for run in simulated(names, replay, world, rule)]
    if as_json:
        print_json({"runs": results, "left_out": replay.left_out})
    else:
        _say(replay, results)


def simulated(names: list[str], replay: Replay, world: World, policy: Policy) -> list[Run]:
    """Each of these runs, side by side on as many processors as there are."""
    one = partial(_run, replay=replay, world=world, policy=policy)
    if len(names) == 1:
        return [one(names[0])]
    with ProcessPoolExecutor(min(len(names), cpu_count() or 1), get_context("spawn")) as workers:
        return list(workers.map(one, names))


def _run(name: str, replay: Replay, world: World, policy: Policy) -> Run:
    began = perf_counter()
    run = BASELINES[name](replay) if name in BASELINES else STEERED[name](replay, world, policy)
    return replace(run, seconds=perf_counter() - began)


def _names(runs: str) -> list[str]:
    names = [name.strip() for name in runs.split(",") if name.strip()]
    for name in names:
        if name not in NAMES:
            raise UserMistake(f"there is no run {name}", place="--runs", remedy=f"one of: {', '.join(NAMES)}")
    if not names:
        raise UserMistake("no run is named", place="--runs", remedy=f"one of: {', '.join(NAMES)}")
    return names


def _policy(file: Path, replay: Replay) -> Policy:
    stated = check(file).stated
    if stated is None:
        raise UserMistake("this policy is not valid", place=str(file), remedy=f"pointsman policy check {file}")
    known = {one.name for one in stated.classes}
    if strange := sorted(set(replay.classes) - known):
        raise UserMistake(
            f"the jobs have classes that the policy does not name: {', '.join(strange)}",
            place=str(file),
            remedy=f"name them; it has {', '.join(sorted(known))}",
        )
    return stated


def _say(replay: Replay, results: list[dict[str, Any]]) -> None:
    out = screen()
    left = f"; {replay.left_out} larger than the pool are left out" if replay.left_out else ""
    work = replay.gpu_seconds / 3600
    out.print(f"{len(replay.jobs)} jobs, {work:,.0f} GPU-hours, {replay.capacity} instances{left}.")
    columns = ("run", *replay.classes, "all", "worst", "big", "JCT", "use", "evicted", "lost", "writes/job", "seconds")
    rows = [
        (
            one["name"],
            *(_hours(one["wait_hours"].get(name, {}).get("mean")) for name in (*replay.classes, "all")),
            _hours(one["wait_hours"]["all"]["max"]),
            _hours(one["big_wait_hours"]["mean"]),
            _hours(one["jct_hours"]["mean"]),
            f"{one['utilisation']:.1%}",
            one["evictions"],
            f"{one['lost_fraction']:.3%}",
            f"{one['api']['update'] / one['jobs']:.2f}",
            f"{one['seconds']:.1f}",
        )
        for one in results
    ]
    out.print(table(columns, rows, right=columns[1:]))
    out.print("Hours waited on average, by class; worst: the longest wait; big: jobs of 16 GPUs or more.")


def _hours(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
