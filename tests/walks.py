"""What a crash walk covered: counted where it walks, and told at the end of the run."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

PROPERTY = "walked"


@dataclass
class Walked:
    """A part of a walk: its boundaries, a run or more for each, and where a run ended differently."""

    what: str
    boundaries: int = 0
    runs: int = 0
    different: list[str] = field(default_factory=list)

    def saw(self, where: str, end: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        """A run that was killed here ended so."""
        self.runs += 1
        for name in sorted({*end, *wanted}):
            if end.get(name) != wanted.get(name):
                self.different.append(f"killed {where}: {name} {end.get(name)!r}, without a death {wanted.get(name)!r}")

    def reported(self) -> tuple[str, dict[str, Any]]:
        """As a test's property, which reaches the summary from any process."""
        return PROPERTY, asdict(self)


def summary(parts: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each walk."""
    whole: dict[str, Walked] = {}
    for part in parts:
        walk = whole.setdefault(part["what"], Walked(part["what"]))
        walk.boundaries += part["boundaries"]
        walk.runs += part["runs"]
        walk.different += part["different"]
    return [
        f"{it.what}: {it.boundaries} boundaries, {it.runs} runs, "
        + (f"{len(it.different)} DIFFERENCES" if it.different else "all ended the same")
        for it in whole.values()
    ]
