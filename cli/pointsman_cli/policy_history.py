"""`pointsman policy versions | diff | rollback`: what ruled before, what is different, and back to it."""

import difflib
import json
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

import click
from ruamel.yaml import YAML

from pointsman.documents import InvalidDocument
from pointsman.errors import Conflict, UserMistake
from pointsman.loops.fit import misfits
from pointsman.policy_documents import stored_document, stored_policy
from pointsman.ports import StoredPolicy
from pointsman.queues.kinds import QueueKind
from pointsman.queues.policy import Policy
from pointsman.queues.policy_changes import changes
from pointsman_cli import options
from pointsman_cli.access import Deployment
from pointsman_cli.check import check
from pointsman_cli.due import make_due
from pointsman_cli.failures import AWS, FOUND, Failure
from pointsman_cli.policy_queue import described, ruling, version_of, warnings_of
from pointsman_cli.printing import moment, plain, print_json, say, when

QUEUE = click.argument("queue")


@click.command(short_help="The versions of a queue's policy.")
@QUEUE
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many at most.")
@options.as_json
@options.where
@click.pass_context
def versions(ctx: click.Context, queue: str, limit: int, as_json: bool) -> None:
    """The last versions of QUEUE's policy, the newest first: when each was applied, by whom, and which rules."""
    with options.deployment(ctx) as found:
        newest = ruling(found, queue)
        numbers = range(newest.number, max(0, newest.number - limit), -1)
        stored = [v for n in numbers if (v := found.control.policy_version(queue, n)) is not None]
    first: dict[str, int] = {}
    for version in reversed(stored):
        first.setdefault(version.document, version.number)
    if as_json:
        lines = [applied(v) | {"rules": v.number == newest.number, "same_as": _same(v, first)} for v in stored]
        print_json({"queue": queue, "versions": lines})
        return
    for version in stored:
        rules = ", rules" if version.number == newest.number else ""
        same = f", the same as {first[version.document]}" if first[version.document] != version.number else ""
        by = version.applied_by or "unknown"
        say(f"version {version.number}, applied {when(version.applied_at)} by {by}{rules}{same}")


@click.command(short_help="What is different between two versions.")
@QUEUE
@click.argument("older", metavar="[N]", type=click.IntRange(min=1), required=False)
@click.argument("newer", metavar="[M]", type=click.IntRange(min=1), required=False)
@click.option("--file", "file", type=click.Path(path_type=Path), help="From the version that rules to this file.")
@options.as_json
@options.where
@click.pass_context
def diff(
    ctx: click.Context, queue: str, older: int | None, newer: int | None, file: Path | None, as_json: bool
) -> None:
    """What is different between version N of QUEUE's policy and version M, and what that changes in effect.

    Without M, from N to the version that rules; without both, from the one before it.
    """
    if file is not None and older is not None:
        raise UserMistake("versions and a file are too much", place="--file", remedy="give N and M, or --file")
    with options.deployment(ctx) as found:
        rules = ruling(found, queue)
        if file is not None:
            before, after = rules, _of_file(file, queue, rules)
        else:
            one = older if older is not None else max(1, rules.number - 1)
            before = version_of(found, queue, one, rules.number)
            after = rules if newer is None else version_of(found, queue, newer, rules.number)
    names = [f"version {before.number}", str(file) if file is not None else f"version {after.number}"]
    lines = list(difflib.unified_diff(_lines(before), _lines(after), names[0], names[1], lineterm=""))
    effect = _in_effect(before, after)
    if as_json:
        sides: dict[str, object] = {"from": before.number, "to": None if file is not None else after.number}
        print_json({"queue": queue, **sides, "same": not lines, "diff": lines, "in_effect": list(effect)})
    elif not lines:
        say(f"{queue}: {names[0]} and {names[1]} are the same")
    else:
        say("\n".join(lines))
        say("\nin effect:")
        say("\n".join(f"  {sentence}" for sentence in effect))


