"""`pointsman stop` and `pointsman start`: every queue only observes and every rollout is held, and back."""

from collections.abc import Iterable

import click

from pointsman.errors import Gone, PointsmanError
from pointsman.ports import Standstill
from pointsman_cli import options
from pointsman_cli.access import Deployment
from pointsman_cli.due import make_due
from pointsman_cli.printing import print_json, say
from pointsman_cli.rollout_access import RolloutDeployment
from pointsman_cli.standstill import standing_still, stop_shape

REASON = click.option("--reason", default="", help="Why, for the record.")


@click.command(short_help="Let every queue only observe, and hold every rollout.")
@REASON
@options.as_json
@options.deployed
@click.pass_context
def stop(ctx: click.Context, reason: str, as_json: bool) -> None:
    """Let every queue only observe, and hold every rollout, until `pointsman start`.

    A pass that is under way comes to its end. Watching, alarms and ways back of rollouts go on, and what stands in
    Batch stays: jobs run and start as they would without Pointsman. Stopping twice is stopping once.
    """
    by = options.access(ctx).caller(options.target(ctx))
    with options.deployment(ctx) as found:
        now = found.clock.now()
        wanted = Standstill(now, by, reason)
        there = found.control.stand_still(wanted)
        queues = _queues(found, now)
    rollouts, warnings = _rollouts(ctx)
    changed = there == wanted
    if as_json:
        _print(ctx, changed=changed, still=there, queues=queues, rollouts=rollouts, warnings=warnings)
        return
    say(standing_still(there) if changed else f"nothing is changed: {standing_still(there)}")
    say(f"queues that only observe            {_these(queues)}")
    say(f"rollouts that begin nothing new     {_these(rollouts)}")
    _warn(warnings)


@click.command(short_help="End what `stop` began.")
@REASON
@options.as_json
@options.deployed
@click.pass_context
def start(ctx: click.Context, reason: str, as_json: bool) -> None:
    """Let queues act again as their policies say, and rollouts go on.

    What holds a rollout beside `stop`, an operator's own pause for one, goes on holding it. Starting twice is starting
    once.
    """
    by = options.access(ctx).caller(options.target(ctx))
    with options.deployment(ctx) as found:
        now = found.clock.now()
        ended = found.control.go_on(now, by, reason)
        queues = _queues(found, now) if ended else ()
    rollouts, warnings = _rollouts(ctx) if ended else ((), [])
    if as_json:
        _print(ctx, changed=ended is not None, still=ended, queues=queues, rollouts=rollouts, warnings=warnings)
        return
    if ended is None:
        say("nothing is changed: nothing was stopped")
        return
    say(f"ended: {standing_still(ended).removesuffix(' (`pointsman start` ends it)')}")
    say(f"queues that do as their policies say    {_these(queues)}")
    say(f"rollouts that go on                     {_these(rollouts)}")
    _warn(warnings)


def _queues(found: Deployment, now: float) -> tuple[str, ...]:
    """Every queue with a policy, now due for a pass."""
    queues = found.control.queues()
    for queue in queues:
        make_due(found.jobs, queue, now)
    return queues


def _rollouts(ctx: click.Context) -> tuple[tuple[str, ...], list[str]]:
    """The open rollouts, woken, and what went wrong with that: it only makes them later."""
    try:
        with options.rollouts(ctx) as found:
            lines = [line.rollout for line in found.rollout_table.open() if not line.phase.terminal]
            return tuple(lines), [problem for name in lines if (problem := _woken(found, name))]
    except PointsmanError as error:
        return (), [f"the rollouts were not woken, each hears of it in its next pass: {error}"]


def _woken(found: RolloutDeployment, rollout: str) -> str:
    try:
        found.wake_rollout(rollout)
    except Gone:
        return ""
    except PointsmanError as error:
        return f"{rollout} was not woken, it hears of it in its next pass: {error}"
    return ""


def _these(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _print(
    ctx: click.Context,
    *,
    changed: bool,
    still: Standstill | None,
    queues: tuple[str, ...],
    rollouts: tuple[str, ...],
    warnings: list[str],
) -> None:
    now_stopped = ctx.info_name == "stop"
    lists = {"queues": list(queues), "rollouts": list(rollouts), "warnings": warnings}
    print_json({"stopped": now_stopped, "changed": changed, "stop": stop_shape(still), **lists})


def _warn(warnings: list[str]) -> None:
    for warning in warnings:
        say(f"warning: {warning}", err=True)
