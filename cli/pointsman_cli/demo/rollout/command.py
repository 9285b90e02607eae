"""`pointsman demo rollout`: a rollout in a small world, with no AWS account."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

import click
from rich.console import Console

from pointsman_cli import options, rollout_shapes, rollout_text
from pointsman_cli.demo.multiple import Multiple
from pointsman_cli.demo.rollout.play import Progress, planned, play
from pointsman_cli.demo.rollout.report import say
from pointsman_cli.demo.rollout.result import result_shape
from pointsman_cli.demo.rollout.scenarios import SCENARIOS
from pointsman_cli.printing import print_json
from pointsman_cli.screen import screen


@click.command(short_help="A rollout, with the requests that it must not lose.")
@click.argument("name", metavar="NAME", type=click.Choice(list(SCENARIOS)))
@click.option("--capacity", type=click.Choice(["require", "try"]), default="require", show_default=True,
              help="Whether room must be there, or the attempt is made anyway.")  # fmt: skip
@click.option("--control", is_flag=True, help="The same requests against a SageMaker that takes a copy away first.")
@click.option(
    "--events",
    type=Multiple(),
    default="100%",
    show_default=True,
    help="How often each event is delivered: 0% loses all.",
)
@click.option("--history", is_flag=True, help="Print the histories of the state machine's executions too.")
@click.option("--plan", "only_plan", is_flag=True, help="Print the plan only, and play nothing.")
@click.option("--seed", type=int, default=7, show_default=True, help="Of the requests.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@options.debugged
def rollout(
    name: str,
    capacity: Literal["require", "try"],
    control: bool,
    events: float,
    history: bool,
    only_plan: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Play the scenario NAME: a fleet, a request, and what comes of it, minute by minute.

    NAME is one of single-gpu, bad-api, full-endpoint, make-room and fleet.

    Exits with 1 when the rollout did not end, a pass failed, or a request was lost (with --control: when none was).
    """
    scenario = replace(SCENARIOS[name](), seed=seed, events=events)
    if capacity == "try":
        scenario = scenario.asking(capacity="try", reason="to see what happens", person="demo")
    if only_plan:
        made = planned(scenario)
        if as_json:
            print_json(rollout_shapes.plan_shape(made))
        else:
            rollout_text.plan(screen(), made)
        return
    if control:
        scenario = scenario.drained_first()
    with _progress() as progress:
        result = play(scenario, progress, history=history)
    if as_json:
        print_json(result_shape(result))
    else:
        say(screen(), scenario, result)
    if result.faults or control is not (result.lost > 0):
        raise SystemExit(1)


@contextmanager
def _progress() -> Iterator[Progress]:
    """Where the rollout is, on a terminal's standard error."""
    with Console(stderr=True).status("building the world") as status:
        yield status.update
