"""`pointsman calibrate`: how often jobs start before what they were told, on generated days."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path

import click

from pointsman.errors import UserMistake
from pointsman.queues.policy import Policy
from pointsman_cli import options
from pointsman_cli.check import check
from pointsman_cli.checkout import shipped
from pointsman_cli.printing import print_json
from pointsman_cli.screen import screen, table
from pointsman_simulator.calibration import Calibration, Count
from pointsman_simulator.calibration import calibrate as calibrated
from pointsman_simulator.replay import Replay
from pointsman_simulator.workload import DEMO_CAPACITY, generate

DAY = 86_400.0


@click.command(short_help="How often expected starts come true, on generated days.")
@click.option("--seeds", default="1-20", show_default=True, help="The days: A-B, or one.")
@click.option("--policy", type=click.Path(path_type=Path),
              help="The policy of the days; examples/policy.yaml by default.")  # fmt: skip
@options.as_json
@options.debugged
def calibrate(seeds: str, policy: Path | None, as_json: bool) -> None:
    """Play generated days with the decisions of production, and hold each start against what `queue explain` says.

    Once as told when the job was first seen waiting, and once in the middle of its wait. Jobs that wait under ten
    minutes are left out.
    """
    checked = check(policy or shipped("examples/policy.yaml", "--policy"))
    if checked.stated is None:
        raise UserMistake("it is no policy: `pointsman policy check` says why", place=checked.name)
    days = _seeds(seeds)
    with ProcessPoolExecutor(min(len(days), cpu_count() or 1), get_context("spawn")) as workers:
        found = list(workers.map(partial(_day, policy=checked.stated), days))
    whole = (sum((day.first for day in found), Count()), sum((day.middle for day in found), Count()))
    if as_json:
        days_shape = [{"seed": day.seed, "first": _shape(day.first), "middle": _shape(day.middle)} for day in found]
        print_json({"days": days_shape, "first": _shape(whole[0]), "middle": _shape(whole[1])})
        return
    rows = [(str(day.seed), *_row(day.first), *_row(day.middle)) for day in found]
    rows.append(("all", *_row(whole[0]), *_row(whole[1])))
    numbers = ("waited", "before p50", "before p90", "in mid-wait", "before p50 ", "before p90 ")
    screen().print(table(("day", *numbers), rows, right=numbers))


def _day(seed: int, policy: Policy) -> Calibration:
    """The day's jobs are of the classes that the policy gives them: the day was generated with others."""
    own = policy.share.endswith("*")
    jobs = (
        replace(job, job_class=policy.classify(job.name, job.tags, job.team if own else policy.share).name)
        for job in generate(seed)
    )
    return calibrated(seed, Replay(tuple(jobs), 0, DEMO_CAPACITY, DAY), policy)


def _seeds(text: str) -> list[int]:
    first, _, last = text.partition("-")
    try:
        found = list(range(int(first), int(last or first) + 1))
    except ValueError:
        found = []
    if not found:
        raise UserMistake(f"{text!r} are no days", place="--seeds", remedy="as 1-20, or 7")
    return found


def _row(count: Count) -> tuple[str, ...]:
    shape = _shape(count)
    return (str(count.jobs), *("-" if shape[k] is None else f"{shape[k]:.0%}" for k in ("before_p50", "before_p90")))


def _shape(count: Count) -> dict[str, float | None]:
    parts = {"before_p50": count.before_p50, "before_p90": count.before_p90}
    return {"jobs": count.jobs, **{k: round(n / count.jobs, 3) if count.jobs else None for k, n in parts.items()}}
