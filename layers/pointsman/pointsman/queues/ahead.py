"""Who starts before a waiting job, in the order that counts, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from pointsman.queues.cases import Tier
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.ranking import Candidate, Lines, Ranks
from pointsman.queues.reasons import hours
from pointsman.queues.view import QueueView


@dataclass(frozen=True, slots=True)
class Ahead:
    """A job that is ahead of another, and why."""

    job: WaitingJob
    why: str


def wanted_order(view: QueueView, ranks: Ranks) -> list[Candidate]:
    """Every job that the policy may move, in the order in which it wants them to start."""
    lines = Lines(view.lines, ranks, view.history, view.now)
    order: list[Candidate] = []
    for candidate in lines:
        order.append(candidate)
        lines.take()
    return order


def order_of(view: QueueView, ranks: Ranks, job: WaitingJob) -> list[Candidate]:
    """The jobs of this one's share in the order that counts: the wanted one, or Batch's where nothing is moved."""
    if view.movable:
        return [candidate for candidate in wanted_order(view, ranks) if candidate.job.share == job.share]
    ours = (other for other in view.waiting if other.share == job.share)
    by_batch = sorted(ours, key=lambda other: (-other.priority, other.submitted, other.job_id))
    return [ranks.candidate(other, view.history.predict(other.kind), view.now) for other in by_batch]


def ahead_of(view: QueueView, ranks: Ranks, job: WaitingJob, before: Sequence[Candidate]) -> tuple[Ahead, ...]:
    """The same jobs, each with why it is ahead of this one."""
    own = ranks.candidate(job, view.history.predict(job.kind), view.now)
    why = _by_score if view.movable else _by_batch
    return tuple(Ahead(other.job, why(other, own, ranks)) for other in before)


def _by_batch(other: Candidate, own: Candidate, _ranks: Ranks) -> str:
    if other.job.priority > own.job.priority:
        return f"has priority {other.job.priority}, not {own.job.priority}"
    return f"came {hours(own.job.submitted - other.job.submitted)} before"


def _by_score(other: Candidate, own: Candidate, ranks: Ranks) -> str:
    """The tier where the two differ, and else the part of the score that counts most for the one ahead."""
    if own.job.foreign:
        return "is not left to someone else's priority"
    if other.tier is not own.tier:
        if own.tier is Tier.LAST:
            return "does not go last"
        if other.why is not None and other.why.pin is not None:
            return f"was put first by {other.why.pin.by or 'someone'}"
        return "must start to meet its deadline" if other.why is not None else "has waited past its limit"
    starts = ranks.head_starts
    parts = {
        "came {} before": own.job.submitted - other.job.submitted,
        "has {} more head start": starts[other.job.kind.job_class] - starts[own.job.kind.job_class],
        "is put back {} less, as it is expected to take less": _put_back(own, ranks) - _put_back(other, ranks),
    }
    text, most = max(parts.items(), key=lambda part: part[1])
    return text.format(hours(most)) if most > 0 else "came at the same time"


def _put_back(candidate: Candidate, ranks: Ranks) -> float:
    return ranks.spread * log2(1 + candidate.expected * candidate.job.gpus / 3600)
