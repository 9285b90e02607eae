"""`pointsman queue pin | demote | unpin`: what a person says of one job."""

import click

from pointsman.errors import UserMistake
from pointsman.loops.inspect import Look
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.policy import Mode
from pointsman.queues.reasons import hours
from pointsman_cli import options, shapes
from pointsman_cli.access import Deployment
from pointsman_cli.due import make_due
from pointsman_cli.failures import FOUND
from pointsman_cli.printing import print_json, say, when
from pointsman_cli.standing import Elsewhere, find

LONGEST = 30 * 86_400.0  # seconds; a pin that nobody remembers is worse than one that has to be set again
SAID = {PinKind.FIRST: "goes first", PinKind.LAST: "goes behind all others"}
FOR = click.option("--for", "for_", type=options.DURATION, default="2h", show_default=True, help="For how long.")
QUEUE, JOB = click.argument("queue"), click.argument("job")


@click.command(short_help="Let a job go first for a while.")
@QUEUE
@JOB
@FOR
@options.as_json
@options.where
@click.pass_context
def pin(ctx: click.Context, queue: str, job: str, for_: float, as_json: bool) -> None:
    """Let JOB (its id, or its exact name), which waits in QUEUE, go before all others for a while."""
    _put(ctx, queue, job, PinKind.FIRST, for_, as_json=as_json)


@click.command(short_help="Let a job go last for a while.")
@QUEUE
@JOB
@FOR
@options.as_json
@options.where
@click.pass_context
def demote(ctx: click.Context, queue: str, job: str, for_: float, as_json: bool) -> None:
    """Let JOB (its id, or its exact name), which waits in QUEUE, go behind all others for a while."""
    _put(ctx, queue, job, PinKind.LAST, for_, as_json=as_json)


@click.command(short_help="Take a job's pin away.")
@QUEUE
@JOB
@options.as_json
@options.where
@click.pass_context
def unpin(ctx: click.Context, queue: str, job: str, as_json: bool) -> None:
    """Let JOB (its id, or its exact name) of QUEUE have its own place again.

    Exits with 1 when it has no pin.
    """
    with options.deployment(ctx) as found:
        now = found.clock.now()
        pins = {p.job_id: p for p in found.control.pins(queue) if p.active(now)}
        job_id = job if job in pins else _any(found, queue, job)
        pinned = pins.get(job_id)
        due, why = False, ""
        if pinned is not None:
            found.control.remove_pin(queue, job_id)
            due, why = make_due(found.jobs, queue, now)
    if as_json:
        removed = shapes.pin_shape(pinned) if pinned else None
        print_json({"queue": queue, "job_id": job_id, "removed": removed, "due": due})
    elif pinned is None:
        say(f"{queue}: {job} has no pin")
    else:
        say(f"{queue}: the pin of {job} by {pinned.by} is taken away; {why}")
    ctx.exit(0 if pinned is not None else FOUND)


def _any(found: Deployment, queue: str, job: str) -> str:
    """The id of the job of this id or name, wherever it is by now."""
    return find(found.inspector().look(queue), found.jobs, found.batch, job).job_id or job


def _put(ctx: click.Context, queue: str, job: str, kind: PinKind, for_: float, *, as_json: bool) -> None:
    if not 0 < for_ <= LONGEST:
        raise UserMistake(
            "a pin lasts from a second to 30 days", place="--for", remedy="set it again when it has ended"
        )
    with options.deployment(ctx) as found:
        look, stopped = found.inspector().look(queue), found.control.stopped()
        _refuse_unmovable(look)
        job_id, name = _waiting(found, look, job)
        now = found.clock.now()
        made = Pin(job_id, now + for_, kind, options.access(ctx).caller(options.target(ctx)), now)
        found.control.put_pin(queue, made)
        due, why = make_due(found.jobs, queue, now)
    idle = _idle(look, stopped=stopped)
    if as_json:
        pinned = shapes.pin_shape(made)
        print_json({"queue": queue, "name": name, "pin": pinned, "due": due, "warnings": [idle] if idle else []})
        return
    say(f"{queue}: {name} ({job_id}) {SAID[kind]} for {hours(for_)}, until {when(made.until)}; {why}")
    if idle:
        say(f"warning: {idle}", err=True)


def _refuse_unmovable(look: Look) -> None:
    """Raise where a pin could change nothing, whatever the mode."""
    if not look.seen.view.movable:
        why = next(iter(look.seen.problems), "nothing in this queue can be moved")
        raise UserMistake(f"the pin would change nothing: {why}", place=look.policy.queue)


def _waiting(found: Deployment, look: Look, job: str) -> tuple[str, str]:
    """Id and name of a job that waits and may be moved; raises `UserMistake` for any other."""
    standing = find(look, found.jobs, found.batch, job)
    if not isinstance(standing, Elsewhere):
        return standing.standing.job.job_id, standing.standing.job.name
    row = look.seen.records.get(standing.job_id or "")
    if standing.state == "waiting" and row is not None and row.needs_describe and standing.name:
        return row.job_id, standing.name  # the pass that describes it sees the pin
    raise UserMistake(f"only a job that waits here can be pinned. {standing.sentence}", place=job)


def _idle(look: Look, *, stopped: bool) -> str:
    """Why the pin is kept and nothing moves; empty where it does."""
    if stopped:
        return "everything is stopped: the pin is kept, and nothing moves before `pointsman start`"
    if look.policy.mode is Mode.OBSERVE:
        return "the policy's mode is observe: the pin is kept, and nothing moves (mode: act would)"
    return ""
