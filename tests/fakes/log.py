"""What both loops tell: whose lines these are, what is overdue, which executions died."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class FakeLog:
    """Keeps what is told; each loop's own log has more."""

    overdue_: list[float] = field(default_factory=list)
    correlations: list[str] = field(default_factory=list)
    died_: list[tuple[str, int]] = field(default_factory=list)

    @contextmanager
    def correlated(self, correlation_id: str) -> Iterator[None]:
        self.correlations.append(correlation_id)
        yield

    def overdue(self, seconds: float) -> None:
        self.overdue_.append(seconds)

    def died(self, rollout: str, generation: int) -> None:
        self.died_.append((rollout, generation))
