"""How values are written: for scripts as one JSON object, times in UTC."""

import json
from datetime import UTC, datetime

import click


def plain(text: str) -> str:
    r"""The text, in which only new lines and tabs are obeyed: what else a terminal would obey is escaped.

    >>> plain("prod\x1b[2J")
    'prod\\x1b[2J'
    """
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


def say(text: str = "", *, err: bool = False) -> None:
    """A line for people; names in it are letters and nothing more."""
    click.echo(plain(text), err=err)


def print_json(value: object) -> None:
    """One JSON object, and nothing else, on standard output; what a terminal would obey is escaped as JSON does."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    click.echo("".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text))


def moment(at: float | None) -> str | None:
    """Epoch seconds as ISO 8601 in UTC; None for a time that is not known, or never comes.

    >>> moment(0.0), moment(1.8e9), moment(float("inf"))
    (None, '2027-01-15T08:00:00Z', None)
    """
    if not at or at == float("inf"):
        return None
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def when(at: float | None) -> str:
    """The same for people."""
    return (moment(at) or "never").replace("T", " ").replace("Z", " UTC")


def counted(count: int, noun: str) -> str:
    """`1 job`, `2 jobs`, `1 class`, `2 classes`."""
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{count} {noun if count == 1 else plural}"
