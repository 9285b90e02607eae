"""`pointsman simulate`: try a policy on a queue's past, or on a public trace, beside what the queue would do alone."""

import shlex
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from pointsman.errors import UserMistake
from pointsman.queues.policy import Policy
from pointsman.wall_clock import local
from pointsman_cli import options
from pointsman_cli.check import check
from pointsman_cli.checkout import SETUP, shipped
from pointsman_cli.printing import print_json
from pointsman_cli.screen import screen, table
from pointsman_simulator.ablations import ABLATIONS, without
from pointsman_simulator.baselines import BASELINES
from pointsman_simulator.measures import Run, figures
from pointsman_simulator.replay import Replay, World, from_trace
from pointsman_simulator.series import FACTORS, scaled
from pointsman_simulator.steered import STEERED, check_playable
from pointsman_simulator.traces import TraceError

if TYPE_CHECKING:
    from pointsman_cli.report.page import Facts

NAMES = (*BASELINES, *STEERED)
SHOWN = ("fifo_strict", "fifo_skip", "class_strict", "pointsman")


@click.command(short_help="Try a policy on real history before living with it.")
@click.option("--trace", type=click.Path(path_type=Path), required=True, help="A queue's past or a trace, CSV.")
@click.option("--window", required=True, metavar="A:B", help="Seconds of submit_s: A <= submit_s < B.")
@click.option("--capacity", type=click.IntRange(1), required=True, help="One-GPU instances in the pool.")
@click.option("--classes", default="derived_class", show_default=True,
              help="Where a job's class comes from: derived_class, or teams:A,B (the first class).")  # fmt: skip
@click.option("--policy", type=click.Path(path_type=Path),
              help="The policy to try, by default examples/quota-policy.yaml. --classes finds classes.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of every delay and draw.")
@click.option("--batch-victim", type=click.Choice(["lowest", "longest", "random"]), default="lowest", show_default=True,
              help="Whom Batch evicts first: lowest priority, longest running, or anyone.")  # fmt: skip
@click.option(
    "--event-delay", type=options.Number(1, 86_400), default=10.0, show_default=True, help="Seconds, at most."
)
@click.option(
    "--pass-every", type=options.Number(1, 86_400), default=30.0, show_default=True, help="Seconds, at least."
)
@click.option("--ablate", type=click.Choice(sorted(ABLATIONS)), help="Take one mechanism of Pointsman away.")
@click.option("--runs", metavar="A,B", default=",".join(SHOWN),
              help=f"Which of: {', '.join(NAMES)}.  [default: {', '.join(SHOWN)}]")  # fmt: skip
@click.option("--report", type=options.NewFile(), metavar="FILE.html",
              help="Write a page with plots; plays the policy under other head starts too.")  # fmt: skip
@options.as_json
@options.debugged
@click.pass_context
def simulate(
    ctx: click.Context,
    trace: Path,
    window: str,
    capacity: int,
    classes: str,
    policy: Path | None,
    seed: int,
    batch_victim: Any,
    event_delay: float,
    pass_every: float,
    ablate: str | None,
    runs: str,
    report: Path | None,
    as_json: bool,
) -> None:
    """Replay jobs under a policy with the decisions that production makes, next to baselines."""
    names = _names(runs)
    if report is not None:
        _check_report()
    policy = policy or shipped("examples/quota-policy.yaml", "--policy")
    stated = _stated(policy)
    try:
        replay = from_trace(trace, window, capacity, classes, _named(stated))
        check_playable(names, replay, stated)
    except TraceError as error:
        raise UserMistake(str(error), place=f"--{error.about}") from None
    _check_classes(policy, stated, replay)
    world = World(seed, event_delay=event_delay, pass_every=pass_every, victim=batch_victim)
    rule, world = without(ablate, stated, world) if ablate else (stated, world)
    if report is None:
        results = [figures(run, replay.gpu_seconds) for run in simulated(_each(names, rule), replay, world)]
    else:
        facts = _facts(ctx, names, replay, world, rule)
        _write(report, facts)
        results = [figures(run, replay.gpu_seconds) for run in facts.runs]
    if as_json:
        print_json({"runs": results, "left_out": replay.left_out})
    else:
        _say(replay, stated, results)
        if report is not None:
            screen().print(f"The page is {report}.", soft_wrap=True)