@click.command(short_help="Let an older version rule again.")
@QUEUE
@click.argument("number", metavar="[N]", type=click.IntRange(min=1), required=False)
@options.as_json
@options.where
@click.pass_context
def rollback(ctx: click.Context, queue: str, number: int | None, as_json: bool) -> None:
    """Let what version N of QUEUE's policy said rule again, as a new version; without N, the one before the present.

    It is checked as a file is: what this version of Pointsman does not take, or the queue cannot obey, is not applied.
    """
    with options.deployment(ctx) as found:
        rules = ruling(found, queue)
        wanted = version_of(found, queue, number if number is not None else _before(rules), rules.number)
        policy = _valid(wanted)
        warnings = _obeyed(found, wanted, policy)
        now, stored = found.clock.now(), rules
        if changed := wanted.document != rules.document:
            caller = options.access(ctx).caller(options.target(ctx))
            try:
                stored = found.control.put_policy(queue, wanted.document, now, caller, after=rules.number)
            except Conflict:
                text = f"someone else applied a policy to {queue} at the same moment, so nothing was rolled back"
                raise Failure(f"{text}; `pointsman policy versions {queue}` shows it", AWS) from None
        due, why = make_due(found.jobs, queue, now)
    effect = _in_effect(rules, stored)
    if as_json:
        told = {"of": wanted.number, "changed": changed, "due": due, "warnings": warnings, "in_effect": list(effect)}
        print_json({"ok": True, **applied(stored), "mode": policy.mode.value, **told})
        return
    did = f"version {stored.number} says what version {wanted.number} said" if changed else "nothing is changed"
    say(f"{queue}: {did}; mode {policy.mode.value}; {why}")
    for sentence in effect if changed else ():
        say(f"  {sentence}")
    for warning in warnings:
        say(f"warning: {warning}", err=True)


def applied(stored: StoredPolicy) -> dict[str, object]:
    """A version as JSON, without its document."""
    return {
        "queue": stored.queue,
        "version": stored.number,
        "applied_at": moment(stored.applied_at),
        "applied_by": stored.applied_by,
    }


def as_yaml(document: object) -> str:
    """A document as people write one; where a letter of it does not print, all that are not plain are escaped."""
    written = _dumped(document, escaped=False)
    return written if plain(written) == written else _dumped(document, escaped=True)


def _dumped(document: object, *, escaped: bool) -> str:
    text = StringIO()
    yaml = YAML(pure=True)
    yaml.width = 4096
    yaml.allow_unicode = not escaped
    yaml.dump(document, text)
    return text.getvalue()


def _same(version: StoredPolicy, first: dict[str, int]) -> int | None:
    older = first[version.document]
    return older if older != version.number else None


def _before(rules: StoredPolicy) -> int:
    if rules.number == 1:
        raise UserMistake("there is no version before the first", place=rules.queue)
    return rules.number - 1


def _of_file(file: Path, queue: str, rules: StoredPolicy) -> StoredPolicy:
    checked = check(file)
    if checked.stated is None:
        raise Failure("the file is no policy\n" + "\n".join(map(str, checked.findings)), FOUND)
    if checked.stated.queue != queue:
        text = f"it is a policy of queue {checked.stated.queue}, not of {queue}"
        raise UserMistake(text, place=f"{file}:{checked.source.place(('queue',)).line}")
    return StoredPolicy(queue, rules.number, json.dumps(checked.source.value, ensure_ascii=False), 0.0)


def _lines(stored: StoredPolicy) -> list[str]:
    return as_yaml(stored_document(stored.document)).splitlines()


def _in_effect(before: StoredPolicy, after: StoredPolicy) -> Iterable[str]:
    if before.document == after.document:
        return ()
    policies = []
    for version in (before, after):
        try:
            policies.append(stored_policy(version.document))
        except InvalidDocument as error:
            return (f"Not known: version {version.number} is none that this version of Pointsman takes: {error}.",)
    return changes(*policies) or ("Nothing: it is written otherwise, and says the same.",)


def _valid(wanted: StoredPolicy) -> Policy:
    """Raises `UserMistake` for a document that this version does not take."""
    try:
        return stored_policy(wanted.document)
    except InvalidDocument as error:
        text = f"version {wanted.number} is none that this version of Pointsman takes, so it is not applied: {error}"
        mend = f"`pointsman policy show {wanted.queue} --version {wanted.number}`, mend that, and apply it"
        raise UserMistake(text, place=wanted.queue, remedy=mend) from None


def _obeyed(found: Deployment, wanted: StoredPolicy, policy: Policy) -> list[str]:
    """What to warn of; raises `UserMistake` for what the queue, as it is by now, cannot obey."""
    description = described(found, wanted.queue, wanted.queue)
    unfit = misfits(description, policy)
    if unfit and description.kind not in (QueueKind.FIFO, QueueKind.CONTAINER):
        told = "; ".join(f"{problem.message} ({problem.remedy})" for problem in unfit)
        raise UserMistake(
            f"the queue cannot obey version {wanted.number}, so it is not applied: {told}", place=wanted.queue
        )
    stopped = ["everything is stopped: every queue only observes"] if found.control.stopped() else []
    return [*warnings_of(description, policy), *stopped]
