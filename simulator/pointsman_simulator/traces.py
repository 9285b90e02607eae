"""A slice of a public GPU-cluster trace as jobs to submit.

Three layouts are read, told apart by their columns: Philly (`vc` names the team), ITP (`cluster`), and openb, which has
no team. One GPU of a trace stands for one instance with one GPU.
"""

import csv
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType


class TraceError(ValueError):
    """A trace, a window or a capacity that cannot be used: one sentence that names the place and the remedy.

    `about` says which of what was given must be changed: trace, window, capacity, classes or runs.
    """

    def __init__(self, sentence: str, about: str = "trace") -> None:
        """Keep both."""
        super().__init__(sentence)
        self.about = about


@dataclass(frozen=True, slots=True)
class JobClass:
    """How jobs of one class are told apart: by the first word of their name, and by their `purpose` tag."""

    prefix: str
    purpose: str


CLASSES: Mapping[str, JobClass] = MappingProxyType(
    {
        "production": JobClass(prefix="prod", purpose="release"),
        "research": JobClass(prefix="research", purpose="explore"),
        "sweep": JobClass(prefix="sweep", purpose="tune"),
        "batch-inference": JobClass(prefix="score", purpose="score"),
    }
)

_WINDOW_REMEDY = 'write "A:B" in seconds of submit_s with A below B, such as 2381359:2556095'

TEAM_COLUMNS = ("team", "vc", "cluster")
TEAM_OF_ALL = "all"
"""The team of a trace that has none (openb)."""

_UNSAFE_IN_A_NAME = re.compile(r"[^A-Za-z0-9]+")
_UNSAFE_IN_A_JOB = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class TraceJob:
    """One job to submit: `submit` in seconds after the window's start, `seconds` of run time once it has started.

    `share` is the one that the file names, if it does.
    """

    name: str
    submit: float
    seconds: float
    gpus: int
    team: str
    job_class: str
    share: str = ""

    @property
    def instances(self) -> int:
        """One-GPU instances that the job asks for."""
        return self.gpus

    @property
    def purpose(self) -> str:
        known = CLASSES.get(self.job_class)
        return known.purpose if known else self.job_class

    @property
    def tags(self) -> dict[str, str]:
        """The tags to submit it with."""
        return {"team": self.team, "purpose": self.purpose}


@dataclass(frozen=True, slots=True)
class Window:
    """Submissions with `start` <= submit_s < `end`, in the trace's own seconds."""

    start: float
    end: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.end) and self.start < self.end):
            raise TraceError(f'window "{self.start:.15g}:{self.end:.15g}" is empty; {_WINDOW_REMEDY}', "window")


@dataclass(frozen=True, slots=True)
class TraceSlice:
    """The jobs of a window in order of submission, and how many of its rows are no job that can run, by reason."""

    jobs: tuple[TraceJob, ...]
    without_gpu: int
    never_started: int
    """Rows with neither a wait nor a duration (openb's pods never scheduled): nobody knows how long they would run."""


@dataclass(frozen=True, slots=True)
class CapacitySplit:
    """Jobs that the capacity can hold, and those that are larger than all of it and would block a queue for ever."""

    fitting: tuple[TraceJob, ...]
    too_large: tuple[TraceJob, ...]


def parse_window(text: str) -> Window:
    """Read "A:B", seconds of the trace's `submit_s`: "2381359:2556095" -> Window(2381359.0, 2556095.0)."""
    start, colon, end = text.partition(":")
    if not colon:
        raise TraceError(f'window "{text}" is not a window; {_WINDOW_REMEDY}', "window")
    try:
        ends = float(start), float(end)
    except ValueError:
        raise TraceError(f'window "{text}" has an end that is not a number; {_WINDOW_REMEDY}', "window") from None
    return Window(*ends)


def job_name(job_class: str, team: str, row: int) -> str:
    """A name that a policy can match by class: ("production", "7f04ca", 12) -> "prod-7f04ca-12"."""
    known = CLASSES.get(job_class)
    return f"{known.prefix if known else _safe(job_class, 'job')}-{_safe(team, 'team')}-{row}"


def _safe(text: str, otherwise: str) -> str:
    return _UNSAFE_IN_A_NAME.sub("-", text).strip("-")[:50] or otherwise


def split_by_capacity(jobs: Iterable[TraceJob], capacity: int) -> CapacitySplit:
    """Set aside the jobs that ask for more than `capacity` GPUs; nothing is lost, order is kept."""
    if capacity < 1:
        sentence = f"capacity {capacity} holds no job; give the number of one-GPU instances, 1 or more"
        raise TraceError(sentence, "capacity")
    fitting: list[TraceJob] = []
    too_large: list[TraceJob] = []
    for job in jobs:
        (fitting if job.gpus <= capacity else too_large).append(job)
    return CapacitySplit(tuple(fitting), tuple(too_large))


