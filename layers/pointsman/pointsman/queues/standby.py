"""The standby list: small jobs that take what is freed between two passes, in the wanted order.

A job on the list has a number of its own, so that Batch starts the list in order. Numbers are given once: a newcomer
gets one between its neighbours, and those who stand already keep theirs unless others outrank them clearly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pointsman.queues.estimates import History
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.ranking import Lines, Ranks

STANDBY_JOBS = 30  # more writes beyond this gained nothing on the public traces
STANDBY_AT_MOST = 60  # with those who joined a full list because they clearly outrank its last
STANDBY_SIZE = 1  # a standby job fits whatever is freed, so it never blocks the queue
HIGHEST, LOWEST = 4997, 4000  # the numbers of the list
STEP = 4  # between a job and the one that joins behind it
LEAST_GAIN = 3600.0  # seconds of score by which a job must outrank one on the list to change what is written


@dataclass(frozen=True, slots=True)
class _Place:
    job: WaitingJob
    rank: float
    number: int | None  # None: to be given


def stands_by(job: WaitingJob) -> bool:
    """Whether we put the job on the list in an earlier pass."""
    return LOWEST <= job.priority <= HIGHEST and job.priority != job.submitted_priority


def stand_by(
    jobs: Sequence[WaitingJob], ranks: Ranks, history: History, now: float
) -> tuple[tuple[WaitingJob, int], ...]:
    """The list that should stand, the best first, with the number of each; `jobs` are those small enough for it."""
    places = [_place(job, ranks, history, now) for job in jobs if stands_by(job)]
    worst = max((place.rank for place in places), default=float("-inf"))
    lines = Lines((job for job in jobs if not stands_by(job)), ranks, history, now)
    for candidate in lines:
        rank = ranks.effective(candidate)
        if len(places) >= (STANDBY_AT_MOST if rank + LEAST_GAIN < worst else STANDBY_JOBS):
            break
        places.append(_Place(candidate.job, rank, None))
        lines.take()
    return _numbered(places)


def _place(job: WaitingJob, ranks: Ranks, history: History, now: float) -> _Place:
    return _Place(job, ranks.effective(ranks.candidate(job, history.predict(job.kind), now)), job.priority)


def _numbered(places: Sequence[_Place]) -> tuple[tuple[WaitingJob, int], ...]:
    standing = sorted(
        (p for p in places if p.number is not None), key=lambda p: (-(p.number or 0), p.job.submitted, p.job.job_id)
    )
    kept: list[_Place] = []
    joining = [p for p in places if p.number is None]
    worst = float("-inf")
    for place in standing:
        if place.rank + LEAST_GAIN < worst:
            joining.append(place)
        else:
            kept.append(place)
            worst = max(worst, place.rank)
    numbers = [p.number or 0 for p in kept]
    for place in sorted(joining, key=lambda p: (p.rank, p.job.submitted, p.job.job_id)):
        at = next((n for n, other in enumerate(kept) if other.rank > place.rank), len(kept))
        number = _between(numbers[at - 1] if at else None, numbers[at] if at < len(kept) else None)
        kept.insert(at, place)
        numbers.insert(at, number or 0)
    if 0 in numbers or any(low >= high for high, low in pairwise(numbers)):
        numbers = [HIGHEST - STEP * n for n in range(len(kept))]
    return tuple((place.job, number) for place, number in zip(kept, numbers, strict=True))


def _between(above: int | None, below: int | None) -> int | None:
    """A number after `above` and before `below`; None when there is no room, and all must be numbered anew."""
    if below is None:
        number = HIGHEST if above is None else above - STEP
        return number if number >= LOWEST else None
    if above is None:
        number = min(below + STEP, HIGHEST)
        return number if number > below else None
    middle = (above + below) // 2
    return middle if above > middle > below else None
