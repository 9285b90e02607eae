"""One log line a pass and a command of rollouts, and a few metrics; an id is never a metric's dimension."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit

from pointsman.metrics import measure
from pointsman.rollouts.phase import Phase

if TYPE_CHECKING:
    from pointsman.rollout_log_ports import RolloutPass

SAID_LOGGED = 40  # in full in one line; the journal has all of it


class PowertoolsRolloutLog:
    """Writes what the rollouts' loops tell as structured lines and as metrics in embedded metric format."""

    def __init__(self, logger: Logger | None = None) -> None:
        """Write by this logger, or by one of the service that the environment names."""
        self._logger = logger or Logger()

    def correlated(self, correlation_id: str) -> AbstractContextManager[None]:
        """Inside, every line bears this id."""
        return self._logger.append_context_keys(correlation_id=correlation_id)

    def overdue(self, seconds: float) -> None:
        """For how long the rollout that waits longest for its pass has been due (0: none is)."""
        measure({}, {"RolloutOverdue": seconds}, MetricUnit.Seconds)

    def died(self, rollout: str, generation: int) -> None:
        """The rollout is not over, and the execution of this generation is; the next one carries it on."""
        self._logger.error("execution died", extra={"rollout": rollout, "generation": generation})
        measure({}, {"DeadExecutions": 1})

    def advanced(self, report: "RolloutPass") -> None:
        """A pass came to its end: what it said and did, then the counts."""
        decision, record = report.decision, report.decision.record
        self._logger.info(
            "advanced",
            extra={
                "rollout": report.rollout,
                "generation": report.generation,
                "rev": record.rev,
                "phase": record.phase.value,
                "wave": record.wave + 1,
                "step": record.step.value,
                "intent": record.intent.name,
                "holds": [hold.kind.value for hold in record.holds],
                "said": [
                    {"reason": said.reason.value, "component": said.component, "sentence": said.sentence}
                    for said in decision.said[:SAID_LOGGED]
                ],
                "acts": [
                    {"act": type(act).__name__, "on": getattr(act, "component", None), "outcome": outcome}
                    for act, outcome in zip(decision.acts, report.outcomes, strict=False)
                ],
                "next_wake": decision.next_wake_at,
            },
        )
        measure({"phase": record.phase.value}, {"RolloutPasses": 1})
        counts: dict[str, float] = {"RolloutPasses": 1, "RolloutActs": len(report.outcomes)}
        if decision.journal is not None and record.phase.terminal:
            counts[_ENDS[record.phase]] = 1
        measure({}, counts)

    def stumbled(self, rollout: str, why: str, *, known: bool) -> None:
        """A pass failed, or an act of it; an unknown fault is logged with its traceback."""
        self._logger.error("stumbled", extra={"rollout": rollout, "why": why}, exc_info=not known)
        measure({}, {"RolloutStumbles": 1})

    def commanded(self, rollout: str, verb: str, actor: str, outcome: str) -> None:
        """A command was obeyed or refused."""
        self._logger.info("commanded", extra={"rollout": rollout, "verb": verb, "actor": actor, "outcome": outcome})

    def woken(self, rollouts: tuple[str, ...], *, because: str) -> None:
        """These rollouts were woken."""
        self._logger.info("woken", extra={"rollouts": list(rollouts), "because": because})


_ENDS = {
    Phase.SUCCEEDED: "RolloutsSucceeded",
    Phase.REJECTED: "RolloutsRejected",
    Phase.STOPPED: "RolloutsStopped",
    Phase.ROLLED_BACK: "RolloutsRolledBack",
    Phase.ROLLBACK_INCOMPLETE: "RollbacksIncomplete",
}
