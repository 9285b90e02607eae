"""`python -m bench.days [--policy FILE]`: the policy that the README shows beside FIFO, on the demo's days 1 to 20."""

from argparse import ArgumentParser
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from bench.measuring import ROOT
from pointsman.queues.policy import Policy
from pointsman_cli.check import check
from pointsman_simulator.baselines import fifo_strict
from pointsman_simulator.measures import figures
from pointsman_simulator.replay import Replay, World
from pointsman_simulator.steered import STEERED
from pointsman_simulator.workload import DEMO_CAPACITY, generate

DAY = 86_400.0
SEEDS = range(1, 21)


def waits(policy: Policy, seed: int) -> dict[str, tuple[float, float]]:
    """Hours that each class waits on average on one day, under FIFO and under the policy."""
    replay = Replay(generate(seed), 0, DEMO_CAPACITY, DAY)
    runs = (fifo_strict(replay), STEERED["pointsman"](replay, World(seed), policy))
    alone, steered = (figures(run, replay.gpu_seconds)["wait_hours"] for run in runs)
    return {name: (alone[name]["mean"], steered[name]["mean"]) for name in alone}


def main() -> None:
    """Print the medians, the worst days, and the days on which a class waits longer."""
    asks = ArgumentParser(prog="python -m bench.days", description=__doc__)
    asks.add_argument("--policy", type=Path, default=ROOT / "examples" / "policy.yaml")
    policy = check(asks.parse_args().policy).stated
    if policy is None:
        raise SystemExit("this policy is not valid: pointsman policy check FILE")
    days = {seed: waits(policy, seed) for seed in SEEDS}
    out, table = Console(), Table("class", "FIFO, median", "worst", "policy, median", "worst", "days above FIFO")
    for name in next(iter(days.values())):
        alone, steered = zip(*(day[name] for day in days.values()), strict=True)
        above = [
            f"{seed}: {was:.2f} -> {now:.2f}" for seed, was, now in zip(SEEDS, alone, steered, strict=True) if now > was
        ]
        values = (median(alone), max(alone), median(steered), max(steered))
        table.add_row(name, *(f"{value:.2f}" for value in values), ", ".join(above) or "none")
    out.print(table)


if __name__ == "__main__":
    main()
