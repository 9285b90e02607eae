"""When the windows of a policy open and close next, as its clock and UTC show it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from pointsman.queues.policy import Policy
from pointsman.wall_clock import local
from pointsman_cli.printing import moment, when

SHOWN = 3  # times that a window is open, from now on


@dataclass(frozen=True, slots=True)
class Opening:
    """One time that a window is open."""

    since: float
    until: float
    zone: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A window as it was written, whether it is open, and when it is open from now on."""

    written: str
    open: bool
    openings: tuple[Opening, ...]


def windows_of(policy: Policy, document: object, now: float) -> tuple[Shown, ...]:
    """The windows of a policy beside the text of each in its document."""
    written = document.get("windows") if isinstance(document, Mapping) else None
    texts = [str(entry["when"]) for entry in written] if isinstance(written, list) else []
    return tuple(
        Shown(
            text,
            window.when.open(now),
            tuple(Opening(*span, window.when.zone) for span in islice(window.when.following(now), SHOWN)),
        )
        for text, window in zip(texts, policy.windows, strict=True)
    )


def lines(shown: Iterable[Shown]) -> Iterable[str]:
    """What people read."""
    for window in shown:
        yield f"window {window.written}{', open now' if window.open else ''}"
        for each in window.openings:
            there = f"{local(each.since, each.zone)} to {local(each.until, each.zone)}"
            yield f"  {there}  ({when(each.since)} to {when(each.until)})"


def shape(window: Shown) -> dict[str, object]:
    """The same as JSON."""
    return {
        "when": window.written,
        "open": window.open,
        "next": [
            {
                "since": moment(each.since),
                "until": moment(each.until),
                "since_there": local(each.since, each.zone),
                "until_there": local(each.until, each.zone),
            }
            for each in window.openings
        ],
    }
