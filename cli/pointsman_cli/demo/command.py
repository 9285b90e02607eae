"""`pointsman demo`: see it work, with no AWS account."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from pointsman.errors import UserMistake
from pointsman_cli import options
from pointsman_cli.checkout import shipped
from pointsman_cli.demo.day import Progress as Report
from pointsman_cli.demo.day import baseline, play
from pointsman_cli.demo.lending import lending
from pointsman_cli.demo.multiple import Multiple
from pointsman_cli.demo.report import say, summary
from pointsman_cli.demo.rollout.command import rollout
from pointsman_cli.demo.scenario import DEMO_SEED, Scenario, demo_day, trace_slice
from pointsman_cli.printing import print_json
from pointsman_cli.screen import screen


@click.group(invoke_without_command=True)
@click.option("--seed", type=int, default=DEMO_SEED, show_default=True, help="Of the generated day and of every fault.")
@click.option("--capacity", type=click.IntRange(1), help="One-GPU instances in the pool.")
@click.option("--trace", type=click.Path(path_type=Path), help="Play a slice of a real trace (CSV) instead.")
@click.option("--window", help="Of the trace: A:B, seconds of submit_s, A <= submit_s < B.")
@click.option("--policy", type=click.Path(path_type=Path),
              help="The queue's policy; examples/policy.yaml by default.")  # fmt: skip
@click.option("--events", type=Multiple(), default="100%", show_default=True,
              help="How often each event is delivered: 0% loses all, 300% sends each three times.")  # fmt: skip
@click.option("--template", type=click.Path(path_type=Path, exists=True),
              help="The SAM template to deploy; template.yaml by default.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@options.debugged
@click.pass_context
def demo(
    ctx: click.Context,
    seed: int,
    capacity: int | None,
    trace: Path | None,
    window: str | None,
    policy: Path | None,
    events: float,
    template: Path | None,
    as_json: bool,
) -> None:
    """Play a day of a busy queue: under FIFO, and under Pointsman's own handlers on the embedded AWS.

    Exits with 1 when the wiring check finds an event that reached no target, or when a job was lost or ran
    twice, or a pass or an invocation failed. `demo rollout NAME` plays a rollout instead, and `demo lending` a week
    of quota shares.
    """
    if ctx.invoked_subcommand is not None:
        _refuse_dropped(ctx, ctx.invoked_subcommand)
        return
    policy = policy or shipped("examples/policy.yaml", "--policy")
    template = template or shipped("template.yaml", "--template")
    if trace is None:
        if window is not None:
            raise click.UsageError("--window belongs to --trace")
        scenario = demo_day(seed, capacity, policy, events, template)
    else:
        if window is None or capacity is None:
            raise click.UsageError("--trace needs --window A:B and --capacity N")
        scenario = trace_slice(trace, window, capacity, seed, policy, events, template)
    if not scenario.jobs:
        raise UserMistake("no job fits the capacity", place="--capacity", remedy="raise it")
    with _progress(scenario) as tell:
        runs = [baseline(scenario, "FIFO", skip=False), baseline(scenario, "FIFO that skips", skip=True)]
        runs.append(play(scenario, tell))
    facts = summary(scenario, runs)
    if as_json:
        print_json(facts)
    else:
        say(screen(), facts)
    end = facts["end_state"]
    if facts["wiring"]["faults"] or end["lost"] or end["run_twice"] or end["failures"]:
        raise SystemExit(1)


def _refuse_dropped(ctx: click.Context, verb: str) -> None:
    """Raise where options of the day were given to one of the other plays, which would not have them."""
    given = [
        param.opts[0]
        for param in ctx.command.params
        if param.name in ctx.params and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        text = f"{', '.join(given)} before `{verb}` would be of no use: write what {verb} takes after it"
        raise click.UsageError(text, ctx)


demo.add_command(lending)
demo.add_command(rollout)


@contextmanager
def _progress(scenario: Scenario) -> Iterator[Report]:
    """A bar on a terminal's standard error; nothing where there is none."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} of {task.total} jobs"),
               TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("playing", total=len(scenario.jobs))

        def tell(seconds: float, ended: int) -> None:
            bar.update(task, completed=ended, description=f"hour {seconds / 3600:5.1f}")

        yield tell
