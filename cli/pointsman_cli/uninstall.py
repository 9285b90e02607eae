"""`pointsman uninstall`: what CloudFormation cannot take away is taken away, and the truth is kept."""

from dataclasses import asdict
from typing import Any

import click

from pointsman.errors import Conflict, Gone, UserMistake
from pointsman.ports import Standstill
from pointsman.rollouts.phase import switch_name
from pointsman.rollouts.record import Switch
from pointsman_cli import options
from pointsman_cli.access import Deployment
from pointsman_cli.failures import FOUND
from pointsman_cli.giving_back import GivenBack, give_back
from pointsman_cli.printing import counted, print_json, say
from pointsman_cli.rollout_access import RolloutDeployment

REASON = "uninstalled"
QUESTION = "Stop everything, delete the kill switches left over, and give {queues} back as found?"


@click.command(short_help="Give back what deleting the stack would leave changed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.as_json
@options.deployed
@click.pass_context
def uninstall(ctx: click.Context, yes: bool, as_json: bool) -> None:
    """Give back what deleting the stack would leave changed, and say how to delete it and how to come back.

    Everything is stopped. Kill switches of rollouts that have ended are deleted; borrow limits, in-share preemption
    and weights are set back to what they were before an alarm or an eviction; jobs that wait have the priority again
    that they were submitted with. The control table is kept: policies, pins and history. It may be repeated.
    """
    if not options.target(ctx).stack:
        remedy = "name its stack by --stack or POINTSMAN_STACK"
        raise UserMistake("no deployment is named", place="--stack", remedy=remedy)
    with options.rollouts(ctx) as fleet, options.deployment(ctx) as found:
        _refuse_open(fleet)
        queues = found.control.queues()
        if not yes:
            if as_json:
                raise UserMistake("nobody can be asked", place="--json", remedy="add --yes")
            click.confirm(QUESTION.format(queues=counted(len(queues), "queue")), abort=True)
        _stop(ctx, found, queues)
        deleted, left = _kill_switches(fleet)
        given = [give_back(found, queue) for queue in queues]
        table = fleet.control_table
    stack = str(options.target(ctx).stack)
    next_ = [f"sam delete --stack-name {stack}"]
    if as_json:
        shape: dict[str, Any] = {"stack": stack, "stopped": True, "queues": [asdict(one) for one in given]}
        switches = {"deleted": list(deleted), "left": list(left)}
        print_json({**shape, "kill_switches": switches, "control_table": table, "next": next_})
    else:
        _say(given, deleted, left)
        say(f"\nThe stack itself is yours to delete:\n  {next_[0]}")
        say(f"It keeps the table {table}. To go on with its policies and its history, deploy again with")
        say(f"ExistingTable={table} among the parameter_overrides, and then\n  pointsman start --stack {stack}")
    ctx.exit(FOUND if any(one.problems for one in given) else 0)


def _refuse_open(fleet: RolloutDeployment) -> None:
    names = [line.rollout for line in fleet.rollout_table.open() if not line.phase.terminal]
    if names:
        raise UserMistake(
            f"{counted(len(names), 'rollout')} not at an end: {', '.join(names)}",
            place="uninstall",
            remedy="wait, or `pointsman rollout abort` each: only they can give back what they hold of their fleet",
        )


def _stop(ctx: click.Context, found: Deployment, queues: tuple[str, ...]) -> None:
    """Let every queue only observe from now on; raises `Conflict` while a pass may still act."""
    by, now = options.access(ctx).caller(options.target(ctx)), found.clock.now()
    found.control.stand_still(Standstill(now, by, REASON))
    acting = [queue for queue in queues if found.jobs.queue(queue).lease_until > now]
    if acting:
        raise Conflict(f"a pass is under way over {', '.join(acting)}; everything is stopped, so that it is the last")


def _kill_switches(fleet: RolloutDeployment) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of our rollouts are deleted; another deployment's are left. Both by name."""
    deleted, left = [], []
    for alarm in fleet.kill_switches.standing():
        if not _ours(fleet, alarm):
            left.append(alarm)
            continue
        fleet.kill_switches.delete(alarm)
        deleted.append(alarm)
    return tuple(deleted), tuple(left)


def _ours(fleet: RolloutDeployment, alarm: str) -> bool:
    """Whether it bears our stack's name, or is one that a rollout of ours made by this name and has not deleted.

    The name that a release before gave it may be that of another stack's rollout.
    """
    if alarm.startswith(switch_name("", fleet.stack)):
        return True
    try:
        record = fleet.rollout_table.load(alarm.removeprefix(switch_name("")).rpartition("/")[2]).record
    except Gone:
        return False
    return record.kill_switch == alarm and record.switch not in {Switch.NONE, Switch.DELETED}


def _say(given: list[GivenBack], deleted: tuple[str, ...], left: tuple[str, ...]) -> None:
    say("everything is stopped")
    say(f"kill switches deleted    {', '.join(deleted) or 'none'}")
    for alarm in left:
        say(f"left alone    {alarm}: not of this deployment, or deleted by it already")
    for one in given:
        say(f"{one.queue}    {counted(one.jobs, 'job')} with their own priority again")
        for sentence in one.shares:
            say(f"{one.queue}    {sentence}")
    for one in given:
        for problem in one.problems:
            say(f"warning: {one.queue}: {problem}", err=True)
