"""The waiting jobs of a queue in lines of a kind, so that a decision looks at the heads of lines and not at every job.

What makes a job more than one in its line is kept beside it: that its priority is not its own, that someone else set
it, that it is due at a time, that it failed soon. Whoever builds a `Waiting` may go on changing it between two
decisions; a decision never does.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from pointsman.queues.estimates import Kind
from pointsman.queues.jobs import WaitingJob

Age = tuple[float, str]
Jobs = dict[str, WaitingJob]
LineKey = tuple[str, Kind]


def age(job: WaitingJob) -> Age:
    """The sort key that puts the oldest first."""
    return (job.submitted, job.job_id)


@dataclass(slots=True, eq=False)
class Line:
    """The jobs of one share that are alike, the oldest first.

    By id also those of them that are `moved` (their priority is not the submitted one), `raised` (it is not 0),
    `foreign`, `due`, that have `crashed` of late, and that wait `again`.
    """

    share: str
    kind: Kind
    jobs: list[WaitingJob] = field(default_factory=list)
    moved: Jobs = field(default_factory=dict)
    raised: Jobs = field(default_factory=dict)
    foreign: Jobs = field(default_factory=dict)
    due: Jobs = field(default_factory=dict)
    crashed: Jobs = field(default_factory=dict)
    again: Jobs = field(default_factory=dict)

    def first(self, *without: Collection[str]) -> WaitingJob | None:
        """The oldest that is ours to move and in none of these."""
        return next(self.ours(*without), None)

    def ours(self, *without: Collection[str]) -> Iterator[WaitingJob]:
        """Those that are ours to move, the oldest first, but for these."""
        ours: Iterator[WaitingJob] = (job for job in self.jobs if not job.foreign)
        for ids in without:
            if ids:
                ours = _but(ours, ids)
        return ours

    @property
    def heads(self) -> Collection[WaitingJob]:
        """Jobs of whom one is before all others of the line in Batch: those that were raised, and the oldest other."""
        other = next((job for job in self.jobs if not job.priority), None)
        return (*self.raised.values(), other) if other else self.raised.values()

    def note(self, job: WaitingJob) -> None:
        """Keep what sets the job apart."""
        if job.priority:
            self.raised[job.job_id] = job
        if job.priority != job.submitted_priority:
            self.moved[job.job_id] = job
        if job.foreign:
            self.foreign[job.job_id] = job
        if job.due is not None:
            self.due[job.job_id] = job
        if job.crashes:
            self.crashed[job.job_id] = job
        if job.again is not None:
            self.again[job.job_id] = job

    def forget(self, job: WaitingJob) -> None:
        """Let go of what set the job apart."""
        for special in (self.raised, self.moved, self.foreign, self.due, self.crashed, self.again):
            special.pop(job.job_id, None)


def _but(jobs: Iterator[WaitingJob], ids: Collection[str]) -> Iterator[WaitingJob]:
    return (job for job in jobs if job.job_id not in ids)


class Waiting(Collection[WaitingJob]):
    """Waiting jobs, each known by its id and standing in the line of its share and kind."""

    __slots__ = ("_jobs", "_lines", "_whole")

    def __init__(self, jobs: Iterable[WaitingJob] = ()) -> None:
        """Line these up; no id may come twice."""
        self._jobs: Jobs = {}
        self._lines: dict[LineKey, Line] = {}
        self._whole = True
        known: dict[tuple[str, int], Line] = {}  # to hash a kind costs more than all else here
        for job in jobs:
            self._jobs[job.job_id] = job
            line = known.get((job.share, id(job.kind)))
            if line is None:
                line = known[job.share, id(job.kind)] = self._line(job.share, job.kind)
            line.jobs.append(job)
            if job.priority or job.submitted_priority or job.foreign or job.due is not None or job.crashes or job.again:
                line.note(job)
        for line in self._lines.values():
            line.jobs.sort(key=age)

    @classmethod
    def of(cls, jobs: Iterable[WaitingJob]) -> "Waiting":
        """These jobs in lines, if they are not yet."""
        return jobs if isinstance(jobs, cls) else cls(jobs)

    def part(self, lines: Iterable[Line]) -> "Waiting":
        """Only these of the lines, to be looked at; they are the same lines, not copies."""
        part = Waiting()
        part._jobs, part._lines = self._jobs, {(line.share, line.kind): line for line in lines}
        part._whole = False
        return part

    def by_share(self, *without: Collection[str]) -> dict[str, "Waiting"]:
        """The lines of each share that has a job of ours that is in none of these; first the share of the oldest."""
        lines: dict[str, list[Line]] = {}
        oldest: dict[str, Age] = {}
        for line in self.lines:
            first = line.first(*without)
            if first is not None:
                lines.setdefault(line.share, []).append(line)
                oldest[line.share] = min(age(first), oldest.get(line.share, age(first)))
        return {share: self.part(lines[share]) for share in sorted(lines, key=lambda share: oldest[share])}

    def __len__(self) -> int:
        """How many wait."""
        return sum(len(line.jobs) for line in self.lines)

    def __bool__(self) -> bool:
        """Whether any waits."""
        return bool(self._lines)

    def __iter__(self) -> Iterator[WaitingJob]:
        """Every job, in the order in which they became known; of a part line after line."""
        return iter(self._jobs.values()) if self._whole else chain.from_iterable(line.jobs for line in self.lines)

    def __contains__(self, job: object) -> bool:
        """Whether exactly this job is one of them."""
        return isinstance(job, WaitingJob) and self.get(job.job_id) == job

    @property
    def lines(self) -> Collection[Line]:
        """The lines, none of them empty."""
        return self._lines.values()

    @property
    def shares(self) -> Collection[str]:
        """The shares in which jobs wait."""
        return {line.share for line in self.lines}

    @property
    def moved(self) -> Iterator[WaitingJob]:
        """Jobs whose priority is not the submitted one."""
        return chain.from_iterable(line.moved.values() for line in self.lines if line.moved)

    def get(self, job_id: str) -> WaitingJob | None:
        """The job of this id, if it waits."""
        job = self._jobs.get(job_id)
        return job if job is not None and (job.share, job.kind) in self._lines else None

    def found(self, job_ids: Collection[str]) -> Iterator[WaitingJob]:
        """Those of these jobs that wait here."""
        if len(job_ids) < len(self):
            return (job for job_id in job_ids if (job := self.get(job_id)) is not None)
        return (job for job in self if job.job_id in job_ids)

    def put(self, job: WaitingJob) -> None:
        """Add a job, or put it in the place of what was known of it."""
        before = self._jobs.get(job.job_id)
        if before is not None:
            self._leave(before)
        self._jobs[job.job_id] = job
        line = self._line(job.share, job.kind)
        insort(line.jobs, job, key=age)
        line.note(job)

    def drop(self, job_id: str) -> WaitingJob | None:
        """Take a job out; gives what was known of it, None when it did not wait."""
        job = self._jobs.pop(job_id, None)
        if job is not None:
            self._leave(job)
        return job

    def _leave(self, job: WaitingJob) -> None:
        line = self._lines[job.share, job.kind]
        del line.jobs[bisect_left(line.jobs, age(job), key=age)]
        line.forget(job)
        if not line.jobs:
            del self._lines[job.share, job.kind]

    def _line(self, share: str, kind: Kind) -> Line:
        line = self._lines.get((share, kind))
        if line is None:
            line = self._lines[share, kind] = Line(share, kind)
        return line