Task = tuple[str, Policy]
"""A run by its name, and the policy to steer it by."""


def _each(names: list[str], policy: Policy) -> list[Task]:
    return [(name, policy) for name in names]


def simulated(tasks: list[Task], replay: Replay, world: World) -> list[Run]:
    """Each of these runs, side by side on as many processors as there are."""
    one = partial(_run, replay=replay, world=world)
    if len(tasks) == 1:
        return [one(tasks[0])]
    with ProcessPoolExecutor(min(len(tasks), cpu_count() or 1), get_context("spawn")) as workers:
        return list(workers.map(one, tasks))


def _facts(ctx: click.Context, names: list[str], replay: Replay, world: World, policy: Policy) -> "Facts":
    """The runs that were asked for, and the policy's own under each of `FACTORS`; none of them is played twice."""
    from pointsman_cli.report.page import Facts

    own = next((name for name in ("pointsman_quota", *STEERED) if name in names), "pointsman")
    others = [factor for factor in FACTORS if factor != 1 or own not in names]
    tasks = [*_each(names, policy), *((own, scaled(policy, factor)) for factor in others)]
    runs = simulated(tasks, replay, world)
    shown, more = tuple(runs[: len(names)]), dict(zip(others, runs[len(names) :], strict=True))
    if own in names:
        more[1.0] = shown[names.index(own)]
    frontier = tuple((factor, more[factor]) for factor in FACTORS)
    return Facts(_command(ctx), replay, policy, own, shown, frontier)


def _command(ctx: click.Context) -> str:
    """What was typed, with the defaults left out."""
    words = ["pointsman", "simulate"]
    for param in ctx.command.params:
        name = param.name or ""
        if name in ctx.params and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            words.append(param.opts[-1] if param.opts[-1].startswith("--") else param.opts[0])
            words += [] if isinstance(ctx.params[name], bool) else [str(ctx.params[name])]
    return shlex.join(words)


def _check_report() -> None:
    """Find out before the runs, which take long, what would keep the page from being drawn."""
    if find_spec("plotly") is None:
        raise UserMistake("plotly is missing", place="--report", remedy=SETUP)


def _write(file: Path, facts: "Facts") -> None:
    from pointsman_cli.report.page import page

    try:
        file.write_text(page(facts), encoding="utf-8")
    except OSError as error:
        raise UserMistake(
            error.strerror or str(error), place=str(file), remedy="name a file that can be written"
        ) from None


def _run(task: Task, replay: Replay, world: World) -> Run:
    name, policy = task
    began = perf_counter()
    run = BASELINES[name](replay, policy) if name in BASELINES else STEERED[name](replay, world, policy)
    return replace(run, seconds=perf_counter() - began)


def _names(runs: str) -> list[str]:
    names = [name.strip() for name in runs.split(",") if name.strip()]
    for name in names:
        if name not in NAMES:
            raise UserMistake(f"there is no run {name}", place="--runs", remedy=f"one of: {', '.join(NAMES)}")
    if not names:
        raise UserMistake("no run is named", place="--runs", remedy=f"one of: {', '.join(NAMES)}")
    return names


def _stated(file: Path) -> Policy:
    stated = check(file).stated
    if stated is None:
        raise UserMistake("this policy is not valid", place=str(file), remedy=f"pointsman policy check {file}")
    return stated


def _named(policy: Policy) -> list[str]:
    return [one.name for one in policy.classes]


def _check_classes(file: Path, policy: Policy, replay: Replay) -> None:
    known = set(_named(policy))
    if strange := sorted(set(replay.classes) - known):
        raise UserMistake(
            f"the jobs have classes that the policy does not name: {', '.join(strange)}",
            place=str(file),
            remedy=f"name them; it has {', '.join(sorted(known))}",
        )


def _say(replay: Replay, policy: Policy, results: list[dict[str, Any]]) -> None:
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
    for one in results:
        if never := one["jobs"] - one["finished"]:
            out.print(f"{one['name']}: {never} of {one['jobs']} jobs never fit; its figures are those of the others.")
    if policy.windows:
        begins = local(replay.begins, policy.windows[0].when.zone)
        out.print(f"The policy's windows are open as by the file's own seconds, which begin {begins}.")


def _hours(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
