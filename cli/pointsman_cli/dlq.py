"""`pointsman dlq`: what failed for good, and sending it back to where it came from."""

from collections.abc import Sequence

import click

from pointsman.errors import PointsmanError, UserMistake
from pointsman_cli import options
from pointsman_cli.failures import AWS, FOUND
from pointsman_cli.letters import Letter, shown
from pointsman_cli.printing import counted, moment, print_json, say, when
from pointsman_cli.screen import screen, table

COLUMNS = ("id", "since", "from", "concerns", "why")


@click.group()
def dlq() -> None:
    """See what could not be handled, and send it back once the cause is mended."""


@dlq.command(short_help="What lies in the dead-letter queues, and why.")
@options.as_json
@options.deployed
@click.pass_context
def show(ctx: click.Context, as_json: bool) -> None:
    """Every dead letter: since when, from where, whom it concerns, and why. Nothing is taken away.

    Exits with 1 when there are any.
    """
    with options.letters(ctx) as box:
        letters = box.read()
        box.give_back(letters)
        total = max(box.waiting(), len(letters))
    if as_json:
        print_json({"letters": [shape(letter) for letter in letters], "total": total})
    else:
        _print(letters, total)
    ctx.exit(FOUND if total else 0)


@dlq.command(short_help="Send dead letters back to where they came from.")
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option("--all", "everything", is_flag=True, help="All that can be handled again.")
@click.option("--force", is_flag=True, help="Poison too: for a release that can read what an earlier one could not.")
@options.as_json
@options.deployed
@click.pass_context
def redrive(ctx: click.Context, ids: tuple[str, ...], everything: bool, force: bool, as_json: bool) -> None:
    """Send the letters with these IDs (their beginnings will do) back to where they came from, or --all of them.

    Each is sent first and deleted then, so that none is lost; one that is handled twice changes nothing. Poison, whose
    reason is that it can never be read, would only come back: it is kept, unless --force is given. Exits with 1 when
    any of them was kept.
    """
    if bool(ids) == everything:
        raise UserMistake("name letters by their ids, or give --all", place="redrive", remedy="`pointsman dlq show`")
    sent: list[Letter] = []
    kept: list[tuple[Letter, str]] = []
    failed = ""
    with options.letters(ctx) as box:
        letters = box.read()
        try:
            for letter in _chosen(letters, ids):
                why = _held(letter, force=force)
                if why or failed:
                    kept.append((letter, why or "not tried"))
                    continue
                try:
                    box.send_back(letter)
                except PointsmanError as error:
                    failed = str(error)
                    kept.append((letter, failed))
                else:
                    sent.append(letter)
        finally:
            done = {letter.message.message_id for letter in sent}
            box.give_back(letter for letter in letters if letter.message.message_id not in done)
    if as_json:
        print_json(
            {
                "sent": [shape(letter) for letter in sent],
                "kept": [{**shape(each), "because": why} for each, why in kept],
            }
        )
    else:
        for letter in sent:
            say(f"{letter.message.message_id} sent back to {letter.edge}: {shown(letter.concerns) or 'unknown'}")
        for letter, why in kept:
            say(f"{letter.message.message_id} kept: {shown(why)}", err=True)
        say(f"{counted(len(sent), 'letter')} sent back, {len(kept)} kept")
    ctx.exit(AWS if failed else FOUND if kept else 0)


def _chosen(letters: Sequence[Letter], ids: Sequence[str]) -> list[Letter]:
    """The letters that are meant; raises `UserMistake` before anything is sent when one is not there, or is not one."""
    if not ids:
        return list(letters)
    chosen: dict[str, Letter] = {}
    for wanted in ids:
        found = [letter for letter in letters if letter.message.message_id.startswith(wanted)]
        if len(found) != 1:
            what = "there is no such dead letter" if not found else f"{len(found)} letters begin like this"
            remedy = "`pointsman dlq show` lists them; one that someone else looks at is hidden for two minutes"
            raise UserMistake(what, place=wanted, remedy=remedy)
        chosen[found[0].message.message_id] = found[0]
    return list(chosen.values())


def _held(letter: Letter, *, force: bool) -> str:
    """Why the letter is not sent back; empty when it is."""
    if not letter.edge:
        return "it does not say where it came from: send what is in it by hand, or delete it"
    if letter.poison and not force:
        return f"it can never be read ({letter.reason}, at {letter.place}): --force for a release that can"
    return ""


def shape(letter: Letter) -> dict[str, object]:
    """A letter for scripts."""
    return {
        "id": letter.message.message_id,
        "since": moment(letter.message.sent),
        "from": letter.edge or None,
        "poison": letter.poison,
        "reason": letter.reason,
        "place": letter.place or None,
        "concerns": letter.concerns or None,
        "body": letter.message.body,
    }


def _print(letters: Sequence[Letter], total: int) -> None:
    if not total:
        say("there are no dead letters")
        return
    rows = []
    for letter in letters:
        why = f"{letter.reason}{f' (at {letter.place})' if letter.place else ''}"
        told = f"{'poison: ' if letter.poison else ''}{why}"
        since = when(letter.message.sent)
        rows.append((letter.message.message_id, since, letter.edge or "unknown", shown(letter.concerns), shown(told)))
    screen().print(table(COLUMNS, rows))
    for letter in letters:
        screen().print(f"{letter.message.message_id}  {shown(letter.again)}", style="dim")
    hidden = total - len(letters)
    if hidden > 0:
        say(f"{counted(hidden, 'letter')} more: hidden for now, or behind others of their group")
    say("`pointsman dlq redrive ID` or `--all` sends them back, once what is wrong is mended")
