"""What the loops of rollouts tell, for the log and the metrics."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from pointsman.rollout_wake_ports import RolloutWakeLog
from pointsman.rollouts.decision import Decision


@dataclass(frozen=True, slots=True)
class RolloutPass:
    """What one pass decided and did; `outcomes` stand beside the decision's acts."""

    rollout: str
    generation: int
    decision: Decision
    outcomes: tuple[str, ...]


class RolloutLog(RolloutWakeLog, Protocol):
    """What is logged and measured of rollouts."""

    def correlated(self, correlation_id: str) -> AbstractContextManager[None]:
        """Inside, every line bears this id."""
        ...

    def advanced(self, report: RolloutPass) -> None:
        """A pass came to its end."""
        ...

    def stumbled(self, rollout: str, why: str, *, known: bool) -> None:
        """A pass failed; an unknown fault is logged with its traceback."""
        ...

    def commanded(self, rollout: str, verb: str, actor: str, outcome: str) -> None:
        """A command was obeyed or refused."""
        ...
