"""How it is said that everything is stopped."""

from typing import TYPE_CHECKING

from pointsman.ports import Standstill
from pointsman_cli.printing import moment, when

if TYPE_CHECKING:
    from rich.console import Console


def stop_shape(still: Standstill | None) -> dict[str, object] | None:
    """Who stopped everything, when, and why; null where nobody did."""
    return {"since": moment(still.at), "by": still.by or None, "reason": still.reason or None} if still else None


def stopped(out: "Console", still: Standstill | None) -> None:
    """That everything is stopped, if it is."""
    if still is not None:
        out.print(f"stopped    {standing_still(still)}", style="yellow")


def standing_still(still: Standstill) -> str:
    """Since when everything is stopped, by whom and why, and what ends it."""
    why = f": {still.reason}" if still.reason else ""
    since = f"since {when(still.at)} " if still.at else ""
    return f"everything is stopped {since}by {still.by or 'someone'}{why} (`pointsman start` ends it)"
