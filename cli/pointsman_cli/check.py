"""A file that people write, checked: what it states, or what is wrong with it, each with its place."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path as File
from typing import Generic, TypeVar

from pointsman.documents import InvalidDocument, Path, Problem
from pointsman.policy_documents import parse_policy
from pointsman.queues.policy import Policy
from pointsman_cli.yaml_file import Guess, Place, YamlFile, read_yaml

Stated = TypeVar("Stated")
Parse = Callable[[object], Stated]
"""From plain values to what they state; raises `InvalidDocument`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong in a file."""

    file: str
    place: Place
    path: Path
    message: str
    remedy: str

    def __str__(self) -> str:
        """As compilers write it."""
        remedy = f" ({self.remedy})" if self.remedy else ""
        return f"{self.file}:{self.place.line}:{self.place.column}: {self.message}{remedy}"


def problem_shape(finding: Finding) -> dict[str, object]:
    """The finding as JSON."""
    return {
        "file": finding.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "path": list(finding.path),
        "message": finding.message,
        "remedy": finding.remedy,
    }


@dataclass(frozen=True, slots=True)
class Checked(Generic[Stated]):
    """A file after its check; `stated` is None when there are findings."""

    source: YamlFile
    findings: tuple[Finding, ...]
    stated: Stated | None = None
    name: str = ""

    def finding(self, problem: Problem) -> Finding:
        """A problem of this file, with its place."""
        return Finding(self.name, self.source.place(problem.path), problem.path, problem.message, problem.remedy)


def check(file: File) -> Checked[Policy]:
    """Read and check a policy; raises `UserMistake` when there is no file."""
    return checked(file, parse_policy)


def checked(file: File, parse: Parse[Stated]) -> Checked[Stated]:
    """Read and check a document of any kind; raises `UserMistake` when there is no file."""
    source = read_yaml(file)
    name = str(file)
    findings = [Finding(name, t.place, t.path, t.message, t.remedy) for t in source.troubles]
    stated = None
    if source.value is not None or not findings:
        stated, problems = _parsed(source.value, parse)
        told = {trouble.path for trouble in source.troubles}
        findings += [
            Finding(name, source.place(p.path), p.path, p.message, p.remedy)
            for p in _quoted(source, problems, parse)
            if p.path not in told
        ]
    findings.sort(key=lambda f: (f.place.line, f.place.column))
    return Checked(source, tuple(findings), None if findings else stated, name)


def _parsed(value: object, parse: Parse[Stated]) -> tuple[Stated | None, tuple[Problem, ...]]:
    try:
        return parse(value), ()
    except InvalidDocument as invalid:
        return None, invalid.problems


def _quoted(source: YamlFile, problems: tuple[Problem, ...], parse: Parse[Stated]) -> Iterable[Problem]:
    """The problems, with what quotes would mend: a bare word that YAML took for a boolean, a number or a date."""
    wrong = {problem.path for problem in problems}
    mended = wrong - {p.path for p in _parsed(_as_text(source, wrong), parse)[1]}
    for problem in problems:
        guess = source.guesses.get(problem.path)
        if guess is not None and problem.path in mended:
            yield Problem(problem.path, _guessing(guess), _QUOTES)
        else:
            yield problem
    for path, guess in source.guesses.items():
        if not guess.known and path not in wrong:
            yield Problem(path, _guessing(guess), _QUOTES)


_QUOTES = "for text, put it in quotes"


def _guessing(guess: Guess) -> str:
    return f"YAML takes `{guess.text}` for {guess.kind}"


def _as_text(source: YamlFile, paths: Iterable[Path]) -> object:
    """The values with the words at these paths taken as text."""
    root = [deepcopy(source.value)]
    for path in paths:
        guess = source.guesses.get(path)
        if guess is None:
            continue
        inside, last = root, 0
        for part in path:
            inside, last = inside[last], part  # type: ignore[assignment]  # a path leads where it came from
        inside[last] = guess.text
    return root[0]
