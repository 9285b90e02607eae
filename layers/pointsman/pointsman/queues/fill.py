"""Which jobs fit what is free, best first, and why instances stay free after that."""

from collections.abc import Container

from pointsman.queues.jobs import WaitingJob
from pointsman.queues.moves import Hold, Plan
from pointsman.queues.ranking import Candidate, Lines, Ranks
from pointsman.queues.reasons import Idle
from pointsman.queues.turns import Turns, several
from pointsman.queues.view import QueueView
from pointsman.queues.waiting import Waiting

Chosen = tuple[Candidate, Candidate | None]
"""A job that should start, and the first better job that it passes because that one does not fit."""


class _Filling:
    """What is free, and what of it may be used although a place is held."""

    def __init__(self, view: QueueView, ranks: Ranks, hold: Hold | None) -> None:
        self._view, self._ranks, self._hold = view, ranks, hold
        self._held = ranks.candidate(hold.job, view.history.predict(hold.job.kind), view.now) if hold else None
        self.free, self._spare = view.free, hold.spare if hold else 0
        self._rooms = dict(ranks.cases.rooms)

    def lines(self, waiting: Waiting) -> Lines:
        without = (self._hold.job.job_id,) if self._hold else ()
        return Lines(waiting, self._ranks, self._view.history, self._view.now, without)

    def take(self, lines: Lines) -> tuple[Candidate | None, Candidate | None]:
        """The best job of these lines that fits, and the first better one that did not."""
        passed: Candidate | None = None
        for candidate in lines:
            size, name = candidate.job.size, candidate.job.kind.job_class
            if self.free == 0:
                break
            if size > self._rooms.get(name, size):  # its class is at its ceiling: nobody passes it
                lines.close()
                continue
            in_time = self._hold is None or self._view.now + candidate.expected <= self._hold.until
            before = self._held is not None and candidate.claims_before(self._held)
            if size > self.free or not (in_time or before or size <= self._spare):
                passed = passed or candidate
                lines.close()
                continue
            self.free -= size
            self._spare -= 0 if in_time else size
            if name in self._rooms:
                self._rooms[name] -= size
            lines.take()
            return candidate, passed
        return None, passed


def fill(view: QueueView, ranks: Ranks, hold: Hold | None) -> list[Chosen]:
    """The jobs to start now, best first, each with the first better job that it passes because that one does not fit.

    While a place is held, a job that ranks after the held one starts only if it is expected to end in time, or fits
    beside it. Where there are several shares, each job is the best of the share whose turn it is.
    """
    filling = _Filling(view, ranks, hold)
    if several(view):
        return _by_turns(view, filling)
    lines = filling.lines(view.lines)
    chosen: list[Chosen] = []
    passed: Candidate | None = None
    while True:
        candidate, better = filling.take(lines)
        passed = passed or better
        if candidate is None:
            return chosen
        chosen.append((candidate, passed))


def _by_turns(view: QueueView, filling: _Filling) -> list[Chosen]:
    """The same over shares that take turns: where none of the next share's jobs fits, Batch stops for all of them."""
    lines = {share: lines for share, part in view.lines.by_share().items() if (lines := filling.lines(part))}
    heads: dict[str, list[WaitingJob]] = {}
    for job in sorted(view.strangers, key=lambda job: (job.priority, -job.submitted)):
        heads.setdefault(job.share, []).append(job)
    passed: dict[str, Candidate | None] = {}
    chosen: list[Chosen] = []
    turns = Turns(view.shares, lines.keys() | heads.keys())
    while filling.free and (share := turns.next()) is not None:
        if share in heads:
            if not heads[share]:
                turns.leave_out(share)
                continue
            if heads[share][-1].size > filling.free:
                break
            filling.free -= heads[share][-1].size
            turns.took(share, heads[share].pop().size)
            continue
        candidate, better = filling.take(lines[share])
        passed[share] = passed.get(share) or better
        if candidate is None:
            if passed[share] is not None:
                break
            turns.leave_out(share)
            continue
        chosen.append((candidate, passed[share]))
        turns.took(share, candidate.job.size)
    return chosen


def heads(view: QueueView, ranks: Ranks, without: Container[str]) -> list[Chosen]:
    """The best job of each other share that fits all that is free: whose turn it is can only be guessed.

    A share whose turn comes sooner than believed then has a head that starts, and does not stop the whole queue.
    """
    chosen: list[Chosen] = []
    for share, part in view.lines.by_share().items():
        if share in without:
            continue
        filling = _Filling(view, ranks, None)
        candidate, passed = filling.take(filling.lines(part))
        if candidate is not None:
            chosen.append((candidate, passed))
    return chosen


def idle(view: QueueView, plan: Plan, stop: WaitingJob | None, ranks: Ranks) -> tuple[tuple[Idle, int], ...]:
    """Why instances stay free once the plan is carried out, and how many; at `stop` Batch stops in another share."""
    left = view.free - sum(candidate.job.size for candidate, _ in plan.front)
    if left <= 0:
        return ()
    if not (view.waiting or view.strangers):
        return ((Idle.NO_WORK, left),)
    if not (view.movable and view.waiting):
        return ((Idle.NOT_RULED, left),)
    if stop is not None:
        return ((Idle.OTHER_SHARE, left),)
    starting = {candidate.job.job_id for candidate, _ in plan.front}
    rooms = ranks.after(candidate.job for candidate, _ in plan.front).cases.rooms
    if plan.hold is None and not rooms:
        return ((Idle.NOTHING_FITS, left),)
    held = (plan.hold.job.job_id,) if plan.hold else ()
    fitting = [line.kind for line in view.lines.lines if line.kind.size <= left and line.first(starting, held)]
    if plan.hold and any(kind.size <= rooms.get(kind.job_class, left) for kind in fitting):
        return ((Idle.RESERVATION, left),)
    return ((Idle.CEILING if fitting else Idle.NOTHING_FITS, left),)
