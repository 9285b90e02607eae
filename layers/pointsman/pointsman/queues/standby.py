"""The standby list: small jobs that take what is freed between two passes, in the wanted order.

A job on the list has a number of its own, so that Batch starts the list in order. Numbers are given once: a newcomer
gets one between its neighbours, and those who stand already keep theirs unless others outrank them clearly.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pointsman.queues.cases import Tier
from pointsman.queues.estimates import History
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.ranking import Lines, Ranks
from pointsman.queues.waiting import Waiting

STANDBY_JOBS = 30  # more writes beyond this gained nothing on the public traces
STANDBY_SIZE = 1  # a standby job fits whatever is freed, so it never blocks the queue
HIGHEST, FIRST, LOWEST = 4997, 4800, 4000  # the numbers of the list, and the one that an empty list begins with
STEP, CLASS_STEP = 2, 64  # between a job and the next of its class; of another, for those who will come between
GIVE_WAY = 4  # jobs on the list that may get another number because of newcomers, before all do
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
    waiting: Iterable[WaitingJob],
    ranks: Ranks,
    history: History,
    now: float,
    most: int = STANDBY_JOBS,
    without: Collection[str] = (),
    *,
    held: bool = False,
) -> tuple[tuple[WaitingJob, int], ...]:
    """The list that should stand, the best first, with the number of each; only small jobs are on it.

    It has `most` jobs, and up to twice as many with those who joined a full list because they outrank its last. What
    goes last is not on it, nor more of a class than its ceiling leaves room for. While a place is `held` Batch reaches
    nobody on it, and only those join who go before the usual order.
    """
    rooms = dict(ranks.cases.rooms)
    lined = Waiting.of(waiting)
    small = lined.part(line for line in lined.lines if line.kind.size <= STANDBY_SIZE)
    listed = [job for job in small.moved if stands_by(job) and not job.foreign and job.job_id not in without]
    standing = sorted((_place(job, ranks, history, now) for job in listed), key=_by_number)
    places = [p for p in standing if ranks.cases.tiers.get(p.job.job_id) is not Tier.LAST and _has_room(rooms, p.job)]
    worst = max((place.rank for place in places), default=float("-inf"))
    lines = Lines(small, ranks, history, now, without, {job.job_id for job in listed})
    for candidate in lines:
        rank = ranks.effective(candidate)
        last = Tier.DUE if held else Tier.USUAL
        if candidate.tier > last or len(places) >= (2 * most if rank + LEAST_GAIN < worst else most):
            break
        if not _has_room(rooms, candidate.job):
            lines.close()
            continue
        places.append(_Place(candidate.job, rank, None))
        lines.take()
    return _numbered(places)


def _has_room(rooms: dict[str, int], job: WaitingJob) -> bool:
    """Whether the job's class may be given this much more; if so, it is given."""
    left = rooms.get(job.kind.job_class)
    if left is None:
        return True
    if left >= job.size:
        rooms[job.kind.job_class] = left - job.size
    return left >= job.size


def _place(job: WaitingJob, ranks: Ranks, history: History, now: float) -> _Place:
    return _Place(job, ranks.effective(ranks.candidate(job, history.predict(job.kind), now)), job.priority)


def _by_number(place: _Place) -> tuple[int, float, str]:
    return (-(place.number or 0), place.job.submitted, place.job.job_id)


def _numbered(places: Sequence[_Place]) -> tuple[tuple[WaitingJob, int], ...]:
    standing = sorted((p for p in places if p.number is not None), key=_by_number)
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
        at = next((n for n, other in enumerate(kept) if other.rank > place.rank + LEAST_GAIN), len(kept))
        kept.insert(at, _Place(place.job, place.rank, None))
    numbers = _spaced([(place.job.kind.job_class, place.number) for place in kept])
    return tuple((place.job, number) for place, number in zip(kept, numbers, strict=True))


def _spaced(row: Sequence[tuple[str, int | None]]) -> list[int]:
    """A number for each None in a row of (class, number), so that all fall; those given stay where there is room.

    The next to come usually stands right behind the last of its class: room is left there, and a newcomer goes close
    behind the one before it, the first of the list halfway to the top. Where too many would have to give way, or the
    numbers run out, all are numbered anew.

    >>> _spaced([("a", None), ("a", None), ("b", None)]), _spaced([("a", None), ("b", 4800)])
    ([4800, 4798, 4734], [4899, 4800])
    >>> _spaced([("a", 4800), ("a", None), ("b", 4700)]), _spaced([("a", 4801), ("a", None), ("b", 4800)])
    ([4800, 4798, 4700], [4801, 4800, 4799])
    """
    given: list[int] = []
    gave_way = 0
    for place, (_, number) in enumerate(row):
        above = given[-1] if given else HIGHEST + 1
        if number is not None:
            gave_way += number > above - 1
            given.append(min(number, above - 1))
            continue
        run = next((n for n, (_, other) in enumerate(row[place:]) if other is not None), 0)
        below = row[place + run][1]
        if below is None:
            given.append(above - _room(row, place) if given else FIRST)
        elif not given:
            given.append(min(HIGHEST, max(below + 1, (above + below) // 2)))
        else:
            given.append(above - max(1, min(_room(row, place), (above - below) // (run + 1))))
    return given if not given or (given[-1] >= LOWEST and gave_way <= GIVE_WAY) else _anew(row)


def _anew(row: Sequence[tuple[str, int | None]]) -> list[int]:
    """Numbers for all, from `FIRST` down; between classes as much room as there is."""
    changes = sum(one[0] != next_[0] for one, next_ in pairwise(row))
    between = min(CLASS_STEP, (FIRST - LOWEST - STEP * len(row)) // max(1, changes))
    numbers = [FIRST]
    for one, next_ in pairwise(row):
        numbers.append(numbers[-1] - (STEP if one[0] == next_[0] else between))
    return numbers


def _room(row: Sequence[tuple[str, int | None]], place: int) -> int:
    """How far a job stands behind the one before it."""
    return STEP if row[place][0] == row[place - 1][0] else CLASS_STEP
