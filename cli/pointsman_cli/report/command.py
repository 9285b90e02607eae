"""`pointsman report`: what a queue did day by day, beside the weeks before."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from pointsman.errors import UserMistake
from pointsman.policy_documents import stored_policy
from pointsman.queues.days import day_of
from pointsman_cli import options
from pointsman_cli.checkout import SETUP
from pointsman_cli.failures import FOUND
from pointsman_cli.printing import moment, print_json
from pointsman_cli.report import figures
from pointsman_cli.report.figures import Figure
from pointsman_cli.report.weeks import Weeks, ended_since, first_day, shape, weeks_of
from pointsman_cli.screen import screen, table


@click.command(short_help="What a queue did day by day, beside the weeks before.")
@click.argument("queue")
@click.option("--weeks", type=click.IntRange(1, 8), default=2, show_default=True, help="How many, this one among them.")
@click.option("--html", type=options.NewFile(), metavar="FILE", help="Write a page with plots.")
@options.as_json
@options.where
@click.pass_context
def report(ctx: click.Context, queue: str, weeks: int, html: Path | None, as_json: bool) -> None:
    """Waits, use, depth, evictions and what they lost, moves and rollouts of QUEUE by UTC day; weeks side by side."""
    with options.deployment(ctx) as found:
        stored = found.control.policy(queue)
        if stored is None:
            known = ", ".join(found.control.queues()) or "none"
            raise UserMistake("this queue has no policy", place=queue, remedy=f"queues with one: {known}")
        now = found.clock.now()
        first = first_day(now, weeks)
        named = [one.name for one in stored_policy(stored.document).classes]
        days = found.days.days(queue, first, day_of(now))
        told = weeks_of(queue, now, weeks, named, days, ended_since(found.rollouts, first))
    if html is not None:
        _write(html, told)
    if as_json:
        print_json(shape(told, moment(now)))
    else:
        _say(screen(), told, html)
    ctx.exit(0 if told.counted else FOUND)


def _write(file: Path, told: Weeks) -> None:
    try:
        from pointsman_cli.report.weeks_page import weeks_page

        text = weeks_page(told, shlex.join(["pointsman", *sys.argv[1:]]))
    except ModuleNotFoundError as error:
        raise UserMistake(f"{error.name} is missing", place="--html", remedy=SETUP) from error
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        remedy = "name a file that can be written"
        raise UserMistake(f"cannot be written: {error.strerror}", place=str(file), remedy=remedy) from None


def _say(out: Console, told: Weeks, html: Path | None) -> None:
    if not told.counted:
        out.print(f"{told.queue}: no pass has counted anything in these weeks.")
        return
    names = " | ".join(week.name for week in told.weeks)
    out.print(f"{told.queue}, by UTC day: {names}", style="bold")
    out.print(_table(told, figures.WHOLE, rollouts=True))
    out.print()
    out.print("Waits in hours, mean and p90", style="bold")
    out.print(_table(told, [one for name in (*told.classes, None) for one in figures.waits(name)]))
    if html is not None:
        out.print(f"\nThe page is {html}.")


def _table(told: Weeks, chosen: Sequence[Figure], *, rollouts: bool = False) -> Table:
    columns = ["day", *(one.title for one in chosen), *(["Rollouts"] if rollouts else [])]
    return table(columns, _rows(told, chosen, rollouts=rollouts), right=columns[1:])


def _rows(told: Weeks, chosen: Sequence[Figure], *, rollouts: bool) -> Iterator[list[str]]:
    """A row for each day of this week, with the same weekday of those before; the weeks, and how they changed."""
    for beside in zip(*(week.days for week in told.weeks), strict=True):
        ends = [" | ".join(map(figures.outcomes, beside))] if rollouts else []
        yield [_day(beside[0].day), *(" | ".join(one.written(day.sums) for day in beside) for one in chosen), *ends]
    totals = [week.total for week in told.weeks]
    ends = [" | ".join(map(figures.outcomes, told.weeks))] if rollouts else []
    yield ["week", *(" | ".join(one.written(total) for total in totals) for one in chosen), *ends]
    if len(totals) > 1:
        yield ["change", *(one.change(totals[0], totals[1]) for one in chosen), *([""] if rollouts else [])]


def _day(day: str) -> str:
    return f"{date.fromisoformat(day):%a} {day}"
