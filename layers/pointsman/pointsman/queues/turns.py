"""From which share of a fair-share queue Batch takes the next job, as far as can be known.

The next job comes from the share with the lowest use times weight, and the head of that share is the head of the whole
queue: when it does not fit, nothing of another share starts either. What use Batch remembers is not to be read; the
order of the shares in a snapshot shows whose turn it is, and from there on the instances in use stand for it.
"""

from collections.abc import Iterable

from pointsman.queues.jobs import WaitingJob
from pointsman.queues.moves import RESERVED, Plan
from pointsman.queues.view import QueueView, Share


class Turns:
    """The shares that still have jobs to start, and whose turn it is."""

    def __init__(self, shares: Iterable[Share], waiting: Iterable[str]) -> None:
        """Begin with the shares in the order in which a snapshot has them; only those in `waiting` get turns."""
        names = set(waiting)
        self._shares = {share.name: share for share in shares if share.name in names}
        self._places = {name: place for place, name in enumerate(self._shares)}
        self._used = {name: share.used for name, share in self._shares.items()}
        self._begun = False

    def next(self) -> str | None:
        """The share whose turn it is; None when no share has a job left."""
        if not self._shares:
            return None
        if not self._begun:
            return next(iter(self._shares))
        return min(self._shares, key=lambda name: (self._used[name] * self._shares[name].weight, self._places[name]))

    def took(self, name: str, instances: int) -> None:
        """A job of this share started."""
        self._used[name] += instances
        self._begun = True

    def leave_out(self, name: str) -> None:
        """No job of this share can start any more."""
        self._shares.pop(name)


def several(view: QueueView) -> bool:
    """Whether jobs of more than one share wait or run in the queue."""
    return len(view.shares) > 1


def whose_turn(view: QueueView) -> str | None:
    """The share from which Batch takes the next job; None when no job waits, or only one share has any.

    Of shares with the same use it is the one in which a place is held already: which of them a snapshot shows first may
    depend on that very job, and the place would go to and fro.
    """
    names = {*view.lines.shares, *(job.share for job in view.strangers)}
    first = Turns(view.shares, names).next() if len(names) > 1 else None
    uses = {share.name: share.used * share.weight for share in view.shares}
    held = [job.share for job in view.lines.moved if job.priority == RESERVED]
    return next((name for name in held if first is not None and uses.get(name) == uses[first]), first)


def blocker(view: QueueView, plan: Plan) -> WaitingJob | None:
    """The job of another share at which Batch stops once the plan's front has started, if its size makes it stop.

    Its share is next, none of its jobs that fit was found, and no priority of ours reaches across shares.
    """
    turn = whose_turn(view)
    if turn is None or any(candidate.job.share == turn for candidate, _ in plan.front):
        return None
    if any(job.share == turn for job, _ in plan.standby):
        return None
    heads = [job for job in view.strangers if job.share == turn]
    for line in view.lines.lines:
        if line.share == turn:
            heads += line.heads
    head = min(heads, key=lambda job: (-job.priority, job.submitted, job.job_id))
    left = view.free - sum(candidate.job.size for candidate, _ in plan.front)
    return head if head.size > left else None
