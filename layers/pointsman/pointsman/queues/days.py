"""A queue's day as it is counted: everything is added once, however often a pass is doubled, killed, or sees it again.

Beside the sums of the day that is not over stands a ledger: up to when it is counted, what was in use then, and which
starts and evictions of the jobs that are still known are counted. Both are stored together, on condition that nobody
else did meanwhile.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pointsman.queues.day_sums import ClassSums, DaySums, Use

DAY = 86400.0
UNSEEN = 1800.0  # seconds between two looks from which on nobody knows what was in between: it is not counted
LATE = 7200.0  # seconds; a job that started longer before the last look was counted, or ran before there were days


def day_of(moment: float) -> str:
    """The UTC day of a moment.

    >>> day_of(86_399.0), day_of(86_400.0)
    ('1970-01-01', '1970-01-02')
    """
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")


@dataclass(frozen=True, slots=True)
class Counted:
    """What is counted of a job: that it started, and so many evictions.

    When it was last seen to run it had `gpus`, and would have lost its work since `unsaved` (None: it did not run). It
    was `seen` then; one that has ended need not be known any more once it is not seen (0).
    """

    preemptions: int = 0
    gpus: int = 0
    unsaved: float | None = None
    seen: float = 0.0


@dataclass(frozen=True, slots=True)
class Ledger:
    """Up to `at` everything is counted; `use` is what it was then."""

    at: float
    use: Use = field(default_factory=Use)
    jobs: Mapping[str, Counted] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Day:
    """One day of one queue. The newest has the ledger; `version` counts its writes (0: never stored)."""

    queue: str
    day: str
    sums: DaySums = field(default_factory=DaySums)
    ledger: Ledger | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class SeenJob:
    """A job that has started or was evicted, or that may have been before: what is known of it now.

    `moment` is when its state was true; `saved` up to when its work would outlive an eviction (None: not at all).
    Of one that is not `sure` nothing is counted yet.
    """

    job_id: str
    job_class: str
    created: float
    moment: float
    started: float | None = None
    running: bool = False
    preemptions: int = 0
    gpus: int = 0
    saved: float | None = None
    ended: bool = False
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Look:
    """What one pass adds: the queue `now`, its jobs, why jobs went (by id), and the classes of the moves made since."""

    now: float
    use: Use
    jobs: Sequence[SeenJob] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    moves: Iterable[str] = ()


@dataclass(slots=True)
class _Pages:
    """The sums of the day that the ledger stands in, and of the next, which a pass may be the first of."""

    midnight: float | None
    before: DaySums
    after: DaySums = field(default_factory=DaySums)

    def add(self, job_class: str, added: ClassSums, reasons: Mapping[str, int], at: float) -> None:
        if added == ClassSums():
            return
        early = self.midnight is None or at < self.midnight
        page = self.before if early else self.after
        page = replace(page, evictions=_both(page.evictions, reasons)).of_class(job_class, added)
        if early:
            self.before = page
        else:
            self.after = page


def count(queue: str, newest: Day | None, look: Look) -> tuple[Day, ...]:
    """The days to store, the newest last: one, or on the first look of a day also the one that is over.

    Nothing when all of it is counted already. What happened before midnight and is seen by the first look after it
    counts where it happened; what is seen later still, where it is seen.
    """
    if newest is None or newest.ledger is None:
        jobs = {job.job_id: _counted(job, look.now) for job in look.jobs if job.sure}
        return (_opened(queue, day_of(look.now), Ledger(look.now, look.use, jobs), DaySums()),)
    ledger = newest.ledger
    if ledger.at > look.now + UNSEEN:  # a clock that was wrong: from now on it is counted anew
        ledger = replace(ledger, at=look.now)
    elif ledger.at >= look.now:
        return ()
    today = max(day_of(look.now), newest.day)
    pages = _Pages(None if today == newest.day else look.now - look.now % DAY, newest.sums)
    seconds = look.now - ledger.at
    if seconds < UNSEEN:
        early = seconds if pages.midnight is None else max(0.0, pages.midnight - ledger.at)
        pages.before = pages.before.over(ledger.use, early)
        pages.after = pages.after.over(ledger.use, seconds - early)
    kept = Ledger(look.now, look.use, _count_jobs(pages, ledger, look))
    for job_class in look.moves:
        pages.add(job_class, ClassSums(moves=1), {}, ledger.at)
    if pages.midnight is None:
        return (replace(newest, sums=_deep(pages.before, look.use), ledger=kept),)
    return replace(newest, sums=pages.before, ledger=None), _opened(queue, today, kept, pages.after)


def _count_jobs(pages: _Pages, ledger: Ledger, look: Look) -> dict[str, Counted]:
    """Add what is new of the jobs; gives what is counted of them now."""
    jobs: dict[str, Counted] = {}
    for job in look.jobs:
        there = ledger.jobs.get(job.job_id)
        if not job.sure:
            jobs |= {job.job_id: there} if there else {}
            continue
        added, reasons = _added(job, there, ledger, look.reasons)
        pages.add(job.job_class, added, reasons, job.moment if reasons or job.started is None else job.started)
        if there or job.started is not None or job.preemptions:
            jobs[job.job_id] = _counted(job, look.now)
    unseen = {i: there for i, there in ledger.jobs.items() if i not in jobs and there.seen > look.now - LATE}
    return jobs | unseen


def _opened(queue: str, day: str, ledger: Ledger, sums: DaySums) -> Day:
    return Day(queue, day, _deep(sums, ledger.use), ledger)


def _deep(sums: DaySums, use: Use) -> DaySums:
    return replace(sums, deepest=max(sums.deepest, use.waiting))


def _counted(job: SeenJob, now: float) -> Counted:
    began = job.started if job.running else None
    unsaved = None if began is None else max(began, job.saved or began)
    return Counted(job.preemptions, job.gpus, unsaved, 0.0 if job.ended else now)


def _added(
    job: SeenJob, there: Counted | None, ledger: Ledger, reasons: Mapping[str, str]
) -> tuple[ClassSums, dict[str, int]]:
    """What is new of a job since the ledger, and the reasons of its evictions."""
    sums = ClassSums()
    if there is None and job.started is not None and not job.preemptions and job.started >= ledger.at - LATE:
        sums = sums.with_start(job.started - job.created)
    gone = job.preemptions - there.preemptions if there else min(job.preemptions, 1)
    if gone <= 0 or (there is None and job.job_id not in reasons):
        return sums, {}
    lost = 0.0
    if there is not None and there.unsaved is not None:
        until = ledger.at if job.running else max(ledger.at, job.moment)
        lost = max(0.0, until - there.unsaved) * there.gpus
    return replace(sums, evictions=gone, lost=lost), {reasons.get(job.job_id, "unplanned"): gone}


def _both(some: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return {name: some.get(name, 0) + more.get(name, 0) for name in sorted({*some, *more})}
