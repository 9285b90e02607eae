"""The standby list: small jobs that take what is freed between two passes, in the wanted order.

A job on the list has a number of its own, so that Batch starts the list in order. Numbers are given once: a newcomer
gets one between its neighbours, and those who stand already keep theirs unless others outrank them clearly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pointsman.queues.estimates import History
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.ranking import Lines, Ranks

STANDBY_JOBS = 30  # more writes beyond this gained nothing on the public traces
STANDBY_AT_MOST = 60  # with those who joined a full list because they clearly outrank its last
STANDBY_SIZE = 1  # a standby job fits whatever is freed, so it never blocks the queue
HIGHEST, FIRST, LOWEST = 4997, 4800, 4000  # the numbers of the list, and the one that an empty list begins with
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
    for place in sorted(joining, key=lambda p: (p.rank, p.job.submitted, p.job.job_id)):
        at = next((n for n, other in enumerate(kept) if other.rank > place.rank), len(kept))
        kept.insert(at, _Place(place.job, place.rank, None))
    numbers = _spaced([place.number for place in kept])
    return tuple((place.job, number) for place, number in zip(kept, numbers, strict=True))


def _spaced(numbers: Sequence[int | None]) -> list[int]:
    """A number for each None, so that all fall; those given stay, unless there is no room before them.

    The next to come usually stands right behind the last of its class, so room is left there: a newcomer goes close
    behind the one before it, and the first of the list halfway to the top.

    >>> _spaced([None, None]), _spaced([4800, None, 4700]), _spaced([None, 4800]), _spaced([4801, None, 4800, 4792])
    ([4800, 4796], [4800, 4796, 4700], [4899, 4800], [4801, 4800, 4799, 4792])
    """
    given: list[int] = []
    for place, number in enumerate(numbers):
        above = given[-1] if given else HIGHEST + 1
        if number is not None:
            given.append(min(number, above - 1))
            continue
        rest = numbers[place:]
        run = next((n for n, other in enumerate(rest) if other is not None), len(rest))
        below = rest[run] if run < len(rest) else None
        if below is None:
            given.append(above - STEP if given else FIRST)
        elif not given:
            given.append(min(HIGHEST, max(below + 1, (above + below) // 2)))
        else:
            given.append(above - max(1, min(STEP, (above - below) // (run + 1))))
    if given and given[-1] < LOWEST:
        return [FIRST - STEP * n for n in range(len(given))]
    return given
