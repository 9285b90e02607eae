"""Whom Batch is about to start by itself, in the order that it goes by: the first in line, until one does not fit."""

from collections.abc import Iterator
from heapq import merge
from itertools import groupby

from pointsman.queues.jobs import WaitingJob
from pointsman.queues.quota import Rooms, needs_of
from pointsman.queues.waiting import Line, Waiting


def starting(share: str, lines: Waiting, rooms: Rooms) -> list[WaitingJob]:
    """The jobs of a quota share that start as things are; in `rooms` they hold their places from then on.

    Of several that were submitted at one moment Batch may take any: of those that do not all fit none is named, and
    what they may take is taken.
    """
    found: list[WaitingJob] = []
    if not any(rooms.fits(share, needs_of(line.kind)) for line in lines.lines):
        return found
    for _, moment in groupby(merge(*map(_in_order, lines.lines), key=_place), key=_place):
        alike = list(moment)
        fitting = [job for job in alike if _takes(share, job, rooms)]
        if len(fitting) < len(alike):
            return found
        found += fitting
    return found


def _takes(share: str, job: WaitingJob, rooms: Rooms) -> bool:
    needs = needs_of(job.kind)
    fits = rooms.fits(share, needs)
    if fits:
        rooms.take(share, needs)
    return fits


def _in_order(line: Line) -> Iterator[WaitingJob]:
    """The line as Batch goes through it; all but those that were raised are in order as they are."""
    yield from sorted(line.raised.values(), key=_place)
    yield from (job for job in line.jobs if not job.priority)


def _place(job: WaitingJob) -> tuple[int, float]:
    return (-job.priority, job.submitted)
