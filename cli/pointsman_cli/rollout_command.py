"""The verbs of `pointsman rollout` that command: the function `command_rollout` obeys, in the caller's name."""

from pathlib import Path
from typing import Any

import click

from pointsman.rollouts.record import HoldKind
from pointsman_cli import options
from pointsman_cli.printing import print_json
from pointsman_cli.rollout_request import read_request

WAIVABLE = click.Choice([HoldKind.NO_TRAFFIC.value, HoldKind.INCONCLUSIVE.value])


@click.command(short_help="Ask for a rollout.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--reason", default="", help="Why, for the history.")
@options.as_json
@options.where
@click.pass_context
def start(ctx: click.Context, file: Path, reason: str, as_json: bool) -> None:
    """Check the request in FILE, and ask for the rollout. Its first pass plans it, and refuses what `plan` refuses."""
    _, document = read_request(file, as_json=as_json)
    _command(ctx, as_json, verb="request", request=document, reason=reason)


@click.command(short_help="Let a wave begin.")
@click.argument("rollout")
@click.argument("wave", type=click.IntRange(min=1))
@click.option("--reason", default="", help="Why, for the history.")
@options.as_json
@options.where
@click.pass_context
def approve(ctx: click.Context, rollout: str, wave: int, reason: str, as_json: bool) -> None:
    """Let WAVE (from 1) of ROLLOUT begin, which the request wants approved."""
    _command(ctx, as_json, verb="approve", rollout=rollout, wave=wave, reason=reason)


@click.command(short_help="Let a gate pass without the evidence that it lacks.")
@click.argument("rollout")
@click.argument("hold", type=WAIVABLE)
@click.option("--reason", required=True, help="Why, for the history.")
@options.as_json
@options.where
@click.pass_context
def waive(ctx: click.Context, rollout: str, hold: str, reason: str, as_json: bool) -> None:
    """Let the present gate of ROLLOUT pass though it is held for HOLD. It counts for this gate only."""
    _command(ctx, as_json, verb="waive", rollout=rollout, hold=hold, reason=reason)


@click.command(short_help="Accept what someone else changed.")
@click.argument("rollout")
@click.argument("component")
@click.option("--reason", required=True, help="Why, for the history.")
@options.as_json
@options.where
@click.pass_context
def adopt(ctx: click.Context, rollout: str, component: str, reason: str, as_json: bool) -> None:
    """Let what COMPONENT has now count as its old version: it is planned again, or left out if it has the new one."""
    _command(ctx, as_json, verb="adopt", rollout=rollout, component=component, reason=reason)


@click.command(short_help="Try again what failed or is stuck.")
@click.argument("rollout")
@click.option("--as", "new_rollout", default="", help="The name of the new rollout, when this one has ended.")
@click.option("--reason", default="", help="Why, for the history.")
@options.as_json
@options.where
@click.pass_context
def retry(ctx: click.Context, rollout: str, new_rollout: str, reason: str, as_json: bool) -> None:
    """New attempts for what is stuck in ROLLOUT; when it has ended, a new rollout of what it left."""
    _command(ctx, as_json, verb="retry", rollout=rollout, new_rollout=new_rollout, reason=reason)


@click.command(short_help="Take everything back.")
@click.argument("rollout")
@click.option("--as", "new_rollout", default="", help="The name of the new rollout, when this one has ended.")
@click.option("--reason", default="", help="Why, for the history.")
@options.as_json
@options.where
@click.pass_context
def rollback(ctx: click.Context, rollout: str, new_rollout: str, reason: str, as_json: bool) -> None:
    """Take everything in ROLLOUT back to the old version; when it has ended, by a new rollout that is linked to it."""
    _command(ctx, as_json, verb="rollback", rollout=rollout, new_rollout=new_rollout, reason=reason)


def _simple(verb: str, short: str, about: str) -> click.Command:
    @click.command(verb, short_help=short, help=about)
    @click.argument("rollout")
    @click.option("--reason", default="", help="Why, for the history.")
    @options.as_json
    @options.where
    @click.pass_context
    def command(ctx: click.Context, rollout: str, reason: str, as_json: bool) -> None:
        _command(ctx, as_json, verb=verb, rollout=rollout, reason=reason)

    return command


def _command(ctx: click.Context, as_json: bool, **command: Any) -> None:
    with options.rollouts(ctx) as found:
        answer = found.command_rollout({**command, "caller": options.access(ctx).caller(options.target(ctx))})
    if as_json:
        print_json(dict(answer))
    else:
        click.echo(f"{answer['rollout']}: {answer['phase']}; {answer['said']}")


COMMANDS = (
    start,
    approve,
    waive,
    adopt,
    _simple("pause", "Begin nothing new.", "Begin nothing new in ROLLOUT. Watching, alarms and ways back go on."),
    _simple("resume", "End a pause.", "End a pause of ROLLOUT."),
    _simple("abort", "Stop; what is done stays.", "Stop ROLLOUT: what is in flight goes back, what is finished stays."),
    rollback,
    retry,
)
