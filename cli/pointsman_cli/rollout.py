"""`pointsman rollout`: plan rollouts, and look at them, which changes nothing; the verbs that command are beside."""

from pathlib import Path

import click

from pointsman.errors import Gone, Misconfigured, UserMistake
from pointsman.rollout_documents import request_schema
from pointsman.rollout_ports import StoredRollout
from pointsman.rollouts.phase import Phase
from pointsman_cli import options, rollout_shapes, rollout_text
from pointsman_cli.failures import FOUND
from pointsman_cli.printing import print_json, say
from pointsman_cli.rollout_access import RolloutDeployment
from pointsman_cli.rollout_command import COMMANDS
from pointsman_cli.rollout_request import read_request
from pointsman_cli.rollout_watch import watch
from pointsman_cli.screen import screen
from pointsman_cli.standstill import stop_shape, stopped

INTERRUPTED = 130  # as a shell tells that a program was interrupted


@click.group()
def rollout() -> None:
    """Move a fleet of inference components to a new version, watched, and taken back when it misbehaves."""


@rollout.command(short_help="What a rollout would do; changes nothing.")
@click.argument("file", type=click.Path(path_type=Path))
@options.as_json
@options.deployed
@click.pass_context
def plan(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Waves, batch sizes, capacity, duration and checks of the request in FILE; changes nothing.

    Exits with 1 when the rollout would be refused.
    """
    request = read_request(file, as_json=as_json)[0]
    with options.rollouts(ctx) as found:
        made = found.rollout_plan(request)
    if as_json:
        print_json(rollout_shapes.plan_shape(made))
    else:
        rollout_text.plan(screen(), made)
    ctx.exit(FOUND if made.refused else 0)


@rollout.command(short_help="Print the JSON Schema of requests.")
@options.debugged
def schema() -> None:
    """Print the JSON Schema of a rollout request, for editors and other tools."""
    print_json(request_schema())


@rollout.command("list", short_help="The last rollouts.")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="How many at most.")
@options.as_json
@options.deployed
@click.pass_context
def list_(ctx: click.Context, limit: int, as_json: bool) -> None:
    """The rollouts that were asked for last, the newest first."""
    stored: list[StoredRollout] = []
    unread: dict[str, str] = {}
    with options.rollouts(ctx) as found:
        for name in found.rollout_table.rollouts(limit):
            try:
                stored.append(found.rollout_table.load(name))
            except (Gone, Misconfigured) as error:
                unread[name] = str(error)
        still = found.standstill()
    if as_json:
        lines = [rollout_shapes.line_shape(s.record, s.next_wake_at) for s in stored]
        missing = [{"rollout": name, "why": why} for name, why in unread.items()]
        print_json({"rollouts": lines, "unread": missing, "stop": stop_shape(still)})
    else:
        stopped(screen(), still)
        rollout_text.rollouts(screen(), stored, unread)
    ctx.exit(0 if stored or unread else FOUND)


@rollout.command(short_help="Where a rollout is, and why.")
@click.argument("rollout")
@options.as_json
@options.deployed
@click.pass_context
def show(ctx: click.Context, rollout: str, as_json: bool) -> None:
    """Where ROLLOUT is, what holds it, and how far each component is."""
    with options.rollouts(ctx) as found:
        stored, still = _load(found, rollout), found.standstill()
    if as_json:
        shown = rollout_shapes.rollout_shape(stored.record, stored.request, stored.plan, stored.next_wake_at)
        print_json(shown | {"stop": stop_shape(still)})
    else:
        stopped(screen(), still)
        rollout_text.rollout(screen(), stored)


@rollout.command("watch", short_help="Where a rollout is, redrawn until it ends.")
@click.argument("rollout")
@click.option("--every", type=options.DURATION, default="10s", show_default=True, help="How often to look.")
@options.deployed
@click.pass_context
def watch_(ctx: click.Context, rollout: str, every: float) -> None:
    """Draw ROLLOUT anew until it ends. Exits with 1 when it ends otherwise than SUCCEEDED.

    Ctrl-C ends the watching, with 130; the rollout goes on.
    """
    try:
        with options.rollouts(ctx) as found:
            stored = watch(lambda: _load(found, rollout), every)
    except KeyboardInterrupt:
        say(f"{rollout} goes on; `pointsman rollout watch {rollout}` looks again", err=True)
        ctx.exit(INTERRUPTED)
    ctx.exit(0 if stored.record.phase is Phase.SUCCEEDED else FOUND)


@rollout.command(short_help="Every commit of a rollout, with its reasons.")
@click.argument("rollout")
@options.as_json
@options.deployed
@click.pass_context
def history(ctx: click.Context, rollout: str, as_json: bool) -> None:
    """What was done in ROLLOUT, when, by whom, and why, the oldest first."""
    with options.rollouts(ctx) as found:
        _load(found, rollout)
        journal = found.rollout_table.journal(rollout)
    if as_json:
        print_json(rollout_shapes.history_shape(rollout, journal))
    else:
        rollout_text.history(screen(), journal)


for _command in COMMANDS:
    rollout.add_command(_command)


def _load(found: RolloutDeployment, rollout: str) -> StoredRollout:
    try:
        return found.rollout_table.load(rollout)
    except Gone:
        known = ", ".join(found.rollout_table.rollouts(5)) or "none"
        raise UserMistake("there is no such rollout", place=rollout, remedy=f"the last ones: {known}") from None
