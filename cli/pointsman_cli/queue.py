"""`pointsman queue`: show, plan, explain, history. Each looks, and changes nothing; the verbs on pins are beside."""

from itertools import islice

import click

from pointsman.errors import UserMistake
from pointsman.queues.explain import in_order
from pointsman.queues.forecast import expected_start
from pointsman.queues.policy import Mode
from pointsman_cli import options, shapes, text
from pointsman_cli.export import export
from pointsman_cli.failures import FOUND
from pointsman_cli.pins import demote, pin, unpin
from pointsman_cli.printing import print_json
from pointsman_cli.screen import screen
from pointsman_cli.standing import Elsewhere, Waiting, find

HEAD = 10  # jobs of the wanted order that are shown


@click.group()
def queue() -> None:
    """See what a queue does, would do, and did, and why; let a job go first, or last."""


@queue.command(short_help="What a queue does now.")
@click.argument("queue")
@options.as_json
@options.where
@click.pass_context
def show(ctx: click.Context, queue: str, as_json: bool) -> None:
    """Depth, use, waits by class, what is next, what alarms do to QUEUE, and when it is looked at again."""
    with options.deployment(ctx) as found:
        look, still = found.inspector().look(queue), found.control.standstill()
    head = list(islice(in_order(look.seen.view, look.policy), HEAD))
    if as_json:
        print_json(shapes.queue_shape(look, still=still, head=head))
    else:
        text.queue(screen(), look, still=still, head=head)


@queue.command(short_help="What the next pass would move, and why.")
@click.argument("queue")
@options.as_json
@options.where
@click.pass_context
def plan(ctx: click.Context, queue: str, as_json: bool) -> None:
    """What the next pass over QUEUE would move, and why; why instances stay idle."""
    with options.deployment(ctx) as found:
        look, still = found.inspector().look(queue), found.control.standstill()
    if as_json:
        print_json(shapes.plan_shape(look, still=still))
    else:
        text.plan(screen(), look, still=still)


@queue.command(short_help="Where a job stands, and what holds it.")
@click.argument("queue")
@click.argument("job")
@options.as_json
@options.where
@click.pass_context
def explain(ctx: click.Context, queue: str, job: str, as_json: bool) -> None:
    """Where JOB (its id, or its exact name) stands in QUEUE, who is ahead of it, and what holds it."""
    with options.deployment(ctx) as found:
        look = found.inspector().look(queue)
        standing = find(look, found.jobs, found.batch, job)
        acts = look.policy.mode is Mode.ACT and not found.control.stopped()
    expected = None
    if isinstance(standing, Waiting):
        expected = expected_start(look.seen.view, look.policy, standing.job_id, acts=acts)
    if as_json:
        print_json(shapes.standing_shape(queue, standing, expected))
    else:
        text.standing(screen(), standing, expected)
    ctx.exit(FOUND if isinstance(standing, Elsewhere) and standing.state == "unknown" else 0)


@queue.command(short_help="The recorded moves, the newest first.")
@click.argument("queue")
@click.option("--since", type=options.DURATION, default="24h", show_default=True, help="How far back.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many moves at most.")
@options.as_json
@options.where
@click.pass_context
def history(ctx: click.Context, queue: str, since: float, limit: int, as_json: bool) -> None:
    """The recorded moves of QUEUE, the newest first."""
    with options.deployment(ctx) as found:
        began = max(0.0, found.clock.now() - since)
        moves = found.control.moves(queue, began, limit)
        if not moves and found.control.policy(queue) is None:
            known = ", ".join(found.control.queues()) or "none"
            raise UserMistake("this queue has no policy", place=queue, remedy=f"queues with one: {known}")
    if as_json:
        print_json(shapes.history_shape(queue, began, moves))
    else:
        text.history(screen(), queue, began, moves, full=len(moves) == limit)
    ctx.exit(0 if moves else FOUND)


for _verb in (export, pin, demote, unpin):
    queue.add_command(_verb)
