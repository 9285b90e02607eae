"""One log line a decision, and a few metrics, by Powertools; a metric's dimensions are queue and class only.

The clients of the log never fail a loop: what is written here goes to standard output.
"""

from collections.abc import Mapping
from statistics import fmean

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from pointsman.ports import PassReport
from pointsman.queues.reasons import Reason

MOVES_LOGGED = 20  # in full in one line; the history has them all
TOLD_LOGGED = 20  # `queue plan` shows them all


class PowertoolsLog:
    """Writes what the loops tell as structured lines and as metrics in embedded metric format."""

    def __init__(self, logger: Logger | None = None) -> None:
        """Write by this logger, or by one of the service that the environment names."""
        self._logger = logger or Logger()

    def untold(self, queue: str, why: str) -> None:
        """A notice could not be sent; it will be."""
        self._logger.warning("a notice is not sent yet", extra={"queue": queue, "why": why})

    def passed(self, report: PassReport) -> None:
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
        self._count({"queue": queue}, {"FailedPasses": 1})

    def recorded(self, *, messages: int, jobs: int, again: int) -> None:
        """A batch of job events was folded in."""
        self._logger.info("recorded", extra={"messages": messages, "jobs": jobs, "again": again})

    def poisoned(self, reason: str, place: str) -> None:
        """A message was dead-lettered."""
        self._logger.warning("poison", extra={"reason": reason, "place": place})
        self._count({}, {"PoisonMessages": 1})

    def woken(self, queues: tuple[str, ...], *, because: str, rollouts: tuple[str, ...] = ()) -> None:
        """These queues and rollouts were woken."""
        extra = {"queues": list(queues), "because": because}
        self._logger.info("woken", extra={**extra, "rollouts": list(rollouts)} if rollouts else extra)

    def _measure(self, report: PassReport) -> None:
        view, queue = report.view, report.decision.queue
        running = min(view.used, sum(job.kind.size for job in view.busy if job.started is not None))
        done = sum(outcome == "done" for outcome in report.outcomes)
        self._count(
            {"queue": queue},
            {
                "CapacityInUse": view.used,
                "CapacityWorking": running,
                "Capacity": view.capacity,
                "Depth": len(view.waiting),
                "Moves": done,
                "Backfills": report.decision.backfills,
            },
        )
        if view.quota_shares:
            self._measure_preemptions(report)
        by_class: dict[str, list[float]] = {}
        for line in view.lines.lines:
            by_class.setdefault(line.kind.job_class, []).extend(view.now - job.submitted for job in line.jobs)
        for name, waits in sorted(by_class.items()):
            metrics = self._metrics({"queue": queue, "class": name})
            metrics.add_metric("Waiting", MetricUnit.Count, len(waits))
            metrics.add_metric("MeanWaitSoFar", MetricUnit.Seconds, fmean(waits))
            metrics.add_metric("LongestWaitSoFar", MetricUnit.Seconds, max(waits))
            metrics.flush_metrics()

    def _measure_preemptions(self, report: PassReport) -> None:
        """Who was evicted: as it was meant to be, for an owner that took back what it had lent, and unplanned."""
        reasons = [move.reason for move in report.preempted]
        asked = [e for e in report.decision.evictions if e.asked == report.decision.at] if report.mode == "act" else []
        self._count(
            {"queue": report.decision.queue},
            {
                "Evictions": reasons.count(Reason.EVICTED),
                "Reclaims": reasons.count(Reason.RECLAIMED),
                "UnplannedEvictions": reasons.count(Reason.UNPLANNED),
                "EvictedInstanceHours": sum(eviction.lost for eviction in asked) / 3600,
            },
        )

    def _count(self, dimensions: Mapping[str, str], counts: Mapping[str, float]) -> None:
        metrics = self._metrics(dimensions)
        for name, value in counts.items():
            metrics.add_metric(name, MetricUnit.Count, value)
        metrics.flush_metrics()

    @staticmethod
    def _metrics(dimensions: Mapping[str, str]) -> EphemeralMetrics:
        metrics = EphemeralMetrics()
        for name, value in dimensions.items():
            metrics.add_dimension(name, value)
        return metrics