def read_trace(path: str | Path, window: Window, classes: Collection[str] = tuple(CLASSES)) -> TraceSlice:
    """Read the rows of `path` submitted inside `window`; the file is streamed, and unknown columns are ignored.

    `derived_class` is one of `classes`. A job has the name in the column `name`, with its row, or else a made one. A
    share of a GPU takes a whole one: no instance has less. A row outside the window is read for `submit_s` only.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as lines:
            return _slice(str(path), lines, window, classes)
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or error}; name a trace file (CSV) that can be read") from None
    except UnicodeDecodeError as error:
        raise TraceError(f"{path}, byte {error.start}: not UTF-8 text; unpack it, or save it as CSV in UTF-8") from None


@dataclass(frozen=True, slots=True)
class _Row:
    path: str
    line: int
    number: int
    cells: Mapping[str, str]

    def fault(self, column: str, problem: str, remedy: str) -> TraceError:
        return TraceError(f"{self.path}, line {self.line}, column {column}: {problem}; {remedy}")

    def text(self, column: str) -> str:
        return self.cells.get(column, "")

    def amount(self, column: str, unit: str) -> float:
        """A finite number, zero or more."""
        number = self.any_number(column, unit)
        if number < 0:
            raise self.fault(column, f"{self.text(column)} is negative", f"give 0 or more {unit}")
        return number

    def any_number(self, column: str, unit: str) -> float:
        cell = self.text(column)
        try:
            number = float(cell)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            problem = f'"{cell}" is not a number' if cell else "the cell is empty"
            raise self.fault(column, problem, f"give {unit}, or take the row out")
        return number


def _slice(path: str, lines: Iterable[str], window: Window, classes: Collection[str]) -> TraceSlice:
    jobs: list[TraceJob] = []
    without_gpu = never_started = 0
    for row in _rows(path, lines):
        submit = row.any_number("submit_s", "seconds")
        if not window.start <= submit < window.end:
            continue
        if "wait_s" in row.cells and not row.text("wait_s") and not row.text("duration_s"):
            never_started += 1
            continue
        job = _job(row, submit - window.start, classes)
        if job.gpus:
            jobs.append(job)
        else:
            without_gpu += 1
    if not jobs:
        raise TraceError(
            f"{path}, column submit_s: no job to run in {window.start:.15g} <= submit_s < {window.end:.15g} "
            f"({without_gpu} ask for no GPU, {never_started} never started); choose another window",
            "window",
        )
    jobs.sort(key=lambda job: job.submit)
    return TraceSlice(tuple(jobs), without_gpu=without_gpu, never_started=never_started)


def _job(row: _Row, submit: float, classes: Collection[str]) -> TraceJob:
    job_class = row.text("derived_class")
    if job_class not in classes:
        raise row.fault("derived_class", f'"{job_class}" is no class', f"use one of {', '.join(classes)}")
    column = _team_column(row.cells)
    team = row.text(column) if column else TEAM_OF_ALL
    if not team:
        raise row.fault(column or "team", "the cell is empty", "name the team")
    name = row.text("name")
    return TraceJob(
        name=f"{_UNSAFE_IN_A_JOB.sub('-', name)[:100]}-{row.number}" if name else job_name(job_class, team, row.number),
        submit=submit,
        seconds=row.amount("duration_s", "seconds"),
        gpus=math.ceil(row.amount("gpus", "GPUs")),
        team=team,
        job_class=job_class,
        share=row.text("share"),
    )


def _rows(path: str, lines: Iterable[str]) -> Iterator[_Row]:
    """The rows under the header, numbered from 1, blank lines not counted; a short row has empty cells at its end."""
    reader = csv.reader(lines, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(path, header)
        number = 0
        for cells in reader:
            if cells:
                number += 1
                named = {name: cell.strip() for name, cell in zip(header, cells + [""] * len(header), strict=False)}
                yield _Row(path, reader.line_num, number, named)
    except csv.Error as error:
        raise TraceError(f"{path}, line {reader.line_num}: not CSV ({error}); mend the line or take it out") from None


def _check_header(path: str, header: list[str]) -> None:
    for column in ("submit_s", "duration_s", "gpus", "derived_class"):
        if column not in header:
            raise _missing(path, column, header)
    if _team_column(header) is None and "qos" not in header:  # openb has no team, and says so by its `qos`
        raise _missing(path, " or ".join(TEAM_COLUMNS), header)


def _team_column(header: Iterable[str]) -> str | None:
    return next((column for column in TEAM_COLUMNS if column in header), None)


def _missing(path: str, column: str, header: list[str]) -> TraceError:
    found = ", ".join(header) or "nothing"
    return TraceError(f"{path}, line 1, column {column}: missing (found: {found}); add it to the header line")
