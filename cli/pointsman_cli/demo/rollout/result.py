"""What came of a scenario: the outcome, the requests, and the line of time."""

from collections.abc import Iterable
from dataclasses import dataclass

from pointsman.rollouts.decision import JournalEntry
from pointsman_cli.demo.rollout.executions import Execution, execution_shape
from pointsman_cli.printing import moment

Shape = dict[str, object]


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """One thing that happened; `at` is epoch seconds."""

    at: float
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Left:
    """How a component was left: its model, and the copies that serve."""

    component: str
    model: str
    copies: int


@dataclass(frozen=True, slots=True)
class Result:
    """One scenario as it went. Copies are those of the components that the rollout moves, each at its lowest."""

    scenario: str
    outcome: str
    cause: str
    lowest_serving: int
    wanted_copies: int
    requests: int
    failed: int
    lost: int
    passes: int
    started: float
    timeline: tuple[Moment, ...]
    left: tuple[Left, ...] = ()
    faults: tuple[str, ...] = ()
    executions: tuple[Execution, ...] = ()
    """Where they were asked for."""


def result_shape(result: Result) -> Shape:
    """`demo rollout --json`. It is API: keys are added, never renamed."""
    return {
        "scenario": result.scenario,
        "outcome": result.outcome,
        "cause": result.cause or None,
        "lowest_serving": result.lowest_serving,
        "wanted_copies": result.wanted_copies,
        "requests": result.requests,
        "requests_failed": result.failed,
        "requests_lost": result.lost,
        "passes": result.passes,
        "timeline": [{"at": moment(line.at), "what": line.what, "why": line.why} for line in result.timeline],
        "left": [{"component": left.component, "model": left.model, "copies": left.copies} for left in result.left],
        "faults": list(result.faults),
        **({"executions": [execution_shape(each) for each in result.executions]} if result.executions else {}),
    }


def told(journal: Iterable[JournalEntry]) -> list[Moment]:
    """What Pointsman did and found, in the line of time."""
    return [
        Moment(line.at, said.reason.value, f"{said.component}: {said.sentence}" if said.component else said.sentence)
        for line in journal
        for said in line.said
    ]
