"""Where text for people goes: plain columns, and colour on a terminal only."""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pointsman_cli.printing import plain

PIPE_WIDTH = 160  # columns where no terminal says how many there are


class Screen(Console):
    """A console on which names are letters and nothing more: what a terminal would obey is escaped."""

    def render_str(self, text: str, **more: Any) -> Text:
        """The text, in which only new lines and tabs are obeyed."""
        return super().render_str(plain(text), **more)


def screen() -> Console:
    """Standard output for text: colour and the width of the window on a terminal only, and nothing read as markup."""
    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Screen(markup=False, highlight=False, emoji=False, width=wide)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()) -> Table:
    """Plain columns; those named in `right` hold numbers."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*("" if cell is None else str(cell) for cell in row))
    return made
