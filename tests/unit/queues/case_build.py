"""Pins, deadlines and bounds of classes for the tests of the core."""

from dataclasses import replace

from pointsman.queues.decide import decide
from pointsman.queues.explain import in_order
from pointsman.queues.jobs import Due, WaitingJob
from pointsman.queues.moves import FRONT
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.policy import Policy
from pointsman.queues.view import QueueView
from tests.unit.queues.build import HOUR, NOW, UNLIMITED, waiting

OLD, NEW = waiting("old", waited=9 * HOUR), waiting("new", waited=1.0)
PROD = waiting("prod", "production", waited=30.0)


def first(job_id: str, until: float = HOUR, kind: PinKind = PinKind.FIRST) -> Pin:
    return Pin(job_id, NOW + until, kind, "ana", NOW - 60)


def due(job: WaitingJob, left: float) -> WaitingJob:
    """The job with a deadline so many seconds from now; jobs of which nothing is known run for an hour."""
    return replace(job, due=Due(NOW + left))


def with_class(name: str, policy: Policy = UNLIMITED, **bounds: float) -> Policy:
    classes = tuple(replace(c, **bounds) if c.name == name else c for c in policy.classes)  # type: ignore[arg-type]
    return replace(policy, classes=classes)


def lifted(of: QueueView, policy: Policy = UNLIMITED) -> list[str]:
    return [move.job_id for move in decide(of, policy).moves if move.after == FRONT]


def ordered(of: QueueView, policy: Policy = UNLIMITED) -> list[str]:
    return [candidate.job.job_id for candidate in in_order(of, policy)]
