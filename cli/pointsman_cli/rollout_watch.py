"""`pointsman rollout watch`: a rollout redrawn until its end."""

from collections.abc import Callable
from contextlib import nullcontext
from time import sleep

from rich.live import Live
from rich.text import Text

from pointsman.errors import Transient
from pointsman.rollout_ports import StoredRollout
from pointsman_cli import rollout_text
from pointsman_cli.screen import screen

LEAST = 1.0  # seconds between two looks
TRIES = 6  # looks on end that may fail


def watch(load: Callable[[], StoredRollout], every: float) -> StoredRollout:
    """Draw the rollout anew until it has ended; as it was then. Raises `Transient` when looking fails for too long.

    On a terminal one drawing takes the place of the other; elsewhere one follows the other when something has changed.
    """
    out, drawn, failed = screen(), -1, 0
    with Live(console=out, auto_refresh=False) if out.is_terminal else nullcontext() as live:
        while True:
            try:
                stored = load()
            except Transient:
                failed += 1
                if failed == TRIES:
                    raise
                sleep(max(LEAST, every))
                continue
            failed = 0
            if live is not None:
                live.update(Text.from_ansi(_drawing(stored)), refresh=True)
            elif stored.record.rev != drawn:
                out.print(Text.from_ansi(_drawing(stored)))
                drawn = stored.record.rev
            if stored.record.phase.terminal:
                return stored
            sleep(max(LEAST, every))


def _drawing(stored: StoredRollout) -> str:
    canvas = screen()
    with canvas.capture() as drawn:
        rollout_text.rollout(canvas, stored)
    return drawn.get()
