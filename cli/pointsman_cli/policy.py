"""`pointsman policy`: check, schema, apply, show; what looks back at older versions is beside."""

import json
from pathlib import Path
from time import time
from typing import NoReturn

import click

from pointsman.documents import Problem
from pointsman.errors import Gone, Misconfigured, Transient, UserMistake
from pointsman.loops.fit import misfits
from pointsman.policy_documents import policy_schema, stored_document
from pointsman.ports import QueueDescription
from pointsman.queues.kinds import QueueKind
from pointsman.queues.policy import Policy
from pointsman_cli import options
from pointsman_cli.check import Checked, Finding, check, problem_shape
from pointsman_cli.due import make_due
from pointsman_cli.failures import FOUND, Failure
from pointsman_cli.policy_history import applied, as_yaml, diff, rollback, versions
from pointsman_cli.policy_queue import NO_QUEUE, described, live, ruling, version_of, warnings_of
from pointsman_cli.printing import counted, print_json, say, when
from pointsman_cli.standstill import standing_still, stop_shape
from pointsman_cli.windows import lines, shape, windows_of


@click.group()
def policy() -> None:
    """Check, apply, show and take back the policies of queues."""


@policy.command("check", short_help="Say what is wrong with a policy file.")
@click.argument("file", type=click.Path(path_type=Path))
@options.as_json
@options.where
@click.pass_context
def check_(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Say what is wrong with the policy in FILE: all of it but what hangs on a key that is wrong itself.

    Where a deployment is named, its queue is looked at too: whether it can obey the policy.
    """
    checked = check(file)
    findings, warnings = checked.findings, list[str]()
    if checked.stated and options.is_named(ctx):
        findings, warnings = _at_the_queue(ctx, checked, checked.stated)
    windows = windows_of(checked.stated, checked.source.value, time()) if checked.stated else ()
    if as_json:
        shapes = {"problems": [problem_shape(f) for f in findings], "windows": [*map(shape, windows)]}
        print_json({"ok": not findings, **shapes, "warnings": warnings})
    elif checked.stated and not findings:
        ruled = checked.stated
        classes = counted(len(ruled.classes), "class")
        say(f"{file}: a policy of queue {ruled.queue} with {classes}; mode {ruled.mode.value}")
        for line in lines(windows):
            say(line)
    else:
        for finding in findings:
            say(str(finding))
    for warning in warnings:
        if not as_json:
            say(f"warning: {warning}", err=True)
    ctx.exit(FOUND if findings else 0)


def _at_the_queue(
    ctx: click.Context, checked: Checked[Policy], stated: Policy
) -> tuple[tuple[Finding, ...], list[str]]:
    """What the live queue cannot obey, and what to warn of; a queue that cannot be reached is a warning."""
    try:
        with options.deployment(ctx) as found:
            description = live(found, stated.queue)
    except Gone:
        return (checked.finding(Problem(("queue",), f"there is no job queue {stated.queue}", NO_QUEUE)),), []
    except (Transient, Misconfigured, UserMistake) as error:
        return (), [f"the queue was not looked at: {error}"]
    findings = tuple(map(checked.finding, misfits(description, stated)))
    return findings, [] if findings else warnings_of(description, stated)


@policy.command(short_help="Print the JSON Schema of policies.")
@options.debugged
def schema() -> None:
    """Print the JSON Schema of a policy, for editors and other tools."""
    print_json(policy_schema())


@policy.command(short_help="Make a policy file rule its queue.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--measure-only", is_flag=True, help="Also for a queue in which nothing can be moved.")
@options.as_json
@options.where
@click.pass_context
def apply(ctx: click.Context, file: Path, measure_only: bool, as_json: bool) -> None:
    """Check the policy in FILE, and make it the one that rules its queue."""
    checked = check(file)
    if checked.stated is None:
        _not_applied(checked.findings, as_json=as_json)
    place = f"{file}:{checked.source.place(('queue',)).line}"
    with options.deployment(ctx) as found:
        ruled = checked.stated
        description = described(found, ruled.queue, place)
        warnings = warnings_of(description, ruled)
        if not measure_only:
            _refuse(description, checked, warnings, place, as_json=as_json)
        now = found.clock.now()
        document = json.dumps(checked.source.value, ensure_ascii=False)
        stored = found.control.policy(ruled.queue)
        changed = stored is None or stored.document != document
        if stored is None or changed:
            caller = options.access(ctx).caller(options.target(ctx))
            before = stored.number if stored is not None else 0
            stored = found.control.put_policy(ruled.queue, document, now, caller, after=before)
        if found.control.stopped():
            warnings.append("everything is stopped: every queue only observes")
        due, why = make_due(found.jobs, ruled.queue, now)
    if as_json:
        mode = {"mode": ruled.mode.value, "changed": changed, "due": due, "warnings": warnings}
        print_json({"ok": True, **applied(stored), **mode})
        return
    what = f"version {stored.number} {'applied' if changed else 'rules already, nothing is changed'}"
    say(f"{ruled.queue}: {what}; mode {ruled.mode.value}; {why}")
    for warning in warnings:
        say(f"warning: {warning}", err=True)


@policy.command(short_help="Print the policy that rules a queue.")
@click.argument("queue")
@click.option("--version", type=click.IntRange(min=1), help="An older version than the one that rules.")
@options.as_json
@options.where
@click.pass_context
def show(ctx: click.Context, queue: str, version: int | None, as_json: bool) -> None:
    """Print the policy of QUEUE as it was applied, with its version, when, and by whom."""
    with options.deployment(ctx) as found:
        stored = rules = ruling(found, queue)
        if version is not None and version != rules.number:
            stored = version_of(found, queue, version, rules.number)
        still = found.control.standstill()
    document = stored_document(stored.document)
    if as_json:
        state = {"rules": stored == rules, "stop": stop_shape(still)}
        print_json({**applied(stored), **state, "document": document})
        return
    other = "" if stored == rules else f"; version {rules.number} rules"
    say(f"# version {stored.number}, applied {when(stored.applied_at)} by {stored.applied_by or 'unknown'}{other}")
    if still is not None:
        say(f"# {standing_still(still)}: the queue only observes")
    click.echo(as_yaml(document), nl=False)


def _refuse(
    description: QueueDescription, checked: Checked[Policy], warnings: list[str], place: str, *, as_json: bool
) -> None:
    """Raise where nothing in the queue can be moved, or it cannot obey the policy."""
    if description.kind in (QueueKind.FIFO, QueueKind.CONTAINER):
        raise UserMistake(warnings[0], place=place, remedy="--measure-only applies the policy all the same")
    assert checked.stated is not None  # noqa: S101 - a file with findings came to its end before
    findings = tuple(map(checked.finding, misfits(description, checked.stated)))
    if findings:
        _not_applied(findings, as_json=as_json)


def _not_applied(findings: tuple[Finding, ...], *, as_json: bool) -> NoReturn:
    if as_json:
        print_json({"ok": False, "problems": [problem_shape(f) for f in findings]})
    raise Failure("the policy is not applied\n" + "\n".join(map(str, findings)), FOUND)


for _verb in (versions, diff, rollback):
    policy.add_command(_verb)
