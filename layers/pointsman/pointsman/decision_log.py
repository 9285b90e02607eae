"""One log line a decision, and a few metrics, by Powertools; a queue's metrics have no dimension but queue and class.

The clients of the log never fail a loop: what is written here goes to standard output.
"""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit

from pointsman.metrics import measure
from pointsman.queues.reasons import Reason

if TYPE_CHECKING:
    from pointsman.log_ports import PassReport
    from pointsman.queues.gpu_use import GpuUse

MOVES_LOGGED = 20  # in full in one line; the history has them all
TOLD_LOGGED = 20  # `queue plan` shows them all


class PowertoolsLog:
    """Writes what the loops tell as structured lines and as metrics in embedded metric format."""

    def __init__(self, logger: Logger | None = None) -> None:
        """Write by this logger, or by one of the service that the environment names."""
        self._logger = logger or Logger()

    def correlated(self, correlation_id: str) -> AbstractContextManager[None]:
        """Inside, every line bears this id."""
        return self._logger.append_context_keys(correlation_id=correlation_id)

    def overdue(self, seconds: float) -> None:
        """For how long the queue that waits longest for its pass has been due (0: none is)."""
        measure({}, {"QueueOverdue": seconds}, MetricUnit.Seconds)

    def untold(self, queue: str, why: str) -> None:
        """A notice could not be sent; it will be."""
        self._logger.warning("a notice is not sent yet", extra={"queue": queue, "why": why})

    def unreadable(self, why: str) -> None:
        """A stored item is none."""
        self._logger.warning("unreadable item", extra={"why": why})

    def passed(self, report: "PassReport") -> None:
        """A pass came to its end: the decision with its reasons, then the queue's figures."""
        decision, view = report.decision, report.view
        self._logger.info(
            "decided",
            extra={
                "queue": decision.queue,
                "at": decision.at,
                "mode": report.mode,
                "policy": report.policy,
                "capacity": view.capacity,
                "used": view.used,
                "waiting": len(view.waiting),
                "described": report.described,
                "listed": report.listed,
                "held_for": decision.hold.job.job_id if decision.hold else None,
                "idle": {name.value: count for name, count in decision.idle},
                "backfills": decision.backfills,
                "moves": [
                    {"job": move.job_id, "to": move.after, "reason": move.reason.value, "outcome": outcome}
                    for move, outcome in list(zip(decision.moves, report.outcomes, strict=True))[:MOVES_LOGGED]
                ],
                "preempted": [
                    {"job": move.job_id, "reason": move.reason.value, "sentence": move.sentence}
                    for move in report.preempted
                ],
                "evictions": [
                    {"evictor": each.evictor.job_id, "victims": list(each.parties[1:]), "progress": each.progress.value}
                    for each in decision.evictions
                ],
                "move_count": len(decision.moves),
                "told": [
                    {"what": told.what.value, "job": told.job_id, "sentence": told.sentence}
                    for told in decision.told[:TOLD_LOGGED]
                ],
                "told_count": len(decision.told),
                "problems": list(report.problems),
                "next_wake": decision.next_wake,
            },
        )
        self._measure(report)

    def skipped(self, queue: str, why: str) -> None:
        """There was nothing to do, or someone else is doing it."""
        self._logger.info("skipped", extra={"queue": queue, "why": why})

    def failed(self, queue: str, why: str, *, known: bool) -> None:
        """A pass failed."""
        self._logger.error("pass failed", extra={"queue": queue, "why": why}, exc_info=not known)
        measure({"queue": queue}, {"FailedPasses": 1})
        measure({}, {"FailedPasses": 1})

    def recorded(self, *, messages: int, jobs: int, again: int) -> None:
        """A batch of job events was folded in."""
        self._logger.info("recorded", extra={"messages": messages, "jobs": jobs, "again": again})

    def poisoned(self, reason: str, place: str) -> None:
        """A message was dead-lettered."""
        self._logger.warning("poison", extra={"reason": reason, "place": place})
        measure({}, {"PoisonMessages": 1})

    def woken(self, queues: tuple[str, ...], *, because: str, rollouts: tuple[str, ...] = ()) -> None:
        """These queues and rollouts were woken."""
        extra = {"queues": list(queues), "because": because}
        self._logger.info("woken", extra={**extra, "rollouts": list(rollouts)} if rollouts else extra)

    def _measure(self, report: "PassReport") -> None:
        view, queue = report.view, report.decision.queue
        running = min(view.used, sum(job.kind.size for job in view.busy if job.started is not None))
        done = sum(outcome == "done" for outcome in report.outcomes)
        measure(
            {"queue": queue},
            {
                "CapacityInUse": view.used,
                "CapacityWorking": running,
                "Capacity": view.capacity,
                "Depth": len(view.waiting),
                "Moves": done,
                "Backfills": report.decision.backfills,
                "Deferred": report.outcomes.count("deferred"),
                "ApiCalls": report.described + report.listed + len(report.outcomes) - report.outcomes.count("deferred"),
            },
        )
        if report.gpus is not None:
            self._measure_gpus(queue, report.gpus)
        if view.quota_shares:
            self._measure_preemptions(report)
        by_class: dict[str, list[float]] = {}
        for line in view.lines.lines:
            by_class.setdefault(line.kind.job_class, []).extend(view.now - job.submitted for job in line.jobs)
        for name, waits in sorted(by_class.items()):
            of_class = {"queue": queue, "class": name}
            measure(of_class, {"Waiting": len(waits)})
            measure(
                of_class, {"MeanWaitSoFar": sum(waits) / len(waits), "LongestWaitSoFar": max(waits)}, MetricUnit.Seconds
            )

    @staticmethod
    def _measure_gpus(queue: str, use: "GpuUse") -> None:
        """What is not known is not put: an alarm on it then has no data, instead of a queue that idles."""
        measure({"queue": queue}, {"UnmeasuredInstances": use.unmeasured})
        if use.queue is not None:
            measure({"queue": queue}, {"GpuUtilization": 100 * use.queue}, MetricUnit.Percent)
        for name, of_class in use.by_class:
            measure({"queue": queue, "class": name}, {"GpuUtilization": 100 * of_class}, MetricUnit.Percent)

    def _measure_preemptions(self, report: "PassReport") -> None:
        """Who was evicted: as it was meant to be, for an owner that took back what it had lent, and unplanned."""
        reasons = [move.reason for move in report.preempted]
        asked = [e for e in report.decision.evictions if e.asked == report.decision.at] if report.mode == "act" else []
        measure(
            {"queue": report.decision.queue},
            {
                "Evictions": reasons.count(Reason.EVICTED),
                "Reclaims": reasons.count(Reason.RECLAIMED),
                "UnplannedEvictions": reasons.count(Reason.UNPLANNED),
                "EvictedInstanceHours": sum(eviction.lost for eviction in asked) / 3600,
            },
        )
