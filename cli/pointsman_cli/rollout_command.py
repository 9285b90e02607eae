"""The verbs of `pointsman rollout` that command: the function `command_rollout` obeys, in the caller's name."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from pointsman.rollouts.record import HoldKind
from pointsman_cli import options
from pointsman_cli.printing import print_json, say
from pointsman_cli.rollout_request import read_request
from pointsman_cli.standstill import standing_still

ROLLOUT = click.argument("rollout")
REASON = click.option("--reason", default="", help="Why, for the history.")
REASON_NEEDED = click.option("--reason", required=True, help="Why, for the history.")
NEW_NAME = click.option("--as", "new_rollout", metavar="NAME", default="", help="Of the new one, if this has ended.")
WAVE = click.argument("wave", type=click.IntRange(min=1))
HOLD = click.argument("hold", type=click.Choice([HoldKind.NO_TRAFFIC.value, HoldKind.INCONCLUSIVE.value]))
COMPONENT = click.argument("component")


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb on a rollout: what the help says of it, and what it takes beside the rollout."""

    name: str
    short: str
    about: str
    takes: tuple[Any, ...] = (REASON,)


VERBS = (
    Verb("pause", "Begin nothing new.", "Begin nothing new in ROLLOUT. Watching, alarms and ways back go on."),
    Verb("resume", "End a pause.", "End a pause of ROLLOUT."),
    Verb(
        "abort",
        "Stop it: what is in flight goes back.",
        "Stop ROLLOUT: what is in flight goes back, what is finished stays.",
    ),
    Verb(
        "rollback",
        "Take everything back.",
        "Take everything in ROLLOUT back to the old version; when it has ended, by a new rollout that is linked to it.",
        (NEW_NAME, REASON),
    ),
    Verb(
        "retry",
        "Try again what failed or is stuck.",
        "New attempts for what is stuck in ROLLOUT; when it has ended, a new rollout of what it left. After a way back "
        "that is incomplete it is refused: rollback goes on with that.",
        (NEW_NAME, REASON),
    ),
    Verb(
        "approve",
        "Let a wave begin.",
        "Let WAVE (from 1) of ROLLOUT begin, which the request wants approved.",
        (WAVE, REASON),
    ),
    Verb(
        "waive",
        "Let a gate pass without the evidence that it lacks.",
        "Let the present gate of ROLLOUT pass though it is held for no_traffic or as inconclusive. It counts for this "
        "gate only.",
        (HOLD, REASON_NEEDED),
    ),
    Verb(
        "adopt",
        "Accept what someone else changed.",
        "Let what COMPONENT has now count as its old version: it is planned again, or left out if it has the new one.",
        (COMPONENT, REASON_NEEDED),
    ),
)


@click.command(short_help="Ask for a rollout.")
@click.argument("file", type=click.Path(path_type=Path))
@REASON
@options.as_json
@options.deployed
@click.pass_context
def start(ctx: click.Context, file: Path, reason: str, as_json: bool) -> None:
    """Check the request in FILE, and ask for the rollout. Its first pass plans it, and refuses what `plan` refuses."""
    _, document = read_request(file, as_json=as_json)
    _send(ctx, as_json, verb="request", request=document, reason=reason)


def _command(verb: Verb) -> click.Command:
    @options.as_json
    @options.deployed
    @click.pass_context
    def obey(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
        _send(ctx, as_json, verb=verb.name, **given)

    for parameter in reversed((ROLLOUT, *verb.takes)):
        obey = parameter(obey)
    return click.command(verb.name, short_help=verb.short, help=verb.about)(obey)


def _send(ctx: click.Context, as_json: bool, **command: Any) -> None:
    with options.rollouts(ctx) as found:
        answer = found.command_rollout({**command, "caller": options.access(ctx).caller(options.target(ctx))})
        still = found.standstill()
    if still is not None:
        say(f"warning: {standing_still(still)}: nothing new is begun, ways back go on", err=True)
    if as_json:
        print_json(dict(answer))
        return
    say(f"{answer['rollout']}: {answer['phase']}; {answer['said']}")
    say(f"next: pointsman rollout watch {answer['rollout']}", err=True)


COMMANDS = (start, *map(_command, VERBS))
